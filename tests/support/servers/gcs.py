"""gcp-storage-emulator as a Google Cloud Storage server, for reading; see gcs_process.py for what it can do."""

from __future__ import annotations

import json
import secrets
import socket
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.servers.process import HOST, Server, ServerProcess, free_ports


class GoogleServer(Server):
    """A Google Cloud Storage server that asks for no credentials and keeps its objects in memory.

    Attributes:
        endpoint: Where it listens, as a URL.
        port: The same, as a number.
    """

    def __init__(self) -> None:
        self._process = ServerProcess("gcp-storage-emulator")
        (self.port,) = free_ports(1)
        self.endpoint = f"http://{HOST}:{self.port}"
        script = Path(__file__).with_name("gcs_process.py")
        try:
            self._process.start([sys.executable, script, str(self.port)], self._ready)
        except BaseException:
            self._process.stop()
            raise

    def bucket(self, name: str = "") -> str:
        """Make a bucket and return its name; a new one if no name is given."""
        name = name or f"bucket-{secrets.token_hex(6)}"
        self._post("/storage/v1/b", json.dumps({"name": name}).encode(), "application/json")
        return name

    def put(self, bucket: str, name: str, data: bytes) -> None:
        """Write an object."""
        query = urllib.parse.urlencode({"uploadType": "media", "name": name})
        self._post(f"/upload/storage/v1/b/{bucket}/o?{query}", data, "application/octet-stream")

    def options(self, *, endpoint: str | None = None, anonymous: bool = False) -> dict[str, Any]:
        """Return keyword arguments for obstore's GCSStore.

        Args:
            endpoint: Another address of the server.
            anonymous: Whether to give no credentials at all. obstore reads so, but to write it would ask the cloud's
                metadata address for some; the others are of a service account that signs nothing.
        """
        address = endpoint or self.endpoint
        key = {
            "gcs_base_url": address,
            "disable_oauth": True,
            "client_email": "",
            "private_key": "",
            "private_key_id": "",
        }
        credentials = {"skip_signature": True} if anonymous else {"service_account_key": json.dumps(key)}
        return {"base_url": address, **credentials, "client_options": {"allow_http": True}}

    def _post(self, path: str, data: bytes, kind: str) -> None:
        request = urllib.request.Request(self.endpoint + path, data, {"Content-Type": kind}, method="POST")
        with urllib.request.urlopen(request, timeout=30):
            pass

    def _ready(self) -> bool:
        with socket.create_connection((HOST, self.port), timeout=5):
            return True
