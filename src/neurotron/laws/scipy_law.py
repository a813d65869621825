"""Inputs whose coordinates have any one-dimensional distribution of ``scipy.stats``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.laws.base import ProductLaw
from neurotron.laws.moments import unit_interval

MIXTURES = dict.fromkeys(
    ("norm", "laplace", "logistic", "t", "cauchy", "hypsecant", "johnsonsu"), math.inf
) | {"gennorm": 2.0, "dweibull": 1.0, "dgamma": 1.0}
"""Distributions of SciPy whose densities have derivatives of alternating signs in terms of x² where
they are symmetric, each with the largest shape parameter for which they do."""

LOG_CONCAVE = dict.fromkeys(
    (
        "norm", "laplace", "logistic", "hypsecant", "uniform", "triang", "semicircular", "cosine",
        "anglit", "expon", "gumbel_r", "gumbel_l", "halfnorm", "rayleigh", "maxwell",
        "trapezoid", "genlogistic", "laplace_asymmetric",
    ), 0.0,
) | {"gennorm": 1.0, "beta": 1.0, "rdist": 2.0, "truncnorm": -math.inf}  # fmt: skip
"""Distributions of SciPy whose densities have concave logarithms, each with the smallest shape
parameter for which they do."""


UNIMODAL = {"vonmises": math.inf, "tukeylambda": 1.0}
"""Other distributions of SciPy whose densities fall on both sides of 0, each with the largest shape
parameter for which they do."""


@dataclass(frozen=True, eq=False)
class ScipyLaw(ProductLaw):
    """Independent coordinates from a frozen continuous ``scipy.stats`` distribution.

    Use it for a law (probability distribution) that is not built in. Coordinates are drawn through
    their quantiles, and the quantiles show whether the law is symmetric. You can train on an
    asymmetric law, but it is refused where the theory needs symmetry. A norm moment of order 1 or 3
    is reported as infinite when the next even one is.

    Parameters
    ----------
    distribution
        A frozen distribution such as ``scipy.stats.logistic(scale=2.0)``; its parameters must be
        single numbers.

    Examples
    --------
    >>> from scipy import stats
    >>> ScipyLaw(stats.logistic(scale=2.0)).symmetric
    True
    >>> ScipyLaw(stats.expon()).symmetric
    False
    """

    distribution: Any

    def __post_init__(self) -> None:
        frozen = self.distribution
        try:
            single = np.ndim(frozen.ppf(0.5)) == 0
            quartiles = np.asarray(frozen.ppf([0.25, 0.75]) if single else (), np.float64)
            usable = callable(frozen.isf) and callable(frozen.stats)
        except (AttributeError, TypeError, ValueError):
            usable = False
        if not usable:
            raise _check.InputError(
                "`distribution` must be a frozen continuous scipy.stats distribution such as "
                f"scipy.stats.logistic(), got {_check.shown(frozen)}"
            )
        if not single:
            raise _check.InputError("the parameters of `distribution` must be single numbers")
        if not quartiles[0] < quartiles[1] < math.inf:
            raise _check.InputError(
                f"{self!r} has the quartiles {quartiles[0]:g} and {quartiles[1]:g}: check its "
                "parameters"
            )

    @property
    def _key(self) -> tuple[object, ...]:
        """The values to compare two such laws by: SciPy's frozen distributions have no equality."""
        frozen = self.distribution
        name = getattr(getattr(frozen, "dist", None), "name", type(frozen).__name__)
        return name, getattr(frozen, "args", ()), tuple(sorted(getattr(frozen, "kwds", {}).items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScipyLaw) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        name, args, keywords = self._key
        given = [f"{value:g}" for value in args]  # type: ignore[attr-defined]
        given += [f"{key}={value:g}" for key, value in keywords]  # type: ignore[attr-defined]
        return f"ScipyLaw({name}({', '.join(given)}))"

    @cached_property
    def symmetric(self) -> bool:
        """Whether the quantiles at p and 1 − p are opposite, for p on a grid down to 1e-9."""
        p = np.concatenate([np.geomspace(1e-9, 0.1, 40), np.linspace(0.1, 0.5, 41)])
        low, high = self.distribution.ppf(p), self.distribution.isf(p)
        return bool(np.allclose(low, -high, rtol=1e-8, atol=1e-8 * self.unit))

    @cached_property
    def scale_mixture(self) -> bool:
        """Whether it is known to be a scale mixture of normals: logistic, t, Laplace and others."""
        name, shapes = self._named
        return name in MIXTURES and max(shapes, default=0.0) <= MIXTURES[name] and self.symmetric

    @cached_property
    def log_concave(self) -> bool:
        """Whether its density is known to have a concave logarithm, as the logistic one has."""
        name, shapes = self._named
        return name in LOG_CONCAVE and min(shapes, default=math.inf) >= LOG_CONCAVE[name]

    @cached_property
    def unimodal(self) -> bool:
        """Whether its density is known to fall on both sides of one point."""
        name, shapes = self._named
        listed = name in UNIMODAL and max(shapes) <= UNIMODAL[name]
        return self.log_concave or listed

    @cached_property
    def _named(self) -> tuple[str, list[float]]:
        """The name of a distribution of SciPy, "" for any other one, and its shape parameters."""
        frozen = self.distribution
        kind = type(getattr(frozen, "dist", None))
        if not kind.__module__.startswith("scipy.stats."):
            return "", []
        given = [value for name, value in frozen.kwds.items() if name not in ("loc", "scale")]
        return kind.__name__.removesuffix("_gen"), [*frozen.args[: frozen.dist.numargs], *given]

    @cached_property
    def unit(self) -> float:
        """Half the distance between the quartiles."""
        low, high = self.distribution.ppf([0.25, 0.75])
        return float(high - low) / 2.0

    @cached_property
    def _moments(self) -> tuple[float, float]:
        with np.errstate(all="ignore"):
            mean, variance, skew, excess = map(float, self.distribution.stats(moments="mvsk"))
        second = variance + mean**2
        # E x⁴ from the central moments of a law that need not be centred
        central = (excess + 3.0) * variance**2
        fourth = central + 4 * mean * skew * variance**1.5 + 6 * mean**2 * variance + mean**4
        if not math.isfinite(second):
            return math.inf, math.inf
        known = math.isfinite(fourth) and second**2 > 0.0
        return second, fourth / second**2 if known else math.inf

    @property
    def variance(self) -> float:
        """E x² of one coordinate (the second moment, if the law is not centred)."""
        return self._moments[0]

    @property
    def kurtosis(self) -> float:
        """E x⁴ / (E x²)² of one coordinate."""
        return self._moments[1]

    def coordinates(self, u: Array, v: Array) -> tuple[Array, ...]:
        """Return the quantiles at u and at v."""
        return np.asarray(self.distribution.ppf(u)), np.asarray(self.distribution.ppf(v))

    def _probe(self, step: float) -> float:
        """Return E[1/(1 + (x/unit)²)] by quadrature with the given step width."""
        to_zero, _, weight = unit_interval(step)
        tails = (self.distribution.ppf(to_zero / 2.0), self.distribution.isf(to_zero / 2.0))
        with np.errstate(over="ignore"):
            both = [1.0 / (1.0 + (np.asarray(tail) / self.unit) ** 2) for tail in tails]
        return float((weight * (both[0] + both[1])).sum()) / 2.0

    def masses(self) -> tuple[Array, Array] | None:
        """Return |quantiles|/unit of both tails with their probabilities; no density is needed.

        Return None if the quantiles are not smooth enough for quadrature.
        """
        coarse, fine = (self._probe(step) for step in (0.02, 0.01))
        if abs(coarse - fine) > 1e-10:  # the quantiles jump, so quadrature is not exact
            return None
        to_zero, _, weight = unit_interval()
        tails = (self.distribution.ppf(to_zero / 2.0), self.distribution.isf(to_zero / 2.0))
        x, mass = np.abs(np.concatenate(tails)) / self.unit, np.tile(weight / 2.0, 2)
        near = x < 1e28  # farther out x⁴ overflows, and e^{−s x²} is 0 for every s in use
        return x[near], mass[near]

    def covariance(self, n_inputs: int) -> Array | None:
        """Return E[xxᵀ], whose entries off the diagonal are the square of the mean."""
        if math.isinf(self.variance):
            return None
        n, mean = _check.integer("n_inputs", n_inputs, 1), float(self.distribution.mean())
        _check.entries("the covariance", n, n)
        return _check.freeze(np.full((n, n), mean**2) + (self.variance - mean**2) * np.eye(n))
