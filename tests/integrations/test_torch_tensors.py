"""Tensors of elements, without a pipeline: memory, types, offsets, streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.torch_tensors import TensorMaker, Transfer


def test_arrays_are_not_copied_unless_they_are_shared():
    make = TensorMaker("offsets")
    array = np.arange(1000)
    assert np.shares_memory(make(array).numpy(), array)
    array.flags.writeable = False
    assert not np.shares_memory(make(array).numpy(), array)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1], torch.float32),
        (np.arange(3, dtype=">i4"), torch.int32),
        (np.array([True, False]), torch.bool),
        (np.arange(3, dtype=np.uint16), torch.uint16),
        (np.float64(1.5), torch.float64),
        (np.ones(2, np.complex64), torch.complex64),
    ],
)
def test_odd_arrays_become_tensors(array, dtype):
    (tensor,) = tfr.torch.loader(tfr.Dataset.range(1).map(lambda _: array))
    assert tensor.dtype == dtype
    assert np.array_equal(tensor.numpy(), array)


def test_bfloat16_stays_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    make = TensorMaker("offsets")
    tensor = make(np.array([1.5, -2], ml_dtypes.bfloat16))
    assert (tensor.dtype, tensor.tolist()) == (torch.bfloat16, [1.5, -2.0])
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        one = np.array([1.5], getattr(ml_dtypes, name))[0]
        for value in (one, np.array(one), np.array([[one], [one]])[:, 0][::-1]):
            tensor = make(value)
            assert (tensor.dtype, tensor.shape) == (getattr(torch, name), np.shape(value))
            assert (tensor.float() == 1.5).all()


def test_deep_ragged_has_offsets_from_the_innermost_on():
    deep = tfr.Ragged.from_list([[[1], [2, 3]], []])
    make = TensorMaker("offsets")
    assert [part.tolist() for part in make(deep)] == [[1, 2, 3], [0, 1, 3], [0, 2, 2]]
    nested = TensorMaker("nested")
    with pytest.raises(
        InvalidArgumentError, match=r"one ragged dimension but the shape is \(2, None, None\)"
    ):
        nested(deep)


def test_cuda_copies_run_in_a_stream_that_the_consumer_waits_for(monkeypatch):
    calls: list[Any] = []

    class Stream:
        def __init__(self, name: Any) -> None:
            self.name = name

        def record_event(self) -> str:
            return "event"

        def wait_event(self, event: str) -> None:
            calls.append(("wait", self.name, event))

        def __enter__(self) -> None:
            calls.append("in stream")

        def __exit__(self, *_: object) -> None:
            calls.append("out")

    def note(name: str, result: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
        return lambda tensor, *args, **options: (calls.append((name, *map(str, args))), result(tensor))[1]

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream("current"))
    monkeypatch.setattr(torch.Tensor, "pin_memory", note("pin", torch.Tensor.clone))
    monkeypatch.setattr(torch.Tensor, "to", note("to", torch.Tensor.clone))
    monkeypatch.setattr(torch.Tensor, "record_stream", note("record", lambda tensor: None), raising=False)
    transfer = Transfer("cuda:0", pin=True)
    element, event = transfer.send({"x": torch.ones(2), "name": b"a"})
    assert transfer.receive(element, event)["x"].tolist() == [1, 1]
    assert calls[:4] == ["in stream", ("pin",), ("to", "cuda:0"), "out"]
    assert calls[4] == ("wait", "current", "event")
    assert calls[5][0] == "record"
