"""Tables from URLs: every format gives the bytes that it gives from local files."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import tfrkit as tfr
from tests.build.support.remote import local, stored, upload
from tests.support.servers.fault_proxy import Fault
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.build.tables.jsonl.jsonl import JsonlFormat
from tfrkit.build.tables.table_inputs import find_inputs
from tfrkit.build.tables.table_plan import TableRecipe
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.stores.files import write_bytes

ROWS = [{"label": n % 7, "text": f"word {n} é", "score": n / 8} for n in range(3000)]
NAMES = ("a b.{}", "ü%20.{}", "日本?.{}")
FAULTS = (Fault("cut", every=10), Fault("error", every=20))
Writer = Callable[[Path, list[dict[str, object]]], None]


def write_csv(path: Path, rows: list[dict[str, object]]) -> None:
    lines = ["label,text,score", *(",".join(map(str, row.values())) for row in rows)]
    path.write_bytes("\n".join(lines).encode() + b"\n")


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_array(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text(json.dumps(rows, indent=2))


def write_packed(pack: Callable[[bytes], bytes], write_plain: Writer = write_csv) -> Writer:
    def write(path: Path, rows: list[dict[str, object]]) -> None:
        write_plain(path, rows)
        path.write_bytes(pack(path.read_bytes()))

    return write


def write_parquet(path: Path, rows: list[dict[str, object]]) -> None:
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=700)


def write_stream(path: Path, rows: list[dict[str, object]]) -> None:
    table = pa.Table.from_pylist(rows)
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)


def write_feather(path: Path, rows: list[dict[str, object]]) -> None:
    feather.write_feather(pa.Table.from_pylist(rows), path, chunksize=500)


WRITERS: dict[str, Writer] = {
    "csv": write_csv,
    "csv.gz": write_packed(gzip.compress),
    "csv.bz2": write_packed(bz2.compress),
    "jsonl": write_jsonl,
    "jsonl.gz": write_packed(gzip.compress, write_jsonl),
    "json": write_array,
    "parquet": write_parquet,
    "arrows": write_stream,
    "feather": write_feather,
}


def write_all(folder: Path, suffix: str) -> Path:
    """Three files in folders of partitions, with names that are not easy."""
    for number, name in enumerate(NAMES):
        path = folder / f"dt=2024-01-0{number + 1}" / "city=S%C3%A3o" / name.format(suffix)
        path.parent.mkdir(parents=True)
        WRITERS[suffix](path, ROWS[number * 1000 : number * 1000 + 1000])
    (folder / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_gives_the_same_shards_as_from_local_files(suffix, tmp_path, remote):
    source = write_all(tmp_path / "in", suffix)
    expected = tfr.build.table(source, tmp_path / "local", shards=3)
    report = tfr.build.table(upload(source, remote), tmp_path / "out", shards=3)
    assert report.records == expected.records == 3000
    assert local(tmp_path / "out") == local(tmp_path / "local")
    assert tfr.to_dict(next(iter(tfr.read_records(tmp_path / "out" / "*.tfrecord"))))["city"] == [
        "São".encode()
    ]


def test_shards_for_each_input_have_the_same_names(tmp_path, memory):
    source = write_all(tmp_path / "in", "csv")
    tfr.build.table(source, tmp_path / "local", shards="per-input")
    tfr.build.table(upload(source, memory), tmp_path / "out", shards="per-input")
    assert local(tmp_path / "out") == local(tmp_path / "local")


def found(*inputs: str, base: str, **options: object) -> list[tuple[str, str]]:
    return [(file.path.removeprefix(base + "/"), file.name) for file in find_inputs(inputs, **options)]


@pytest.fixture
def tree(memory):
    for name in ("t/dt=1/a.csv", "t/dt=2/a.csv", "t/dt=2/_SUCCESS", "t/.x/b.csv", "t/c[1].csv", "u/a.csv"):
        write_bytes(f"{memory}/{name}", b"a\n1\n")
    write_bytes(f"{memory}/t/dt=1", b"")  # as some tools make of folders
    return memory


@pytest.mark.parametrize(
    ("given", "files"),
    [
        ("t", [("t/c[1].csv", "c[1].csv"), ("t/dt=1/a.csv", "dt=1/a.csv"), ("t/dt=2/a.csv", "dt=2/a.csv")]),
        ("t/dt=2/", [("t/dt=2/a.csv", "dt=2/a.csv")]),
        ("t/c[1].csv", [("t/c[1].csv", "c[1].csv")]),
        ("t/dt=*/*.csv", [("t/dt=1/a.csv", "dt=1/a.csv"), ("t/dt=2/a.csv", "dt=2/a.csv")]),
        ("**/dt=?/*", [("t/dt=1/a.csv", "dt=1/a.csv"), ("t/dt=2/a.csv", "dt=2/a.csv")]),
        ("*/dt=2", [("t/dt=2/a.csv", "dt=2/a.csv")]),
    ],
)
def test_inputs_behind_a_url(given, files, tree):
    assert found(f"{tree}/{given}", base=tree) == files


def test_what_is_not_behind_a_url_is_an_error(tree):
    for given, text in (("x.csv", "No such file or directory. Check"), ("x*", "No files matched pattern")):
        with pytest.raises(NotFoundError, match=text):
            find_inputs([f"{tree}/{given}"])


def test_names_of_different_buckets_are_told_apart(tree):
    write_bytes(f"{tree}-2/u/a.csv", b"a\n1\n")
    names = [name for _, name in found(f"{tree}/u/a.csv", f"{tree}-2/u/a.csv", base=tree)]
    assert names == [f"{url.removeprefix('memory://')}/u/a.csv" for url in (tree, f"{tree}-2")]


def test_input_given_twice_is_an_error(tree):
    with pytest.raises(InvalidArgumentError, match="given twice"):
        find_inputs([f"{tree}/u", f"{tree}/u/a.csv"])


def test_output_below_the_input_is_no_input(tree):
    write_bytes(f"{tree}/t/out/data.tfrecord", b"")
    assert len(find_inputs([f"{tree}/t"], out=f"{tree}/t/out/")) == 3
    with pytest.raises(InvalidArgumentError, match="this is the output folder, too"):
        find_inputs([f"{tree}/t"], out=f"{tree}/t")


def test_list_behind_a_url_names_what_is_below_it(tree):
    write_bytes(f"{tree}/list.txt", f"# of tables\nu/a.csv\n{tree}/t/dt=1/a.csv\n".encode())
    assert [path for path, _ in found(f"@{tree}/list.txt", base=tree)] == ["u/a.csv", "t/dt=1/a.csv"]


@pytest.mark.parametrize(
    "name", ["../a.csv", "/etc/passwd", "u/../../a.csv", "file:///etc/passwd", "@/etc/x"]
)
def test_list_behind_a_url_does_not_lead_out_of_its_folder(name, tree):
    write_bytes(f"{tree}/u/list.txt", name.encode())
    with pytest.raises(InvalidArgumentError, match=r"expected URLs and names below this list but got '[^']*"):
        find_inputs([f"@{tree}/u/list.txt"])


def test_object_that_changes_between_survey_and_reading_is_an_error(memory, tmp_path, monkeypatch):
    write_bytes(f"{memory}/a.jsonl", b'{"a": 1}\n')
    survey = JsonlFormat.survey

    def changed(self, file, reporter):
        seen = survey(self, file, reporter)
        write_bytes(f"{memory}/a.jsonl", b'{"a": 2}\n')
        return seen

    monkeypatch.setattr(JsonlFormat, "survey", changed)
    with pytest.raises(InputChangedError, match=r"a\.jsonl: this input has changed since the job began"):
        tfr.build.table(f"{memory}/a.jsonl", tmp_path / "out")
    assert not list(tmp_path.glob("out/*.tfrecord"))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "feather"])
def test_object_that_changes_while_it_is_read_is_an_error(suffix, bucket, tmp_path, monkeypatch):
    path = tmp_path / f"a.{suffix}"
    WRITERS[suffix](path, ROWS)
    write_bytes(f"{bucket}/{path.name}", path.read_bytes())
    blocks = TableRecipe.blocks

    def changed(self, reporter):
        write_bytes(f"{bucket}/{path.name}", path.read_bytes()[::-1])
        return blocks(self, reporter)

    monkeypatch.setattr(TableRecipe, "blocks", changed)
    with pytest.raises(InputChangedError, match=r"began: it changed while it was read: version .* now it is"):
        tfr.build.table(f"{bucket}/{path.name}", tmp_path / "out", shards=2)
    assert not list(tmp_path.glob("out/*.tfrecord"))


# What each needs: a look at it (a web server cannot list), the survey, the rows, and a look before it is published.
@pytest.mark.parametrize(
    ("suffix", "most"),
    [
        ("csv", 10),
        ("csv.gz", 8),
        ("jsonl", 6),
        ("jsonl.gz", 6),
        ("json", 7),
        ("parquet", 12),
        ("feather", 12),
    ],
)
def test_file_takes_few_requests(suffix, most, http_server, tmp_path):
    path = tmp_path / f"a.{suffix}"
    WRITERS[suffix](path, ROWS)
    http_server.files[path.name] = path.read_bytes()
    tfr.build.table(f"{http_server.url}/{path.name}", tmp_path / "out", shards=1)
    assert len(http_server.requests) <= most


@pytest.mark.parametrize("suffix", ["csv.gz", "jsonl", "parquet"])
def test_table_goes_from_bucket_to_bucket(suffix, tmp_path, bucket):
    source = write_all(tmp_path / "in", suffix)
    tfr.build.table(source, tmp_path / "local", shards=3, shuffle=True)
    upload(source, f"{bucket}/in")
    tfr.build.table(f"{bucket}/in", f"{bucket}/out", shards=3, shuffle=True)
    assert stored(f"{bucket}/out") == local(tmp_path / "local")


def test_table_goes_through_a_bad_connection(tmp_path, bucket, bad_connection):
    source = write_all(tmp_path / "in", "csv")
    tfr.build.table(source, tmp_path / "local", shards=3)
    upload(source, f"{bucket}/in")
    with bad_connection(*FAULTS):
        tfr.build.table(f"{bucket}/in", f"{bucket}/out", shards=3)
    assert stored(f"{bucket}/out") == local(tmp_path / "local")


def test_signed_urls_of_one_path_are_told_apart_and_their_queries_kept_secret(http_server, tmp_path):
    http_server.files["data.csv"] = b"a\n1\n"
    base = f"{http_server.url}/data.csv"
    report = tfr.build.table([f"{base}?sig=one", f"{base}?sig=two"], tmp_path / "out", shards="per-input")
    assert report.records == 2
    assert not any("sig" in name or b"sig=" in data for name, data in local(tmp_path / "out").items())
