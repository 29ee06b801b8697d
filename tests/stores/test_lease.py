"""Leases: one holder at a time, whatever dies, sleeps or comes at the same moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.support.servers.fault_proxy import Fault
from tests.support.weak_store import weak_url
from tfrkit.errors import AbortedError, UnavailableError
from tfrkit.stores import lease as module
from tfrkit.stores.files import is_there, read_version, write_bytes
from tfrkit.stores.json_file import json_line, parse_json
from tfrkit.stores.lease import Lease, held
from tfrkit.stores.object_config import configure_store
from tfrkit.stores.table import store_of

HOLD = """
import sys, time
from tfrkit.stores.lease import Lease
lease = Lease(sys.argv[1])
assert lease.acquire(wait=False)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture(params=["memory", "s3", "fsspec"])
def path(request, unique_prefix, tmp_path, monkeypatch):
    if request.param == "memory":
        return f"memory://{unique_prefix}lock"
    if request.param == "s3":
        return request.getfixturevalue("s3_folder") + "/.tfrkit/lock"
    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.3)
    return weak_url(tmp_path / "lock")


@pytest.fixture
def quick(monkeypatch):
    """Short times."""
    monkeypatch.setattr(module, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(module, "RENEW_SECONDS", 0.1)
    monkeypatch.setattr(module, "STALE_SECONDS", 2.0)


def content_of(path):
    found = read_version(path)  # which may be written at the same time
    assert found is not None
    return parse_json(found[0])


def is_free(path):
    """Whether the object says that nobody holds it; it is never removed, as that has no condition."""
    return content_of(path).get("free") is True and not Lease(path).is_held()


def take(lease, answers, wait=False):
    answers.append(lease.acquire(wait=wait))


def check_for_long(lease):
    for _ in range(100):
        lease.check()
        time.sleep(0.05)


def another_machine(**fields):
    """What a holder on another machine writes."""
    return json_line(
        {"token": "theirs", "count": 1, "machine": "another", "process": 1, "began": 1, **fields}
    )


def test_second_one_is_refused_until_the_first_lets_go(path):
    first, second = Lease(path), Lease(path)
    assert first.acquire(wait=False)
    began = time.monotonic()
    assert not second.acquire(wait=False)
    assert time.monotonic() - began < 2  # a holder on this machine is known to be alive
    first.check()
    first.release()
    assert is_free(path)
    assert second.acquire(wait=False)
    second.release()
    second.release()
    assert is_free(path)


def test_waiting_one_comes_next(path, quick):
    first, second = Lease(path), Lease(path)
    assert first.acquire(wait=True)
    answers: list[bool] = []
    thread = threading.Thread(target=take, args=(second, answers, True))
    thread.start()
    time.sleep(0.5)
    assert answers == []
    first.release()
    thread.join(20)
    assert answers == [True]
    second.release()


def test_block_holds_it(path):
    with held(path) as check:
        assert content_of(path)["process"] == os.getpid()
        check()
        assert not Lease(path).acquire(wait=False)
    assert is_free(path)


def test_of_many_newcomers_one_wins(path, quick):
    leases = [Lease(path) for _ in range(8)]
    answers: list[bool] = []
    threads = [threading.Thread(target=take, args=(lease, answers)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(answers) == [False] * 7 + [True]
    for lease in leases:
        lease.release()
    assert is_free(path)


def test_of_many_that_take_over_one_wins(path, quick):
    write_bytes(path, another_machine())
    leases = [Lease(path) for _ in range(6)]
    answers: list[bool] = []
    threads = [threading.Thread(target=take, args=(lease, answers)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(answers) == [False] * 5 + [True]
    for lease in leases:
        lease.release()


def test_it_is_renewed(path, quick):
    lease = Lease(path)
    assert lease.acquire(wait=False)
    first = content_of(path)
    deadline = time.monotonic() + 10
    while content_of(path)["count"] < first["count"] + 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    lease.check()
    lease.release()
    time.sleep(0.3)
    assert is_free(path)


def test_one_elsewhere_that_renews_is_alive(path, quick):
    write_bytes(path, another_machine())
    stop = threading.Event()

    def renew():
        count = 1
        while not stop.wait(0.3):
            count += 1
            write_bytes(path, another_machine(count=count))

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        assert not Lease(path).acquire(wait=False)
    finally:
        stop.set()
        thread.join()


def test_one_elsewhere_that_does_not_renew_is_dead(path, quick):
    write_bytes(path, another_machine())
    began = time.monotonic()
    lease = Lease(path)
    assert lease.acquire(wait=False)
    assert time.monotonic() - began >= 2.0
    lease.check()
    lease.release()


@pytest.mark.parametrize("content", [b"", b"no json", b"[]", b'{"process": "x"}', b"\xff"])
def test_object_of_any_content_goes_stale(content, quick, unique_prefix, monkeypatch):
    monkeypatch.setattr(module, "STALE_SECONDS", 0.3)
    path = f"memory://{unique_prefix}lock"
    write_bytes(path, content)
    lease = Lease(path)
    assert lease.acquire(wait=True)
    lease.release()


def test_holder_whose_lease_was_taken_finds_out(path, quick):
    lease = Lease(path)
    assert lease.acquire(wait=False)
    while not lease._lock.acquire(blocking=False):  # no renewal is under way
        pass
    try:
        write_bytes(path, another_machine())
    finally:
        lease._lock.release()
    with pytest.raises(AbortedError, match=r"another one has taken its work over\. Nothing more is written"):
        check_for_long(lease)
    lease.release()
    assert content_of(path)["token"] == "theirs"  # which is not removed


def test_holder_that_slept_asks_before_it_goes_on(path, monkeypatch):
    lease = Lease(path)
    assert lease.acquire(wait=False)  # it is not renewed by itself for 4 s
    write_bytes(path, another_machine())
    lease.check()  # it may rely on what it has just written
    monkeypatch.setattr(module, "STALE_SECONDS", 0.0)
    with pytest.raises(AbortedError, match="suspended"):
        lease.check()
    lease.release()
    assert content_of(path)["token"] == "theirs"


def test_it_may_be_removed_for_good(path):
    lease = Lease(path)
    assert lease.acquire(wait=False)
    lease.release(remove=True)
    lease.release()
    assert not is_there(path)


def test_removed_object_is_a_lost_lease(path, monkeypatch):
    lease = Lease(path)
    assert lease.acquire(wait=False)
    store_of(path).remove(path)
    monkeypatch.setattr(module, "STALE_SECONDS", 0.0)
    with pytest.raises(AbortedError):
        lease.check()
    lease.release()
    assert not is_there(path)


def test_renewal_whose_answer_was_lost_is_no_loss(unique_prefix, monkeypatch):
    path = f"memory://{unique_prefix}lock"
    lease = Lease(path)
    assert lease.acquire(wait=False)
    write = module.write_bytes

    def lose(path, data, *, expected=None):
        write(path, data, expected=expected)
        raise UnavailableError("gone")

    monkeypatch.setattr(module, "STALE_SECONDS", 0.0)
    monkeypatch.setattr(module, "write_bytes", lose)
    with pytest.raises(UnavailableError):
        lease.check()
    monkeypatch.setattr(module, "write_bytes", write)
    lease.check()
    lease.release()
    assert is_free(path)


def test_interrupted_acquire_leaves_nothing(unique_prefix, monkeypatch):
    path = f"memory://{unique_prefix}lock"
    write = module.write_bytes

    def interrupt(path, data, *, expected=None):
        write(path, data, expected=expected)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_bytes", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Lease(path).acquire(wait=True)
    assert is_free(path)


def test_what_this_process_has_forgotten_is_dead(unique_prefix):
    path = f"memory://{unique_prefix}lock"
    forgotten = Lease(path)
    write_bytes(path, forgotten._content())  # its acquire was cut off
    began = time.monotonic()
    lease = Lease(path)
    assert lease.acquire(wait=False)
    assert time.monotonic() - began < 1
    lease.release()


def test_without_another_thread_check_renews(unique_prefix, monkeypatch):
    path = f"memory://{unique_prefix}lock"
    monkeypatch.setattr(module, "spawn", lambda function, *args: function(*args))
    lease = Lease(path)
    assert lease.acquire(wait=False)
    monkeypatch.setattr(module, "STALE_SECONDS", 0.0)
    count = content_of(path)["count"]
    lease.check()
    assert content_of(path)["count"] == count + 1
    lease.release()


def test_forked_process_does_not_release_it(unique_prefix):
    path = f"memory://{unique_prefix}lock"
    lease = Lease(path)
    assert lease.acquire(wait=False)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        lease.check()
        lease.release()
        os.write(write, b"1" if is_there(path) else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"1"
    os.close(read)
    os.close(write)
    lease.release()


def hold_elsewhere(s3_server, path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        env={**os.environ, **s3_server.environment()},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_killed_holder_is_replaced_at_once(s3_server, s3_folder):
    path = f"{s3_folder}/lock"
    process = hold_elsewhere(s3_server, path)
    with process:
        assert not Lease(path).acquire(wait=False)
        process.kill()  # it stays a zombie: nobody has asked for its end
        began = time.monotonic()
        lease = Lease(path)
        while not lease.acquire(wait=False):
            assert time.monotonic() - began < 5
            time.sleep(0.05)
    found = read_version(path)
    assert found is not None
    assert parse_json(found[0])["process"] == os.getpid()
    lease.release()


def test_stopped_holder_finds_out_that_it_was_replaced(s3_server, s3_folder, quick, monkeypatch):
    path = f"{s3_folder}/lock"
    monkeypatch.setattr(module, "STUCK_SECONDS", 1.0)
    process = hold_elsewhere(s3_server, path)
    with process:
        os.kill(process.pid, signal.SIGSTOP)
        lease = Lease(path)
        assert lease.acquire(wait=True)
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(5)  # it would renew
        lease.check()
        lease.release()
        process.kill()


def test_one_holder_at_a_time_through_faults(s3_server, s3_bucket, s3_folder, fault_proxy, quick):
    """Answers that are lost: no request that is sent again takes anything from the next holder."""
    path = f"{s3_folder}/lock"
    proxy = fault_proxy(s3_server.port, Fault("cut", every=3), Fault("error", every=7, status=503))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    inside: list[int] = []
    most = []

    def hold(number):
        for _ in range(4):
            with held(path) as check:
                inside.append(number)
                most.append(len(inside))
                time.sleep(0.02)
                check()
                inside.remove(number)

    threads = [threading.Thread(target=hold, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert proxy.counts()["cut"] > 10
    assert most == [1] * 16
