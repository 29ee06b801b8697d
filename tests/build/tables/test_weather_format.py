"""A format that is added works in `build.table` and in the command, with nothing but its own file."""

from __future__ import annotations

import gzip
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.support.tables import build, content
from tests.build.tables.weather_format import WEATHER, WeatherFormat
from tfrkit.build.tables import line_runs
from tfrkit.build.tables.format_table import InputFormat, add_format, format_names, remove_format
from tfrkit.build.tables.table_format import InputFile, Survey
from tfrkit.cli.main import run
from tfrkit.errors import InvalidArgumentError

SOME = b"""# weather of two days
2024-01-01  -3.5 snow
2024-01-02       fog, then rain
"""
FOUND = [
    {"day": [b"2024-01-01"], "degrees": [-3.5], "sky": [b"snow"]},
    {"day": [b"2024-01-02"], "sky": [b"fog, then rain"]},
]
MANY = b"# weather\n" + b"".join(
    b"%04d-01-01%6.1f sky %d\n" % (year, year / 7, year) for year in range(1000, 5000)
)


@pytest.fixture(autouse=True)
def added():
    add_format(WEATHER)
    yield
    remove_format("weather")


@pytest.mark.parametrize("name", ["a.wx", "a.wx.gz", "b", "b.gz", "c.txt"])
def test_files_are_found_by_suffix_by_content_or_by_name(name, tmp_path):
    data = SOME if not name.startswith("c") else SOME.split(b"\n", 1)[1]
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    options = {"format": "weather"} if name.startswith("c") else {}
    found, report = build(tmp_path / name, tmp_path / "out", **options)
    assert found == FOUND
    assert not report.bad


@pytest.mark.parametrize(("name", "arguments"), [("a.wx", []), ("b", []), ("c.txt", ["--format", "weather"])])
def test_command_takes_it(name, arguments, tmp_path, capsys):
    (tmp_path / name).write_bytes(SOME)
    assert run(["build", "table", str(tmp_path / name), str(tmp_path / "out"), *arguments]) == 0
    assert "columns: day: bytes, degrees: float, sky: bytes" in capsys.readouterr().err
    assert run(["build", "table", str(tmp_path / name), str(tmp_path / "out"), "--format", "wether"]) == 2
    names = ", ".join(map(repr, format_names()))
    expected = f"Expected one of {names} for format (--format) but got 'wether'. Did you mean 'weather'?"
    assert expected in " ".join(capsys.readouterr().err.split())
    assert format_names()[-1] == "weather"


@pytest.mark.parametrize("name", ["a.wx", "a.wx.gz"])
def test_bytes_do_not_depend_on_the_number_of_workers(name, tmp_path, monkeypatch):
    monkeypatch.setattr(line_runs, "PIECE_BYTES", 10_000)
    (tmp_path / name).write_bytes(gzip.compress(MANY) if name.endswith(".gz") else MANY)
    made = []
    for workers in (1, 4):
        out = tmp_path / f"out-{workers}"
        report = tfr.build.table(tmp_path / name, out, shards=3, workers=workers)
        assert report.records == 4000
        made.append({path: data for path, data in content(out).items() if path.endswith(".tfrecord")})
    assert len(made[0]) == 3
    assert made[0] == made[1]


def test_bad_lines_are_reported(tmp_path):
    (tmp_path / "a.wx").write_bytes(SOME + b"2024-01-03\n\n2024-01-04  warm sun\n2024-01-05   1.5 \xff\n")
    found, report = build(tmp_path / "a.wx", tmp_path / "out")
    assert found == FOUND
    assert [bad.shown for bad in report.listed] == [
        "a.wx, line 4: line too short: expected at least 16 bytes but got 10",
        "a.wx, line 6: cannot be read: could not convert string to float: b'warm'",
        "a.wx, line 7: cannot be read: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    ]


def test_reader_pickles_and_has_the_options_of_its_format(tmp_path):
    reader = WEATHER.reader({}, 20)
    assert pickle.loads(pickle.dumps(reader)).max_field == 20
    (tmp_path / "a.wx").write_bytes(SOME)
    with pytest.raises(
        InvalidArgumentError,
        match=r"^names: this option is for delimited text, and the input is weather\. Leave it out\.$",
    ):
        build(tmp_path / "a.wx", tmp_path / "out", names=["a"])
    _, report = build(tmp_path / "a.wx", tmp_path / "out", max_field=25)
    assert [bad.shown for bad in report.listed] == ["a.wx, line 3: line longer than max_field: 31 bytes"]


def test_survey_without_a_fingerprint_gets_that_of_all_bytes(tmp_path):
    class Careless(WeatherFormat):
        def survey(self, file: InputFile, reporter: object) -> Survey:
            return replace(WeatherFormat.survey(self, file, reporter), fingerprint=None)

    (tmp_path / "a.wx").write_bytes(SOME)
    manifests = []
    for number, make in enumerate((WeatherFormat, Careless)):
        remove_format("weather")
        add_format(replace(WEATHER, make=make))
        tfr.build.table(tmp_path / "a.wx", tmp_path / str(number))
        manifests.append((tmp_path / str(number) / "manifest.json").read_bytes())
    assert manifests[0] == manifests[1]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, "there is one of that name"),
        ({"name": "Weather"}, "expected a name of small letters and digits"),
        ({"name": "w", "suffixes": (".csv",)}, "csv has the suffix .csv, too"),
        (
            {"name": "w", "suffixes": ("wx2",)},
            "expected suffixes such as .csv, in lower case and none of a compression, but got wx2",
        ),
        (
            {"name": "w", "suffixes": (".gz",)},
            "expected suffixes such as .csv, in lower case and none of a compression, but got .gz",
        ),
        ({"name": "w", "suffixes": (), "magic": (b"PAR",)}, "files of parquet begin with the same bytes"),
    ],
)
def test_format_that_is_not_its_own_is_refused(change, text):
    with pytest.raises(InvalidArgumentError) as caught:
        add_format(replace(WEATHER, **change))
    name = change.get("name", "weather")
    assert str(caught.value) == f"The format {name!r} cannot be added: {text}."


def test_built_in_formats_stay():
    before = format_names()
    remove_format("csv")
    assert format_names() == before
    assert isinstance(WEATHER, InputFormat)


def test_page_shows_this_format():
    root = Path(__file__).parents[3]
    code = (root / "tests/build/tables/weather_format.py").read_text("utf-8")
    assert f"```python\n{code}```\n" in (root / "docs/adding-a-format.md").read_text("utf-8")
