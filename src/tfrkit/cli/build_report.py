"""How a job's report and its plan are shown: a table for people, one JSON document for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tfrkit.cli.console import number_of, out, out_json, plain, say, table, with_options
from tfrkit.cli.progress import size_text, time_text
from tfrkit.records.record_names import parse_other_name

if TYPE_CHECKING:
    from tfrkit.build.job.column_report import ColumnReport
    from tfrkit.build.job.job import BuildReport, PlanSummary
    from tfrkit.records.manifest import ShardEntry

_SHOWN_BAD = 5
_SHOWN_GROUPS = 20
_SHOWN_COLUMNS = 20
_STATES = {
    "new": "nothing is there yet",
    "resume": "an interrupted run is continued",
    "complete": "everything is there already: nothing would be done",
}


def show_report(report: BuildReport, *, as_json: bool = False, quiet: bool = False) -> None:
    """Print what a job did: the summary or one JSON document to standard output, remarks to standard error."""
    from tfrkit.build.tables.float_range import BEYOND

    if as_json:
        out_json(report.to_dict())
        return
    rows = []
    for name, shards in _groups(report).items():
        records, size = sum(shard.records for shard in shards), sum(shard.bytes for shard in shards)
        rows.append((plain(name), f"{len(shards):,}", f"{records:,}", size_text(size)))
    _print(("files", "shards", "records", "size"), rows)
    if quiet:
        return
    for line in _table_lines(report):
        say(line)
    for found, what, done in ((report.bad, "bad input", "left out"), (report.noted, "input", "noted")):
        if found:
            say(f"{number_of(sum(found.values()), what)} {done}: {_reasons(found)}")
    for noted in [found for found in report.noted_listed if found.reason.startswith(BEYOND)][:_SHOWN_BAD]:
        say(f"  {plain(noted.shown)}")
    for bad in report.listed[:_SHOWN_BAD]:
        say(f"  {plain(bad.shown)}")
    if sum(report.bad.values()) > _SHOWN_BAD:
        say(f"  ... more in {report.folder}/report.json")
    if report.passed and not report.records:
        say(f"no record was chosen: {number_of(report.passed, 'record')} looked at")
    say(_ending(report))


def _table_lines(report: BuildReport) -> list[str]:
    """Return what is said of a table: its columns, odd ones among them, and what was not wanted."""
    lines = [f"columns: {_kinds(report.columns)}", *_remarks(report.columns)] if report.columns else []
    rows = report.passed if report.columns else 0
    left_out = ((report.files_left_out, "file", "--partition"), (rows, "row", "--where"))
    return lines + [f"{number_of(count, what)} left out by {by}" for count, what, by in left_out if count]


def _ending(report: BuildReport) -> str:
    total = len(report.shards)
    if report.resumed == total:
        return f"{report.folder}: everything was there already, nothing was written"
    again = f", {report.resumed} of {total} shards were there already" if report.resumed else ""
    rate = (
        f" ({size_text(report.input_bytes / report.seconds)}/s)" if report.seconds > 0 and not again else ""
    )
    return (
        f"{report.folder}: {size_text(report.input_bytes)} read in {time_text(report.seconds)}{rate}{again}"
    )


def _groups(report: BuildReport) -> dict[str, list[ShardEntry]]:
    """Put shards of one prefix together, under a pattern that matches them."""
    groups: dict[str, list[ShardEntry]] = {}
    for shard in report.shards:
        head, of, tail = shard.name.rpartition("-of-")
        prefix, dash, number = head.rpartition("-")
        numbered = of and dash and number.isdigit()
        title = f"{prefix}-*-of-{tail}" if numbered else shard.name
        if (other := parse_other_name(shard.name)) is not None:
            title = "-*".join(shard.name.rsplit(other[1], 1))
        groups.setdefault(title, []).append(shard)
    return groups


def _print(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    hidden = len(rows) - _SHOWN_GROUPS
    table(head, rows if hidden <= 0 else rows[:_SHOWN_GROUPS], numbers=range(1, len(head)))
    if hidden > 0:
        out(f"... and {hidden:,} more")


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{plain(reason)} ({number:,})" for reason, number in counts.items())


def _kinds(columns: Sequence[ColumnReport]) -> str:
    shown = ", ".join(f"{plain(column.feature)}: {column.kind}" for column in columns[:_SHOWN_COLUMNS])
    hidden = len(columns) - _SHOWN_COLUMNS
    return shown + (f" and {hidden:,} more" if hidden > 0 else "")


def _remarks(columns: Sequence[ColumnReport]) -> list[str]:
    """Return remarks about columns that are not what most of their values look like."""
    odd = [plain(column.remark) for column in columns if column.cause is not None]
    hidden = len(odd) - _SHOWN_COLUMNS
    return odd[:_SHOWN_COLUMNS] + ([f"{hidden:,} more such columns"] if hidden > 0 else [])


def show_plan(plan: PlanSummary, *, as_json: bool = False) -> None:
    """Print what a job would do (`--dry-run`): a table, or everything as one JSON document."""
    if as_json:
        out_json(plan.to_dict())
        return
    _print(("prefix", "shards"), [(plain(prefix), f"{number:,}") for prefix, number in plan.shards.items()])
    shuffled = f"yes, about {size_text(plan.temporary_bytes)} of temporary files" if plan.mixed else "no"
    left_out = number_of(plan.files_left_out, "file") if plan.files_left_out else ""
    facts = [
        ("folder", plan.folder),
        ("input", size_text(plan.input_bytes)),
        ("compression", plan.compression or "none"),
        ("shuffled", shuffled),
        ("further files", ", ".join(plan.files)),
        ("columns", _kinds(plan.columns)),
        *(("note", remark) for remark in _remarks(plan.columns)),
        ("left out by --partition", left_out),
        ("left out", _reasons(plan.bad)),
        ("noted", _reasons(plan.noted)),
    ]
    state = _STATES.get(plan.state, with_options(plan.refusal))
    if plan.state == "resume":
        state += f": {plan.finished} of {sum(plan.shards.values())} shards are there"
    for name, value in (*facts, ("state", state)):
        if value:
            out(f"{name}: {value}")
