r"""RE2's regular expressions written in the syntax of Python's `re`, so that both mean the same.

RE2 takes strings as UTF-8, `\w` and kin as ASCII, `$` as the very end, and refuses what it cannot do in linear time
(look-around, back references, possessive repetition); so does this, with RE2's texts. Bytes that are no UTF-8 become
lone surrogates, which nothing but themselves matches. Not known here: `\C` and scripts (`\p{Greek}`), which raise
UnimplementedError. Python's `re` tries alternatives one by one: unlike RE2's, its time is not always linear.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from typing import Final

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.tf.ops.strings.regex_class import PERL, POSIX, Ranges, category, complement, spell

__all__ = ["compile_re2"]

_MOST: Final = 1000  # repetitions
_COUNTED: Final = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII)
_FLAGS: Final = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])")
_NAMED: Final = re.compile(r"\(\?P<(\w+)>")
_POSIX: Final = re.compile(r"\[:(\^?)(\w*):\]")
_CONTROL: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_WORD: Final = "[0-9A-Z_a-z]"
_EMPTY: Final = {
    "A": r"(?:\A)",
    "z": r"(?:\Z)",
    "b": f"(?:(?<!{_WORD})(?={_WORD})|(?<={_WORD})(?!{_WORD}))",
    "B": f"(?:(?<!{_WORD})(?!{_WORD})|(?<={_WORD})(?={_WORD}))",
}


@functools.lru_cache(maxsize=512)
def compile_re2(pattern: bytes) -> re.Pattern[str]:
    r"""Compile an expression of RE2, to be matched with text that was decoded with "surrogateescape".

    Raises:
        InvalidArgumentError: it is none; the text is TensorFlow's.
        UnimplementedError: it uses what is not known here.

    >>> compile_re2(rb"(?i)a\d+\z").fullmatch("A12").group()
    'A12'
    """
    try:
        text = pattern.decode()
    except UnicodeDecodeError:
        shown = pattern.decode("utf-8", "backslashreplace")
        raise InvalidArgumentError(f"Invalid pattern: {shown}, error: invalid UTF-8") from None
    try:
        return re.compile(_Translator(text).translate())
    except re.error as error:
        raise UnimplementedError(f"the pattern {text} is not known here: {error}") from None


@dataclass(frozen=True, slots=True)
class _Flags:
    """What `(?imsU)` switch on."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


@dataclass(slots=True)
class _Translator:
    """Goes through an expression once, writing it anew.

    Attributes:
        pattern: the expression.
        at: the next character of it.
        made: what was written, atom by atom.
        stack: the flags outside of the groups that are open.
        repeatable: whether there is something a repetition could refer to.
        repeated: where the repetition began that stands directly before.
    """

    pattern: str
    at: int = 0
    made: list[str] = field(default_factory=list)
    flags: _Flags = _Flags()
    stack: list[_Flags] = field(default_factory=list)
    repeatable: bool = False
    repeated: int | None = None

    def translate(self) -> str:
        """The expression for Python."""
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            counted = _COUNTED.match(self.pattern, self.at) if char == "{" else None
            if char in "*+?" or counted:
                self._repeat(counted)
                continue
            self.repeated = None
            if char == "(":
                self._open()
            elif char == ")":
                self._close()
            elif char == "|":
                self._put("|", repeatable=False)
            else:
                self._atom(char)
        if self.stack:
            raise self._wrong("missing )", self.pattern)
        return "".join(self.made)

    def _put(self, text: str, width: int = 1, *, repeatable: bool = True) -> None:
        self.made.append(text)
        self.at += width
        self.repeatable = repeatable

    def _wrong(self, what: str, where: str) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"Invalid pattern: {self.pattern}, error: {what}" + (f": {where}" if where else "")
        )

    def _repeat(self, counted: re.Match[str] | None) -> None:
        start = self.at
        text = counted.group() if counted else self.pattern[start]
        self.at += len(text)
        lazy = self.pattern.startswith("?", self.at)
        self.at += lazy
        whole = self.pattern[start : self.at]
        if self.repeated is not None:
            raise self._wrong("bad repetition operator", self.pattern[self.repeated : self.at])
        if not self.repeatable:
            raise self._wrong("no argument for repetition operator", whole)
        if counted:
            least = int(counted[1])
            most = least if counted[2] is None else int(counted[3]) if counted[3] else -1
            if least > _MOST or most > _MOST or 0 <= most < least:
                raise self._wrong("invalid repetition size", text)
        self.made.append(text + ("?" if lazy != self.flags.U else ""))
        self.repeated = start

    def _open(self) -> None:
        rest = self.pattern[self.at :]
        if not rest.startswith("(?"):
            self.stack.append(self.flags)
            self._put("(", repeatable=False)
            return
        if rest.startswith("(?P<") and len(rest) > 4:
            self._open_named()
            return
        found = _FLAGS.match(self.pattern, self.at)
        if not found or (found[3] == ":" and found[2] == "-"):
            raise self._wrong(*self._bad_group(rest))
        changed = self.flags
        for number, names in enumerate((found[1], (found[2] or "-")[1:])):
            changed = replace(changed, **dict.fromkeys(names, number == 0))
        if found[3] == ":":
            self.stack.append(self.flags)
            self.flags = changed
            self._put("(?:", len(found[0]), repeatable=False)
        else:
            self.flags = changed
            self.at += len(found[0])

    def _open_named(self) -> None:
        found = _NAMED.match(self.pattern, self.at)
        if not found:
            end = self.pattern.find(">", self.at)
            raise self._wrong(
                "invalid named capture group", self.pattern[self.at : end + 1 or len(self.pattern)]
            )
        self.stack.append(self.flags)
        self._put("(", len(found[0]), repeatable=False)

    def _bad_group(self, rest: str) -> tuple[str, str]:
        at = 2
        while at < len(rest) and rest[at] in "imsU-":
            at += 1
        return "invalid perl operator", rest[: at + 1]

    def _close(self) -> None:
        if not self.stack:
            raise self._wrong("unexpected )", self.pattern)
        self.flags = self.stack.pop()
        self._put(")")

    def _atom(self, char: str) -> None:
        if char == ".":
            self._put(spell((() if self.flags.s else ((10, 10),)), negated=True))
        elif char == "^":
            self._put("(?m:^)" if self.flags.m else r"(?:\A)")
        elif char == "$":
            self._put("(?m:$)" if self.flags.m else r"(?:\Z)")
        elif char == "[":
            self._class()
        elif char == "\\":
            self._escape()
        else:
            self._literal(char)

    def _literal(self, char: str, width: int = 1) -> None:
        self._put(self._folded(re.escape(char)), width)

    def _folded(self, text: str) -> str:
        return f"(?i:{text})" if self.flags.i else text

    def _escape(self) -> None:
        follows = self.pattern[self.at + 1 : self.at + 2]
        if follows == "Q":
            end = self.pattern.find("\\E", self.at + 2)
            stop = len(self.pattern) if end < 0 else end
            quoted = self.pattern[self.at + 2 : stop]
            for char in quoted:
                self._literal(char, 0)
            self.at = stop if end < 0 else end + 2
        elif follows in _EMPTY and follows:
            self._put(_EMPTY[follows], 2)
        elif follows == "C":
            raise UnimplementedError(f"\\C in the pattern {self.pattern} is not known here: use (?s:.)")
        elif (ranges := self._shorthand()) is not None:
            self._put(self._folded(spell(ranges)) if follows in "pP" else spell(ranges), 0)
        else:
            self._literal(chr(self._code()), 0)

    def _shorthand(self) -> Ranges | None:
        r"""What `\d`, `\pL` and kin at this place mean, and go past it; None if there is none."""
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter and letter.lower() in PERL:
            self.at += 2
            found = PERL[letter.lower()]
            return complement(found) if letter.isupper() else found
        if not letter or letter not in "pP":
            return None
        start = self.at
        name = self.pattern[start + 2 : start + 3]
        self.at = start + 3
        if name == "{":
            end = self.pattern.find("}", start)
            if end < 0:
                raise self._wrong("invalid character class range", self.pattern[start:])
            name = self.pattern[start + 3 : end]
            self.at = end + 1
        runs = category(name)
        if runs is None:
            raise self._wrong("invalid character class range", self.pattern[start : self.at])
        return complement(runs) if letter == "P" else runs

    def _code(self) -> int:
        """The character that an escape at this place means, and go past it."""
        start = self.at
        char = self.pattern[start + 1 : start + 2]
        if not char:
            raise self._wrong("trailing \\", "")
        self.at = start + 2
        if char in _CONTROL:
            return _CONTROL[char]
        if ord(char) < 0x80 and not char.isalnum():
            return ord(char)
        found = re.compile(r"[1-7][0-7]{1,2}|0[0-7]{0,2}|x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]+\}").match(
            self.pattern, start + 1
        )
        if found:
            self.at = found.end()
            text = found[0]
            code = int(text.strip("x{}"), 16) if text[0] == "x" else int(text, 8)
            if code <= 0x10FFFF:
                return code
            self.at -= 1  # RE2 stops reading before the brace
            raise self._wrong("invalid escape sequence", self.pattern[start : self.at])
        end = self.at
        if char == "x":  # RE2 names what it has read
            bad = re.compile(r"\\x(\{[0-9A-Fa-f]*.?|[0-9A-Fa-f]?.?)", re.DOTALL).match(self.pattern, start)
            end = bad.end() if bad else end
        raise self._wrong("invalid escape sequence", self.pattern[start:end])

    def _class(self) -> None:
        start = self.at
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise self._wrong("missing ]", self.pattern[start:])
            first = False
            ranges += self._class_item(start)
        self._put(self._folded(spell(tuple(ranges), negated)))

    def _class_item(self, start: int) -> Ranges:
        named = _POSIX.match(self.pattern, self.at)
        if named:
            if named[2] not in POSIX:
                raise self._wrong("invalid character class range", named[0])
            self.at = named.end()
            return complement(POSIX[named[2]]) if named[1] else POSIX[named[2]]
        if self.pattern.startswith("\\", self.at) and self.pattern[self.at :] not in ("\\p", "\\P"):
            found = self._shorthand()
            if found is not None:
                return found
        begin = self.at
        low = high = self._class_char(start)
        if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
            self.at += 1
            high = self._class_char(start)
            if high < low:
                raise self._wrong("invalid character class range", self.pattern[begin : self.at])
        return ((low, high),)

    def _class_char(self, start: int) -> int:
        if self.at >= len(self.pattern):
            raise self._wrong("missing ]", self.pattern[start:])
        if self.pattern[self.at] == "\\":
            return self._code()
        self.at += 1
        return ord(self.pattern[self.at - 1])
