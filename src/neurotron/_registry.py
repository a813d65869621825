"""Names ↔ factories: how the command line and study files call things.

``"student-t:dof=4"`` is a name with settings. Nothing is evaluated: a name is looked up, a setting
is a number or a word.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from neurotron import _check

__all__ = ["Registry", "parse"]

T = TypeVar("T", covariant=True)


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
        parameters = inspect.signature(self.factories[name]).parameters
        only_arrays = ("Array", "npt.ArrayLike | None")
        return {
            setting: default
            for setting, default in self.settings(name).items()
            if parameters[setting].annotation not in only_arrays
        }

    def build(self, text: str, **defaults: Any) -> T:
        """Return the thing `text` describes; `defaults` fill what it can be given but was not."""
        name, given = parse(text)
        if name not in self.factories:
            raise _check.unknown(self.kind, name, self.factories)
        known = self.settings(name)
        for setting in given:
            if setting not in known:
                raise _check.unknown(f"setting of {name}", setting, known)
        filled = {key: value for key, value in defaults.items() if key in known} | given
        missing = [key for key, default in known.items() if default == "" and key not in filled]
        if missing:
            raise _check.InputError(
                f"{self.kind} {name!r} needs {', '.join(missing)}: write {name}:{missing[0]}=…"
            )
        return self.factories[name](**filled)


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
