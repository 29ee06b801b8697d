"""OptionSet: what a function and its command take besides their inputs, declared once as fields of a dataclass.

A subclass of `OptionSet` is a frozen dataclass whose fields are made by `option`: with a default, a help text, limits,
and how a value is read from the text of a command line. From it come the signature and the documentation of the Python
function (`takes`), and the options of the command (`tfrkit.cli.options`). Every value is checked when the object is
made; the error has the same text wherever the value came from. Classes share options by inheritance.

`tfrkit/build/keywords.pyi` repeats the types of the fields for editors and type checkers; it is generated.
"""

from __future__ import annotations

import inspect
import os
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names

__all__ = [
    "OptionInfo",
    "OptionSet",
    "info_of",
    "option",
    "option_class",
    "option_fields",
    "read_list",
    "read_pairs",
    "size_bytes",
    "takes",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C")
_SIZE: Final = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)\s*(?P<unit>([kmgt]i?)?b?)", re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_WIDTH: Final = 112  # of the lines in a docstring
_KEY: Final = "option"  # of the metadata of a field
_fields: dict[Any, list[tuple[Field[Any], Any]]] = {}  # by class, as reading the types takes a while


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """What is known of an option besides its name, type and default.

    Attributes:
        help: one or two sentences, for the command line and for Python.
        more: what only Python's documentation says.
        flags: as the command line has it; by default `--name-of-the-field`.
        metavar: what stands for its value in the help; by default the type.
        read: makes the value of a text, or of a list of texts if `several`; a ValueError says what was expected.
        several: may be given several times.
        least: of a number.
        most: of a number.
        python: the function has it.
        shell: the command has it.
        choices: what completion offers, if that is not in the type.
    """

    help: str
    more: str = ""
    flags: tuple[str, ...] = ()
    metavar: str = ""
    read: Callable[[Any], Any] | None = None
    several: bool = False
    least: float | None = None
    most: float | None = None
    python: bool = True
    shell: bool = True
    choices: Callable[[], Sequence[str]] | None = None


def option(default: Any, text: str, *flags: str, **more: Any) -> Any:
    """Declare a field of an `OptionSet`.

    Args:
        default: its value where it is not given.
        text: its help; see `OptionInfo`, also for the next ones.
        flags: as the command line has it.
        more: other attributes.
    """
    return field(default=default, metadata={_KEY: OptionInfo(text, flags=flags, **more)})


@dataclass_transform(frozen_default=True, kw_only_default=True)
def option_class(cls: type[_C]) -> type[_C]:
    """Make a class of options: a frozen dataclass with keyword-only fields.

    What compares and shows them is in `OptionSet`: making it for each class costs a command a third of its start.
    """
    return dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)


@option_class
class OptionSet:
    """Base of all classes of options; see the module."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # values may be lists

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({given})"

    def but(self, **changes: Any) -> Self:
        """Return the same options with other values for some."""
        return type(self)(**{**vars(self), **changes})

    def __post_init__(self) -> None:
        """Check every value by its type and limits.

        Raises:
            InvalidArgumentError: one is not acceptable.
        """
        for each, hint in option_fields(type(self)):
            value = getattr(self, each.name)
            if value is not each.default:
                _check(each, hint, value)

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Self:
        """Make the options that a function was called with.

        Raises:
            TypeError: it has no such option; the closest one is named.
            InvalidArgumentError: a value is not acceptable.
        """
        known = [each.name for each, _ in option_fields(cls) if info_of(each).python]
        for name in given:
            if name not in known:
                raise TypeError(f"there is no option {name!r}. {near_names(name, known)}")
        return cls(**given)


def info_of(each: Field[Any]) -> OptionInfo:
    """Return what a field says of its option."""
    found: OptionInfo = each.metadata[_KEY]
    return found


def option_fields(cls: type[OptionSet]) -> list[tuple[Field[Any], Any]]:
    """Return the options of a class with their types: its own first, then those of its bases, as they are listed."""
    if cls not in _fields:
        _fields[cls] = _find_fields(cls)
    return _fields[cls]


def _find_fields(cls: type[OptionSet]) -> list[tuple[Field[Any], Any]]:
    hints = get_type_hints(cls)
    names = [name for base in cls.__mro__ for name in inspect.get_annotations(base)]
    fields: dict[str, Field[Any]] = cls.__dataclass_fields__
    return [(fields[name], hints[name]) for name in dict.fromkeys(names) if name in fields]


def flag_of(each: Field[Any]) -> str:
    """Return the name of an option on the command line; "" if it has none."""
    info = info_of(each)
    if not info.shell:
        return ""
    flags = [flag for flag in info.flags if flag.startswith("--")]
    return flags[0].partition("/")[0] if flags else "--" + each.name.replace("_", "-")


# -- checks ------------------------------------------------------------------------------------------------------------


def _check(each: Field[Any], hint: Any, value: Any) -> None:
    info = info_of(each)
    if not _fits(value, hint) or not _is_within(value, info):
        raise refusal(each, hint, value)


def refusal(each: Field[Any], hint: Any, value: Any, expected: str = "") -> InvalidArgumentError:
    """Return the error about a value that is not acceptable. Pure: no I/O."""
    flag = flag_of(each)
    name = f"{each.name} ({flag})" if flag else each.name
    text = f"Expected {expected or _expected(hint, info_of(each))} for {name} but got {_shown(value)}."
    choices = [str(choice) for choice in choices_of(hint)]
    if isinstance(value, str) and choices:
        near = near_names(value, choices)
        text += f" {near}" if near.startswith("Did") else ""
    return InvalidArgumentError(text)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:80]}... ({type(value).__name__})"


def _is_within(value: Any, info: OptionInfo) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return True
    return (info.least is None or value >= info.least) and (info.most is None or value <= info.most)


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a type, as far as a signature says it; texts are not lists of texts."""
    origin = get_origin(hint)
    if hint is Any or origin in (Union, UnionType):
        return hint is Any or any(_fits(value, each) for each in get_args(hint))
    if hint in (None, NoneType):
        return value is None
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in get_args(hint))
    kind = origin or hint
    if not isinstance(kind, type):
        return True
    if kind in (int, float) and isinstance(value, bool):
        return False
    if kind is float:
        return isinstance(value, (int, float))
    if kind is int:
        return isinstance(value, int) or hasattr(value, "__index__")
    if issubclass(kind, Iterable) and kind not in (str, bytes) and isinstance(value, (str, bytes)):
        return False
    return isinstance(value, kind)


def choices_of(hint: Any) -> list[Any]:
    """Return the values that a type lists."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return [choice for each in get_args(hint) for choice in choices_of(each)]
    return []


def _expected(hint: Any, info: OptionInfo) -> str:
    """Say in words what values a type has."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = [repr(choice) for choice in choices_of(hint)]
    words = [f"one of {', '.join(words)}"] if len(words) > 1 else words
    words += [_word(kind, info) for kind in kinds if kind is not NoneType and get_origin(kind) is not Literal]
    words = list(dict.fromkeys(words))
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _word(kind: Any, info: OptionInfo) -> str:
    base = get_origin(kind) or kind
    if base in (int, float):
        noun = "a whole number" if base is int else "a number"
        if info.least is not None and info.most is not None:
            return f"{noun} from {info.least:g} to {info.most:g}"
        return noun if info.least is None else f"{noun} of at least {info.least:g}"
    if not isinstance(base, type):
        return str(kind)
    for known, word in _WORDS:
        if issubclass(base, known):
            return word
    return f"a {base.__name__}"


_WORDS: Final[tuple[tuple[Any, str], ...]] = (
    (bool, "True or False"),
    (str, "a text"),
    (bytes, "bytes"),
    (os.PathLike, "a path"),
    (Mapping, "a dict"),
    (tuple, "a tuple"),
    (Collection, "a list"),
    (Iterable, "a list"),
    (Callable, "a function"),
)


# -- texts of a command line -------------------------------------------------------------------------------------------


def value_of(each: Field[Any], hint: Any, text: Any) -> Any:
    """Return the value that a text of the command line stands for, or a list of texts.

    Raises:
        InvalidArgumentError: it stands for none.
    """
    info = info_of(each)
    if info.read is not None:
        try:
            return info.read(text)
        except InvalidArgumentError:
            raise
        except ValueError as error:  # what was expected, and of several texts which one is wrong
            expected, *wrong = error.args
            raise refusal(each, hint, wrong[0] if wrong else text, expected) from None
    if isinstance(text, (bool, list)):
        return text
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for kind, make in ((int, int), (float, float)):
        if kind in kinds:
            try:
                return make(text)
            except ValueError:
                raise refusal(each, hint, text) from None
    return text


def size_bytes(text: str) -> int:
    """Read a size: plain bytes, or with kB, MB, GB, TB (1000), KiB, MiB, GiB, TiB (1024). Pure: no I/O.

    Raises:
        ValueError: it is not a size, or less than one byte; says what is expected.

    >>> size_bytes("256MB"), size_bytes("64MiB"), size_bytes("1.5 GB"), size_bytes("4096")
    (256000000, 67108864, 1500000000, 4096)
    """
    found = _SIZE.fullmatch(str(text).strip())
    if found is None:
        raise ValueError("a size such as 256MB, 1GB, 64MiB or 4096")
    unit = found["unit"].lower().removesuffix("b")
    base = 1024 if unit.endswith("i") else 1000
    size = int(float(found["number"]) * base ** _POWERS[unit.removesuffix("i")])
    if size < 1:
        raise ValueError("a size of at least 1 byte")
    return size


def read_list(texts: Iterable[str]) -> list[str]:
    r"""Read names between commas, from an option that is given several times; `\,` is a comma in a name. Pure: no I/O.

    >>> read_list(["a,b", "c"]), read_list([r"a\,b,c\d"])
    (['a', 'b', 'c'], ['a,b', 'c\\d'])
    """
    found = [name for text in texts for name in re.findall(r"((?:\\[\\,]|[^,])*),", text + ",")]
    return [re.sub(r"\\([\\,])", r"\1", name) for name in found]


def read_pairs(texts: Iterable[str]) -> dict[str, str]:
    """Read `OLD=NEW`, from an option that is given several times; the last `=` counts. Pure: no I/O.

    Raises:
        ValueError: one is not such a pair.

    >>> read_pairs(["image=picture"])
    {'image': 'picture'}
    """
    pairs = {}
    for text in texts:
        old, equals, new = text.rpartition("=")
        if not equals or not old:
            raise ValueError("OLD=NEW, such as image=picture,", text)
        pairs[old] = new
    return pairs


# -- functions ---------------------------------------------------------------------------------------------------------


def takes(options: type[OptionSet]) -> Callable[[_F], _F]:
    """Give a function that has `**options` the signature and the documentation of a class of options.

    The docstring has "Args:" with the other arguments; those of the options follow them.
    """

    def finish(function: _F) -> _F:
        plain = inspect.signature(function)
        named = [p for p in plain.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        fields = [each for each, _ in option_fields(options) if info_of(each).python]
        keywords = [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type
            )
            for each in fields
        ]
        function.__signature__ = plain.replace(parameters=[*named, *keywords])  # type: ignore[attr-defined]  # for help()
        function.__doc__ = _with_options(inspect.getdoc(function) or "", fields)
        return function

    return finish


def _with_options(doc: str, fields: Sequence[Field[Any]]) -> str:
    """Add the descriptions of options after those of the other arguments."""
    before, mark, after = doc.partition("\nArgs:\n")
    rows, blank, rest = after.partition("\n\n")
    for each in fields:
        info = info_of(each)
        text = f"{each.name}: {info.help}{' ' + info.more if info.more else ''}"
        rows += "\n" + "\n".join(
            textwrap.wrap(
                text, _WIDTH, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False
            )
        )
    return before + mark + rows + blank + rest
