"""`NeuroTronRegressor`: the solver as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from neurotron import _check
from neurotron._threads import one_blas_thread
from neurotron._types import Array
from neurotron._waiting import say
from neurotron.estimators.diagnosis import diagnosis_of
from neurotron.estimators.judgement import LabelJudgement, judge
from neurotron.estimators.model import FittedModel
from neurotron.estimators.reasons import few_rows
from neurotron.estimators.table import (
    inputs_of,
    kept_hashes,
    labels_of,
    large_enough,
    units_of,
    weights_of,
)
from neurotron.networks import BY_NAME, FilterNetwork
from neurotron.solvers import Proof, Solution, solve

NetworkChoice: TypeAlias = str | FilterNetwork | Callable[[int], FilterNetwork]
MOST_COLUMNS = 2_000
"""The most columns whose second moment is kept: 32 MB."""


class NeuroTronRegressor(FittedModel):
    """A regression that ignores poisoned labels and names the suspicious rows.

    It looks for the model that most rows agree with, by `neurotron.solve`. How many labels are
    poisoned need not be known, but it must be fewer than half, and those near the model hide in
    the noise (docs/tables.md). By default the model is linear.

    Parameters
    ----------
    network
        The model: a name that `neurotron list networks` shows, with parameters as in
        "convolution:filter_size=5,stride=2". Use "linear" for any table, "relu-gate" for one
        rectified linear function, "convolution" for signals and "convolution2d" for images, whose
        pixels are the columns of X, row by row. Or a `FilterNetwork`, or a function of the number
        of columns that returns one.
    fit_intercept
        Whether a constant is added to the output of the network.
    standardize
        Whether every column is centred at its median and divided by its spread before a network
        with gates sees it. Gates switch where wᵀx = 0, so this changes what such a network can
        represent. A linear network fits the same with or without it.
    max_iter
        The most starts of the search. A larger number finds the filter of difficult networks more
        often, and takes longer.
    tol
        The last regression ends when predictions change by less than this part of the noise.
    max_rows
        The most rows that are searched. If there are more, a random sample of this size is
        searched, and all rows take part in the last regression. By default 5,000, or 64 for each
        weight if that is more.
    false_alarm_rate
        The largest share of honest rows among `suspects_`, on average. It is also the probability
        that a table without poison has any suspect.
    random_state
        The seed of the random starts and of the sample, or a NumPy RandomState; None for a
        different one each time.
    warm_start
        Whether the search begins with the filter of the last fit.
    verbose
        Whether a fit says on standard error what was found.

    Attributes
    ----------
    network_
        The network.
    weights_
        The filter, shape (r,).
    coef_
        The coefficient of each column, shape (n_features_in_,); only if the network is linear.
    intercept_
        The constant, 0.0 without one.
    scale_
        The standard deviation of the honest noise, in units of the label; 0.0 if the rows that the
        model explains fit exactly.
    honest_noise_
        The law of the honest noise by which labels are judged: a scale and how heavy its tails are.
    suspicion_
        How rare labels as far off are among honest ones, shape (N,): a suspicion of 3 says that one
        honest label in 10³ is as far from the model. Sort by it to see the worst rows first.
    suspects_
        Which labels are suspicious, shape (N,). See `false_alarm_rate`.
    attacked_fraction_
        The estimated share of labels that are attacked, as `sample_weight` counts them. Changes
        that are smaller than about four times the noise can hide and are then not counted.
    attacked_fraction_interval_
        The 95 % interval of the share of labels that stand out, a pair, if the noise has the law
        `honest_noise_`: errors that hide in the noise are not counted. Its upper end is 0.5 if the
        residuals come in two groups, one of which may be attacked.
    attack_size_
        The median distance of the suspects' labels from the model, in units of the label; 0.0
        without suspects.
    proven_against_
        The number of tampered rows up to which the filter is the true one, if honest labels are
        exact; −1 if nothing is proved, as always with noise.
    certificate_
        The proof behind `proven_against_`, or None. Its `kind` says whether the number is proved,
        or holds if the rows are in general position, or is an estimate.
    input_mean_, input_second_moment_
        Mean (n,) and second moment E[xxᵀ] (n, n) of the rows, as `sample_weight` counts them. The
        second moment is None if there are more than 2,000 columns.
    input_center_, input_scale_
        What `standardize` subtracts from the columns and divides them by; 0 and 1 without it.
    n_rows_
        The number of rows.
    row_hashes_
        64-bit hashes of the rows and their labels, by which `verify` notices rows of the fit.
    calibration_rows_
        Which rows were held out, in order; none unless a fit is asked to.
    n_iter_
        How many starts were tried.
    converged_
        Whether the search ended before `max_iter` starts, and the model is that of more than half
        of the rows. If not, a fit warns.
    solution_
        The `Solution` of the solver, with what it assumed.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    See Also
    --------
    neurotron.solve : the solver, for exact labels and proofs.
    sklearn.linear_model.HuberRegressor : bounds the influence of outliers, but does not remove it.
    sklearn.linear_model.RANSACRegressor : needs to be told how far an inlier may be off.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> draw = np.random.default_rng(0)
    >>> X = draw.standard_normal((300, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 4.0 + 0.1 * draw.standard_normal(300)
    >>> y[:60] += 5.0
    >>> model = nt.NeuroTronRegressor().fit(X, y)
    >>> model.coef_.round(1), round(model.intercept_, 1)
    (array([ 1. , -2. ,  0.5]), 4.0)
    >>> int(model.suspects_[:60].sum()), round(model.attacked_fraction_, 2)
    (60, 0.2)
    """

    def __init__(
        self,
        *,
        network: NetworkChoice = "linear",
        fit_intercept: bool = True,
        standardize: bool = False,
        max_iter: int = 40,
        tol: float = 1e-8,
        max_rows: int | None = None,
        false_alarm_rate: float = 0.05,
        random_state: int | np.random.RandomState | None = 0,
        warm_start: bool = False,
        verbose: bool | int = False,
    ) -> None:
        self.network = network
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.max_rows = max_rows
        self.false_alarm_rate = false_alarm_rate
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: npt.ArrayLike | None = None,
        *,
        calibration: float | None = None,
    ) -> Self:
        """Find the model that most rows agree with, and judge all labels by it.

        Parameters
        ----------
        X
            Inputs, shape (N, n): numbers, finite and dense.
        y
            Labels, shape (N,).
        sample_weight
            How much each row counts, shape (N,); a row of weight 0 is only judged.
        calibration
            The share of the rows that is held out for `predict_interval`, whatever their labels
            are, before anything looks for suspects. All attributes are then about the other rows.

        Returns
        -------
        self
            The fitted regressor.
        """
        rate = check_parameters(self)
        rows = inputs_of(self, X, reset=True)
        labels = labels_of(self, rows, y)
        seed = 0 if calibration is None else seed_of(self.random_state)
        fitted = self._hold_out(X, labels, calibration, seed, sample_weight)
        rows, labels = large_enough(self, rows[fitted], labels[fitted])
        counts = weights_of(sample_weight, len(rows))
        with one_blas_thread():
            self._fit(rows, labels, counts, rate)
        if self.verbose:
            say(str(self._diagnosis))
        if not self.converged_:
            why = (
                f"the search tried all {self.max_iter} starts, and too few of them led to the same "
                "filter: increase `max_iter`"
            )
            if self.n_iter_ < self.max_iter:
                why = (
                    "more than half of the labels are far from the filter: it may be the attacker's"
                )
            warnings.warn(f"{why}, or read diagnose()", ConvergenceWarning, stacklevel=2)
        return self

    def _fit(self, rows: Array, labels: Array, counts: Array | None, rate: float) -> None:
        network = network_for(self.network, rows.shape[1])
        gates = self.standardize and not network.is_linear
        units = units_of(rows) if gates else (np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
        seen = (rows - units[0]) / units[1] if gates else rows
        few = few_rows(len(rows), network.filter_size + bool(self.fit_intercept))
        if few and self.verbose:
            say(few)
        with np.errstate(over="ignore"):  # a row that is infinitely far off has no weight
            solution = solve(
                network, seen, labels, sample_weight=counts, intercept=bool(self.fit_intercept),
                seed=seed_of(self.random_state), max_starts=self.max_iter, max_rows=self.max_rows,
                tolerance=self.tol, start=self._last_filter(network), progress=self._progress,
            )  # fmt: skip
        self.input_center_, self.input_scale_ = units
        self._set_solution(solution)
        self._set_moments(rows, labels, counts)
        predicted = self._outputs(rows)
        rounding = self._rounding(rows, labels)
        found = judge(solution, seen, labels - predicted, rounding, counts, rate)
        self._set_judgement(found)
        self._diagnosis = diagnosis_of(self, found, seen, labels, predicted, counts)

    def _last_filter(self, network: FilterNetwork) -> tuple[Array, float] | None:
        """Return the filter of the last fit, if the search is to begin with it."""
        weights = getattr(self, "weights_", None)
        if not self.warm_start or weights is None or len(weights) != network.filter_size:
            return None
        return weights, self.intercept_

    def _set_moments(self, rows: Array, labels: Array, counts: Array | None) -> None:
        weighted = rows if counts is None else rows * counts[:, None]
        self.n_rows_ = len(rows)
        self.row_hashes_ = kept_hashes(rows, labels)
        self.input_mean_ = weighted.mean(axis=0)
        small = rows.shape[1] <= MOST_COLUMNS
        self.input_second_moment_ = weighted.T @ rows / len(rows) if small else None

    def _set_solution(self, solution: Solution) -> None:
        self.solution_, self.network_ = solution, solution.network
        self.weights_ = solution.weights
        self.intercept_ = solution.intercept
        self.scale_ = solution.noise
        self.n_iter_ = solution.starts
        self.converged_ = solution.converged
        self.proven_against_ = solution.proven_against
        self.certificate_: Proof | None = solution.proof if self.proven_against_ >= 0 else None

    def _set_judgement(self, found: LabelJudgement) -> None:
        self.honest_noise_ = found.noise
        self.suspicion_ = found.suspicion
        self.suspects_ = found.suspects
        self.attacked_fraction_ = found.share
        self.attacked_fraction_interval_ = found.interval
        self.attack_size_ = found.size


# ---- parameters ----------------------------------------------------------------------------------


def check_parameters(model: NeuroTronRegressor) -> float:
    """Check the parameters that nothing else checks; return the rate of false alarms."""
    for name in ("fit_intercept", "standardize", "warm_start"):
        if not isinstance(getattr(model, name), (bool, np.bool_)):
            given = _check.shown(getattr(model, name))
            raise _check.InputError(f"`{name}` must be True or False, got {given}")
    if not isinstance(model.verbose, (bool, np.bool_)):
        _check.integer("verbose", model.verbose, 0)
    _check.integer("max_iter", model.max_iter, 1)
    _check.number("tol", model.tol, "(0, 1)")
    if model.max_rows is not None:
        _check.integer("max_rows", model.max_rows, 1)
    return _check.number("false_alarm_rate", model.false_alarm_rate, "(0, 1)")


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that scikit-learn's parameter `random_state` stands for."""
    if isinstance(random_state, (int, np.integer)):
        return _check.integer("random_state", random_state, 0)
    return int(check_random_state(random_state).randint(2**31 - 1))


def network_for(network: NetworkChoice, n_features: int) -> FilterNetwork:
    """Return the network for inputs of `n_features` columns."""
    made: object = network
    if isinstance(network, str):
        made = BY_NAME.build(network, n_inputs=n_features)
    elif callable(network) and not isinstance(network, FilterNetwork):
        made = network(n_features)
    if not isinstance(made, FilterNetwork):
        raise _check.InputError(
            "`network` must be a name such as 'linear', a FilterNetwork, or a function of the "
            f"number of columns that returns one, got {_check.shown(made)}"
        )
    if made.n_inputs != n_features:
        raise _check.InputError(
            f"`network` has {made.n_inputs} inputs, but `X` has {n_features} columns: give a "
            "network for these columns, or a function of their number"
        )
    return made
