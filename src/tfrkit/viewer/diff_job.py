"""The job `diff`: what differs between two data sets, as `tfr diff` says it, with histograms of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tfrkit.records.compare.diff import diff_files
from tfrkit.records.compare.diff_options import CompareOptions
from tfrkit.records.compare.diff_report import DiffReport, FeatureDrift
from tfrkit.records.compare.overlay import Overlay, overlays
from tfrkit.records.describe.feature_statistics import FeatureStatistics
from tfrkit.records.describe.statistics import Statistics
from tfrkit.viewer.answers import plain_number
from tfrkit.viewer.feature_json import MOST_BYTES, feature_json
from tfrkit.viewer.job import BackgroundJob, Work
from tfrkit.viewer.record_pass import JobFiles

__all__ = ["comparison"]


def comparison(old: JobFiles, new: JobFiles, options: CompareOptions) -> Work:
    """Return the work of comparing two data sets; damage is passed over and counted."""
    total = None
    if old.records is not None and new.records is not None:
        total = (old.records + new.records) * (2 if options.compare == "all" else 1)

    def work(job: BackgroundJob) -> None:
        def progress(records: int, _: int) -> None:
            job.check()
            if job.is_due():
                share = None if not total else round(min(1.0, records / total), 4)
                job.publish(done=records, of=total, share=share)

        report = diff_files(
            old.paths, new.paths, options, progress, job.check, on_corrupt="skip", threads=None
        )
        job.publish(share=1.0, **_report(report))

    return work


def _report(report: DiffReport) -> dict[str, Any]:
    """Return what `tfr diff --json` says, with what the page draws of each feature instead of all that is known."""
    a, b = report.old_statistics, report.new_statistics
    found = {name: value for name, value in report.to_dict().items() if name != "drifts"}
    drifts: list[dict[str, Any]] = []
    room = MOST_BYTES
    drawn = {} if a is None or b is None else {is_list: overlays(a, b, is_list) for is_list in (False, True)}
    for drift in report.drifts:
        if room <= 0:
            break
        drifts.append(_drift(drift, a, b, drawn.get(drift.is_list, {}).get(drift.name, {})))
        room -= len(json.dumps(drifts[-1]))
    return {**found, "drifts": drifts, "drifts_left_out": len(report.drifts) - len(drifts)}


def _drift(
    drift: FeatureDrift, a: Statistics | None, b: Statistics | None, drawn: Mapping[str, Overlay]
) -> dict[str, Any]:
    return {
        "name": drift.name,
        "is_list": drift.is_list,
        "drift": drift.drift,
        "by": drift.by,
        "parts": dict(drift.parts),
        "old": _side(drift.old, drift.is_list, a),
        "new": _side(drift.new, drift.is_list, b),
        "overlay": {side: _overlay(each) for side, each in drawn.items()},
    }


def _side(feature: FeatureStatistics | None, is_list: bool, of: Statistics | None) -> dict[str, Any] | None:
    if feature is None or of is None:
        return None
    return feature_json(feature, is_list, of.examples + of.sequence_examples)


def _overlay(drawn: Overlay) -> dict[str, Any]:
    edges = [plain_number(edge) for edge in drawn.edges]
    return {"edges": edges, "old": list(drawn.old), "new": list(drawn.new)}
