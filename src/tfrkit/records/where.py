"""Which records to take, by an expression on their features: `label == 3 and not broken`.

The language is small and safe: one feature is compared with literals, or asked for; `and`, `or`, `not` and parentheses
join that. Nothing is evaluated as Python.

    expression  = term { "or" term }
    term        = factor { "and" factor }
    factor      = "not" factor | "(" expression ")" | name [ operator literal | [ "not" ] "in" literals ]
    operator    = "==" | "!=" | "<" | "<=" | ">" | ">="
    literals    = "(" literal { "," literal } [ "," ] ")", or the same in brackets
    literal     = a number, or text in single or double quotes, with or without a b before them
    name        = letters, digits and _ / . : - (a letter or _ first), or anything between backticks
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.feature_columns import KIND_NAMES, UNSET, Cells, ScannedBlocks

__all__ = ["WhereChoice", "parse_where"]

Mask: TypeAlias = npt.NDArray[np.bool_]
Literal: TypeAlias = int | float | bytes

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
    | (?P<text>[bB]?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))
    | (?P<quoted>`[^`]+`)
    | (?P<operator>==|!=|<=|>=|<|>)
    | (?P<mark>[(),\[\]])
    | (?P<name>[^\W\d][\w/.:-]*)
    )""",
    re.VERBOSE | re.DOTALL,
)
_MAX_DEPTH: Final = 50
# Of other languages; names of features keep their case, and so do words.
_SPELLINGS: Final = {"=": "==", "&": "and", "|": "or", "and ": "and", "or ": "or", "in ": "in", "in(": "in"}
_INT64: Final = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class Present:
    """The record has the feature."""

    key: str

    def mask(self, columns: PredicateColumns) -> Mask:
        return columns.present(self.key)


@dataclass(frozen=True, slots=True)
class Compare:
    """Some value of the feature compares so; false if it has none."""

    key: str
    operator: str
    literal: Literal

    def mask(self, columns: PredicateColumns) -> Mask:
        return columns.compare(self.key, self.operator, self.literal)


@dataclass(frozen=True, slots=True)
class Not:
    """The other way round."""

    inner: Tree

    def mask(self, columns: PredicateColumns) -> Mask:
        return ~self.inner.mask(columns)


@dataclass(frozen=True, slots=True)
class All:
    """All of them hold."""

    parts: tuple[Tree, ...]

    def mask(self, columns: PredicateColumns) -> Mask:
        return np.asarray(np.logical_and.reduce([part.mask(columns) for part in self.parts]))


@dataclass(frozen=True, slots=True)
class Some:
    """One of them holds."""

    parts: tuple[Tree, ...]

    def mask(self, columns: PredicateColumns) -> Mask:
        return np.asarray(np.logical_or.reduce([part.mask(columns) for part in self.parts]))


Tree: TypeAlias = Present | Compare | Not | All | Some


@dataclass(frozen=True, slots=True)
class WhereChoice:
    """Records for which an expression holds.

    Attributes:
        text: the expression.
        tree: what it means.
        keys: the features in it.
        places: where each of them stands in the text for the first time, in characters counted from 0.
    """

    text: str
    tree: Tree
    keys: tuple[str, ...]
    places: tuple[int, ...] = ()

    def mask(self, first: int, block: Block) -> Mask:
        """Say it for the records of a block.

        Raises:
            InvalidArgumentError: a record is not an Example, or a feature is of another kind than its literal.
        """
        return self.tree.mask(_block_columns(block, self))

    def mask_of(self, cells: Mapping[str, Cells], rows: int) -> Mask:
        """Say it for rows of which the values are known; features that are not in `cells` are nowhere.

        The kinds must have been checked: see `mismatch`.
        """
        return self.tree.mask(PredicateColumns(cells, rows))

    def mismatch(self, kinds: Mapping[str, str]) -> tuple[str, str] | None:
        """Find a comparison of text with a feature of numbers, or the reverse: its key and what is wrong. Pure: no I/O.

        >>> parse_where("label > 'a'").mismatch({"label": "int64"})
        ('label', "expected to compare 'label' with a number but got text")
        """
        for found in _comparisons(self.tree):
            kind = kinds.get(found.key)
            if kind is not None and (kind == "bytes") != isinstance(found.literal, bytes):
                given = "text" if isinstance(found.literal, bytes) else f"the number {found.literal}"
                right = "text" if kind == "bytes" else "a number"
                return found.key, f"expected to compare {found.key!r} with {right} but got {given}"
        return None


def _comparisons(tree: Tree) -> Iterator[Compare]:
    match tree:
        case Compare():
            yield tree
        case Not(inner):
            yield from _comparisons(inner)
        case All(parts) | Some(parts):
            for part in parts:
                yield from _comparisons(part)


def parse_where(text: str) -> WhereChoice:
    """Read an expression. Pure: no I/O.

    Raises:
        InvalidArgumentError: it is not an expression; the text says where, and so does `at`.

    >>> parse_where("label in (3, 4) and not `is broken`").keys
    ('label', 'is broken')
    """
    parser = _Parser(text)
    tree = parser.expression(0)
    parser.expect_end()
    return WhereChoice(text, tree, tuple(parser.keys), tuple(parser.keys.values()))


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._kind = ""
        self._token = ""
        self._next_at = 0
        self.keys: dict[str, int] = {}  # features, and where each stands first
        self._advance()

    def expression(self, depth: int) -> Tree:
        parts = [self._term(depth)]
        while self._take("name", "or"):
            parts.append(self._term(depth))
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _term(self, depth: int) -> Tree:
        parts = [self._factor(depth)]
        while self._take("name", "and"):
            parts.append(self._factor(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _factor(self, depth: int) -> Tree:
        if depth > _MAX_DEPTH:
            raise self._error(f"at most {_MAX_DEPTH} levels of parentheses and `not`")
        if self._take("name", "not"):
            return Not(self._factor(depth + 1))
        if self._take("mark", "("):
            inner = self.expression(depth + 1)
            if not self._take("mark", ")"):
                raise self._error("a closing parenthesis")
            return inner
        key = self._name()
        if self._kind == "operator":
            operator = self._token
            self._advance()
            return Compare(key, operator, self._literal())
        excluded = self._take("name", "not")
        if self._take("name", "in"):
            found = Some(tuple(Compare(key, "==", literal) for literal in self._literals()))
            return Not(found) if excluded else found
        if excluded:
            raise self._error("`in` after `not`")
        return Present(key)

    def _name(self) -> str:
        quoted = self._kind == "quoted"
        if not quoted and (self._kind != "name" or self._token in ("and", "or", "not", "in")):
            first = ", which comes first as in `label > 3`," if self._kind in ("number", "text") else ""
            raise self._error(f"the name of a feature{first}")
        name = self._token[1:-1] if quoted else self._token
        self.keys.setdefault(name, self._at)
        self._advance()
        return name

    def _literals(self) -> list[Literal]:
        end = {"(": ")", "[": "]"}.get(self._token)
        if self._kind != "mark" or end is None:
            raise self._error("an opening parenthesis")
        self._advance()
        found = [self._literal()]
        while self._take("mark", ",") and self._token != end:
            found.append(self._literal())
        if not self._take("mark", end):
            raise self._error("a comma or a closing " + ("parenthesis" if end == ")" else "bracket"))
        return found

    def _literal(self) -> Literal:
        token = self._token
        value: Literal
        if self._kind == "number":
            value = int(token) if re.fullmatch(r"[+-]?[0-9_]+", token) else float(token)
        elif self._kind == "text":
            try:
                text: str | bytes = ast.literal_eval(token)
                value = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
            except (SyntaxError, ValueError) as error:
                raise self._error("text without broken escapes") from error
        else:
            raise self._error("a number, or text in quotes")
        self._advance()
        return value

    def _take(self, kind: str, token: str) -> bool:
        if (self._kind, self._token) != (kind, token):
            return False
        self._advance()
        return True

    def _advance(self) -> None:
        rest = self._text[self._next_at :]
        self._at = self._next_at + len(rest) - len(rest.lstrip())
        found = _TOKEN.match(self._text, self._next_at)
        if found is None:
            self._kind, self._token = ("end" if not rest.strip() else "none"), ""
            return
        self._kind = str(found.lastgroup)
        self._token = found[self._kind]
        self._next_at = found.end()

    def expect_end(self) -> None:
        if self._kind != "end":
            rest = self._text[self._at :].lower()
            spelt = (f"`{right}`" for wrong, right in _SPELLINGS.items() if rest.startswith(wrong))
            raise self._error(next(spelt, "`and`, `or` or the end"))

    def _error(self, expected: str) -> InvalidArgumentError:
        found = repr(self._text[self._at : self._at + 12]) if self._kind != "end" else "the end"
        error = InvalidArgumentError(
            f"Expected {expected} at character {self._at + 1} of {self._text!r} but got {found}. "
            "An expression looks like: label == 3 and not (name in ('a', 'b') or score < 0.5)."
        )
        error.at = self._at
        return error


class PredicateColumns:
    """The values of some features, by row."""

    def __init__(self, cells: Mapping[str, Cells], rows: int) -> None:
        self._cells = cells
        self._rows = rows

    def present(self, key: str) -> Mask:
        """Which records have the feature, with a kind; it may be empty."""
        cells = self._cells.get(key)
        return np.zeros(self._rows, np.bool_) if cells is None else cells.valid

    def compare(self, key: str, operator: str, literal: Literal) -> Mask:
        """In which records some value compares so."""
        cells = self._cells.get(key)
        if cells is None:
            return np.zeros(self._rows, np.bool_)
        holds = _compare_values(cells.rows.values, operator, literal)
        return holds if cells.single else _some_of_each(cells.rows, holds) & cells.valid


def _block_columns(block: Block, where: WhereChoice) -> PredicateColumns:
    """Parse the features of an expression, whatever kinds they have."""
    group = ScannedBlocks.of([block], where.keys)
    if group.other >= 0:
        raise group.not_an_example()
    kinds = {key: kind for key in where.keys if (kind := _kind(group, key)) is not None}
    wrong = where.mismatch({key: KIND_NAMES[kind] for key, kind in kinds.items()})
    if wrong is not None:
        key, text = wrong
        index = next(iter(group.features[key].values()))
        found = KIND_NAMES[kinds[key]]
        raise group.error(index, f"{text}: it is {found} in {group.where(index)}. Text stands in quotes.")
    parsed = group.parse(kinds, 0) if kinds else {}
    cells = {key: Cells(rows, np.asarray(states > UNSET)) for key, (rows, states) in parsed.items()}
    return PredicateColumns(cells, group.rows)


def _kind(group: ScannedBlocks, key: str) -> int | None:
    kinds = group.features.get(key, {})
    if len(kinds) > 1:
        (one, first), (other, second) = sorted(kinds.items(), key=lambda item: item[1])[:2]
        raise group.error(
            second,
            f"expected one kind for the feature {key!r} but it is {KIND_NAMES[one]} in {group.where(first)} and "
            f"{KIND_NAMES[other]} in {group.where(second)}. Such a feature cannot be compared.",
        )
    if not kinds and group.lists.get(key):
        index = min(group.lists[key].values())
        raise group.error(
            index,
            f"expected a feature but {key!r} is a feature list in {group.where(index)}. Only features and context "
            "features can be compared.",
        )
    return next(iter(kinds), None)


def _some_of_each(rows: Ragged, holds: Mask) -> Mask:
    """Tell for which rows one value holds."""
    before = np.concatenate([[0], np.cumsum(holds)])
    return np.asarray(before[rows.row_splits[1:]] > before[rows.row_splits[:-1]])


def _compare_values(values: Any, operator: str, literal: Literal) -> Mask:
    if isinstance(values, BytesColumn):
        assert isinstance(literal, bytes)
        return _compare_bytes(values, operator, literal)
    if values.dtype == np.float32:  # as the value would have been stored: 0.1 is equal to what 0.1 became
        with np.errstate(over="ignore"):
            return np.asarray(_OPERATORS[operator](values, np.float32(literal)))
    return _compare_ints(values, operator, literal)


def _compare_bytes(values: BytesColumn, operator: str, literal: bytes) -> Mask:
    """Compare whole columns by words of eight bytes, the second one only where the first is the literal's."""
    starts, lengths = np.asarray(values.offsets[:-1]), np.diff(values.offsets)
    order = np.sign(lengths - len(literal)).astype(np.int8)  # of values that begin as the literal, or are it
    open_rows = np.flatnonzero(order == 0) if operator in ("==", "!=") else np.arange(len(lengths))
    for at in range(0, len(literal), 8):
        word = int.from_bytes(literal[at : at + 8].ljust(8, b"\0"), "big")
        found = np.zeros(len(open_rows), np.uint64)
        for place in range(at, at + 8):
            found <<= np.uint64(8)
            inside = lengths[open_rows] > place
            found[inside] |= values.data[starts[open_rows[inside]] + place]
        order[open_rows[found < word]], order[open_rows[found > word]] = -1, 1
        open_rows = open_rows[found == word]
    return np.asarray(_OPERATORS[operator](order, 0))


def _compare_ints(values: Any, operator: str, literal: Any) -> Mask:
    """Compare int64 exactly: no value becomes a float, which has fewer digits."""
    if isinstance(literal, float):
        if math.isinf(literal):
            literal = 2**64 if literal > 0 else -(2**64)
        elif literal.is_integer():
            literal = int(literal)
        elif operator in ("==", "!="):
            return np.full(len(values), operator == "!=")
        else:  # between two integers
            up = operator in (">", ">=")
            literal, operator = (math.ceil(literal), ">=") if up else (math.floor(literal), "<=")
    if literal in _INT64:
        return np.asarray(_OPERATORS[operator](values, np.int64(literal)))
    return np.full(len(values), bool(_OPERATORS[operator](0, literal)))


_OPERATORS: Final[Mapping[str, Any]] = {
    "==": lambda value, other: value == other,
    "!=": lambda value, other: value != other,
    "<": lambda value, other: value < other,
    "<=": lambda value, other: value <= other,
    ">": lambda value, other: value > other,
    ">=": lambda value, other: value >= other,
}
