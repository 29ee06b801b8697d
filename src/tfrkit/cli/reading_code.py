"""A program that reads some files, from what was found in them. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tfrkit.cli.arguments import STDIN
from tfrkit.cli.console import CommandError, plain
from tfrkit.model.specs import FixedLenFeature, FixedLenSequenceFeature
from tfrkit.records.describe.schema_text import content_text

if TYPE_CHECKING:
    from tfrkit.model.specs import FeatureSpec
    from tfrkit.records.describe.schema import FeatureSummary, Schema

# By whether it is for TensorFlow, and whether records are SequenceExamples.
_DATASETS = {
    (False, False): "dataset = tfr.TFRecordDataset(files).parse(spec).batch(32)",
    (
        False,
        True,
    ): "dataset = tfr.TFRecordDataset(files).batch(32).parse_sequence(context_spec, sequence_spec)",
    (True, False): """\
dataset = tf.data.TFRecordDataset(files{compression}).batch(32)
dataset = dataset.map(lambda records: tf.io.parse_example(records, spec), num_parallel_calls=tf.data.AUTOTUNE)""",
    (True, True): """\
dataset = tf.data.TFRecordDataset(files{compression}).batch(32)
dataset = dataset.map(
    lambda records: tf.io.parse_sequence_example(records, context_spec, sequence_spec),
    num_parallel_calls=tf.data.AUTOTUNE,
)""",
}
_LOOP = """
for {elements} in dataset:
    print({{name: column.shape for name, column in {columns}.items()}})
    break
"""


def reading_code(schema: Schema, *, tensorflow: bool, compression: str = "") -> str:
    """Return a program that reads the files of a schema.

    Args:
        schema: what was found in them.
        tensorflow: for TensorFlow instead of tfrkit.
        compression: of the files, which TensorFlow needs to know.

    Raises:
        InvalidArgumentError: not all records are Examples, or not all SequenceExamples.
        CommandError: there are no records.
    """
    if schema.kind == "none":
        raise CommandError("there are no records to read", "name files that have some.")
    if schema.kind != "SequenceExample" and schema.sequence_examples:
        raise CommandError(
            "Examples and SequenceExamples are mixed, which no spec reads",
            "`tfr schema` without options says where they are.",
        )
    if schema.others:
        schema.check()
    lines = ["import tensorflow as tf" if tensorflow else "import tfrkit as tfr", "", "files = ["]
    lines += [f"    {_quoted(STDIN if file == '<stdin>' else file)}," for file in schema.files]
    lines.append("]")
    sequences = bool(schema.sequence_examples)
    if sequences:
        lines += _spec("context_spec", schema.context_spec, schema.features, tensorflow)
        lines += _spec("sequence_spec", schema.sequence_spec, schema.feature_lists, tensorflow)
        loop = _LOOP.format(elements="context, sequences, lengths", columns="{**context, **sequences}")
    else:
        lines += _spec("spec", schema.spec, schema.features, tensorflow)
        loop = _LOOP.format(elements="batch", columns="batch")
    argument = f", compression_type={compression!r}" if compression else ""
    return "\n".join([*lines, _DATASETS[tensorflow, sequences].format(compression=argument), loop])


def _spec(
    name: str, spec: Mapping[str, FeatureSpec], found: Mapping[str, FeatureSummary], tensorflow: bool
) -> list[str]:
    lines = [f"{name} = {{"]
    for key, feature in spec.items():
        comment = plain(content_text(found[key]))
        lines.append(
            f"    {_quoted(key)}: {_feature(feature, tensorflow)}," + (f"  # {comment}" if comment else "")
        )
    return [*lines, "}"]


def _feature(feature: FeatureSpec, tensorflow: bool) -> str:
    kind = type(feature).__name__
    dtype = str(feature.dtype)
    if tensorflow:
        kind, dtype = f"tf.io.{kind}", "tf." + {"bytes": "string"}.get(dtype, dtype)
    else:
        kind, dtype = f"tfr.{kind}", _quoted(dtype)
    if isinstance(feature, FixedLenSequenceFeature):
        missing = ", allow_missing=True" if feature.allow_missing else ""
        return f"{kind}({list(feature.shape)}, {dtype}{missing})"
    if isinstance(feature, FixedLenFeature):
        return f"{kind}({list(feature.shape)}, {dtype})"
    return f"{kind}({dtype})"


def _quoted(text: str) -> str:
    """Return a text as Python writes it, in double quotes if it can be."""
    literal = repr(text)
    return literal if '"' in text or "'" in text else f'"{literal[1:-1]}"'
