"""tf.function: the function itself, whose results are Tensors; nothing is traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfrkit.data.elements.structure import map_structure
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.tf.tensors.conversion import convert_to_tensor
from tfrkit.values.seeds import SeedScope

__all__ = ["Function", "do_not_convert", "function", "to_graph"]


class Function:
    """A function that runs as Python.

    Attributes:
        python_function: the user's.
        input_signature: specs of the arguments, which are then converted to Tensors; or None.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None) -> None:
        functools.update_wrapper(self, python_function, updated=())
        self.python_function = python_function
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._scope = SeedScope(forgetful=True)

    @property
    def name(self) -> str:
        """Name of the user's function."""
        return str(getattr(self.python_function, "__name__", type(self.python_function).__name__))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call it; numbers and strings that it returns become Tensors."""
        if self.input_signature is not None:
            args = self._converted(args, options)
        return _tensors(self._scope.run(functools.partial(self.python_function, *args, **options)))

    def get_concrete_function(self, *args: Any, **options: Any) -> Function:
        """Return the function itself: there is one for all types."""
        return self

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self.__call__, instance)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.python_function, self.input_signature)

    def _converted(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments as Tensors of the types that were announced; of a method the object comes first."""
        assert self.input_signature is not None
        before = max(0, len(args) - len(self.input_signature))
        made = list(args[:before])
        for value, spec in zip(args[before:], self.input_signature, strict=False):
            try:
                made.append(_of_spec(value, spec))
            except (TypeError, ValueError) as failure:
                raise TypeError(
                    f"Binding inputs to tf.function failed due to `{failure}`. Received args: {args} and kwargs: "
                    f"{options} for signature: {self.input_signature}."
                ) from None
        return tuple(made)


def _of_spec(value: Any, spec: Any) -> Any:
    if not hasattr(spec, "is_compatible_with") or type(spec).__name__ != "TensorSpec":
        return value
    made = convert_to_tensor(value, spec.dtype)
    if not spec.is_compatible_with(made):
        raise TypeError(f"Can not cast {type(spec)(made.shape, made.dtype)!r} to {spec!r}")
    return made


def _tensors(value: Any) -> Any:
    if isinstance(value, list):
        return [_tensors(part) for part in value]
    return map_structure(_tensor, value)


def _tensor(value: Any) -> Any:
    if isinstance(value, list):
        return _tensors(value)
    if value is None or not isinstance(value, (bool, int, float, complex, str, bytes)):
        return wrap(unwrap(value))
    return convert_to_tensor(value)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    **options: Any,
) -> Any:
    """Mark a function, as a decorator with or without arguments; it runs as it is.

    Args:
        func: the function; None: a decorator is returned.
        input_signature: specs of the arguments.
        autograph: ignored, as are the options.
        options: TensorFlow's: reduce_retracing, jit_compile and so on.
    """
    known = {
        "jit_compile",
        "reduce_retracing",
        "experimental_implements",
        "experimental_autograph_options",
        "experimental_attributes",
        "experimental_relax_shapes",
        "experimental_compile",
        "experimental_follow_type_hints",
    }
    if options.keys() - known:
        name = sorted(options.keys() - known)[0]
        raise TypeError(f"function() got an unexpected keyword argument {name!r}")
    if func is None:
        return lambda each: Function(each, input_signature)
    return Function(func, input_signature)


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Return the function itself: nothing is ever converted."""
    return (lambda each: each) if func is None else func


def to_graph(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Any = None,
) -> Callable[..., Any]:
    """Return the function itself: it runs as Python."""
    return entity
