"""`python -m benchmarks [names...]`: make missing files, run the scripts, print tables and claims.

Tables and claims go to standard output, progress to standard error. The exit code is 1 if a script could not
run, never because something was slow.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import importlib.metadata
import json
import os
import platform
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tfrkit
from benchmarks import data
from benchmarks.harness import Claim, Report, Settings

NAMES = (
    "read_blocks", "read_records", "gzip_read", "gzip_write", "write_many", "encode_examples",
    "random_access", "memory", "compression_table", "import_time", "make_examples", "parse_examples",
    "parse_ragged", "parse_sequence", "parse_single", "parse_proto", "inspect", "scan", "pipelines_parse",
    "pipelines_shuffle", "pipelines_single", "pipelines_range", "pipelines_padded", "png", "resize",
    "images_seed", "images_decode", "images_large", "first_batch", "build_table", "build_images", "cli_start",
    "export_webdataset",
    "reshard", "stats", "diff", "viewer", "scan_sql", "remote_read", "remote_write", "remote_cache",
    "remote_take", "pipelines_filter", "pipelines_lists", "permutation", "lookup", "epochs", "epochs_remote",
    "training_torch", "training_grain", "tfds_folders", "ray_read_write", "spark_read_write",
    "core_rates", "rlds",
)  # fmt: skip
PACKAGES = (
    "tfrkit", "numpy", "protobuf", "isal", "zlib-ng", "zstandard", "tensorflow", "tensorflow-cpu",
    "google-crc32c",
    "tfrecord", "tfr-reader", "simplejpeg", "pillow", "obstore", "pyarrow", "duckdb", "polars", "grain",
    "array-record", "torch", "tensorflow-datasets", "ray", "pyspark", "starlette", "uvicorn",
    "webdataset",
)  # fmt: skip
BUSY_LOAD = 0.5


def _environment() -> dict[str, Any]:
    """What the numbers depend on."""
    cpu = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].split(":")[1].strip() if models else cpu
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": versions,
    }


def _print_environment(environment: dict[str, Any]) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in environment["packages"].items())
    print(f"{environment['cpu']}, {environment['cpus']} CPUs, {environment['system']}")
    print(f"Python {environment['python']}, {versions}", flush=True)
    if environment["load"] > BUSY_LOAD:
        print(f"# the machine is busy (load {environment['load']}): expect wrong numbers", file=sys.stderr)


def _print_claims(claims: list[Claim]) -> None:
    print("\n### All claims\n")
    for claim in claims:
        if claim.required is not None:
            print(claim)
    verdicts = [claim.verdict for claim in claims]
    print(f"\n{verdicts.count('PASS')} PASS, {verdicts.count('FAIL')} FAIL")


def main() -> int:
    """Run the chosen scripts, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"of {', '.join(NAMES)}; all if none is given"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the size of all data")
    parser.add_argument("--repeat", type=int, default=5, help="turns of each contender; the best one counts")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="also write everything measured to this file"
    )
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in NAMES]:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    settings = Settings(arguments.scale, arguments.repeat)
    # As an installed wheel is; an editable install need not be, and every start would compile it again.
    compileall.compile_dir(Path(tfrkit.__file__).parent, quiet=2)
    data.make(settings.scale)
    environment = _environment()
    _print_environment(environment)
    reports: list[Report] = []
    failed = []
    for name in arguments.names or NAMES:
        print(f"\n## {name}")
        try:
            reports.append(importlib.import_module(f"benchmarks.{name}").run(settings))
        except Exception:  # noqa: BLE001 - one script that cannot run must not take the others along
            traceback.print_exc()
            failed.append(name)
    if settings.scale != 1:
        print(f"\nThe claims are about scale 1; at {settings.scale:g} they show only that everything runs.")
    _print_claims([claim for report in reports for claim in report.claims])
    if failed:
        print(f"ERROR: could not run {', '.join(failed)}", file=sys.stderr)
    if arguments.json:
        content = {"environment": environment, "settings": asdict(settings), "failed": failed,
                   "reports": [asdict(report) for report in reports]}  # fmt: skip
        arguments.json.write_text(json.dumps(content, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
