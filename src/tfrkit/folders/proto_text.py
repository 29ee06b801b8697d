r"""Protobuf's text format, as in schema.pbtxt and label_map.pbtxt, read without a description of the message. No I/O.

Fields are kept by name as they are written, so that those of newer versions do no harm. Bytes are hostile: nesting is
bounded, nothing recurses, and what is not of the format is an error that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from tfrkit.errors import DataLossError
from tfrkit.stores.json_file import shorten

__all__ = ["TextMessage", "parse_proto_text"]

_MAX_DEPTH: Final = 100  # of messages inside each other
_QUOTED: Final = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_STRING: Final = re.compile(_QUOTED)
_TOKEN: Final = re.compile(  # strings one after another are one
    rf"(?P<space>(?:\s+|#[^\n]*)+)|(?P<text>{_QUOTED}(?:\s*{_QUOTED})*)"
    r"|(?P<word>[A-Za-z0-9_.+-]+)|(?P<mark>[{}<>\[\]:;,])"
)
_EXTENSION: Final = re.compile(r"(?P<word>\[[A-Za-z0-9_./ -]+\])")  # in place of the name of a field
_ESCAPE: Final = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))"
)
_ESCAPED: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_CLOSING: Final = {"{": "}", "<": ">", "[": "]"}

_Value: TypeAlias = "str | TextMessage"


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


@dataclass(slots=True)
class TextMessage:
    """A message: the values of its fields, in order, each a text as it stands there or a message.

    Attributes:
        path: of the file, for messages.
        line: where it begins.
        fields: by name.
    """

    path: str
    line: int
    fields: dict[str, list[_Value]] = field(default_factory=dict)

    def error(self, text: str) -> DataLossError:
        """Return the error about this place."""
        return DataLossError(f"{self.path}, line {self.line}: {text}.", path=self.path)

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def messages(self, name: str) -> list[TextMessage]:
        """Return the messages of a field.

        Raises:
            DataLossError: it holds something else.
        """
        values = self.fields.get(name, [])
        found = [value for value in values if isinstance(value, TextMessage)]
        if len(found) < len(values):
            raise self.error(f"{name}: expected {{ ... }} but got a value")
        return found

    def message(self, name: str) -> TextMessage:
        """Return the message of a field; an empty one if it is not there."""
        return next(reversed(self.messages(name)), TextMessage(self.path, self.line))

    def texts(self, name: str) -> list[str]:
        """Return the values of a field as they are written, strings without their quotes.

        Raises:
            DataLossError: it holds messages.
        """
        values = self.fields.get(name, [])
        found = [value for value in values if isinstance(value, str)]
        if len(found) < len(values):
            raise self.error(f"{name}: expected a value but got {{ ... }}")
        return found

    def text(self, name: str, default: str = "") -> str:
        """Return the value of a field."""
        return next(reversed(self.texts(name)), default)

    def number(self, name: str, default: int = 0) -> int:
        """Return the integer of a field.

        Raises:
            DataLossError: it is no integer of 64 bits.
        """
        text = self.text(name, str(default))
        try:
            found = int(text, 0) if len(text) < 32 else None
        except ValueError:
            found = None
        if found is None or not -(1 << 63) <= found < 1 << 63:
            raise self.error(f"{name}: expected an integer but got {shorten(text)}")
        return found

    def decimal(self, name: str, default: float = 0.0) -> float:
        """Return the number of a field.

        Raises:
            DataLossError: it is none.
        """
        text = self.text(name, str(default))
        try:
            return float(text.removesuffix("f"))
        except ValueError:
            raise self.error(f"{name}: expected a number but got {shorten(text)}") from None


def parse_proto_text(data: bytes, path: str) -> TextMessage:
    r"""Return the message that a text is.

    Raises:
        DataLossError: it is not of the format.

    >>> found = parse_proto_text(b'item { id: 1 name: "c\\303\\240t" } # one', "map.pbtxt")
    >>> found.messages("item")[0].number("id"), found.message("item").text("name")
    (1, 'càt')
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DataLossError(
            f"{path}; expected text but got: {error}. Copy the file again.", path=path
        ) from None
    return _Parser(path, text).parse()


class _Parser:
    """A stack of open messages and lists; the name whose value comes next, if there is one."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self._open: list[tuple[str, str]] = []  # brackets, and the names of fields whose values are in them
        self._messages = [TextMessage(path, 1)]
        self._name = ""

    def parse(self) -> TextMessage:
        last = _Token("space", "", 1)
        for token in self._tokens():
            if token.kind == "text":
                self._take_text(token, last)
            elif token.kind == "word":
                self._take_word(token, last)
            else:
                self._take_mark(token, last)
            last = token
        if self._name or self._open:
            raise self._error(last.line, "the end of the text is within a message")
        return self._messages[0]

    def _tokens(self) -> Iterator[_Token]:
        at, line = 0, 1
        while at < len(self._text):
            named = self._name or self._in_list
            found = (None if named else _EXTENSION.match(self._text, at)) or _TOKEN.match(self._text, at)
            if found is None:
                raise self._error(line, f"there is {shorten(self._text[at : at + 20])}")
            kind = found.lastgroup or ""
            if kind != "space":
                yield _Token(kind, found[0], line)
            line += found[0].count("\n")
            at = found.end()

    def _error(self, line: int, text: str) -> DataLossError:
        return DataLossError(
            f"{self._path}, line {line}: expected protobuf's text format, but {text}. Copy the file again.",
            path=self._path,
        )

    @property
    def _in_list(self) -> bool:
        return bool(self._open) and self._open[-1][0] == "["

    def _take_text(self, token: _Token, last: _Token) -> None:
        if last.text != ":" and not self._in_list:
            raise self._error(token.line, f"there is {shorten(token.text)} without the name of a field")
        self._add("".join(_unescaped(part[1:-1]) for part in _STRING.findall(token.text)))

    def _take_word(self, token: _Token, last: _Token) -> None:
        if last.text == ":" or self._in_list:
            self._add(token.text)
        elif self._name:
            raise self._error(token.line, f"the field {shorten(self._name)} has no value")
        else:
            self._name = token.text

    def _take_mark(self, token: _Token, last: _Token) -> None:
        mark = token.text
        if mark in "{<" and (self._name or self._in_list):
            self._begin(token)
        elif mark == "[" and self._name and not self._in_list:
            self._push(token)
        elif self._open and mark == _CLOSING[self._open[-1][0]] and (mark == "]" or not self._name):
            opened, _ = self._open.pop()
            if opened == "[":
                self._name = ""
            else:
                self._messages.pop()
        elif not (last.kind == "word" if mark == ":" and self._name else mark in ",;" and not self._name):
            raise self._error(token.line, f"there is {mark!r}")

    def _begin(self, token: _Token) -> None:
        message = TextMessage(self._path, token.line)
        self._add(message)
        self._push(token)
        self._messages.append(message)

    def _push(self, token: _Token) -> None:
        if len(self._open) >= _MAX_DEPTH:
            raise self._error(token.line, f"there are more than {_MAX_DEPTH} messages inside each other")
        self._open.append((token.text, self._name))

    def _add(self, value: _Value) -> None:
        name = self._open[-1][1] if self._in_list else self._name
        self._messages[-1].fields.setdefault(name, []).append(value)
        self._name = ""


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def value(found: re.Match[bytes]) -> bytes:
        octal, two, four, eight, letter = found.groups()
        if octal:
            return bytes([int(octal, 8) & 0xFF])
        if two:
            return bytes([int(two, 16)])
        if four or eight:
            number = int(four or eight, 16)
            return chr(number).encode(errors="replace") if number < 0x110000 else b"?"
        return _ESCAPED.get(letter, letter)

    return _ESCAPE.sub(value, text.encode()).decode(errors="replace")
