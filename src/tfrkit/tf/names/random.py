"""Random numbers: TensorFlow's names in tf.random."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "random.fold_in random.experimental.stateless_fold_in": "values.random:fold_in",
    "random.normal compat.v1.random_normal": "values.random:normal",
    "random.shuffle compat.v1.random_shuffle": "values.random:shuffle",
    "random.split random.experimental.stateless_split": "values.random:split",
    "random.experimental.stateless_shuffle": "values.random:stateless_shuffle",
    "random.stateless_normal": "values.random:stateless_normal",
    "random.stateless_truncated_normal": "values.random:stateless_truncated_normal",
    "random.stateless_uniform": "values.random:stateless_uniform",
    "random.truncated_normal compat.v1.truncated_normal": "values.random:truncated_normal",
    "random.uniform compat.v1.random_uniform": "values.random:uniform",
    "compat.v1.random.set_random_seed compat.v1.set_random_seed": Raw("values.seeds:set_seed"),
    "random.Generator random.experimental.Generator": Raw("tf.ops.random.random_generator:Generator"),
    "random.get_global_generator random.experimental.get_global_generator": Raw(
        "tf.ops.random.random_generator:get_global_generator"
    ),
    "random.set_global_generator random.experimental.set_global_generator": Raw(
        "tf.ops.random.random_generator:set_global_generator"
    ),
}
