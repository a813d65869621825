"""Finds the filter in rows of data of which an unknown part has tampered labels."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._threads import one_blas_thread
from neurotron._tiny import without_tiny
from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork
from neurotron.residuals.hidden import HiddenAttack, hidden_attack
from neurotron.residuals.robust import mean
from neurotron.solvers.candidates import best_of
from neurotron.solvers.finish import SETTLED, fit_of_the_rest
from neurotron.solvers.fit import Fit, proof_of
from neurotron.solvers.linearized import Linearized
from neurotron.solvers.proof import nothing
from neurotron.solvers.search import STARTS, Progress, loss
from neurotron.solvers.solution import Solution
from neurotron.solvers.table import EXACT, Table

MOST_EQUAL = 0.4
"""A larger share of equal labels gets a warning, if all others are rejected."""


@one_blas_thread()  # the last bits would depend on the number of threads
def solve(
    network: FilterNetwork,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    intercept: bool = False,
    seed: int = 0,
    max_starts: int = STARTS,
    max_rows: int | None = None,
    tolerance: float = SETTLED,
    start: tuple[npt.ArrayLike, float] | None = None,
    prove: bool = True,
    progress: Progress | None = None,
) -> Solution:
    """Find the filter of a network in rows of data whose labels may be poisoned.

    If honest labels are exact and fewer than half are tampered with, a few hundred rows are usually
    enough to find the true filter exactly, and `Solution.proven_against` says up to how many
    tampered rows this is proved; `Solution.proof` says what that takes for granted. With honest
    noise and 20 rows or more for each weight, the error is close to that of least squares on the
    honest rows, if clearly fewer than half of the labels are tampered with, by four times the noise
    or more. Filters that explain many rows are compared by how many rows they keep (docs/rows.md
    says where that fails). Networks with another activation than the leaky ReLU are solved in the
    same way, but nothing is proved about them.

    Parameters
    ----------
    network
        The network: ``networks.linear(n_inputs)`` for linear regression.
    X, y
        Inputs (N, n) and labels (N,), with more rows than the filter has weights.
    sample_weight
        How much each row counts, shape (N,): nonnegative, not all zero. A row of weight 0 is only
        predicted.
    intercept
        Whether a constant is added to the output of the network.
    seed
        Seed of the random starts, and of the sample that is searched if there are many rows.
    max_starts
        The most starts of the search. It ends earlier if several starts lead to the same filter, or
        if no other filter can fit as many rows.
    max_rows
        The most rows that are searched. If there are more, a random sample is searched, and all
        rows take part in the last step. By default 5,000, or 64 for each weight if that is more. It
        is never less than 10 for each weight.
    tolerance
        The last step ends when the outputs change by less than this part of the honest noise.
    start
        The weights and the intercept of a filter to begin the search with, for example of an
        earlier solution.
    prove
        Whether to look for a proof. If labels are exact, this takes longer than to find the filter:
        0.1 s for 25 columns, 1 s for 100.
    progress
        A function that is called after every start, with the number of starts so far and the most
        there can be.

    Returns
    -------
    Solution
        The filter, the rows it explains and rejects, and what is proved.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> draw = np.random.default_rng(0)
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> true_weights = draw.standard_normal(5)
    >>> X = draw.standard_normal((100, 20))
    >>> y = network(true_weights, X)
    >>> y[:30] += 4.0
    >>> solution = nt.solve(network, X, y)
    >>> bool(np.allclose(solution.weights, true_weights, atol=1e-12))
    True
    >>> bool((solution.rejected == (np.arange(100) < 30)).all())
    True
    """
    if not isinstance(network, FilterNetwork):
        raise _check.InputError(
            f"`network` must be a FilterNetwork, got {_check.shown(network)}: for linear "
            "regression write nt.solve(nt.networks.linear(n_inputs), X, y, intercept=True)"
        )
    X = _check.array("X", X, ("N", network.n_inputs), _check.LARGEST, copy=False)
    X, y = without_tiny("X", X), without_tiny("y", _check.array("y", y, (len(X),), _check.LARGEST))
    counts = None if sample_weight is None else _check.sample_weight(sample_weight, len(X))
    _check.instance("intercept", intercept, bool)
    _check.instance("prove", prove, bool)
    _check.integer("seed", seed, 0)
    _check.integer("max_starts", max_starts, 1)
    _check.number("tolerance", tolerance, "(0, 1)")
    if max_rows is not None:
        _check.integer("max_rows", max_rows, 1)
    if start is not None and not (isinstance(start, tuple | list) and len(start) == 2):
        raise _check.InputError(
            "`start` must be a pair, the weights and the intercept of a filter, got "
            f"{_check.shown(start)}: write start=(weights, 0.0) if there is no intercept"
        )
    if progress is not None:
        _check.function("progress", progress, "(starts, most starts)")
    counted: Mask = np.asarray(X.any(axis=1)) if not intercept else np.ones(len(X), np.bool_)
    if counts is not None:
        counted &= counts > 0.0
    table = Table.of(network, X, y, counts, counted, intercept=intercept)
    searched = table.searched(_seeds.generator(seed, "rows to search"), max_rows)
    first = None if start is None else table.in_coordinates(searched, *start)
    found = table.found(searched, _seeds.generator(seed, "starts"), max_starts, first, progress)
    found = best_of(searched, found)
    point, scale = table.finished(searched, found, tolerance)
    if searched.linear and scale > EXACT:
        if not found.by_majority:
            point, scale = table.in_the_plain_basin(searched, point, scale, tolerance)
    elif searched.linear and (beside := table.beside_ties(searched, point, tolerance)) is not None:
        point, scale = beside
        found = replace(found, point=point)
        _warn_of_ties(y[counted])
    point, scale = table.checked_by_column(searched, point, scale, tolerance)
    weights, constant = table.in_units(searched, point)
    fit = Fit.of(network, X, y, weights, constant, scale * table.label_unit, table.label_unit)
    hidden = None
    if fit.noise > 0.0 and searched.linear:
        rows = table.linear_rows(searched)
        hidden = hidden_attack(rows, table.labels, table.counts, point, scale)
        before = point
        if hidden is None:
            strict = table.checked_by_leverage(searched, found, point, tolerance)
            wide = None
            if strict is None and not found.by_majority:
                wide = table.widened(searched, point, scale, tolerance)
            elif strict is not None:
                point, scale = strict
            point = fit_of_the_rest(rows, point, scale) if wide is None else wide
        if point is not before:
            weights, constant = table.in_units(searched, point)
            noise = scale * table.label_unit
            fit = Fit.of(network, X, y, weights, constant, noise, table.label_unit)
    if hidden is not None:
        point = hidden.weights
        weights, constant = table.in_units(searched, point)
        noise = hidden.noise * table.label_unit
        fit = Fit.of(network, X, y, weights, constant, noise, table.label_unit)
        fit = fit.rejecting(counted, hidden.tampered > 0.5)
    lost = fit.rejected[counted].astype(float)
    _warn(searched, point)
    _warn_of_equal_labels(y[counted], fit.rejected[counted])
    return Solution(
        network=network,
        weights=_check.freeze(weights),
        intercept=constant,
        noise=fit.noise,
        hidden_share=0.0 if hidden is None else hidden.share,
        tampered=None if hidden is None else _of_all_rows(hidden.tampered, counted),
        explained=fit.explained,
        rejected=fit.rejected,
        deviations=fit.deviations,
        loss=loss(searched, searched.residuals(point)) * np.sqrt(table.loss_unit),
        starts=found.starts,
        stopped=found.stopped,
        converged=found.converged and mean(lost, table.counts) <= 0.5,
        proof=proof_of(searched, X, weights, fit, counted) if prove else nothing("prove=False"),
        assumed=_assumed(fit.noise, hidden, table.label_unit),
    )


def _of_all_rows(values: Array, counted: Mask) -> Array:
    """Return values of the rows that count, and 0 for all others."""
    every = np.zeros(len(counted))
    every[counted] = values
    return _check.freeze(every)


EXACT_LABELS = (
    "Fewer than half of the labels are tampered with, no other filter explains more of them, and "
    "the others are exact."
)
NOISY_LABELS = (
    "Fewer than half of the labels are tampered with, by much more than the honest noise, which is "
    "symmetric around zero, and no other filter keeps more of them."
)


def _assumed(noise: float, hidden: HiddenAttack | None, label_unit: float) -> str:
    if hidden is not None:
        return hidden.assumed(label_unit)
    return EXACT_LABELS if noise == 0.0 else NOISY_LABELS


def _warn(rows: Linearized, point: Array) -> None:
    """Warn if the rows do not determine all weights."""
    wanted = rows.network.filter_size + rows.intercept
    if rows.size < wanted:
        warnings.warn(
            f"the rows determine only {rows.size} of {wanted} weights, because columns of `X` are "
            "constant, repeated or combinations of others; the filter has no component along the "
            "other directions: leave out columns to get weights that are unique",
            stacklevel=4,
        )
    active = rows.active(rows.gradient(point)[:, : rows.projected.shape[2]])
    informative = len(rows) if active is None else int(active.sum())
    if informative <= rows.size:
        why = "no gate is active" if rows.network.activation is None else "all gates are flat"
        warnings.warn(
            f"only {informative} of {len(rows)} rows say something about the weights at the filter "
            f"that was found, because {why} in the others: do not rely on it",
            stacklevel=4,
        )


def _warn_of_ties(labels: Array) -> None:
    """Warn that the most frequent label is fitted like the others."""
    most = int(np.unique(labels, return_counts=True)[1].max())
    warnings.warn(
        f"{100.0 * most / len(labels):.3g} % of the labels are equal, so the noise is that of the "
        "others: the regression is meant for labels that vary continuously",
        stacklevel=4,
    )


def _warn_of_equal_labels(labels: Array, rejected: Mask) -> None:
    """Warn if a regression followed the rows with one label and rejected all others."""
    if not rejected.any():
        return
    values, repeats = np.unique(labels, return_counts=True)
    others = labels != values[repeats.argmax()]
    if (
        repeats.max() > MOST_EQUAL * len(labels)
        and np.sum(rejected[others]) > 0.9 * np.sum(others) > 0.0
    ):
        warnings.warn(
            f"{100.0 * repeats.max() / len(labels):.3g} % of the labels are equal, and the "
            "regression follows them and rejects the others: it is meant for labels that vary "
            "continuously",
            stacklevel=4,
        )
