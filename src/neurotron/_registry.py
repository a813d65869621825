"""Laws, networks, attacks and trainers by name, as the command line and study files write them.

``"student-t:dof=4"`` is a name with a parameter. Nothing is evaluated: the name is looked up, and
the value of a parameter is a number or a word.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array

__all__ = ["Registry", "construct", "kebab_case", "parse"]

T = TypeVar("T", covariant=True)
S = TypeVar("S")

ONLY_ARRAYS = (Array, npt.ArrayLike | None)
"""The types of parameters that text cannot fill: they take neither a number nor a word."""

OTHER_NAMES = dict.fromkeys(("lr", "learning_rate", "eta", "η"), "step_size")
"""What other libraries call a parameter."""


class Registry(Generic[T]):
    """The built-in things of one `kind`, by name.

    >>> colours = Registry("colour", {"red": lambda shade=1.0: ("red", shade)})
    >>> colours.build("red:shade=0.5")
    ('red', 0.5)
    >>> colours.build("red:shde=0.5")
    Traceback (most recent call last):
    neurotron._check.InputError: unknown parameter of red 'shde': did you mean 'shade'? known: shade
    """

    def __init__(self, kind: str, factories: Mapping[str, Callable[..., T]]) -> None:
        self.kind = kind
        self.factories = types.MappingProxyType(dict(factories))

    @classmethod
    def of(cls, kind: str, classes: Iterable[Callable[..., T]]) -> Registry[T]:
        """Return the registry of some classes, each under the name that `kebab_case` gives it."""
        return cls(kind, {kebab_case(each.__name__): each for each in classes})

    def __iter__(self) -> Iterator[str]:
        return iter(self.factories)

    def summary(self, name: str) -> str:
        """Return the first line of the documentation of `name`."""
        line = (inspect.getdoc(self.factories[name]) or "").partition("\n")[0]
        line = line.removeprefix("Return ").replace("`", "")
        return line[:1].upper() + line[1:]

    def parameters(self, name: str) -> dict[str, str]:
        """Return the parameters of `name`, each with its default as text ("" if required)."""
        return {
            parameter.name: "" if parameter.default is parameter.empty else str(parameter.default)
            for parameter in _parameters(self.factories[name]).values()
        }

    def text_parameters(self, name: str) -> dict[str, str]:
        """Return the parameters that text can fill: all except those that must be arrays."""
        types_of = typing.get_type_hints(self.factories[name])
        return {
            parameter: default
            for parameter, default in self.parameters(name).items()
            if types_of.get(parameter) not in ONLY_ARRAYS
        }

    def read(self, text: str) -> tuple[str, dict[str, Any]]:
        """Return the name in `text`, which must be known, and its parameters."""
        name, given = parse(text)
        if name not in self.factories:
            raise _check.unknown(self.kind, name, self.factories)
        return name, given

    def build(self, text: str, **defaults: Any) -> T:
        """Return the thing that `text` describes.

        The `defaults` fill parameters that it has and that the text does not give.
        """
        name, given = self.read(text)
        known = _parameters(self.factories[name])
        filled = {key: value for key, value in defaults.items() if key in known} | given
        return construct(self.kind, name, self.factories[name], filled)


def construct(kind: str, name: str, factory: Callable[..., S], given: Mapping[str, Any]) -> S:
    """Return what `factory` makes of the parameters; refuse unknown and missing ones."""
    parameters = _parameters(factory)
    for parameter in given:
        if parameter not in parameters:
            meant = OTHER_NAMES.get(parameter)
            raise _check.unknown(f"parameter of {name}", parameter, parameters, meant)
    missing = [
        each.name for each in parameters.values()
        if each.default is each.empty and each.name not in given
    ]  # fmt: skip
    if missing:
        raise _check.InputError(
            f"{kind} {name!r} needs {', '.join(missing)}: write {name}:{missing[0]}=…"
        )
    return factory(**given)


@lru_cache(maxsize=1000)
def _parameters(factory: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a factory, cached because inspecting a signature is slow."""
    return inspect.signature(factory).parameters


def kebab_case(name: str) -> str:
    """Return the name of a class in text.

    >>> kebab_case("AlternatingSign"), kebab_case("FirstSampleSGD"), kebab_case("StudentT")
    ('alternating-sign', 'first-sample-sgd', 'student-t')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"name:parameter=value,parameter=value"``.

    >>> parse("neuro-tron:step_size=1e-3,sensing=mean")
    ('neuro-tron', {'step_size': 0.001, 'sensing': 'mean'})
    """
    name, _, rest = _check.text("text", text).partition(":")
    given: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        parameter, equals, value = part.partition("=")
        if not equals or not parameter.strip():
            raise _check.InputError(
                f"{_check.shown(text)}: write parameters as "
                f"{_check.shorten(name)}:parameter=value,…"
            )
        key = parameter.strip().replace("-", "_")
        if key in given:
            raise _check.InputError(f"{_check.shown(text)}: {_check.shorten(key)} is given twice")
        given[key] = _value(value.strip())
    return name.strip(), given


def _value(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
