"""Names ↔ factories: how the command line and study files call things.

``"student-t:dof=4"`` is a name with settings. Nothing is evaluated: a name is looked up, a setting
is a number or a word.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array

__all__ = ["Registry", "construct", "kebab_case", "parse"]

T = TypeVar("T", covariant=True)
S = TypeVar("S")

ONLY_ARRAYS = (Array, npt.ArrayLike | None)
"""The types of settings that text cannot fill: a number or a word is not among their values."""


class Registry(Generic[T]):
    """The built-in things of one `kind`, by name.

    >>> colours = Registry("colour", {"red": lambda shade=1.0: ("red", shade)})
    >>> colours.build("red:shade=0.5")
    ('red', 0.5)
    >>> colours.build("red:shde=0.5")
    Traceback (most recent call last):
    neurotron._check.InputError: unknown setting of red 'shde': did you mean 'shade'? known: shade
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
        return line.removeprefix("Return ").replace("`", "")

    def settings(self, name: str) -> dict[str, str]:
        """Return what `name` can be given, each with its default as text ("" if required)."""
        parameters = inspect.signature(self.factories[name]).parameters.values()
        return {
            parameter.name: "" if parameter.default is parameter.empty else str(parameter.default)
            for parameter in parameters
        }

    def text_settings(self, name: str) -> dict[str, str]:
        """Return the settings that text can fill: all but those that must be arrays."""
        types_of = typing.get_type_hints(self.factories[name])
        return {
            setting: default
            for setting, default in self.settings(name).items()
            if types_of.get(setting) not in ONLY_ARRAYS
        }

    def read(self, text: str) -> tuple[str, dict[str, Any]]:
        """Return the name in `text`, which must be known, and its settings."""
        name, given = parse(text)
        if name not in self.factories:
            raise _check.unknown(self.kind, name, self.factories)
        return name, given

    def build(self, text: str, **defaults: Any) -> T:
        """Return the thing `text` describes; `defaults` fill what it can be given but was not."""
        name, given = self.read(text)
        known = self.settings(name)
        filled = {key: value for key, value in defaults.items() if key in known} | given
        return construct(self.kind, name, self.factories[name], filled)


def construct(kind: str, name: str, factory: Callable[..., S], settings: Mapping[str, Any]) -> S:
    """Return what `factory` makes of its settings; refuse unknown ones, and say which it needs."""
    parameters = inspect.signature(factory).parameters
    for setting in settings:
        if setting not in parameters:
            raise _check.unknown(f"setting of {name}", setting, parameters)
    missing = [
        each.name for each in parameters.values()
        if each.default is each.empty and each.name not in settings
    ]  # fmt: skip
    if missing:
        raise _check.InputError(
            f"{kind} {name!r} needs {', '.join(missing)}: write {name}:{missing[0]}=…"
        )
    return factory(**settings)


def kebab_case(name: str) -> str:
    """Return how text calls a class.

    >>> kebab_case("AlternatingSign"), kebab_case("FirstSampleSGD"), kebab_case("StudentT")
    ('alternating-sign', 'first-sample-sgd', 'student-t')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"name:setting=value,setting=value"``.

    >>> parse("neuro-tron:step_size=1e-3,sensing=mean")
    ('neuro-tron', {'step_size': 0.001, 'sensing': 'mean'})
    """
    name, _, rest = _check.text("text", text).partition(":")
    settings: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        setting, equals, value = part.partition("=")
        if not equals or not setting.strip():
            raise _check.InputError(
                f"{_check.shown(text)}: write settings as {_check.shorten(name)}:setting=value,…"
            )
        key = setting.strip().replace("-", "_")
        if key in settings:
            raise _check.InputError(f"{_check.shown(text)}: {_check.shorten(key)} is given twice")
        settings[key] = _value(value.strip())
    return name.strip(), settings


def _value(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
