"""`audit`: asks what an attacker with a given budget can do to a regressor on a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy.typing as npt

from neurotron import _check
from neurotron.attacks import Attack, Budget
from neurotron.auditing.gathering import gathered
from neurotron.auditing.job import REPLICATES, SPLITS, Contender, job_of
from neurotron.auditing.measuring import measure
from neurotron.auditing.records import COLUMNS, to_rows
from neurotron.auditing.report import Audit
from neurotron.auditing.splits import AuditedTable
from neurotron.work import Memory, Progress, Study, run


def audit(
    estimator: Any,
    X: Any,
    y: npt.ArrayLike,
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
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Measure what an attacker with a given budget can do to a regressor on a table.

    The rows are split several times into three quarters to fit and one quarter to test. Labels of
    the first part are attacked, and the damage is measured on the test rows, whose labels stay as
    they are. Before that, a robust linear fit looks for suspects: labels of the table that may be
    attacked already. If predictions are linear in the labels, as for least squares, ridge
    regression or nearest neighbours, the audit also says what no attack at all can exceed.

    Parameters
    ----------
    estimator
        A regressor of scikit-learn: also a pipeline, a search or a `NeuroTronRegressor`. Or its
        name, as `neurotron list estimators` shows them, with settings: "ridge:alpha=10".
    X, y
        The rows and their labels, as the estimator takes them.
    budget
        What the attacker may do, such as ``Budget(bound=1.0, probability=0.1)`` for changes of up
        to 1 in 10 % of the labels, or ``Budget(bound=1.0, rows=20)`` for 20 rows of the table. Or a
        list of budgets.
    attacks
        "all", or names of attacks, or attacks of your own.
    tolerance
        The largest acceptable rise of the error, in units of that without an attack: 0.1 for 10 %.
        If it is given, the audit has a verdict, and looks for the smallest budget that breaks it.
    max_change
        The largest acceptable change of a prediction, in units of the label. It gives a verdict,
        too; with both, the worse one counts.
    accept_suspects
        Up to so many suspects were looked at by a person and are no reason to leave the verdict
        open.
    remedies
        "usual" to compare the obvious alternatives, or a list of names or estimators; an empty one
        for none.
    splits
        How often the rows are split.
    replicates
        How often attacks that draw at random are repeated on each split.
    label_range
        The smallest and the largest label that is possible. Attacks stay within it.
    seed
        The seed of splits and attacks.
    executor
        Any `concurrent.futures.Executor` whose workers have this package. By default threads.
    progress
        Called with how many parts are done and how many there are.

    Returns
    -------
    Audit
        Damages, ceilings, verdict and remedies. It prints as a summary.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> X = np.random.default_rng(0).standard_normal((80, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 0.1 * np.random.default_rng(1).standard_normal(80)
    >>> budget = nt.Budget(bound=1.0, probability=0.1)
    >>> found = nt.audit("least-squares", X, y, budget=budget, tolerance=0.5, remedies=[])
    >>> found.verdict, found.worst.attack
    ('exceeded', 'worst-error')
    """
    if executor is not None:
        _check.instance("executor", executor, Executor)
    if progress is not None:
        _check.function("progress", progress, "(done, total)")
    job = job_of(
        estimator, AuditedTable.of(X, y), budget=budget, attacks=attacks, tolerance=tolerance,
        remedies=remedies, splits=splits, replicates=replicates, label_range=label_range, seed=seed,
        max_change=max_change, accept_suspects=accept_suspects,
    )  # fmt: skip
    settings = [{"name": name} for name in job.cases]
    study = Study("audit", settings, partial(_part, job.cases), COLUMNS, replicates=job.splits)

    def tell(now: Progress) -> None:
        if progress is not None:
            progress(now.units_done, now.units)

    memory = Memory()
    report = run(study, memory, executor=executor, progress=tell)
    if report.interrupted:
        raise KeyboardInterrupt
    for failure in report.failures:
        raise _check.InputError(f"a part of the audit failed: {failure.error}")
    return gathered(job, memory.rows)


def _part(
    cases: dict[str, Contender],
    setting: dict[str, Any],
    replicate: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Measure an estimator on one split."""
    case = cases[setting["name"]]
    return to_rows(measure(case.estimator, case.table, case.question, replicate, progress))
