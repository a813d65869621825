"""A problem: a network and the data it learns from."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._digits import counted
from neurotron._pickling import Pickled
from neurotron._text import card
from neurotron._types import Array
from neurotron.data import Corrupted, Data, Rows, Simulated
from neurotron.laws import WEIGHTINGS, EvenMoments, Law
from neurotron.laws.even_moments import weights_of_rows
from neurotron.networks import FilterNetwork, with_intercept
from neurotron.networks.sensing import sensing_matrix

Made = TypeVar("Made")
MOST_KEPT = 64
"""So many results of `Problem.once` are kept; then all are forgotten."""


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Pickled):
    """A network, and the data it learns from.

    Make one with `Problem.draw`, which simulates data, or with `Problem.from_rows`.

    Parameters
    ----------
    network
        What is learned.
    data
        Where inputs and honest labels come from.
    initial_weights
        Where every trainer starts, shape (r,); default all ones, as in the paper.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(scale=1.0), seed=1)
    >>> problem.true_weights.shape
    (25,)
    """

    network: FilterNetwork
    data: Data = None  # type: ignore[assignment]  # refused in __post_init__, with what to write
    initial_weights: Array = None  # type: ignore[assignment]  # becomes ones in __post_init__

    def __post_init__(self) -> None:
        network = _check.instance("network", self.network, FilterNetwork)
        if not isinstance(self.data, Data):
            raise _check.InputError(
                f"`data` must be Data, got {_check.shown(self.data)}: write Problem.draw(network, "
                "law) to simulate data, or Problem.from_rows(network, X, y) for rows of data"
            )
        kind = type(self.data).__name__
        law = _check.instance(f"{kind}.law", getattr(self.data, "law", None), Law)
        _check.number(f"{kind}.noise", self.data.noise, "[0, 1e70]")
        if law.n_inputs not in (None, network.n_inputs):
            raise _check.InputError(
                f"the network takes {network.n_inputs} inputs, but {law!r} has {law.n_inputs}"
            )
        size = (network.filter_size,)
        _ = self.true_weights  # of a shape that fits
        start = np.ones(size) if self.initial_weights is None else self.initial_weights
        object.__setattr__(self, "initial_weights", _check.array("initial_weights", start, size))

    def __repr__(self) -> str:
        return f"Problem({self.network!r}, {self.data!r})"

    def _repr_html_(self) -> str:
        network = self.network
        shape = f", leak {network.leak:g}" if network.leak else ""
        if network.activation is not None:
            shape = f", activation {network.activation.name}"
        facts = {
            "network": f"{network.n_inputs} inputs, {counted(network.width, 'gate')}{shape}, one "
            f"filter of {network.filter_size} weights",
            "data": repr(self.data),
            "inputs": f"{self.law!r}, {'' if self.law.symmetric else 'not '}symmetric",
            "true weights": "not known",
        }
        if self.true_weights is not None:
            facts["true weights"] = (
                f"known, ‖w*‖ = {np.linalg.norm(self.true_weights):.4g}; training starts at the "
                f"distance {self.initial_error():.4g}"
            )
        return card("Problem", facts)

    @classmethod
    def draw(
        cls,
        network: FilterNetwork,
        law: Law | Corrupted,
        *,
        true_weights: npt.ArrayLike | None = None,
        seed: int = 0,
        noise: float = 0.0,
        initial_weights: npt.ArrayLike | None = None,
    ) -> Problem:
        """Return a problem with simulated data: y = f_{w*}(x) + noise · ζ with ζ ~ N(0, 1).

        The true weights w* are drawn from N(0, I_r) by `seed`, as in the paper, unless given. With
        `data.Corrupted` in place of a law, labels are those of inputs that trainers do not see.

        >>> import neurotron as nt
        >>> problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.Normal(), true_weights=[1, -2])
        >>> problem.true_weights
        array([ 1., -2.])
        """
        _check.instance("network", network, FilterNetwork)
        if true_weights is None:
            draw = _seeds.generator(seed, "true_weights")
            true_weights = draw.standard_normal(network.filter_size)
        weights = _check.array("true_weights", true_weights, (network.filter_size,))
        if isinstance(law, Corrupted):
            data: Data = replace(law, true_weights=weights, noise=noise)
        else:
            data = Simulated(law, weights, noise)
        return cls(network, data, cast(Array, initial_weights))

    @classmethod
    def from_rows(
        cls,
        network: FilterNetwork,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        true_weights: npt.ArrayLike | None = None,
        intercept: bool = False,
        replacement: bool = False,
        initial_weights: npt.ArrayLike | None = None,
    ) -> Problem:
        """Return a problem with rows of data, whose moments are those of the rows (`data.Rows`).

        Every epoch visits each row once; with `replacement`, every sample is drawn from all rows,
        independently of the others. Guarantees about a table are for rows drawn in this way.

        With an `intercept` there is one more input, which is always 1. Its weight is the last entry
        of the filter, also of `true_weights` and `initial_weights` (`networks.with_intercept`).

        >>> import neurotron as nt
        >>> problem = nt.Problem.from_rows(
        ...     nt.networks.linear(1), [[0.0], [1.0], [2.0]], [5.0, 7.0, 9.0], intercept=True)
        >>> run = nt.simulate(problem, nt.NeuroTron(), steps=500, batch_size=3)
        >>> run.weights.round(6)
        array([[2., 5.]])
        """
        _check.instance("network", network, FilterNetwork)
        if _check.instance("intercept", intercept, bool):
            network = with_intercept(network)
            X = _check.array("X", X, ("N", network.n_inputs - 1))
            X = np.column_stack([X, np.ones(len(X))])
        data = Rows(
            cast(Array, X),
            cast(Array, y),
            sample_weight=cast(Array, sample_weight),
            true_weights=cast(Array, true_weights),
            replacement=replacement,
        )
        return cls(network, data, cast(Array, initial_weights))

    @property
    def law(self) -> Law:
        """The law of the inputs."""
        return self.data.law

    @cached_property
    def true_weights(self) -> Array | None:
        """The true weights w*, shape (r,); None if they are not known."""
        weights, size = self.data.true_weights, (self.network.filter_size,)
        return None if weights is None else _check.array("true_weights", weights, size)

    @property
    def noise(self) -> float:
        """Standard deviation of the honest noise that labels carry, as far as it is known."""
        return self.data.noise

    @property
    def noise_kurtosis(self) -> float:
        """A stated bound on the kurtosis of this noise given x; inf if none is stated."""
        return self.data.noise_kurtosis

    @cached_property
    def covariance(self) -> Array | None:
        """Σ = E[xxᵀ], (n, n), over rows according to their weights; None if it is infinite."""
        return self.law.covariance(self.network.n_inputs)

    def even_moments(self, weighting: str | None = None) -> EvenMoments:
        """Return the moments of x under the weight ω(x) of a trainer."""
        _require_weighting(weighting)
        _check.entries("the moments of the input", *[self.network.n_inputs] * 2)
        return self.once(
            ("even moments", weighting),
            lambda: self.law.even_moments(self.network.n_inputs, weighting),
        )

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what `make` returns; for the same `key` it is made only once.

        What follows from a problem alone, such as its moments and constants, is asked for many
        times.
        """
        if key not in self._made:
            found = make()
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            self._made[key] = found
        return cast(Made, self._made[key])

    @cached_property
    def _made(self) -> dict[Hashable, object]:
        return {}

    def weighted_covariance(self, weighting: str | None) -> Array | None:
        """Return E[ω(x) xxᵀ], (n, n); None if it is infinite or not known."""
        if weighting is None:
            return self.covariance
        return self.even_moments(weighting).covariance

    def sensing_matrix(self, sensing: str | npt.ArrayLike, weighting: str | None = None) -> Array:
        """Return the sensing matrix that a trainer's `sensing` describes, under its weighting."""
        _require_weighting(weighting)
        if not isinstance(sensing, str):
            return self._find_sensing_matrix(sensing, weighting)
        return self.once(
            ("sensing matrix", sensing, weighting),
            lambda: self._find_sensing_matrix(sensing, weighting),
        )

    def _find_sensing_matrix(self, sensing: str | npt.ArrayLike, weighting: str | None) -> Array:
        covariance = self.weighted_covariance(weighting)
        by_covariance = isinstance(sensing, str) and sensing in ("optimal", "polar")
        if weighting and covariance is None and by_covariance:
            raise _check.InputError(
                f"sensing={sensing!r} needs E[xxᵀ/‖x‖²], which is not known for {self.law!r}: "
                f"leave out weighting={weighting!r}, or use sensing='mean'"
            )
        helps = covariance is None and self.weighted_covariance("inverse-norm") is not None
        remedy = "weighting='inverse-norm', " if helps else ""
        return sensing_matrix(sensing, self.network, covariance, remedy)

    def initial_error(self, given: float | None = None, centre: Array | None = None) -> float:
        """Return ‖w_1 − w*‖; where w* is not known, the bound on it that is `given`.

        With a `centre`, it is the distance from w_1 to that.
        """
        name = "w*" if centre is None else "w°"
        centre = self.true_weights if centre is None else centre
        if given is not None:
            given = _check.number("initial_error", given, "(0, 1e100]")
        if centre is None:
            if given is None:
                raise _check.InputError(
                    "the problem has no `true_weights`: give a bound on ‖w_1 − w*‖ as "
                    "`initial_error`"
                )
            return given
        error = float(np.linalg.norm(self.initial_weights - centre))
        if given is not None and given < error * (1.0 - 1e-12):
            raise _check.InputError(
                f"`initial_error` must be at least ‖w_1 − {name}‖ = {error:.6g}, got {given:g}"
            )
        return error if given is None else given

    def least_squares(self, weighting: str | None = None) -> Array:
        """Return the least-squares fit w° of rows of data by a linear network, shape (r,).

        It minimises the mean of c ω(x) (y − f_w(x))² over the rows, where c is the sample weight of
        a row and ω(x) the weight that a trainer gives to its input.

        >>> import neurotron as nt
        >>> problem = nt.Problem.from_rows(
        ...     nt.networks.linear(1), [[0.0], [1.0], [2.0]], [0.0, 3.0, 3.0], intercept=True)
        >>> problem.least_squares().round(6)
        array([1.5, 0.5])
        """
        if not isinstance(self.data, Rows) or not self.network.is_linear:
            raise _check.InputError(
                "a least-squares fit needs rows of data and a linear network: use "
                "Problem.from_rows(network, X, y) with a network of leak = 1"
            )
        _require_weighting(weighting)
        rows = self.data
        return self.once(
            ("least squares", weighting),
            lambda: _check.freeze(_least_squares(self.network, rows, weighting)),
        )

    def norm_moment(self, order: int) -> float:
        """Return m_i = E‖x‖^i, i = 1 … 4."""
        return self.law.norm_moment(order, self.network.n_inputs)


def _require_weighting(weighting: str | None) -> None:
    if weighting is not None:
        _check.choice("weighting", weighting, WEIGHTINGS)


def _least_squares(network: FilterNetwork, rows: Rows, weighting: str | None) -> Array:
    """Return the weighted fit; its residuals are fitted once more, to remove rounding errors."""
    counted = np.sqrt(rows.law.counts * weights_of_rows(rows.X, weighting))
    seen = counted[:, None] * (rows.X @ network.mean_gate.T)
    fit = np.zeros(network.filter_size)
    for _ in range(2):
        fit = fit + np.linalg.lstsq(seen, counted * (rows.y - network(fit, rows.X)))[0]
    return fit
