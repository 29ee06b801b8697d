"""Options of pipelines in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.oracle.support.data_scenarios import TensorFlowSpace, agree, agree_on, ours, theirs
from tests.support.rules import tf_rule


def options(lib, **values):
    """Options of a library; a name such as `threading__x` is an attribute of a part."""
    made = lib.tf.data.Options() if isinstance(lib, TensorFlowSpace) else tfr.Options()
    for name, value in values.items():
        owner, _, attribute = name.rpartition("__")
        setattr(getattr(made, owner) if owner else made, attribute, value)
    return made


def seen(made):
    return [made.deterministic, made.threading.private_threadpool_size, made.autotune.enabled]


@tf_rule("5 options default")
def test_nothing_is_set():
    agree_on(lambda lib: seen(options(lib)), [None, None, None])
    agree_on(lambda lib: seen(lib.Dataset.range(2).options()), [None, None, None])
    agree_on(lambda lib: [int(options(lib).experimental_distribute.auto_shard_policy)], [0])


@tf_rule("5 options merge")
def test_later_ones_add_and_win():
    def case(lib):
        first = lib.Dataset.range(2).with_options(options(lib, deterministic=False, autotune__enabled=True))
        second = first.with_options(options(lib, deterministic=True, threading__private_threadpool_size=3))
        return [seen(first.options()), seen(second.options())]

    agree_on(case, [[False, None, True], [True, 3, True]])


@tf_rule("5 options merge")
def test_what_is_made_of_it_has_them():
    def case(lib):
        source = lib.Dataset.range(2).with_options(options(lib, deterministic=False))
        joined = lib.Dataset.zip(lib.Dataset.range(2), source.map(lambda x: x + 1)).batch(2)
        return seen(joined.options())

    agree_on(case, [False, None, None])


@tf_rule("5 options merge")
def test_elements_are_the_same():
    agree(
        lambda lib: (
            lib.Dataset.range(5)
            .with_options(options(lib, threading__private_threadpool_size=1))
            .map(lambda x: x + 1, num_parallel_calls=2)
        ),
        [1, 2, 3, 4, 5],
    )


def refusal(call):
    try:
        call()
    except (AttributeError, TypeError) as error:
        return type(error).__name__, str(error).split(". It has")[0].rstrip(".")
    return None


@tf_rule("5 options default")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("deterministik", True),
        ("deterministic", 1),
        ("threading__size", 1),
        ("threading__private_threadpool_size", "2"),
    ],
)
def test_a_wrong_name_or_type_is_refused(name, value):
    found = [refusal(lambda lib=lib: options(lib, **{name: value})) for lib in (theirs(), ours())]
    assert found[0] is not None
    assert found[0] == found[1]


@tf_rule("5 options merge")
def test_settings_of_tensorflow_are_kept():
    def case(lib):
        made = options(lib, experimental_slack=True, experimental_deterministic=False)
        kept = lib.Dataset.range(2).with_options(made).batch(2).options()
        return [kept.experimental_slack, kept.deterministic]

    agree_on(case, [True, False])


def test_options_of_another_type_are_refused():
    with pytest.raises(TypeError, match="expected Options but got dict"):
        tfr.Dataset.range(2).with_options({"deterministic": False})
