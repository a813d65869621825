"""What an audit has to compute: an estimator and its alternatives, on splits of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from neurotron import _check
from neurotron.attacks import Attack, Budget
from neurotron.auditing.attackers import parse_attacks
from neurotron.auditing.estimators import checked, shown
from neurotron.auditing.question import Level, Question, levels_of
from neurotron.auditing.screening import Suspects, screened
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import catalog
from neurotron.poisoning import range_of

__all__ = ["REPLICATES", "SPLITS", "Case", "Job", "job_of"]

SPLITS, REPLICATES = 5, 2
MOST_SPLITS, MOST_REPLICATES, MOST_REMEDIES = 1_000, 1_000, 100


class Case(NamedTuple):
    """An estimator, with its name and what is asked about it on which table."""

    name: str
    estimator: Any
    """A regressor, or its name in the list of estimators."""
    question: Question
    table: AuditedTable


class Job(NamedTuple):
    """What an audit computes and gathers."""

    cases: dict[str, Case]
    """The audited estimator; the audited one without the suspects, if there are any; remedies."""
    splits: int
    suspects: Suspects
    max_change: float | None
    """The largest acceptable change of a prediction, in units of the label."""
    accept_suspects: int | None
    """Up to so many suspects were looked at by a person, who accepts them."""

    @property
    def remedies(self) -> dict[str, Case]:
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
    audited = Case(name or shown_as, model, question, table)
    easier = replace(question, levels=(question.largest,), tolerance=None)
    others = [
        Case(*_named("remedies", each), easier, table)
        for each in _remedies(remedies, question.largest.share)
        if not (isinstance(each, str) and catalog.canonical(each) == shown_as)
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
    suspects: Suspects, audited: Case, levels: Callable[[AuditedTable], tuple[Level, ...]]
) -> Case | None:
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


def _with_different_names(cases: list[Case]) -> tuple[Case, ...]:
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


def _named(name: str, given: Any) -> tuple[str, Any]:
    """Return an estimator with its name; text must be in the list of estimators."""
    if isinstance(given, str):
        text = catalog.canonical(given)
        catalog.BY_NAME.build(text)
        return text, text
    checked(name, given)
    return shown(given), given
