"""Gathers what was measured on all splits into an `Audit`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurotron import _check
from neurotron._intervals import of_mean
from neurotron.auditing import finding
from neurotron.auditing.attackers import EXACT, SURROGATES
from neurotron.auditing.finding import Breaking, Remedy, Splits
from neurotron.auditing.job import Case, Job
from neurotron.auditing.measuring import ATTACK, FAILED
from neurotron.auditing.report import Audit
from neurotron.auditing.verdicts import checks, worse

__all__ = ["gathered"]

IMPOSSIBLE = (
    f"none of these attacks is possible on this estimator: {', '.join(EXACT)} need predictions "
    f"that are linear in the labels, and {', '.join(SURROGATES)} are for all other estimators; try "
    "all attacks"
)


def gathered(job: Job, measured: Mapping[str, Splits]) -> Audit:
    """Return the audit of a job, of which the rows of each part and each split were measured."""
    audited, splits = job.cases[0], measured["audited"]
    reason = _failure(splits)
    if reason:
        raise _check.InputError(reason)
    question, table = audited.question, audited.table
    found = [(case, measured[name]) for name, case in job.parts.items()]
    found, without = found[: len(job.cases)], found[len(job.cases) :]
    failures = {case.name: _failure(rows) for case, rows in found}
    limits = question.tolerance, job.gate.max_change
    remedies = [
        _remedy(case, rows, splits, limits) for case, rows in found[1:] if not failures[case.name]
    ]
    without = [(case, rows) for case, rows in without if not _failure(rows)]
    breaking: tuple[Breaking, ...] = ()
    if question.tolerance is not None:
        breaking = tuple(
            finding.breaking(splits, bound, question.tolerance, table.n_training)
            for bound in dict.fromkeys(level.bound for level in question.levels)
        )
    return Audit(
        estimator=audited.name,
        n_rows=len(table),
        n_columns=table.n_columns,
        n_training=table.n_training,
        n_tested=table.n_tested,
        splits=job.splits,
        replicates=question.replicates,
        seed=question.seed,
        table_sha256=table.digest,
        label_range=question.limited_range,
        clean_error=of_mean(finding.clean_errors(splits)),
        unit=float(finding.units(splits).mean()),
        versus_least_squares=finding.versus_least_squares(splits),
        transfers_only=finding.transfers_only(splits),
        damages=finding.damages(splits, question.levels),
        strongest=tuple(finding.strongest(splits, level) for level in question.levels),
        ceilings=finding.ceilings(splits, question.levels),
        tolerance=question.tolerance,
        max_change=job.gate.max_change,
        suspects=job.suspects,
        accept_suspects=job.gate.accept_suspects,
        without_suspects=tuple(
            finding.strongest(rows, level)
            for case, rows in without
            for level in case.question.levels
        ),
        checks=tuple(
            check
            for case, rows in (found[0], *without)
            for check in checks(
                rows, case.question.levels, *limits, without_suspects=case is not audited
            )
        ),
        breaking=breaking,
        influential=finding.influential(splits, len(table)),
        remedies=tuple(sorted(remedies, key=lambda remedy: remedy.error.estimate)),
        failures=tuple(f"{name}: {reason}" for name, reason in failures.items() if reason),
    )


def _failure(splits: Splits) -> str:
    """Return why an estimator could not be fitted to honest labels, or attacked, or nothing."""
    reasons = [row["reason"] for rows in splits for row in rows if row["kind"] == FAILED]
    if reasons:
        return str(reasons[0])
    attacked = all(any(row["kind"] == ATTACK for row in rows) for rows in splits)
    return "" if attacked else IMPOSSIBLE


def _remedy(
    case: Case, splits: Splits, audited: Splits, limits: tuple[float | None, float | None]
) -> Remedy:
    """Return an alternative, compared with the audited estimator on the same splits."""
    (level,) = case.question.levels
    own, clean, unit = (
        finding.clean_errors(splits), finding.clean_errors(audited), finding.units(audited)
    )  # fmt: skip
    after, before = (finding.largest(each, level, "error") for each in (splits, audited))
    most = [row["error"] for row in finding.ceiling_rows(splits, level)]
    return Remedy(
        case.name,
        error=of_mean(after),
        price=of_mean((own - clean) / unit),
        total=of_mean((after - clean) / unit),
        damage=max(
            finding.damages(splits, [level]), key=lambda damage: damage.relative.estimate,
            default=finding.strongest(splits, level),
        ),
        at_most=None if None in most else of_mean((own + np.array(most) - clean) / unit),
        saved=of_mean((before - after) / unit),
        verdict=worse(
            check.verdict for check in checks(splits, [level], *limits, without_suspects=False)
        ),
        transfers_only=finding.transfers_only(splits),
        versus_least_squares=finding.versus_least_squares(splits),
    )  # fmt: skip
