r"""JSON as protobuf's C++ parser reads it: tokens, and errors with their place.

More is taken than RFC 8259 allows: single quotes, keys without quotes, a comma behind the last item, control characters
in strings. Places count characters, but not those of numbers, bare words and the digits of \u escapes; that is what
the messages of the original do, and so do these.
"""

from __future__ import annotations

import re
from typing import Final

from tfrkit.errors import InvalidArgumentError

__all__ = ["JsonLexer"]

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_WORD: Final = re.compile(r"[A-Za-z0-9_]*")
_NUMBER: Final = re.compile(r"-*(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?)?")
_PLAIN: Final = re.compile(r"[^\"'\\\udc80-\udcff]*")
_HEX: Final = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES: Final = {**dict(zip("bfnrt", "\b\f\n\r\t", strict=True)), **{char: char for char in "\"'\\/"}}
_NO_WORDS: Final = {"", "null", "true", "false"}
_STARTS: Final = frozenset("{[\"'-0123456789tfn")


class JsonLexer:
    """A cursor over one JSON text.

    Attributes:
        key_at: where the last key began.
        path: where in the message the cursor stands, for messages: a stack of (text, what it is).
    """

    def __init__(self, data: bytes, root: str) -> None:
        """Take UTF-8; `root` is the name of the message, for error texts. Broken UTF-8 is found where it is read."""
        self.text = data.decode("utf-8", "surrogateescape")
        self.at = 0
        self.key_at = 0
        self.path: list[tuple[str, str]] = []
        self._root = root
        self._lines = [0]  # where lines begin; a line break in a string begins none
        self._uncounted: list[tuple[int, int]] = []  # (position, characters) that places do not count

    def place(self) -> int:
        """The cursor as a mark for `error`."""
        return self.at

    def error(self, message: str, at: int | None = None) -> InvalidArgumentError:
        """Make the error for a position, by default that of the cursor."""
        at = self.at if at is None else at
        lines = [start for start in self._lines if start <= at]
        before = [(start, length) for start, length in self._uncounted if start < at]
        offset = at - sum(length for _, length in before)
        column = at - lines[-1] - sum(length for start, length in before if start >= lines[-1])
        where = f" @ {'.'.join(part for part, _ in self.path)}: {self.path[-1][1]}" if self.path else ""
        return InvalidArgumentError(
            f"Error while parsing JSON: invalid JSON in type.googleapis.com/{self._root}{where}, "
            f"near {len(lines)}:{column + 1} (offset {offset}): {message}"
        )

    def peek(self) -> str:
        """The next character that is no white space, without taking it.

        Raises:
            InvalidArgumentError: the text ends.
        """
        if not self.skip_space():
            raise InvalidArgumentError("Error while parsing JSON: unexpected EOF")
        return self.text[self.at]

    def skip_space(self) -> bool:
        """Skip white space; tell whether there is more."""
        start, self.at = self.at, _end(_SPACE, self.text, self.at)
        if self.at > start:
            self._lines += [start + found.end() for found in re.finditer("\n", self.text[start : self.at])]
        return self.at < len(self.text)

    def peek_value(self) -> str:
        """The first character of a value, which must be one that begins some value."""
        char = self.peek()
        if char not in _STARTS:
            raise self.error(f"unexpected character: '{char}'")
        return char

    def expect(self, token: str) -> None:
        """Take exactly this."""
        char = self.peek()
        found = self.text[self.at : self.at + len(token)]
        if found != token:
            if len(found) < len(token):
                raise InvalidArgumentError("Error while parsing JSON: unexpected EOF")
            raise self.error(f"unexpected character: '{char}'; expected '{token}'")
        self.at += len(token)

    def take_null(self) -> bool:
        """Take `null` if the next value begins like it."""
        if self.peek() != "n":
            return False
        self.expect("null")
        return True

    def more(self, closing: str) -> bool:
        """Behind an item: take a comma, or the closing bracket. Tell whether another item follows."""
        if not self.skip_space() or self.text[self.at] not in (closing, ","):
            raise self.error("expected ','")
        if self.text[self.at] == ",":
            self.at += 1
        return not self.take_if(closing)

    def take_if(self, char: str) -> bool:
        """Take this character if it is the next."""
        if self.peek() != char:
            return False
        self.at += 1
        return True

    def key(self) -> str:
        """Take the name of a member, quoted or a bare word."""
        quoted = self.peek() in "\"'"
        start = self.key_at = self.at
        if quoted:
            return self.string()
        word = self.text[start : _end(_WORD, self.text, start)]
        if word in _NO_WORDS or word[0].isdigit():
            raise self.error("expected bare word")
        self._leave_uncounted(len(word))
        return word

    def number(self) -> tuple[str, int]:
        """Take a number that is not quoted, as text, with its place."""
        start = self.at
        found = self.text[start : _end(_NUMBER, self.text, start)]
        digits = found.lstrip("-")
        if found == "-":
            raise self.error("expected a number")
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            raise self.error("number cannot have extraneous leading zero")
        if re.search(r"\.(?![0-9])", found):
            raise self.error("number cannot have trailing period")
        if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", found) or abs(float(found)) == float(
            "inf"
        ):
            raise self.error(f"invalid number: '{found}'")
        self._leave_uncounted(len(found))
        if self.skip_space() and self.text[self.at] not in ",]}":
            raise self.error(f"unexpected character: '{self.text[self.at]}'")
        return found, start

    def string(self) -> str:
        """Take a string in quotes."""
        char = self.peek()
        if char not in "\"'":
            raise self.error(f"unexpected character: '{char}'; expected '\"'")
        self.at += 1
        parts: list[str] = []
        while True:
            stop = _end(_PLAIN, self.text, self.at)
            parts.append(self.text[self.at : stop])
            self.at = stop
            if stop == len(self.text):
                raise InvalidArgumentError("Error while parsing JSON: unexpected EOF")
            found = self.text[stop]
            self.at += 1
            if found == char:
                return "".join(parts)
            if found == "\\":
                parts.append(self._escape())
            elif found in "\"'":
                parts.append(found)
            else:
                raise self.error("invalid UTF-8 in string")

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.skip_space():
            raise InvalidArgumentError(
                "Error while parsing JSON: extraneous characters after end of JSON object"
            )

    def _escape(self) -> str:
        if self.at == len(self.text):
            raise InvalidArgumentError("Error while parsing JSON: unexpected EOF")
        char = self.text[self.at]
        self.at += 1
        if char != "u":
            if char not in _ESCAPES:
                raise self.error(f"invalid escape char: '{char}'")
            return _ESCAPES[char]
        high = self._hex()
        if 0xDC00 <= high < 0xE000:
            raise self.error("unpaired low surrogate")
        if not 0xD800 <= high < 0xDC00:
            return chr(high)
        found = self.text[self.at : self.at + 2]
        if found != "\\u":
            raise self.error(f"unexpected character: '{found[:1]}'; expected '\\u'")
        self.at += 2
        low = self._hex()
        if not 0xDC00 <= low < 0xE000:
            raise self.error("invalid low surrogate")
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

    def _hex(self) -> int:
        digits = _HEX.match(self.text, self.at)
        if digits is None:
            if len(self.text) - self.at < 4:
                raise InvalidArgumentError("Error while parsing JSON: unexpected EOF")
            raise self.error("invalid Unicode escape")
        self._leave_uncounted(4)
        return int(digits[0], 16)

    def _leave_uncounted(self, length: int) -> None:
        self._uncounted.append((self.at, length))
        self.at += length


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
