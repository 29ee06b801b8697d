"""Saved states are a format: a state of version 3 resumes in every release that reads version 3.

How tfrkit is written may change in any way: where classes are, what they and their fields are called.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
import tfrkit.data.batch.batch
import tfrkit.data.stages.take
from tfrkit import tf
from tfrkit.data.engine.fingerprint import fingerprint
from tfrkit.data.stages.take import TakeNode
from tfrkit.data.verbs import batch_verbs, order_verbs

SPEC = {
    "a": tfr.FixedLenFeature([], "int64", 3),
    "b": tfr.VarLenFeature(np.float32),
    "c": tfr.RaggedFeature("bytes", "d", [tfr.RaggedFeature.RowSplits("e")]),
}


def many_verbs() -> dict[str, tfr.Dataset]:
    """Pipelines of verbs whose functions are Python's own: the code of others differs between versions of Python."""
    range_ = tfr.Dataset.range
    records = tfr.Dataset.from_tensor_slices([b"", b"x"]).parse(SPEC)
    images = tfr.Dataset.from_tensors({"i": b"", "n": 1})
    slices = tfr.Dataset.from_tensor_slices(({"k": [b"a", b"bc"]}, [1.5, 2.5]))
    return {
        "range": range_(2, 9, 3),
        "counter": tfr.Dataset.counter(5, 2).take(9).skip(1).shard(3, 1),
        "slices": slices.cache().prefetch(2).ignore_errors(),
        "generator": tfr.Dataset.from_generator(list, "int64", (2,)),
        "order": range_(9)
        .shuffle(4, seed=1)
        .repeat(2)
        .concatenate(range_(3))
        .enumerate()
        .assert_cardinality(21),
        "random": tfr.Dataset.random(7).unique(),
        "batches": range_(9).batch(2, drop_remainder=True).unbatch().padded_batch(3).rebatch([1, 2]),
        "ragged": range_(9).window(2, 1, 1, True).flat_map(abs).ragged_batch(4),
        "sparse": range_(9).sparse_batch(2, [None]).scan(np.int64(0), divmod),
        "functions": range_(9)
        .map(abs)
        .filter(bool)
        .take_while(bool)
        .map(abs, 3, False)
        .interleave(range, 2, 4),
        "groups": range_(9).group_by_window(int, max, 4).bucket_by_sequence_length(len, [3], [2, 3]),
        "choices": tfr.Dataset.choose_from_datasets([range_(3), range_(4)], range_(2), False),
        "samples": tfr.Dataset.sample_from_datasets([range_(3), range_(4)], [0.5, 0.5], seed=2),
        "zip": tfr.Dataset.zip({"a": range_(3), "b": (range_(4), range_(5))}),
        "options": range_(3).with_options(tfr.Options(deterministic=False)),
        "parse": records.select("b", "a").rename(a="z").cast(z="int32"),
        "sequence": tfr.Dataset.from_tensors(b"").parse_sequence({"a": SPEC["a"]}, {"b": SPEC["b"]}),
        "proto": tfr.Dataset.from_tensors(b"").parse_proto(
            tfr.Int64List, "tensorflow.Int64List", {"v": "value"}
        ),
        "images": images.decode_image("i", size=(2, 3), on_corrupt="skip")
        .resize("i", [4, 5])
        .normalize("i", 0.5),
        "more": images.decode_raw("i", "uint8", [None]).with_column("x", len).with_source(),
    }


# The fingerprint of every pipeline. These never change; a release that has to change one has version 4 of states.
FINGERPRINTS = {
    "range": "d8ecd9d38aedd865894001c4e36b20d6",
    "counter": "75063058a1ca051c11d4b8912b7aea0d",
    "slices": "57b1df54bf0750b65cca492c7f3545f9",
    "generator": "7894ba154cef2d9e7696699e0cb825c9",
    "order": "e0cb3d726fb6152d524a027c81a80ef7",
    "random": "d741199d4368795e626c4d152d3a9116",
    "batches": "0f24304e2f7e282018baae2da9385a16",
    "ragged": "d07d0022edc05997a40521fd06185621",
    "sparse": "c459f9699db9aca62e0c184af956bde4",
    "functions": "cf68f7b281df38428a6134b8b58d7481",
    "groups": "107e6c6a72869984e58614c6b7d0ba49",
    "choices": "bb5733ad35139e940fc96aeb9a83f7a9",
    "proto": "90080cc8d9647998f54cfd2a4443cc9c",
    "samples": "01004beb59ca1fcf73e93a103983fca8",
    "zip": "823673ba001ed1502245c1f77118f712",
    "options": "3dfba7c8d0f776345fe9313c0d841fda",
    "parse": "1916d1da348c15e44ebb535a77d33a37",
    "sequence": "36f4666b5a38e8ddacac810ff5bbe43d",
    "images": "cab87dfe37c1cb1f59370b67eb804673",
    "more": "8e51a8c899f4c5a6712377c1e1e6a85d",
}


@pytest.mark.parametrize("name", many_verbs())
def test_fingerprints_are_what_they_always_were(name: str) -> None:
    assert fingerprint(many_verbs()[name].node) == FINGERPRINTS[name]


def test_every_pipeline_has_a_fingerprint_of_its_own() -> None:
    assert len(set(FINGERPRINTS.values())) == len(many_verbs())


def write_records(path: str) -> str:
    """A file of numbered records."""
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"x" * number for number in range(20)])
    return path


def from_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tfr.Dataset:
    """A pipeline over a file, most of whose stages have something to say in a state."""
    monkeypatch.chdir(folder)  # labels have names of files
    records = tfr.TFRecordDataset(write_records("a.tfrecord"))
    return records.skip(1).shuffle(5, seed=3).map(len).repeat(2).batch(3).take(9)


# After two elements; from the first release that wrote version 3.
STATE = {
    "version": 3,
    "pipeline": "22fbc5d3d631e916bc6b963efdb39c62",
    "stages": [
        ["TFRecordDataset('a.tfrecord')", "771b28cabe6e9f36"],
        ["skip(1)", "2e3a8585646a6011"],
        ["shuffle(5)", "ef882a5d65bbac9d"],
        ["map(len)", "e17ea65848b8f19c"],
        ["repeat(2)", "147e510af6b67d48"],
        ["batch(3)", "6b1a0c1b8583f766"],
        ["take(9)", "013bed6cfcda6a57"],
    ],
    "files": {
        "count": 1,
        "all": "2334dc4735c920f7fccbce2a25e52e58",
        "each": [["a.tfrecord", [510, 1100015221]]],
    },
    "at": {
        "left": 7,
        "at": {
            "at": {
                "done": 0,
                "empty": False,
                "at": [
                    {
                        "at": {
                            "base": {
                                "seeds": [3534849767, 279844183],
                                "drawn": 0,
                                "generator": [87654321, 3, 1],
                                "epochs": [[0, {"left": 1, "at": [0, 0, 0]}, 0, 0, 0]],
                                "input": {"at": {"left": 1, "at": [0, 0, 0]}, "skip": 0},
                                "elements": None,
                                "capacity": None,
                            },
                            "outputs": 6,
                            "errors": 0,
                        },
                        "skip": 0,
                    }
                ],
                "seeds": [[87654321, 3, 1]],
            },
            "skip": 0,
        },
    },
    "skip": 0,
    "check": "48247b11b825c44f",
}


def test_a_state_of_the_first_release_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = from_files(tmp_path, monkeypatch)
    whole = [batch.tolist() for batch in dataset]
    resumed = from_files(tmp_path, monkeypatch).iter_from(json.loads(json.dumps(STATE)))
    assert [batch.tolist() for batch in resumed] == whole[2:]


def test_states_are_written_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    iterator = iter(from_files(tmp_path, monkeypatch))
    next(iterator), next(iterator)
    assert json.loads(json.dumps(iterator.state())) == STATE


def classes() -> Iterator[type]:
    """Every class of ours that is part of a pipeline."""
    for name, module in list(sys.modules.items()):
        if re.match(r"tfrkit\.(data|images|tf\.data|tf\.functions|model\.policy)\b", name):
            found = [each for each in vars(module).values() if isinstance(each, type)]
            yield from (each for each in found if each.__module__ == name)


NAMES = ("__module__", "__qualname__", "__name__")


@pytest.fixture
def everything_renamed() -> Iterator[Callable[[], None]]:
    """Give every class another name and another module, until the test is over."""
    found = {each: [getattr(each, name) for name in NAMES] for each in classes()}

    def rename() -> None:
        for number, each in enumerate(found):
            each.__module__, each.__qualname__, each.__name__ = (
                "tfrkit.elsewhere",
                f"C.C{number}",
                f"C{number}",
            )

    yield rename
    for each, names in found.items():
        each.__module__, each.__qualname__, each.__name__ = names


def test_states_resume_after_classes_are_renamed_and_modules_moved(
    everything_renamed: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything_renamed()
    assert TakeNode.__name__ != "TakeNode"
    assert {name: fingerprint(dataset.node) for name, dataset in many_verbs().items()} == FINGERPRINTS
    resumed = from_files(tmp_path, monkeypatch).iter_from(STATE)
    assert len(list(resumed)) == 7


def moved(
    module: ModuleType, name: str, names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    """The same module under another name, with other names in it."""
    source = inspect.getsource(module)
    for old, new in names.items():
        source = re.sub(rf"\b{old}\b", new, source)
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(source, name, "exec"), vars(made))
    return made


def test_a_state_resumes_where_a_stage_has_another_class_with_other_fields_in_another_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def make() -> tfr.Dataset:
        return tfr.Dataset.range(9).batch(2).take(4).skip(1)

    iterator = iter(make())
    assert next(iterator).tolist() == [2, 3]
    state = json.loads(json.dumps(iterator.state()))
    names = {"TakeNode": "FirstElements", "SkipNode": "LaterElements", "count": "number_of_elements"}
    take = moved(tfrkit.data.stages.take, "tfrkit.data.limits", names, monkeypatch)
    batch = moved(
        tfrkit.data.batch.batch, "tfrkit.data.rows", {"BatchNode": "Rows", "size": "height"}, monkeypatch
    )
    monkeypatch.setattr(order_verbs, "TakeNode", take.FirstElements)
    monkeypatch.setattr(order_verbs, "SkipNode", take.LaterElements)
    monkeypatch.setattr(batch_verbs, "BatchNode", batch.Rows)
    assert type(make().node).__qualname__ == "LaterElements"
    assert next(make().iter_from(state)).tolist() == [4, 5]


def test_functions_of_tfrkit_are_known_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(function: Any) -> str:
        return fingerprint(tfr.Dataset.from_tensors(b"").map(function).node)

    before = make(tfr.image.decode_jpeg), make(lambda x, parse=tfr.parse_example: parse(x, {}))
    for function in (tfr.image.decode_jpeg, tfr.parse_example):
        monkeypatch.setattr(function, "__module__", "tfrkit.elsewhere")
        monkeypatch.setattr(function, "__code__", (lambda *args, **options: 1).__code__)
    assert (make(tfr.image.decode_jpeg), make(lambda x, parse=tfr.parse_example: parse(x, {}))) == before
    assert make(tfr.image.decode_png) != before[0]


def test_functions_on_tensors_are_the_users() -> None:
    dataset = tf.data.Dataset.range(3)
    assert fingerprint(dataset.map(abs).node) == fingerprint(dataset.map(abs).node)
    assert fingerprint(dataset.map(lambda x: x + 1).node) != fingerprint(dataset.map(lambda x: x + 2).node)
    parsed = [
        tf.data.Dataset.from_tensors([b""]).apply(tf.data.experimental.parse_example_dataset({"a": spec}))
        for spec in (tf.io.VarLenFeature(tf.int64), tf.io.VarLenFeature(tf.float32))
    ]
    assert fingerprint(parsed[0].node) != fingerprint(parsed[1].node)
    functions = [tf.function(lambda x: x + 1), tf.function(lambda x: x + 2)]
    assert len({fingerprint(dataset.map(each).node) for each in functions}) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (tfr.VarLenFeature("int64"), tfr.VarLenFeature("float32")),
        (tfr.FixedLenFeature([1], "int64"), tfr.FixedLenSequenceFeature([1], "int64", allow_missing=True)),
        (tfr.FixedLenFeature([], "int64", 1), tfr.FixedLenFeature([], "int64", 2)),
    ],
)
def test_specs_are_told_apart(one: Any, other: Any) -> None:
    prints = [fingerprint(tfr.Dataset.from_tensors(b"").parse({"a": spec}).node) for spec in (one, other)]
    assert prints[0] != prints[1]


def test_a_dtype_is_the_same_however_it_is_written() -> None:
    specs = [tfr.FixedLenFeature([], dtype) for dtype in ("int64", np.int64, np.dtype("int64"), tf.int64)]
    assert len({fingerprint(tfr.Dataset.from_tensors(b"").parse({"a": spec}).node) for spec in specs}) == 1
