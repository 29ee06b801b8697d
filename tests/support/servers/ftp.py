"""pyftpdlib as an FTP server that anybody may write to: a store that tfrkit reaches by fsspec."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Self

from tests.support.servers.process import HOST, ServerProcess, free_ports


class FtpServer:
    """An FTP server with a folder of local files.

    Attributes:
        url: Where it listens, without a slash at the end.
        folder: What it serves.
    """

    def __init__(self) -> None:
        self._process = ServerProcess("pyftpdlib")
        (self._port,) = free_ports(1)
        self.url = f"ftp://{HOST}:{self._port}"
        self.folder: Path = self._process.folder / "files"
        self.folder.mkdir()
        options = ["-i", HOST, "-p", str(self._port), "-w", "-d", str(self.folder)]
        try:
            # -W: that anybody may write is a warning.
            self._process.start([sys.executable, "-W", "ignore", "-m", "pyftpdlib", *options], self._ready)
        except BaseException:
            self._process.stop()
            raise

    def stop(self) -> None:
        """Kill the server and remove its files."""
        self._process.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _ready(self) -> bool:
        with socket.create_connection((HOST, self._port), timeout=5):
            return True
