"""Strings cut into words: split with its two separators, and TensorFlow 1's string_split."""

from __future__ import annotations

from typing import Any

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.strings.string_values import flat_strings, scalar_string, shape_text, strings_of, with_flat
from tfrkit.tf.ops.strings.strings import nest_words

__all__ = ["split", "split_v1", "string_split"]


def split(input: Any, sep: Any = None, maxsplit: int = -1) -> Any:
    """Cut strings into words.

    Args:
        input: strings.
        sep: the separator; by default any run of ASCII white space, which leaves no empty words.
        maxsplit: the largest number of cuts; no limit if negative.

    Returns:
        A column of words for one string, else a Ragged with one dimension more than the input.

    >>> split(["a b", "", "c  d "]).to_list()
    [[b'a', b'b'], [], [b'c', b'd']]
    >>> split("a,,b", sep=",").to_list()
    [b'a', b'', b'b']
    """
    if isinstance(input, Ragged):
        return with_flat(input, split(input.flat_values, sep, maxsplit))
    between = b"" if sep is None else scalar_string(sep, "sep must be a scalar, got shape: ")
    most = int(maxsplit)
    if type(input) is bytes:
        return BytesColumn.from_list(_words(input, between, most))
    column = strings_of(input)
    return nest_words([_words(text, between, most) for text in flat_strings(column)], column.shape)


def split_v1(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
) -> Any:
    """`split` as TensorFlow 1 has it: a Sparse of words unless `result_type` is "RaggedTensor".

    >>> split_v1(["a b", "c"]).dense_shape.tolist()
    [2, 2]
    """
    given = source if input is None else input
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor'. Got {result_type!r}.")
    if isinstance(given, Ragged):
        made: Ragged = split(given, sep, maxsplit)
    else:
        column = strings_of(given)
        made = split(column.reshape((1,)) if column.shape == () else column, sep, maxsplit)
    return made if result_type == "RaggedTensor" else made.to_sparse()


def string_split(
    source: Any = None,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    input: Any = None,
) -> Sparse | Ragged:
    """TensorFlow 1's string_split: every character of the delimiter separates, and `""` cuts into bytes.

    Raises:
        InvalidArgumentError: the input does not have exactly one dimension.

    >>> string_split(["a b", "c"]).values.to_list()
    [b'a', b'b', b'c']
    """
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor'. Got {result_type!r}.")
    column = strings_of(input if source is None else source)
    if len(column.shape) != 1:
        raise InvalidArgumentError(f"input must be a vector, got shape: {shape_text(column.shape)}")
    chosen = delimiter if sep is None else sep
    characters = b" " if chosen is None else scalar_string(chosen, "delimiter must be a scalar, got shape: ")
    made = nest_words([_pieces(text, characters, skip_empty) for text in column.to_list()], column.shape)
    assert isinstance(made, Ragged)  # there is a dimension
    return made if result_type == "RaggedTensor" else made.to_sparse()


def _words(text: bytes, between: bytes, most: int) -> list[bytes]:
    if between:
        return text.split(between, most)
    if most < 0 or not text.strip():
        return text.split() if most else [text]
    words = text.split(None, most) if most else [text]
    return [*words, b""] if len(words) == most else words  # what is left after so many cuts, be it nothing


def _pieces(text: bytes, characters: bytes, skip_empty: bool) -> list[bytes]:
    if not text:
        return []
    if not characters:
        return [text[at : at + 1] for at in range(len(text))]
    first = characters[:1]
    made = text.translate(bytes.maketrans(characters, first * len(characters))).split(first)
    return [piece for piece in made if piece] if skip_empty else made
