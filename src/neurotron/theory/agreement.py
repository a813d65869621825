r"""How far apart two filters of a linear network can be that agree on all but a few rows.

Let d be their difference, and let :math:`Y_i = (x_i^\top d)^2 / \rho^2` have the mean 1 over the
rows E: ρ is the root mean square of :math:`x_i^\top d`. The mean of :math:`Y_i^2` is at most κ. If
at most t rows have :math:`|x_i^\top d| > g`, then :math:`\rho \le g / \sqrt{1 - \sqrt q}` for
:math:`q = (\kappa - 1) t / (|E| - t) < 1`, by Cantelli's inequality; so ρ = 0 if g = 0 and
:math:`t < |E| / \kappa`. Nothing is assumed about the rows. If g is a bound on the root mean square
over the other rows, then :math:`\rho \le g / \sqrt{1 - \sigma_t}`, where :math:`\sigma_t` is the
largest share of :math:`\sum_i Y_i` that t rows can have. The proofs are in docs/theory.md, section
(i).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neurotron._types import Array
from neurotron.theory.label_changes import top_sum
from neurotron.theory.spread import NOT_SEEN, largest_fourth_moment

ROUNDED = 1e-9
"""Part by which bounds are rounded."""
MOST_WORK = 1e10
"""With more multiplications, about a second, κ is the simpler of two bounds."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Rows on which two filters agree, but for a few."""

    rows: Array
    """The rows, as the difference of the filters sees them, (|E|, p)."""

    @property
    def exceptions(self) -> int:
        """t, the most rows on which filters can disagree that are equal nevertheless; −1 if none.

        It is −1 if the rows do not determine a filter.
        """
        return math.ceil(len(self.rows) / self.kurtosis) - 1 if self.smallest > 0.0 else -1

    def within(self, exceptions: int, gap: float) -> float:
        """Return the largest ρ if all but some rows differ by at most `gap`; it may be infinite."""
        others = len(self.rows) - exceptions
        q = (self.kurtosis - 1.0) * exceptions / others if others > 0 else math.inf
        return gap / math.sqrt(1.0 - math.sqrt(q)) if q < 1.0 else math.inf

    def within_mean(self, exceptions: int, gap: float) -> float:
        """Return the largest ρ if the root of Σ(xᵀd)²/|E| over the other rows is at most `gap`."""
        if self.smallest == 0.0:
            return math.inf
        share = math.sqrt(self.kurtosis * exceptions / len(self.rows))
        largest = float(top_sum(self._leverages, exceptions)) / len(self.rows)
        share = min(share, largest)
        return gap / math.sqrt(1.0 - share) if share < 1.0 else math.inf

    @property
    def kurtosis(self) -> float:
        """κ, a bound on the mean of Y²; infinite if the rows do not determine a filter."""
        return self._found[0]

    @property
    def smallest(self) -> float:
        """λ with ρ ≥ λ‖d‖; 0 if the rows do not determine a filter."""
        return self._found[1]

    @property
    def _leverages(self) -> Array:
        """Bounds on Y for each row."""
        return self._found[2]

    @cached_property
    def _found(self) -> tuple[float, float, Array]:
        sizes = np.sqrt((self.rows**2).mean(axis=0)) if len(self.rows) else np.zeros(1)
        if not sizes.all():
            return math.inf, 0.0, np.empty(0)
        scaled = self.rows / sizes
        values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
        if values[0] <= NOT_SEEN * values[-1]:
            return math.inf, 0.0, np.empty(0)
        z = scaled @ (vectors / np.sqrt(values))
        least = float(np.linalg.eigvalsh(z.T @ z / len(z))[0])  # 1 up to rounding
        root = np.linalg.svd(sizes[:, None] * vectors * np.sqrt(values), compute_uv=False)
        return (
            max(largest_fourth_moment(z, MOST_WORK) / least**2, 1.0) * (1.0 + ROUNDED),
            float(root[-1]) * math.sqrt(least) * (1.0 - ROUNDED),
            (z**2).sum(axis=1) / least,
        )
