"""A problem: what is trained and what is certified."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._pickling import Pickled
from neurotron._types import Array
from neurotron.laws import WEIGHTINGS, EvenMoments, Law
from neurotron.networks import FilterNetwork

__all__ = ["Problem"]


@dataclass(frozen=True, eq=False)
class Problem(Pickled):
    """A network, the law of its inputs, and the weights that make the honest labels.

    The honest label of x is y = f_{w*}(x) + noise · ζ with ζ ~ N(0, 1).

    Parameters
    ----------
    network, law
        What is learned, and where x comes from.
    true_weights
        w*, shape (r,); None if they are not known, when labels come from data (`Rows`).
    noise
        Standard deviation of honest label noise (0 in the paper).
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
    law: Law
    true_weights: Array | None = None
    noise: float = 0.0
    initial_weights: Array = None  # type: ignore[assignment]  # becomes ones in __post_init__

    def __post_init__(self) -> None:
        network = _check.instance("network", self.network, FilterNetwork)
        law = _check.instance("law", self.law, Law)
        if law.n_inputs not in (None, network.n_inputs):
            raise _check.InputError(
                f"the network takes {network.n_inputs} inputs, but {law!r} has {law.n_inputs}"
            )
        size = (network.filter_size,)
        if self.true_weights is not None:
            weights = _check.array("true_weights", self.true_weights, size)
            object.__setattr__(self, "true_weights", weights)
        start = np.ones(size) if self.initial_weights is None else self.initial_weights
        object.__setattr__(self, "initial_weights", _check.array("initial_weights", start, size))
        object.__setattr__(self, "noise", _check.number("noise", self.noise, "[0, 1e70]"))

    @classmethod
    def draw(
        cls,
        network: FilterNetwork,
        law: Law,
        *,
        seed: int = 0,
        noise: float = 0.0,
        initial_weights: npt.ArrayLike | None = None,
    ) -> Problem:
        """Return a problem whose true weights are drawn from N(0, I_r), as in the paper."""
        _check.instance("network", network, FilterNetwork)
        weights = _seeds.generator(seed, "true_weights").standard_normal(network.filter_size)
        return cls(network, law, weights, noise, initial_weights)  # type: ignore[arg-type]

    @cached_property
    def covariance(self) -> Array | None:
        """Σ = E[xxᵀ], (n, n); None if it is infinite."""
        return self.law.covariance(self.network.n_inputs)

    def even_moments(self, weighting: str | None = None) -> EvenMoments:
        """Return the moments of x under the weight ω(x) of a trainer."""
        if weighting is not None:
            _check.choice("weighting", weighting, WEIGHTINGS)
        if weighting not in self._even_moments:
            _check.entries("the moments of the input", *[self.network.n_inputs] * 2)
            moments = self.law.even_moments(self.network.n_inputs, weighting)
            self._even_moments[weighting] = moments
        return self._even_moments[weighting]

    @cached_property
    def _even_moments(self) -> dict[str | None, EvenMoments]:
        return {}

    def weighted_covariance(self, weighting: str | None) -> Array | None:
        """Return E[ω(x) xxᵀ], (n, n); None if it is infinite or not known."""
        if weighting is None:
            return self.covariance
        return self.even_moments(weighting).covariance

    def initial_error(self, given: float | None = None) -> float:
        """Return ‖w_1 − w*‖, or the bound on it that is `given` by who does not know w*."""
        if given is not None:
            given = _check.number("initial_error", given, "(0, 1e100]")
        if self.true_weights is None:
            if given is None:
                raise _check.InputError(
                    "the problem has no `true_weights`: give a bound on ‖w_1 − w*‖ as "
                    "`initial_error`"
                )
            return given
        error = float(np.linalg.norm(self.initial_weights - self.true_weights))
        if given is not None and given < error * (1.0 - 1e-12):
            raise _check.InputError(
                f"`initial_error` must be at least ‖w_1 − w*‖ = {error:.6g}, got {given:g}"
            )
        return error if given is None else given

    def norm_moment(self, order: int) -> float:
        """Return m_i = E‖x‖^i, i = 1 … 4."""
        return self.law.norm_moment(order, self.network.n_inputs)
