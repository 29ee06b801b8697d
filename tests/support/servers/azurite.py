"""Azurite as an Azure blob server. It is an npm package, which `make test-ready` installs into build/azurite."""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import http.client
import os
import secrets
import shutil
import socket
from pathlib import Path
from typing import Any

from tests.support.servers.process import HOST, Server, ServerProcess, free_ports

ACCOUNT = "devstoreaccount1"
ROOT = Path(__file__).resolve().parents[3]


class AzureServer(Server):
    """An Azure blob server with one account, whose key is random.

    Attributes:
        endpoint: Where the account is, as a URL: `http://127.0.0.1:port/devstoreaccount1`.
        port: Where it listens.
        account: The name of the account; `key` belongs to it, in base64.
    """

    def __init__(self) -> None:
        self.account = ACCOUNT
        self.key = base64.b64encode(secrets.token_bytes(64)).decode()
        self._process = ServerProcess("azurite")
        (self.port,) = free_ports(1)
        self.endpoint = f"http://{HOST}:{self.port}/{self.account}"
        try:
            self._process.start(
                self._command(), self._ready, environment={"AZURITE_ACCOUNTS": f"{self.account}:{self.key}"}
            )
        except BaseException:
            self._process.stop()
            raise

    def container(self, name: str = "") -> str:
        """Make a container and return its name; a new one if no name is given."""
        name = name or f"container-{secrets.token_hex(6)}"
        path = f"/{self.account}/{name}?restype=container"
        headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
        # The rule for shared keys: verb, eleven empty headers, the x-ms- ones, the account and the resource, the query.
        signed = (
            "PUT"
            + "\n" * 12
            + "".join(f"{field}:{headers[field]}\n" for field in sorted(headers))
            + f"/{self.account}/{self.account}/{name}\nrestype:container"
        )
        digest = hmac.new(base64.b64decode(self.key), signed.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {self.account}:{base64.b64encode(digest).decode()}"
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request("PUT", path, headers=headers)
            answer = connection.getresponse()
            if answer.status != 201:
                raise RuntimeError(f"no container {name!r}: {answer.status} {answer.read()!r}")
        finally:
            connection.close()
        return name

    def options(self, *, endpoint: str | None = None) -> dict[str, Any]:
        """Return keyword arguments for obstore's AzureStore; `endpoint` is another address of the account."""
        return {
            "endpoint": endpoint or self.endpoint,
            "account_name": self.account,
            "account_key": self.key,
            "client_options": {"allow_http": True},
        }

    def _ready(self) -> bool:
        with socket.create_connection((HOST, self.port), timeout=5):
            return True

    def _command(self) -> list[str]:
        node = shutil.which("node") or shutil.which("nodejs")
        script = _installed() / "node_modules/azurite/dist/src/blob/main.js"
        if node is None or not script.exists():
            raise FileNotFoundError(f"node: {node}; {script}: {script.exists()}; run `make test-ready`")
        return [
            node,
            str(script),
            "--silent",
            "--disableTelemetry",  # it calls out otherwise
            "--skipApiVersionCheck",
            "--location",
            str(self._process.folder / "data"),
            "--blobHost",
            HOST,
            "--blobPort",
            str(self.port),
        ]


def _installed() -> Path:
    """Return the folder that npm installed it into: build/azurite, or what TFRKIT_AZURITE names."""
    return Path(os.environ.get("TFRKIT_AZURITE", ROOT / "build" / "azurite"))
