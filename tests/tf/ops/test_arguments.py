"""Operations with TensorFlow 1's arguments: order, old names, names that are dropped."""

from __future__ import annotations

import inspect

import pytest

from tfrkit.tf.ops.arguments import with_arguments


def modern(x, axis=None, keepdims=False):
    return x, axis, keepdims


old = with_arguments(modern, "x axis name dim keepdims", dim="axis")


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (lambda: old(1), (1, None, False)),
        (lambda: old(1, 2), (1, 2, False)),
        (lambda: old(1, 2, "sum"), (1, 2, False)),
        (lambda: old(1, None, "sum", 3, True), (1, 3, True)),
        (lambda: old(1, dim=3), (1, 3, False)),
        (lambda: old(1, axis=0, dim=3), (1, 0, False)),
        (lambda: old(1, name="sum", keepdims=True), (1, None, True)),
    ],
)
def test_arguments_reach_the_operation(call, found):
    assert call() == found


def test_a_name_that_is_not_in_the_order_is_refused():
    hidden = with_arguments(modern, "x axis")
    with pytest.raises(TypeError, match=r"modern\(\) got an unexpected keyword argument 'keepdims'"):
        hidden(1, keepdims=True)


def test_an_argument_cannot_be_given_twice():
    with pytest.raises(TypeError, match="multiple values for argument 'axis'"):
        old(1, 2, "sum", axis=3)


def test_the_signature_is_the_old_one():
    assert str(inspect.signature(old)) == "(x, axis=None, name=None, dim=None, keepdims=False)"
    assert old.__doc__ == modern.__doc__
