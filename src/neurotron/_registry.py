"""Laws, networks, attacks and trainers by name, as the command line and study files write them.

``"student-t:dof=4"`` is a name with a parameter. Nothing is evaluated: the name is looked up, and
the value of a parameter is a number or a word. ``"mine:TowardsZero:target=0.5"`` is a class of your
own, in the module ``mine``, which is imported if that is allowed.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from neurotron import _check
from neurotron._references import is_allowed, is_reference, resolve
from neurotron._types import Array

T = TypeVar("T", covariant=True)
S = TypeVar("S")

ONLY_ARRAYS = (Array, npt.ArrayLike | None)
"""The types of parameters that text cannot fill: they take neither a number nor a word."""

OTHER_NAMES = dict.fromkeys(("lr", "learning_rate", "eta", "η"), "step_size")
"""What other libraries call a parameter."""


class Registry(Generic[T]):
    """The built-in things of one `kind`, by name; a class of your own must derive from `base`.

    A function of your own may stand for a class where a function is built in.

    >>> numbers = Registry("number", {"half": lambda of=1.0: of / 2}, float)
    >>> numbers.build("half:of=3")
    1.5
    >>> numbers.build("half:fo=3")
    Traceback (most recent call last):
    neurotron._check.InputError: unknown parameter of half 'fo': did you mean 'of'? known: of
    """

    def __init__(self, kind: str, factories: Mapping[str, Callable[..., T]], base: type) -> None:
        self.kind = kind
        self.factories = types.MappingProxyType(dict(factories))
        self.base = base
        self.takes_functions = not all(isinstance(each, type) for each in factories.values())

    @classmethod
    def of(cls, kind: str, classes: Iterable[Callable[..., T]], base: type) -> Registry[T]:
        """Return the registry of some classes, each under the name that `kebab_case` gives it."""
        return cls(kind, {kebab_case(each.__name__): each for each in classes}, base)

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
            for parameter in _parameters(self.factory(name)).values()
        }

    def text_parameters(self, name: str) -> dict[str, str]:
        """Return the parameters that text can fill: all except those that must be arrays."""
        types_of = typing.get_type_hints(self.factories[name])
        return {
            parameter: default
            for parameter, default in self.parameters(name).items()
            if types_of.get(parameter) not in ONLY_ARRAYS
        }

    def factory(self, name: str) -> Callable[..., T]:
        """Return what is called `name`: a built-in thing, or a class or function of your own."""
        if name in self.factories:
            return self.factories[name]
        if (built_in := name.partition(":")[0]) in self.factories:
            raise _malformed(name, built_in)
        if not is_reference(name):
            raise _check.unknown(self.kind, name, self.factories)
        found = resolve(name, self.base)
        if isinstance(found, type) and issubclass(found, self.base):
            if missing := getattr(found, "__abstractmethods__", ()):
                wanted = " and ".join(sorted(missing))
                raise _check.InputError(f"the {self.kind} {name!r} must define {wanted}")
        elif isinstance(found, type) or not (self.takes_functions and is_allowed()):
            raise _check.InputError(
                f"the {self.kind} {name!r} must be a class that derives from {self.base.__name__}"
                + ", or a function that returns one" * self.takes_functions
            )
        _check.function(name, found, "its parameters")
        return found

    def read(self, text: str) -> tuple[str, dict[str, Any]]:
        """Return the name in `text`, which must be known, and its parameters."""
        name, given = parse(text)
        self.factory(name)
        return name, given

    def build(self, text: str, **defaults: Any) -> T:
        """Return the thing that `text` describes.

        The `defaults` fill parameters that it has and that the text does not give.
        """
        name, given = parse(text)
        factory = self.factory(name)
        known = _parameters(factory)
        filled = {key: value for key, value in defaults.items() if key in known} | given
        built = construct(self.kind, name, factory, filled)
        return built if name in self.factories else _check.instance(name, built, self.base)


def own_names(value: object) -> Iterator[str]:
    """Yield the names in the texts of a plain value that have the form of names of your own code.

    >>> [*own_names([{"attack": "mine:Towards:target=1"}, "moved:law=mine:Law;size=2", "normal"])]
    ['mine:Towards', 'mine:Law']
    """
    if isinstance(value, str):
        with contextlib.suppress(_check.InputError):
            name, given = parse(value.replace(";", ","))
            if is_reference(name):
                yield name
            value = given
    parts = value.values() if isinstance(value, Mapping) else value
    for part in parts if isinstance(parts, Iterable) and not isinstance(parts, str) else ():
        yield from own_names(part)


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
    return {
        name: parameter
        for name, parameter in inspect.signature(factory).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def kebab_case(name: str) -> str:
    """Return the name of a class in text.

    >>> kebab_case("AlternatingSign"), kebab_case("FirstSampleSGD"), kebab_case("StudentT")
    ('alternating-sign', 'first-sample-sgd', 'student-t')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def name_of(kind: type) -> str:
    """Return the name of a class in text, also of one of your own.

    >>> name_of(Registry), name_of(re.Scanner)
    ('registry', 're:Scanner')
    """
    ours = kind.__module__.partition(".")[0] == __package__
    return kebab_case(kind.__name__) if ours else f"{kind.__module__}:{kind.__qualname__}"


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"name:parameter=value,parameter=value"``.

    >>> parse("neuro-tron:step_size=1e-3,sensing=mean")
    ('neuro-tron', {'step_size': 0.001, 'sensing': 'mean'})
    >>> parse("mine:TowardsZero:target=0.5")
    ('mine:TowardsZero', {'target': 0.5})
    """
    name, _, rest = _check.text("text", text).partition(":")
    own, _, more = rest.partition(":")
    if own.strip().isidentifier():
        name, rest = f"{name.strip()}:{own.strip()}", more
    given: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        parameter, equals, value = part.partition("=")
        if not equals or not parameter.strip():
            raise _malformed(text, name)
        key = parameter.strip().replace("-", "_")
        if key in given:
            raise _check.InputError(f"{_check.shown(text)}: {_check.shorten(key)} is given twice")
        given[key] = _value(value.strip())
    return name.strip(), given


def _malformed(text: str, name: str) -> _check.InputError:
    example = f"{_check.shorten(name)}:parameter=value,…"
    return _check.InputError(f"{_check.shown(text)}: write parameters as {example}")


def _value(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
