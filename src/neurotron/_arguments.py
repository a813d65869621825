"""A metaclass for classes whose objects users create: wrong arguments get a helpful message."""

from __future__ import annotations

import inspect
from abc import ABCMeta
from typing import Any

from neurotron import _check

__all__ = ["Explained"]

OTHER_NAMES = {
    "learning_rate": ("step_size", "pace"),
    "lr": ("step_size", "pace"),
    "eta": ("step_size", "pace"),
    "theta": ("bound",),
    "beta": ("probability",),
    "std": ("scale",),
    "sigma": ("scale",),
    "df": ("dof",),
}
"""What other packages, and the formulas, call an argument."""


class Explained(ABCMeta):
    """The metaclass of classes whose objects users create.

    Unknown, missing or additional arguments raise an `InputError`, which shows the correct call. A
    class may add a few words to this message with `argument_hint`.
    """

    @property
    def __signature__(cls) -> inspect.Signature:
        """The signature of the constructor, which `help` also shows."""
        _, *parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
        return inspect.Signature(parameters)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        try:
            return super().__call__(*given, **named)
        except TypeError:
            _require_arguments(cls, given, named)
            raise  # for another reason


def _require_arguments(cls: type, given: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse unknown, missing and additional arguments of a class."""
    signature = inspect.signature(cls)
    try:
        signature.bind(*given, **named)
    except TypeError:
        known = signature.parameters
        takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())
        for name in named:
            if name not in known and not takes_any:
                raise _unknown(cls, name, known) from None
        raise _check.InputError(_how_to_write(cls, signature, given, named)) from None


def _unknown(cls: type, name: str, known: Any) -> _check.InputError:
    meant = [other for other in OTHER_NAMES.get(name, ()) if other in known]
    if meant:
        return _check.InputError(
            f"{cls.__name__} has no argument {name!r}: it is called {meant[0]!r} here"
        )
    if name in vars(cls).get("__annotations__", {}):
        return _check.InputError(
            f"{cls.__name__} has a field {name!r}, but no argument of that name: write "
            "@dataclass(frozen=True, kw_only=True) above the class"
        )
    return _check.unknown(f"argument of {cls.__name__}", name, known)


def _how_to_write(
    cls: type, signature: inspect.Signature, given: tuple[Any, ...], named: dict[str, Any]
) -> str:
    known = signature.parameters
    form = ", ".join(
        f"{name}=…" if parameter.default is parameter.empty else f"{name}={parameter.default!r}"
        for name, parameter in known.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    )
    by_name = any(parameter.kind is parameter.KEYWORD_ONLY for parameter in known.values())
    got = [_check.shown(value) for value in given]
    got += [f"{name}={_check.shown(value)}" for name, value in named.items()]
    text, hint = _check.shorten(", ".join(got)), getattr(cls, "argument_hint", "")
    return (
        f"write {cls.__name__}({form}){by_name * ', each argument by name'}"
        f"{hint and f' ({hint})'}; got {cls.__name__}({text})"
    )
