"""Run many cases, show progress, and list what was found.

python -m fuzz.differential --cases 1000000 --seed 1     goes on where an interrupted run of this seed stopped
python -m fuzz.differential --seed 1 --case 123          one case, in this process
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz.differential.cases import make_case
from fuzz.differential.check import EXCEPTIONS, Checker
from fuzz.differential.shrink import reproducer
from fuzz.differential.worker import is_complete, run_all

FOLDER = Path("build") / "differential"
SECONDS_BETWEEN_LINES = 10.0
MAX_SHOWN = 40
MAX_TEXT = 2_000


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; return 1 if there are disagreements."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="at once (default: %(default)s)")
    parser.add_argument("--case", type=int, help="run this one only, and show it")
    parser.add_argument("--afresh", action="store_true", help="forget an earlier run of this seed")
    options = parser.parse_args(arguments)
    if options.case is not None:
        return _show_one(options.seed, options.case)
    FOLDER.mkdir(parents=True, exist_ok=True)
    journal = FOLDER / f"seed-{options.seed}-{options.cases}.jsonl"
    if options.afresh or is_complete(journal, options.cases):
        journal.unlink(missing_ok=True)
    return _run(options, journal)


def _run(options: argparse.Namespace, journal: Path) -> int:
    counts: Counter[str] = Counter()
    shapes: dict[str, list[dict[str, Any]]] = {}
    start = shown = time.monotonic()
    before = 0
    for more, found in run_all(options.seed, options.cases, options.processes, journal):
        counts.update(more)
        for one in found:
            if one["shape"] not in shapes:
                print(f"{one['says'][:MAX_TEXT]}\n{one['code'][:MAX_TEXT]}\n", flush=True)
            shapes.setdefault(one["shape"], []).append(one)
        now = time.monotonic()
        if now - start < 0.5:
            before = counts["cases"]  # from the journal
        if now - shown > SECONDS_BETWEEN_LINES:
            shown = now
            rate = (counts["cases"] - before) / (now - start)
            print(
                f"{counts['cases']:,} of {options.cases:,} cases, {rate:,.0f}/s, {_total(shapes)} disagreements",
                flush=True,
            )
    _summary(counts, shapes, time.monotonic() - start)
    return 1 if shapes else 0


def _total(shapes: dict[str, list[dict[str, Any]]]) -> int:
    return sum(map(len, shapes.values()))


def _summary(counts: Counter[str], shapes: dict[str, list[dict[str, Any]]], seconds: float) -> None:
    print(
        f"\n{counts.pop('cases', 0):,} cases, {seconds:.0f} s, {_total(shapes)} disagreements of {len(shapes)} kinds"
    )
    for name, count in sorted(counts.items(), key=lambda entry: -entry[1]):
        print(f"{count:>10,}  {name}" + (f": {EXCEPTIONS[name]}" if name in EXCEPTIONS else ""))
    for _shape, found in sorted(shapes.items(), key=lambda entry: -len(entry[1]))[:MAX_SHOWN]:
        smallest = min(found, key=lambda one: len(one["code"]))
        print(f"\n{len(found):,} x {smallest['says'][:MAX_TEXT]}\n{smallest['code'][:MAX_TEXT]}")


def _show_one(seed: int, number: int) -> int:
    case = make_case(seed, number)
    print(reproducer(case, seed, number))
    found = Checker().check(case)
    print("\n".join(found) or "no disagreement")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
