"""What an audit has to compute: an estimator and its alternatives, on splits of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._intervals import Interval
from neurotron._threads import no_warnings, one_blas_thread
from neurotron.attacks import Attack, Budget
from neurotron.auditing.attackers import parse_attacks
from neurotron.auditing.question import Level, Question, levels_of
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import MedianOfParts, NeuroTronRegressor, catalog
from neurotron.estimators.copies import checked, shown
from neurotron.poisoning import range_of

SPLITS, REPLICATES = 5, 2
FEWEST = 5
"""Rows for each fitted number, from which on at most one honest table in twenty seems attacked, as
the false alarm rate says: with 4 it is one in eight, for normal noise and for Student's law."""
MOST_SPLITS, MOST_REPLICATES, MOST_REMEDIES = 1_000, 1_000, 100


@dataclass(frozen=True)
class Suspects:
    """What `NeuroTronRegressor` says about the labels of a table, before anybody attacks them."""

    rows: tuple[int, ...] = ()
    """The rows whose labels do not fit, counted from 0."""
    attacked_fraction: Interval | None = None
    """Which share of the labels seems to be attacked; None if nobody could look."""
    reason: str = ""
    """Why nobody could look; empty if that was possible."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rows)


class Contender(NamedTuple):
    """An estimator, with its name and what is asked about it on which table."""

    name: str
    estimator: Any
    """A regressor, or its name in the list of estimators."""
    question: Question
    table: AuditedTable


class Job(NamedTuple):
    """What an audit computes and gathers."""

    cases: dict[str, Contender]
    """The audited estimator; the audited one without the suspects, if there are any; remedies."""
    splits: int
    suspects: Suspects
    max_change: float | None
    """The largest acceptable change of a prediction, in units of the label."""
    accept_suspects: int | None
    """Up to so many suspects were looked at by a person, who accepts them."""

    @property
    def remedies(self) -> dict[str, Contender]:
        """The alternatives."""
        others = ("audited", "without-suspects")
        return {name: case for name, case in self.cases.items() if name not in others}


def job_of(
    estimator: Any,
    table: AuditedTable,
    *,
    budget: Budget | Sequence[Budget],
    attacks: str | Attack | Sequence[str | Attack] = "all",
    tolerance: float | None = None,
    max_change: float | None = None,
    accept_suspects: int | None = None,
    remedies: str | Sequence[Any] = "usual",
    splits: int = SPLITS,
    replicates: int = REPLICATES,
    label_range: tuple[float, float] | None = None,
    seed: int = 0,
    name: str | None = None,
) -> Job:
    """Return what an audit computes, after checking all that was given; see `audit`.

    Remedies are compared at the largest budget, without a search for the smallest one. The audited
    estimator may be given another `name`.
    """
    if tolerance is not None:
        tolerance = _check.number("tolerance", tolerance, "[0, inf)")
    if max_change is not None:
        max_change = _check.number("max_change", max_change, "[0, inf)")
    if accept_suspects is not None:
        accept_suspects = _check.integer("accept_suspects", accept_suspects, 0)
    question = Question(
        levels_of(budget, table, label_range),
        parse_attacks(attacks),
        _check.integer("replicates", replicates, 1, MOST_REPLICATES),
        _check.integer("seed", seed, 0),
        range_of(label_range, table.y),
        tolerance,
    )
    shown_as, model = _named("estimator", estimator)
    audited = Contender(name or shown_as, model, question, table)
    easier = replace(question, levels=(question.largest,), tolerance=None)
    others = [
        Contender(*_named("remedies", each), easier, table)
        for each in _remedies(remedies, question.largest.share)
        if not (isinstance(each, str) and catalog.canonical(each) == shown_as)
    ]
    if isinstance(remedies, str) and remedies == "usual":
        others += [
            Contender(*each, easier, table) for each in _by_parts(shown_as, model, table, question)
        ]
    named = _with_different_names([audited, *others])
    cases = {f"remedy-{place}" if place else "audited": case for place, case in enumerate(named)}
    count = _check.integer("splits", splits, 1, MOST_SPLITS)
    suspects = screened(table)
    without = _without(suspects, audited, lambda kept: levels_of(budget, kept, label_range))
    if without is not None:
        cases["without-suspects"] = without
    return Job(cases, count, suspects, max_change, accept_suspects)


def _without(
    suspects: Suspects, audited: Contender, levels: Callable[[AuditedTable], tuple[Level, ...]]
) -> Contender | None:
    """Return the same audit of the table without its suspects, or None if there are none.

    It is None, too, if what remains cannot be attacked with the budgets. The search for the
    smallest budget is left out, because it does not change the verdict.
    """
    if not suspects.rows:
        return None
    try:
        table = audited.table.without(suspects.rows)
        question = replace(audited.question, levels=levels(table), tolerance=None)
    except _check.InputError:
        return None
    return audited._replace(table=table, question=question)


def _with_different_names(cases: list[Contender]) -> tuple[Contender, ...]:
    """Return the cases; estimators that look the same in one line are numbered."""
    seen: dict[str, int] = {}
    named = []
    for case in cases:
        seen[case.name] = seen.get(case.name, 0) + 1
        number = f" ({seen[case.name]})" * (seen[case.name] > 1)
        named.append(case._replace(name=f"{case.name}{number}"))
    return tuple(named)


def _remedies(given: str | Sequence[Any], share: float) -> Sequence[Any]:
    if isinstance(given, str):
        if given == "usual":
            return catalog.remedies(share)
        return [given]
    if not isinstance(given, Sequence) or len(given) > MOST_REMEDIES:
        raise _check.InputError(
            f'`remedies` must be "usual" or a list of up to {MOST_REMEDIES} estimators or names, '
            f"got {_check.shown(given)}"
        )
    texts = [each for each in given if isinstance(each, str)]
    if len({*texts}) < len(texts):
        twice = next(each for each in texts if texts.count(each) > 1)
        raise _check.InputError(f"`remedies` must be different, but {twice} is there twice")
    return given


def _by_parts(
    name: str, model: Any, table: AuditedTable, question: Question
) -> Iterator[tuple[str, Any]]:
    """Yield medians of parts of trees and of the audited estimator, if parts are large enough."""
    most = question.largest.rows
    parts = catalog.parts_against(table.n_training, table.numbers.shape[1], most)
    if parts is not None:
        own = catalog.BY_NAME.build(model) if isinstance(model, str) else model
        for inner, estimator in {"tree": catalog.tree(), name: own}.items():
            yield f"median of {parts:,} parts: {inner}", MedianOfParts(estimator, parts)


def _named(name: str, given: Any) -> tuple[str, Any]:
    """Return an estimator with its name; text must be in the list of estimators."""
    if isinstance(given, str):
        text = catalog.canonical(given)
        catalog.BY_NAME.build(text)
        return text, text
    checked(name, given)
    return shown(given), given


def screened(table: AuditedTable) -> Suspects:
    """Return the suspects of a table, by a linear fit to its inputs as numbers."""
    needed = FEWEST * (table.numbers.shape[1] + 1)
    if len(table) < needed:
        return Suspects(reason=f"{len(table):,} rows are too few, {needed:,} are needed")
    try:
        with one_blas_thread(), no_warnings():
            model = NeuroTronRegressor().fit(table.numbers, table.y)
    except ValueError as error:  # no columns, or numbers that are too large
        return Suspects(reason=_check.shorten(" ".join(str(error).split())))
    share = Interval(model.attacked_fraction_, *model.attacked_fraction_interval_)
    return Suspects(tuple(np.flatnonzero(model.suspects_).tolist()), share)
