"""tf.data: pipelines give the same elements, errors and descriptions."""

from __future__ import annotations

from typing import Any

from tests.oracle.tf_scenarios import same


def test_elements_are_tensors() -> None:
    same(lambda tf: list(tf.data.Dataset.range(5).map(lambda x: (x, {"a": x})).batch(2)))
    same(lambda tf: list(tf.data.Dataset.range(5).shuffle(3, seed=1).repeat(2).as_numpy_iterator()))


def test_cardinality_and_length() -> None:
    def case(tf: Any) -> Any:
        dataset = tf.data.Dataset.range(5).batch(2)
        return dataset.cardinality(), len(dataset), dataset.reduce(0, lambda count, _: count + 1)

    same(lambda tf: tf.data.Dataset.range(5).batch(2).cardinality())
    same(lambda tf: len(tf.data.Dataset.range(5).batch(2)))
    same(lambda tf: tf.data.Dataset.from_tensors(3).get_single_element())
