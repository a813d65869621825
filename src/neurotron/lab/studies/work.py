"""Work for the runner: a pure function, and the units it is called for."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, NamedTuple

import polars as pl

from neurotron import _check
from neurotron._environment import environment
from neurotron._sources import home_of, source_hash
from neurotron._threads import one_blas_thread
from neurotron.lab.results.manifest import TRAINING, is_spec, without_words
from neurotron.lab.results.rows import Row, plain_rows
from neurotron.lab.studies.spec import Unit

__all__ = ["Computed", "Work", "fingerprint", "name_of", "run_unit"]

MOST_UNITS = 10**6
MOST_REPLICATES = 10**9
"""The names of their files have at most nine digits."""

Function = Callable[..., Any]
"""A function of (text, setting, replicate, progress=None)."""


@dataclass(frozen=True, eq=False)
class Work:
    """Your own work for `studies.run`: a function, and the units to call it for.

    Use it for computations other than training runs that should be stored, resumed and distributed
    like a study. `results.load_table` reads the folder of results.

    Attributes
    ----------
    spec
        What to compute, as plain JSON values: a "name", a list of "settings" with a different
        "name" each, and anything else the function needs. The keys "title", "description" and
        "claims" are only for readers: they may change later, and the function does not get them.
    units
        Pairs of the name of a setting and the number of a replicate.
    function
        Computes a unit. It is called with (text, setting, replicate, progress=None), where `text`
        is the spec as JSON. It returns a list of rows (mappings from columns to text, numbers,
        truth values, arrays of numbers or None), a mapping of equally long columns, or a polars
        table. Its result must depend on its first three arguments alone, and it must be defined at
        the top level of a file, so that workers can import it. If it runs long, it should call
        ``progress(step, steps)`` now and then, unless that is None: Ctrl-C stops it there.
    costs
        How much longer a unit of one setting takes than of another, as numbers by the name of the
        setting; 1 where it is left out. Progress and the time that is left are estimated by it.
    arms
        The arms of each setting, for training runs only.
    prepare
        Called once before threads start, for example to compile.
    check
        Called with (setting, table) for each table that is already stored; raises `shard.Damaged`
        if the function cannot have returned it.
    """

    spec: Mapping[str, Any]
    units: Iterable[tuple[str, int]]
    function: Function
    costs: Mapping[str, float] = field(default_factory=dict)
    arms: Mapping[str, list[Row]] = field(default_factory=dict)
    prepare: Callable[[], None] | None = None
    check: Callable[[str, pl.DataFrame], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", _plain_spec(self.spec))
        _check.instance("arms", self.arms, Mapping)
        settings = [setting["name"] for setting in self.spec["settings"]]
        if [*self.arms] != (settings if name_of(self.function) == TRAINING else []):
            raise _check.InputError("`arms` are for training runs only: run the Study instead")
        object.__setattr__(self, "units", self._checked_units())
        for name, arguments in (("prepare", "()"), ("check", "(setting, table)")):
            if getattr(self, name) is not None:
                _check.function(name, getattr(self, name), arguments)
        _check.instance("costs", self.costs, Mapping)
        for name in self.costs:
            if name not in settings:
                raise _check.unknown("setting in `costs`", name, settings)
            _check.number(f"costs[{name!r}]", self.costs[name], "(0, inf)")

    def cost(self, unit: Unit) -> float:
        """Return the cost of a unit."""
        return self.costs.get(unit.setting, 1.0)

    @property
    def text(self) -> str:
        """The spec as the function gets it: JSON, without titles, descriptions and claims."""
        return json.dumps(without_words(self.spec))

    def _checked_units(self) -> tuple[Unit, ...]:
        names = {setting["name"] for setting in self.spec["settings"]}
        try:
            pairs = [(setting, replicate) for setting, replicate in self.units]
        except (TypeError, ValueError):
            raise _check.InputError(
                f"`units` must be pairs (setting, replicate), got {_check.shown(self.units)}"
            ) from None
        units = tuple(
            Unit(
                _check.text("units: setting", setting),
                _check.integer("units: replicate", replicate, 0, MOST_REPLICATES - 1),
            )
            for setting, replicate in pairs
        )
        for unit in units:
            if unit.setting not in names:
                raise _check.unknown("setting of a unit", unit.setting, names)
        if not 0 < len(units) <= MOST_UNITS or len({*units}) < len(units):
            raise _check.InputError(
                f"`units` must be 1 to {MOST_UNITS:,} different pairs, got {len(units):,}"
            )
        return units


def _plain_spec(spec: Any) -> dict[str, Any]:
    """Return a spec after writing it as JSON and reading it back."""
    try:
        plain = json.loads(json.dumps(spec, allow_nan=False))
        json.dumps(plain, ensure_ascii=False, indent=1).encode()  # as a manifest writes it
    except (TypeError, ValueError, RecursionError) as error:
        raise _check.InputError(f"`spec` must be plain JSON values: {error}") from None
    if not is_spec(plain):
        raise _check.InputError(
            '`spec` must have a "name" and a list of "settings", each with a different "name" of 1 '
            "to 64 letters, digits, dots, dashes or underscores, the first a letter or digit; the "
            f'"title" of a setting must be text: got {_check.shown(spec)}'
        )
    return dict(plain)


def name_of(function: Function) -> str:
    """Return the name by which a function can be imported, as in "module:function"."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", "")
    found = getattr(sys.modules.get(module), name, None)
    if not name or found is not function or isinstance(function, type):
        raise _check.InputError(
            "`function` must be a function that is defined at the top level of a file, under its "
            f"own name, so that workers can import it, got {_check.shown(function)}"
        )
    return f"{home_of(module).name}:{name}"


def fingerprint(function: Function) -> dict[str, str]:
    """Return what the bits of results depend on: versions, processor, and the function's code.

    The module of the function may list `PACKAGES` whose versions matter as well.
    """
    name_of(function)
    packages = getattr(sys.modules[function.__module__], "PACKAGES", ())
    versions = {name: version(name) for name in packages}
    return environment() | versions | {"code": source_hash(function)[:16]}


class Computed(NamedTuple):
    """What a worker returns: a computed unit, and where and how fast it was computed."""

    unit: Unit
    rows: list[Row]
    """The content of the shard."""
    environment: dict[str, str]
    machine: str
    seconds: float


def run_unit(
    function: Function,
    text: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
) -> Computed:
    """Compute a unit, and note where and how fast it was computed."""
    began = time.perf_counter()
    with one_blas_thread():
        rows = plain_rows(function(text, setting, replicate, progress))
    seconds = time.perf_counter() - began
    return Computed(Unit(setting, replicate), rows, fingerprint(function), platform.node(), seconds)
