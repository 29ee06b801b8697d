"""`tfr stats`: what the values of records are, feature by feature."""

from __future__ import annotations

import os
import sys
from typing import Any

from tfrkit.build.job.job_options import DamageOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import data_files, opened
from tfrkit.cli.console import UsageError, bad_usage, out, out_json
from tfrkit.cli.options import command
from tfrkit.cli.progress import reading_bar
from tfrkit.options import option, option_class
from tfrkit.records.describe.shown_values import LabelNames, label_names_of


@option_class
class StatsOptions(arg.KeyOptions, DamageOptions, arg.ThreadOptions, arg.PrintOptions, arg.SplitChoice):
    """The options of `tfr stats`."""

    count: int | None = option(
        None, "Only a sample of this many records, spread over the files.", "-n", "--count", least=1
    )
    top: int = option(10, "How many of the most frequent values to list.", least=0, most=1000)
    label_map: str | None = option(None, "Names of labels: line by line, from 0.", metavar="FILE")


@command("stats")
def stats(paths: arg.ShardPathsOrStdin, options: StatsOptions) -> None:
    """Count the values of all features, with histograms.

    How many there are, between which, which ones most often. With --key, quantiles and frequent values of these
    features too. Exact up to 100,000 different values of a feature; what is estimated beyond that is marked with ~.

    Example: tfr stats 'out/train-*.tfrecord' --key label --label-map out/labels.txt
    """
    from tfrkit.records.describe.stats import stats as count_values

    given = data_files(paths, stdin=True, split=options.split)
    files, keys = given.paths, options.keys
    names: LabelNames = given.class_names
    if options.label_map is not None:
        from tfrkit.build.images.label_map import read_label_map

        names = [os.fsdecode(name) for name in read_label_map(options.label_map)]
    total = files if options.count is None else ()
    advice = "`tfr schema` lists the features."
    with bad_usage("stats", advice), reading_bar("stats", total, quiet=options.quiet) as progress:
        found = count_values(
            opened(files),
            options.count,
            columns=keys,
            top=options.top,
            on_corrupt=options.on_corrupt,
            threads=options.threads,
            progress=progress,
        )
    missing = [key for key in keys or () if key not in found.features and key not in found.feature_lists]
    if missing:
        raise UsageError(
            f"no record of the sample has a feature {missing[0]!r}",
            "`tfr schema` lists the features; without -n, all records are looked at.",
        )
    if options.as_json:
        out_json(_with_names(found.to_dict(), names))
    else:
        blocks = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
        out(found.to_text(top=options.top, details=bool(keys), label_names=names, blocks=blocks))


def _with_names(report: dict[str, Any], given: LabelNames) -> dict[str, Any]:
    """Add the names of labels to the frequent values of features that look like labels."""
    for name, feature in report["features"].items():
        names = label_names_of(name, given, is_label=feature["labels"])
        for top in feature["kinds"].get("int64", {}).get("top", ()) if names else ():
            if 0 <= top["value"] < len(names):
                top["name"] = names[top["value"]]
    return report
