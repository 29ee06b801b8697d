from __future__ import annotations

import dataclasses

import pytest

from tfrkit import TENSORFLOW, TFRKIT, ReadPolicy


def test_tfrkit_is_safe_and_convenient():
    assert dataclasses.asdict(TFRKIT) == {
        "compression": "auto",
        "crc": True,
        "on_corrupt": "raise",
        "cut_tail": "error",
        "max_record_bytes": 4294967296,
        "globs": True,
        "tensorflow_containers": False,
        "missing_file_repeats": False,
        "wire": "protobuf",
        "checks_left_out": True,
        "exact_options": False,
        "cache": None,
        "makes_left_out": False,
    }


def test_tensorflow_differs_in_these_fields_only():
    theirs, ours = dataclasses.asdict(TENSORFLOW), dataclasses.asdict(TFRKIT)
    assert {name for name in ours if ours[name] != theirs[name]} == {
        "compression",
        "cut_tail",
        "max_record_bytes",
        "globs",
        "tensorflow_containers",
        "missing_file_repeats",
        "wire",
        "checks_left_out",
        "exact_options",
        "makes_left_out",
    }


def test_with_options_changes_what_is_not_none():
    changed = TFRKIT.with_options(crc=False, on_corrupt=None, compression="")
    assert changed == ReadPolicy(compression="", crc=False)


def test_a_policy_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TFRKIT.crc = False  # type: ignore[misc]


def test_unknown_on_corrupt_is_refused():
    with pytest.raises(ValueError, match=r"^expected on_corrupt to be one of .*'skip'.* but got 'ignore'$"):
        ReadPolicy(on_corrupt="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1])
def test_max_record_bytes_must_be_positive(limit):
    with pytest.raises(ValueError, match=f"^expected max_record_bytes to be positive but got {limit}$"):
        ReadPolicy(max_record_bytes=limit)


def test_a_misspelt_value_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"but got 'skp'\. Did you mean 'skip'\?$"):
        TFRKIT.with_options(on_corrupt="skp")
