"""An S3 server on loopback with the files of the benchmarks in it; scripts about remote data share it.

The server takes part of the two cores, as nothing else does: ratios compare contenders that both go through it.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.servers.fault_proxy import Fault, FaultProxy
from tests.support.servers.seaweed import S3Server

PART_BYTES = 1 << 23


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket, and how to reach it; travels to child processes in a file, as it has a secret in it."""

    bucket: str
    options: dict[str, Any]

    def url(self, key: str) -> str:
        """Return the URL of a key."""
        return f"s3://{self.bucket}/{key}"

    def client(self) -> Any:
        """Return obstore's own client."""
        from obstore.store import S3Store

        return S3Store(self.bucket, **self.options)

    def configure(self) -> None:
        """Let tfrkit reach it."""
        from tfrkit.stores.object_config import configure_store

        configure_store(f"s3://{self.bucket}", **self.options)

    def save(self, path: Path) -> str:
        """Write it to a file that only this user can read; return the path."""
        path.touch(0o600)
        path.write_text(json.dumps(asdict(self)))
        return str(path)

    @classmethod
    def load(cls, path: str) -> Place:
        """Read it from such a file."""
        return cls(**json.loads(Path(path).read_text()))


@contextlib.contextmanager
def bucket_with(files: Sequence[Path], *, delay: float = 0.0) -> Iterator[tuple[str, str]]:
    """Serve files, by their names; yields the place as it is, and as seen with seconds added to each request.

    Both are the paths of files for `Place.load`.
    """
    with (
        S3Server() as server,
        FaultProxy(server.port, Fault("delay", seconds=delay)) as proxy,
        tempfile.TemporaryDirectory() as folder,
    ):
        place = Place(server.bucket(), server.options())
        client = place.client()
        for file in files:
            # Not in parts: the server compresses those, and would inflate a whole one for every range of it.
            client.put(file.name, file, use_multipart=False)
        slow = Place(place.bucket, server.options(endpoint=proxy.endpoint))
        yield place.save(Path(folder, "near.json")), slow.save(Path(folder, "far.json"))


@contextlib.contextmanager
def relayed(near: str) -> Iterator[str]:
    """Yield a place as seen through a relay that adds nothing but its own work, which takes a part of the cores."""
    place = Place.load(near)
    port = urlsplit(place.options["endpoint"]).port
    assert port is not None
    with FaultProxy(port) as proxy, tempfile.TemporaryDirectory() as folder:
        other = Place(place.bucket, place.options | {"endpoint": proxy.endpoint})
        yield other.save(Path(folder, "relayed.json"))


def fetch_raw(place: Place, keys: Sequence[str], at_once: int) -> int:
    """Fetch all bytes with obstore in ranges of 8 MiB, a number of them at once, and look at nothing."""
    from concurrent.futures import ThreadPoolExecutor

    client = place.client()
    ranges = [
        (key, at, min(size, at + PART_BYTES))
        for key in keys
        for size in [client.head(key)["size"]]
        for at in range(0, size, PART_BYTES)
    ]

    def fetch(wanted: tuple[str, int, int]) -> int:
        key, start, stop = wanted
        return len(client.get(key, options={"range": (start, stop)}).bytes())

    with ThreadPoolExecutor(at_once) as pool:
        return sum(pool.map(fetch, ranges))
