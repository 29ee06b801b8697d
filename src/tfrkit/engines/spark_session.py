"""The Spark session that jobs run in: the caller's, or one that is started for this process.

Spark itself comes with pyspark and needs Java. What cannot be started or reached is one sentence here, where Spark
would print pages, or wait for a minute.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tfrkit.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError
from tfrkit.optional import require
from tfrkit.redact import redact

__all__ = ["check_installed", "first_line", "listening_at", "spark_session"]

_MASTER_SECONDS: Final = 10.0  # that a master may take to answer; Spark itself tries for a minute
_MASTER_PORT: Final = 7077
_SHOWN: Final = 300  # characters of an error of Spark's
_APP: Final = "tfrkit"
_LOOPBACK: Final = "127.0.0.1"
_TRACEBACK: Final = "Traceback (most recent call last):"


def spark_session(feature: str, address: str | None = None, *, hive: bool = False) -> Any:
    """Return the active session, or start one.

    Args:
        feature: what the user asked for, to begin messages with.
        address: the master, such as "local[4]", "spark://host:7077" or "yarn"; by default the active session's, the one
            that Spark's own settings name, or all cores of this machine.
        hive: it must know the tables of Hive.

    Raises:
        MissingExtraError: pyspark is not installed.
        FailedPreconditionError: there is no Java.
        InvalidArgumentError: a session is active already, with another master, or without Hive.
        UnavailableError: no master answers at the address, or it does not accept this program.
    """
    sql = require("pyspark.sql", feature)
    if address is not None and address.startswith("sc://"):
        raise InvalidArgumentError(
            f"{redact(address)}: {feature} needs the master of the cluster, such as spark://host:7077, not a Spark "
            "Connect server, which runs no tasks of other programs."
        )
    active = _active(sql)
    if active is not None:
        _check_active(active, feature, address, hive)
        return active
    _check_java(feature)
    if address is not None:
        _check_master(address, feature)
    try:
        with _own_interrupts():
            session = _builder(sql, address, hive).getOrCreate()
    except Exception as error:
        where = f" at {redact(address)}" if address else ""
        raise UnavailableError(f"{feature}: Spark did not start{where}: {first_line(error)}") from error
    atexit.register(session.stop)
    return session


def listening_at(conf: Mapping[str, str]) -> tuple[str, str | None]:
    """Return where executors reach the driver, and where it listens for them; on no network if all are here. Pure."""
    if conf.get("spark.master", "").startswith("local"):
        return "127.0.0.1", None
    return conf.get("spark.driver.host", "127.0.0.1"), conf.get("spark.driver.bindAddress")


def first_line(error: BaseException) -> str:
    r"""Return what an error of Spark's says, without the stacks of the JVM and of Python's workers. Pure: no I/O.

    >>> first_line(ValueError("In a worker:\nTraceback (most recent call last):\n  File 'a.py'\nKeyError: 'b'\n"))
    "KeyError: 'b'"
    """
    text = str(error).strip()
    text = text.partition("Driver stacktrace:")[0].partition("\n\tat ")[0].strip() or type(error).__name__
    _, found, trace = text.rpartition(_TRACEBACK)  # the last one is of the error that was not handled
    raised = itertools.dropwhile(lambda line: not line or line[0].isspace(), trace.splitlines())
    text = ("\n".join(raised) if found else "") or text
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def check_installed(error: BaseException, name: str) -> None:
    """Raise what is to be said if the executors cannot import tfrkit."""
    if "No module named 'tfrkit" in str(error):
        raise FailedPreconditionError(
            f"{name}; the Python of Spark's executors has no tfrkit. Install it there with the same extras, or point "
            "PYSPARK_PYTHON (spark.pyspark.python) at one that has it."
        ) from error


def _active(sql: Any) -> Any:
    """Return the session of this thread or process, if it still runs."""
    session = sql.SparkSession.getActiveSession()
    if session is None:
        context = require("pyspark", "Spark").SparkContext
        if context._active_spark_context is None:  # noqa: SLF001  # there is no public way to ask without making one
            return None
        session = sql.SparkSession.builder.getOrCreate()
    return session


def _check_active(session: Any, feature: str, address: str | None, hive: bool) -> None:
    if "connect" in type(session).__module__.split("."):
        raise InvalidArgumentError(
            f"{feature} cannot run in a Spark Connect session, which runs no tasks of other programs. Run it in a "
            "program that has its own driver (spark-submit, or SparkSession.builder.master(...))."
        )
    master = session.sparkContext.master
    if address is not None and address != master:
        raise InvalidArgumentError(
            f"Expected the address of the Spark session that is active, {master!r}, but got {redact(address)!r}. Leave "
            "the address out, or stop the session first."
        )
    if hive and session.conf.get("spark.sql.catalogImplementation", "in-memory") != "hive":
        raise InvalidArgumentError(
            "The Spark session that is active does not know Hive's tables. Make it with "
            "SparkSession.builder.enableHiveSupport(), or stop it first."
        )


def _check_java(feature: str) -> None:
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started it
        return
    home = os.environ.get("JAVA_HOME")
    found = os.path.join(home, "bin", "java") if home else "java"
    if shutil.which(found) is None:
        where = f"JAVA_HOME is {home!r}, which has none" if home else "there is no command `java`"
        raise FailedPreconditionError(
            f"{feature} needs Java 17 or later, and {where}. Install it (such as the package openjdk-17-jre-headless), "
            "or set JAVA_HOME."
        )


def _check_master(address: str, feature: str) -> None:
    """Ask the masters of a standalone cluster whether one is there."""
    if not address.startswith("spark://"):
        return
    failed = ""
    for place in address.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            number = int(port) if host else _MASTER_PORT
            with socket.create_connection((host.strip("[]") or port, number), _MASTER_SECONDS):
                return
        except (OSError, ValueError) as error:
            failed = str(error)
    raise UnavailableError(
        f"{feature}: no Spark master answers at {redact(address)}: {failed}. Check the address (--address) and that "
        "the cluster runs."
    )


def _builder(sql: Any, address: str | None, hive: bool) -> Any:
    conf = require("pyspark", "Spark").SparkConf()
    master = address or conf.get("spark.master", None) or "local[*]"
    if master.startswith("local"):  # all on this machine, by this interpreter, on no other interface
        if conf.get("spark.pyspark.python", None) is None:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    builder = sql.SparkSession.builder.appName(conf.get("spark.app.name", None) or _APP).master(master)
    for name, value in _settings(master).items():
        if conf.get(name, None) is None:
            builder = builder.config(name, value)
    return builder.enableHiveSupport() if hive else builder


def _settings(master: str) -> Mapping[str, str]:
    """Return settings that no user has to think of. Pure: no I/O."""
    settings = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if master.startswith("local"):
        settings |= {
            "spark.driver.host": _LOOPBACK,
            "spark.driver.bindAddress": _LOOPBACK,
            "spark.ui.enabled": "false",
        }
    return settings


@contextlib.contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep what this program does at Ctrl-C: Spark would put a handler of its own in its place."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
