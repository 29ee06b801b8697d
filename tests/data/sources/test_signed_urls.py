"""Datasets of signed URLs: the signature is in no repr, state or error, and a state survives a new one."""

from __future__ import annotations

import io
import json
import pickle

import pytest

import tfrkit as tfr
from tfrkit.errors import OpError

SECRETS = ["s3cret0first", "s3cret1second"]


def records(count: int) -> bytes:
    made = io.BytesIO()
    with tfr.TFRecordWriter(made) as writer:
        writer.write_many([b"%d" % number for number in range(count)])
    return made.getvalue()


@pytest.mark.parametrize("kind", [tfr.TFRecordDataset, tfr.TextLineDataset])
@pytest.mark.parametrize("parallel", [None, 2])
def test_state_survives_a_new_signature(kind, parallel, http_server):
    names = ["a.tfrecord", "b.tfrecord"]
    for name in names:
        http_server.files[name] = records(50) if kind is tfr.TFRecordDataset else b"line\n" * 50
    before, after = (
        kind([f"{http_server.url}/{name}?sig={secret}" for name in names], num_parallel_reads=parallel)
        for secret in SECRETS
    )
    http_server.manners.signature = SECRETS[0]
    iterator = iter(before)
    for _ in range(30):
        next(iterator)
    state = json.loads(json.dumps(iterator.state()))
    rest = list(iterator)
    http_server.manners.signature = SECRETS[1]
    assert list(after.iter_from(state)) == rest
    shown = json.dumps(state) + repr(before) + repr(after) + str(iterator)
    assert "a.tfrecord" in shown
    assert not any(secret in shown for secret in SECRETS)
    again = pickle.loads(pickle.dumps(after))
    assert list(again.iter_from(state)) == rest


def test_error_has_no_signature(http_server):
    http_server.files["a.tfrecord"] = records(3)[:-2]
    for name in ("a.tfrecord", "none.tfrecord"):
        with pytest.raises(OpError, match=name) as caught:
            list(tfr.TFRecordDataset(f"{http_server.url}/{name}?sig={SECRETS[0]}"))
        assert SECRETS[0] not in str(caught.value) + repr(caught.value) + str(caught.value.path)
