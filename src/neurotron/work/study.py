"""A study: settings, and a pure function that is called for every replicate of each of them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from neurotron import _check, _seeds
from neurotron._references import reference_of
from neurotron.work.columns import checked_columns

MOST_UNITS = 10**6
MOST_REPLICATES = 10**9
"""The names of their files have at most nine digits."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The names that a setting may have, as its name is also the name of a folder."""
NAME_RULE = (
    "must be 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or digit"
)
WORDS = ("title", "description", "claims", "charts", "tables", "headline", "note", "code")
WORDS_OF_SETTINGS = ("title", "replicates")
"""What may change without changing the numbers of a unit."""


class Unit(NamedTuple):
    """The work that one worker does at a time: one replicate of one setting."""

    setting: str
    replicate: int


@dataclass(frozen=True, eq=False)
class Study:
    """An experiment: a function, and the settings and replicates to call it for.

    Attributes
    ----------
    name
        The name of the study, of letters, digits, dots, dashes and underscores.
    settings
        One table of plain JSON values for each setting. Its "name" differs from those of the
        others. The optional keys "title" (for readers), "replicates" (if fewer than the study's are
        enough) and "paired_with" (another setting, whose seeds it repeats) have a meaning for every
        study; all other keys are for the function.
    unit
        The function. It is called with (setting, replicate, seed), where `setting` is one of the
        tables and `seed` a whole number that differs for all units. It returns a row (a mapping
        from columns to values), a list of rows, a mapping of equally long columns, or a table. Its
        result must depend on its arguments alone. If it has a parameter `progress`, it gets a
        function there, and should call ``progress(step, steps)`` now and then: Ctrl-C stops it
        then.
    columns
        The columns that it returns, with their types: str, bool, int, float, list[int] or
        list[float].
    claims
        What is judged by the results: names as in `neurotron list claims`, or functions of the
        results that return findings, whose docstring is the statement.
    charts, tables
        Functions of the results that return a chart, or a table for readers.
    title, description
        What the study is for, in the words of its page.
    replicates
        How often every setting is repeated.
    seed
        The seed of all seeds.
    data
        NumPy arrays that the function gets as keyword arguments, by these names.
    costs
        How much longer a unit of one setting takes than of another; 1 where it is left out.
    headline
        A function of the results that returns the main result of the page as a `Headline`.
    note
        What readers of the claims should know before them.
    validate
        Called once before anything is stored; raises an error if the study cannot be run.
    prepare
        Called once before threads start, for example to compile.
    code
        The folder whose modules the study may import, if it may import any besides this package.
    """

    name: str
    settings: Sequence[Mapping[str, Any]]
    unit: Callable[..., Any]
    columns: Mapping[str, Any]
    claims: Sequence[Any] = ()
    charts: Sequence[Any] = ()
    tables: Sequence[Any] = ()
    title: str = ""
    description: str = ""
    replicates: int = 20
    seed: int = 0
    data: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    headline: Any = None
    note: str = ""
    validate: Callable[[], None] | None = None
    prepare: Callable[[], None] | None = None
    code: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise _check.InputError(f"`name` {NAME_RULE}, got {_check.shown(self.name)}")
        _check.function("unit", self.unit, "(setting, replicate, seed)")
        _check.integer("replicates", self.replicates, 1, MOST_REPLICATES)
        _check.integer("seed", self.seed, 0, 2**63 - 1)
        for name in ("title", "description"):
            _check.instance(name, getattr(self, name), str)
        object.__setattr__(self, "settings", _plain_settings(self.settings))
        object.__setattr__(self, "columns", checked_columns(self.columns))
        object.__setattr__(self, "data", _arrays(self.data))
        for name in ("claims", "charts", "tables"):
            _require_names(name, getattr(self, name))
        _check.instance("costs", self.costs, Mapping)
        for name, cost in self.costs.items():
            self.setting(name, "setting in `costs`")
            _check.number(f"costs[{name!r}]", cost, "(0, inf)")
        for setting in self.settings:
            name, paired = setting["name"], setting.get("paired_with")
            if setting.get("replicates") is not None:
                _check.integer(f"replicates` of `{name}", setting["replicates"], 1)
            if paired is not None and self.setting(
                paired, f"setting in `paired_with` of {name!r}"
            ).get("paired_with"):
                raise _check.InputError(
                    f"`paired_with` of {name!r} must name a setting that is not paired itself, got "
                    f"{paired!r}"
                )
        count = sum(map(self.replicates_of, self.settings))
        if count > MOST_UNITS:
            raise _check.InputError(
                f"settings × replicates must be at most {MOST_UNITS:,}, got {count:,}"
            )

    @cached_property
    def by_name(self) -> dict[str, Mapping[str, Any]]:
        """The settings by their names."""
        return {setting["name"]: setting for setting in self.settings}

    def replicates_of(self, setting: Mapping[str, Any]) -> int:
        """Return the number of replicates of a setting: the study's, or its own if that is less."""
        return min(self.replicates, setting.get("replicates") or self.replicates)

    def units(self) -> list[Unit]:
        """Return all units, replicate by replicate."""
        return [
            Unit(setting["name"], replicate)
            for replicate in range(self.replicates)
            for setting in self.settings
            if replicate < self.replicates_of(setting)
        ]

    def setting(self, name: str, what: str = "setting") -> Mapping[str, Any]:
        """Return the setting with this name; an error says `what` has it."""
        if name not in self.by_name:
            raise _check.unknown(what, name, self.by_name)
        return self.by_name[name]

    def seed_of(self, unit: Unit) -> int:
        """Return the seed of a unit; paired settings have the same one in each replicate.

        It has 63 bits, as many as a column of whole numbers and the seed of a study may have.
        """
        axis = self.setting(unit.setting).get("paired_with") or unit.setting
        return _seeds.key(self.seed, "unit", axis, unit.replicate) >> 1

    def cost(self, unit: Unit) -> float:
        """Return the cost of a unit."""
        return self.costs.get(unit.setting, 1.0)

    def spec(self) -> dict[str, Any]:
        """Return the study as plain JSON values, as a folder of results keeps it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "unit": reference_of(self.unit),
            "columns": dict(self.columns),
            **{
                name: [*map(_named, getattr(self, name))] for name in ("claims", "charts", "tables")
            },
            "headline": None if self.headline is None else _named(self.headline),
            "note": self.note,
            "code": self.code,
            "seed": self.seed,
            "data": {name: digest(array) for name, array in self.data.items()},
            "settings": [dict(setting) for setting in self.settings],
        }


def _named(given: Any) -> str:
    """Return a claim, a chart or a table by its name."""
    return given if isinstance(given, str) else reference_of(given)


def _require_names(what: str, given: Any) -> None:
    """Refuse anything but a list of functions, or of their names."""
    if not isinstance(given, list | tuple) or not all(
        isinstance(one, str) or callable(one) for one in given
    ):
        raise _check.InputError(
            f"`{what}` must be a list of functions or names, got {_check.shown(given)}"
        )


def _arrays(data: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a study, which threads share, so that nothing can change them."""
    found = {}
    for name, value in _check.instance("data", data, Mapping).items():
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
            raise _check.InputError(
                "the names of `data` must be those of parameters of the function, got "
                + _check.shown(name)
            )
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufU":
            raise _check.InputError(
                f"`data[{name!r}]` must be a NumPy array of numbers or text, got "
                + _check.shown(value)
            )
        _check.entries(f"`data[{name!r}]`", *value.shape)
        found[name] = _check.freeze(value.copy())
    return found


def digest(array: np.ndarray[Any, Any]) -> str:
    """Return the hash of the type, the shape and the values of an array."""
    about = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(about + array.tobytes()).hexdigest()


def _plain_settings(settings: Any) -> tuple[dict[str, Any], ...]:
    """Return settings after writing them as JSON and reading them back."""
    try:
        plain = json.loads(json.dumps(settings, allow_nan=False))
        json.dumps(plain, ensure_ascii=False).encode()  # as a manifest writes it
    except (TypeError, ValueError, RecursionError) as error:
        raise _check.InputError(f"`settings` must be plain JSON values: {error}") from None
    if not plain or not _are_settings(plain):
        raise _check.InputError(
            '`settings` must be a list of tables, each with a different "name" of 1 to 64 letters, '
            'digits, dots, dashes or underscores, the first a letter or digit; a "title" must be '
            f"text: got {_check.shown(settings)}"
        )
    return tuple(plain)


def is_spec(value: Any) -> bool:
    """Return whether a value can be the `spec` of a study."""
    try:
        names = ("name", "title", "description", "columns", "claims", "charts", "tables", "seed")
        study = Study(unit=is_spec, settings=value["settings"], **{n: value[n] for n in names})
        texts = [value["unit"], value["note"], value["headline"] or "", value["code"] or ""]
    except (KeyError, TypeError, _check.InputError):
        return False
    names = (*study.claims, *study.charts, *study.tables)
    return all(isinstance(text, str) for text in (*texts, *names)) and (
        study.columns == value["columns"] and isinstance(value["data"], dict)
    )


def _are_settings(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(map(_is_setting, value))
        and len({setting["name"] for setting in value}) == len(value)
    )


def _is_setting(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and NAME.fullmatch(value["name"]) is not None
        and isinstance(value.get("title"), str | None)
        and isinstance(value.get("paired_with"), str | None)
        and isinstance(value.get("replicates"), int | None)
    )


def without_words(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec without what does not affect its numbers, as titles, claims and charts.

    Only the spec's own and those of its settings are removed: a trainer may be labelled "title",
    and a key of a setting "note".
    """
    settings = [_without(setting, WORDS_OF_SETTINGS) for setting in spec["settings"]]
    return _without(spec, WORDS) | {"settings": settings}


def _without(table: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}
