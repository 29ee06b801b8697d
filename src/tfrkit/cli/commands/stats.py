"""`tfr stats`: what the values of records are, feature by feature."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Final

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import STDIN, opened, shard_files
from tfrkit.cli.console import UsageError, out, out_json
from tfrkit.cli.progress import progress_bar
from tfrkit.stores.files import file_sizes

_SAMPLE: Final = 1000  # records that are looked at for names that are close


def stats(
    paths: arg.ShardPathsOrStdin,
    keys: arg.Keys = None,
    count: Annotated[
        int | None,
        typer.Option(
            "-n", "--count", min=1, help="Only a sample of this many records, spread over the files."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=0, max=1000, help="How many of the most frequent values to list.")
    ] = 10,
    labels: Annotated[
        str | None, typer.Option("--label-map", metavar="FILE", help="Names of labels: line by line, from 0.")
    ] = None,
    as_json: arg.Json = False,
    on_corrupt: arg.OnCorrupt = "raise",
    threads: arg.Threads = None,
    quiet: arg.Quiet = False,
) -> None:
    """Count the values of all features, with histograms.

    How many there are, between which, which ones most often. With --key, quantiles and frequent values of these
    features too. Exact up to 100,000 different values of a feature; what is estimated beyond that is marked with ~.

    Example: tfr stats 'out/train-*.tfrecord' --key label --label-map out/labels.txt
    """
    from tfrkit.records.describe.stats import stats as count_values

    files = shard_files(paths, stdin=True)
    names = None if labels is None else _label_names(labels)
    total = sum(file_sizes(path for path in files if path != STDIN)) if count is None else 0
    with progress_bar("stats", total, quiet=quiet) as advance:
        found = count_values(
            opened(files),
            count,
            columns=keys,
            top=top,
            on_corrupt=on_corrupt,
            threads=threads,
            progress=_Advance(advance),
        )
    _check_keys(keys, found, files)
    if as_json:
        out_json(_with_names(found.to_dict(), names))
    else:
        blocks = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
        out(found.to_text(top=top, details=bool(keys), label_names=names, blocks=blocks))


class _Advance:
    """Turns totals into increments, for a progress bar."""

    def __init__(self, advance: Any) -> None:
        self._advance = advance
        self._done = 0

    def __call__(self, _records: int, data_bytes: int) -> None:
        self._advance(data_bytes - self._done)
        self._done = data_bytes


def _label_names(path: str) -> list[str]:
    from tfrkit.build.images.label_map import read_label_map

    return [name.decode(errors="surrogateescape") for name in read_label_map(path)]


def _check_keys(keys: list[str] | None, found: Any, files: list[str]) -> None:
    missing = [key for key in keys or () if key not in found.features and key not in found.feature_lists]
    if missing:
        from tfrkit.model.near_names import near_names
        from tfrkit.records.describe.inspect import inspect

        near = ""
        if STDIN not in files:
            schema = inspect(files, _SAMPLE, on_corrupt="skip")
            near = near_names(missing[0], sorted({*schema.features, *schema.feature_lists})) + " "
        raise UsageError(
            f"no record has the feature {missing[0]!r}",
            f"{near[:1].lower()}{near[1:]}`tfr schema` lists the features.",
        )


def _with_names(report: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """Add the names of labels to the frequent values of features that look like labels."""
    for feature in report["features"].values() if names is not None else ():
        for top in feature["kinds"].get("int64", {}).get("top", ()) if feature["labels"] else ():
            if 0 <= top["value"] < len(names or ()):
                top["name"] = (names or [])[top["value"]]
    return report
