from __future__ import annotations

import io

import pytest

from tfrkit.build.job.progress import Progress
from tfrkit.cli import progress as shown
from tfrkit.cli.progress import job_progress, progress_bar, progress_text, reading_bar, size_text, time_text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def now(done: int, **changes: object) -> Progress:
    values = {"total_bytes": 200, "records": 7, "bad": 0, "shards_done": 1, "shards": 4, "seconds": 2.0}
    return Progress(done, **{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_951, "1.0 MB"),
        (5e15, "5000.0 TB"),
    ],
)
def test_sizes_are_short(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (59.96, "1:00"), (3599.6, "1:00:00"), (90_000, "25:00:00")]
)
def test_times_are_short(seconds, text):
    assert time_text(seconds) == text


def test_line_without_progress_has_no_rate():
    assert progress_text(now(0)) == "0 B of 200 B, 1 of 4 shards, 7 records"


def test_rate_and_rest_do_not_count_what_was_there_already():
    text = progress_text(now(100, resumed_bytes=50))
    assert text == "100 B of 200 B, 25 B/s, 4.0 s left, 1 of 4 shards, 7 records"


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch, capsys):
    times = iter([0.0, 5.0, 10.0, 10.0, 11.0])
    monkeypatch.setattr(shown.time, "monotonic", lambda: next(times))
    with job_progress() as show:
        assert show is not None
        for done in (10, 20, 30):
            show(now(done))
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.startswith("20 B of 200 B, 10 B/s, 18.0 s left, 1 of 4 shards")


def test_quiet_shows_nothing():
    with job_progress(quiet=True) as show:
        assert show is None


@pytest.mark.parametrize(
    ("snapshot", "text"),
    [
        (now(100), " 50%\x1b[0m 100 B of 200 B, 50 B/s, 2.0 s left, 1 of 4 shards, 7 records"),
        (now(0, total_bytes=0), "100%\x1b[0m 0 B of 0 B, 1 of 4 shards, 7 records"),
    ],
)
def test_terminal_has_a_bar(snapshot, text, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with job_progress() as show:
        assert show is not None
        show(snapshot)
    assert text in terminal.getvalue()


def test_narrow_terminal_keeps_the_bar_on_one_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with job_progress() as show:
        assert show is not None
        show(now(100))
    assert " 50%\x1b[0m 100 B of 200 B, 50 B/s, 2.0 s …" in terminal.getvalue()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"files_done": 1, "files": 3}, "survey: 100 B of 200 B, 50 B/s, 2.0 s left, 1 of 3 files"),
        ({"total_bytes": 0, "files_done": 1200}, "survey: 100 B, 1,200 files"),
        ({"stage": "count"}, "count: 100 B of 200 B, 50 B/s, 2.0 s left"),
    ],
)
def test_survey_has_files_and_no_shards(changes, text):
    assert progress_text(now(100, **{"stage": "survey", **changes})) == text


def test_bar_of_a_survey_without_a_known_end_has_no_share(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with job_progress() as show:
        assert show is not None
        show(now(100, stage="survey", total_bytes=0, files_done=12))
    assert "survey: 100 B, 12 files" in terminal.getvalue()
    assert "100%" not in terminal.getvalue()


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal as standard error, on which every step is drawn."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("tfrkit.build.job.progress._TICK_SECONDS", 0)
    return terminal


def test_bar_of_a_command_has_the_bytes_of_its_files(monkeypatch, tmp_path):
    drawn = terminal_of(monkeypatch)
    (tmp_path / "a").write_bytes(bytes(150))
    (tmp_path / "b").write_bytes(bytes(50))
    with progress_bar("verify", total=[str(tmp_path / "a"), "-", object(), str(tmp_path / "b")]) as advance:
        advance(60)
        advance(40)
    assert " 50%\x1b[0m verify: 100 B of 200 B, " in drawn.getvalue()


def test_bar_of_a_command_may_count_files(monkeypatch):
    drawn = terminal_of(monkeypatch)
    with progress_bar("index", files=4) as advance:
        advance(1)
    assert " 25%\x1b[0m index: 1 of 4 files" in drawn.getvalue()


def test_bar_of_reading_takes_totals(monkeypatch, tmp_path):
    drawn = terminal_of(monkeypatch)
    (tmp_path / "a").write_bytes(bytes(200))
    with reading_bar("stats", [str(tmp_path / "a")]) as progress:
        progress(1, 40)
        progress(2, 150)
    assert " 75%\x1b[0m stats: 150 B of 200 B, " in drawn.getvalue()


def test_bar_is_not_drawn_if_quiet_or_elsewhere(monkeypatch):
    drawn = terminal_of(monkeypatch)
    with progress_bar("verify", files=4, quiet=True) as advance:
        advance(1)
    monkeypatch.setenv("NO_COLOR", "1")
    with progress_bar("verify", files=4) as advance:
        advance(1)
    assert drawn.getvalue() == ""
