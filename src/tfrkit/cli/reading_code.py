"""A program that reads some files, from what was found in them. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tfrkit.cli.arguments import STDIN
from tfrkit.cli.console import BAD_DATA, CommandError, plain
from tfrkit.model.specs import FixedLenFeature, FixedLenSequenceFeature
from tfrkit.records.describe.schema_text import content_text

if TYPE_CHECKING:
    from tfrkit.model.specs import FeatureSpec
    from tfrkit.records.describe.schema import FeatureSummary, Schema

_EXAMPLES = """\
dataset = tfr.TFRecordDataset(files).parse(spec).batch(32)

for batch in dataset:
    print({name: column.shape for name, column in batch.items()})
    break
"""
_SEQUENCES = """\
dataset = tfr.TFRecordDataset(files).batch(32).parse_sequence(context_spec, sequence_spec)

for context, sequences, lengths in dataset:
    print({name: column.shape for name, column in {**context, **sequences}.items()})
    break
"""
_TF_EXAMPLES = """\
dataset = tf.data.TFRecordDataset(files{compression}).batch(32)
dataset = dataset.map(lambda records: tf.io.parse_example(records, spec), num_parallel_calls=tf.data.AUTOTUNE)

for batch in dataset:
    print({{name: column.shape for name, column in batch.items()}})
    break
"""
_TF_SEQUENCES = """\
dataset = tf.data.TFRecordDataset(files{compression}).batch(32)
dataset = dataset.map(
    lambda records: tf.io.parse_sequence_example(records, context_spec, sequence_spec),
    num_parallel_calls=tf.data.AUTOTUNE,
)

for context, sequences, lengths in dataset:
    print({{name: column.shape for name, column in {{**context, **sequences}}.items()}})
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
        raise CommandError("there are no records to read", "name files that have some.", exit_code=BAD_DATA)
    if schema.kind != "SequenceExample" and schema.sequence_examples:
        raise CommandError(
            "Examples and SequenceExamples are mixed, which no spec reads",
            "`tfr schema` without options says where they are.",
            exit_code=BAD_DATA,
        )
    if schema.others:
        schema.check()
    lines = ["import tensorflow as tf" if tensorflow else "import tfrkit as tfr", "", "files = ["]
    lines += [f"    {_quoted(STDIN if file == '<stdin>' else file)}," for file in schema.files]
    lines.append("]")
    if schema.sequence_examples:
        lines += _spec("context_spec", schema.context_spec, schema.features, tensorflow)
        lines += _spec("sequence_spec", schema.sequence_spec, schema.feature_lists, tensorflow)
        body = _TF_SEQUENCES if tensorflow else _SEQUENCES
    else:
        lines += _spec("spec", schema.spec, schema.features, tensorflow)
        body = _TF_EXAMPLES if tensorflow else _EXAMPLES
    if tensorflow:
        body = body.format(compression=f", compression_type={compression!r}" if compression else "")
    return "\n".join([*lines, body])


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
