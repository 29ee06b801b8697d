"""Secrets appear nowhere: not in messages, tracebacks, logs, warnings, reprs, reports, manifests, journals or caches.

A program does many things with good and bad credentials and shows all that it can; then everything that it printed and
wrote is searched for the secrets.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.support.servers.fault_proxy import Fault
from tfrkit.stores.files import write_bytes

PROGRAM = Path(__file__).with_name("secrets_program.py")
EXPECTED = re.compile(r"\{'done': (\d+), 'failed': (\d+)\}")


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "source.tfrecord"
    with tfr.TFRecordWriter(str(path)) as writer:
        for number in range(3000):
            writer.write_example({"number": number, "text": f"text {number}"})
    return path.read_bytes()


@pytest.fixture
def search(tmp_path):
    """Run the program; return how many operations were done and failed. No secret may be found anywhere."""

    def search(places, hidden, environment=None):
        work = tmp_path / "work"
        work.mkdir()
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "always", str(PROGRAM)],
            cwd=work,
            env={
                **{
                    name: value
                    for name, value in os.environ.items()
                    if not name.startswith(("AWS_", "AZURE_"))
                },
                **(environment or {}),
                "PLACES": json.dumps(places),
                "TFRKIT_CACHE": str(work / "cache"),
                "TFR_DEBUG": "1",
                "PYTHONPATH": str(PROGRAM.parents[2]),
            },
            capture_output=True,
            timeout=600,
            check=False,
        )
        found = EXPECTED.search(done.stdout.decode())
        assert found, done.stderr.decode()[-3000:]
        written = {path.relative_to(work): path.read_bytes() for path in work.rglob("*") if path.is_file()}
        written |= {Path("stdout"): done.stdout, Path("stderr"): done.stderr}
        names = "\n".join(map(str, written))
        leaks = [
            f"{name}: ...{data[max(0, found.start() - 150) : found.start()]!r}"
            for name, data in written.items()
            for secret in hidden
            for found in re.finditer(re.escape(secret.encode()), data)
        ]
        assert not leaks, "\n".join(leaks[:30])
        assert not [secret for secret in hidden if secret in names]
        return int(found[1]), int(found[2])

    return search


def test_keys_of_s3(s3_server, s3_bucket, unique_prefix, records, search):
    good, wrong, token = s3_server.options(), secrets.token_hex(20), secrets.token_hex(30)
    tfr.configure_store(f"s3://{s3_bucket}", **good)
    for name in ("a.tfrecord", "b.tfrecord"):
        write_bytes(f"s3://{s3_bucket}/{unique_prefix}{name}", records)
    refused, expired = s3_server.bucket(), s3_server.bucket()
    folder = f"s3://{s3_bucket}/{unique_prefix}"
    done, failed = search(
        {
            "configure": {
                f"s3://{s3_bucket}": good,
                f"s3://{refused}": {**good, "secret_access_key": wrong},
                f"s3://{expired}": {**good, "session_token": token},
                "s3://no-such-bucket": good,
                "s3://odd-bucket": {**good, "no_such_option": wrong},
            },
            "urls": [
                [f"{folder}a.tfrecord", True],
                [f"{folder}missing.tfrecord", True],
                [f"s3://{refused}/a.tfrecord", True],
                [f"s3://{expired}/a.tfrecord", False],
                ["s3://no-such-bucket/a.tfrecord", False],
                ["s3://odd-bucket/a.tfrecord", False],
                [f"s3://me:{wrong}@{s3_bucket}/a.tfrecord", True],
            ],
            "changing": [f"{folder}b.tfrecord"],
        },
        [s3_server.secret, s3_server.key, wrong, token],
    )
    assert done > 60
    assert failed > 120


def test_signed_urls_and_passwords(http_server, fault_proxy, records, search):
    signature, password = secrets.token_hex(16), secrets.token_hex(12)
    http_server.manners.signature = signature
    for name in ("a.tfrecord", "a b.tfrecord", "loop.tfrecord"):
        http_server.files[name] = records
    http_server.manners.redirects["loop.tfrecord"] = f"/loop.tfrecord?sig={signature}"
    query = f"sig={signature}&X-Amz-Security-Token={password}"
    broken = fault_proxy(http_server.port, Fault("error", status=500)).endpoint
    short = fault_proxy(http_server.port, Fault("shrunk")).endpoint
    host = http_server.url.partition("://")[2]
    done, failed = search(
        {
            "configure": {},
            "urls": [
                [f"{http_server.url}/a.tfrecord?{query}", True],
                [f"{http_server.url}/a%20b.tfrecord?{query}", False],
                [f"{http_server.url}/missing.tfrecord?{query}", True],
                [f"{http_server.url}/a.tfrecord?sig={password}", True],
                [f"{http_server.url}/loop.tfrecord?{query}", False],
                [f"{broken}/a.tfrecord?{query}", False],
                [f"{short}/a.tfrecord?{query}", False],
                [f"http://127.0.0.1:9/a.tfrecord?{query}", False],
                [f"http://me:{password}@{host}/a.tfrecord", True],
                [f"ftp://me:{password}@127.0.0.1/a.tfrecord", False],
            ],
            "changing": [],
        },
        [signature, password],
    )
    assert done > 60
    assert failed > 150


def test_a_server_without_ranges(http_server, records, search):
    signature = secrets.token_hex(16)
    http_server.manners.signature = signature
    http_server.manners.ranges = False
    http_server.files["a.tfrecord"] = records
    done, failed = search(
        {"configure": {}, "urls": [[f"{http_server.url}/a.tfrecord?sig={signature}", True]], "changing": []},
        [signature],
    )
    assert done > 20
    assert failed > 5


def test_keys_of_azure_in_the_environment(azure_server, azure_container, unique_prefix, records, search):
    wrong = secrets.token_hex(24) + "=="
    tfr.configure_store(f"az://{azure_container}", **azure_server.options())
    write_bytes(f"az://{azure_container}/{unique_prefix}a.tfrecord", records)
    account = f"AccountName={azure_server.account};AccountKey={azure_server.key}"
    other = azure_server.container()
    done, failed = search(
        {
            "configure": {
                f"az://{other}": {**azure_server.options(), "account_key": wrong},
            },
            "urls": [
                [f"az://{azure_container}/{unique_prefix}a.tfrecord", True],
                [f"az://{other}/a.tfrecord", False],
            ],
            "changing": [],
        },
        [azure_server.key, wrong],
        {"AZURE_STORAGE_CONNECTION_STRING": f"{account};BlobEndpoint={azure_server.endpoint}"},
    )
    assert done > 30
    assert failed > 20
