"""What `solve` returns: a filter, what it explains, and what is proved about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._digits import counted, part
from neurotron._json import record
from neurotron._pickling import Pickled
from neurotron._text import card, wrap
from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork
from neurotron.solvers.distance import FilterDistance, distance_of
from neurotron.solvers.proof import Proof


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Solution(Pickled):
    """A filter that `solve` found in rows of data. It prints as a paragraph.

    Attributes
    ----------
    network
        The network.
    weights
        The filter, shape (r,).
    intercept
        The constant that is added to the network's output, 0 without one.
    noise
        The standard deviation of the honest noise, as the rows show it; 0 if the rows that the
        filter explains fit exactly.
    hidden_share
        The share of labels that are tampered with by so little that they hide in the noise, if the
        rows of a linear network clearly show such an attack; else 0.
    tampered
        The probability that each label was tampered with, (N,), by an attack that hides in the
        noise; None if there is no such attack.
    explained
        Which labels the filter gives exactly, up to rounding: (N,).
    rejected
        Which rows do not count because their label is too far off, (N,): by more than 4.685
        standard deviations of the noise, and by more than rounding. With a `hidden_share`, those
        whose label is more likely tampered with than honest.
    deviations
        How far every label is from the filter's, in standard deviations of the honest noise, (N,).
        Sort by it to see the most suspicious rows first.
    loss
        The mean of √(|residual| / ‖x‖), by which filters were compared.
    starts
        How many starts were tried.
    stopped
        Why no more starts were tried.
    converged
        Whether the search ended before it had tried as many starts as it may, and the filter does
        not reject more than half of the rows.
    proof
        What the rows prove about the filter, if honest labels are exact.
    assumed
        What the solver took for granted.
    """

    network: FilterNetwork
    weights: Array
    intercept: float
    noise: float
    hidden_share: float
    tampered: Array | None
    explained: Mask
    rejected: Mask
    deviations: Array
    loss: float
    starts: int
    stopped: str
    converged: bool
    proof: Proof
    assumed: str

    @property
    def proven_against(self) -> int:
        """The number of tampered rows up to which this is the true filter, if labels are exact.

        `proof.basis` says whether that is proved, or holds if the rows are in general position, or
        is an estimate. It is −1 if nothing is proved, even if no label was tampered with.
        """
        return self.proof.tampered

    @property
    def exact(self) -> bool:
        """Whether the proof covers every attack on up to half of the rows; see `proof.basis`."""
        return 2 * self.proven_against >= len(self.explained)

    def predict(self, X: npt.ArrayLike) -> Array:
        """Return the outputs of the filter for the inputs X, (N, n)."""
        X = _check.array("X", X, ("N", self.network.n_inputs), _check.LARGEST)
        return self.network(self.weights, X) + self.intercept

    def radius(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        tampered: int,
        noise: float | None = None,
        confidence: float = 0.95,
    ) -> FilterDistance:
        """Return how far the filter is from the true one, if so many labels were tampered with.

        This is for linear networks and single gates. No fresh rows, no law of the inputs and no
        trust in the search are needed.

        Parameters
        ----------
        X, y
            The rows that were solved, or others, and their labels.
        tampered
            The most of these labels that were tampered with, to anything.
        noise
            The largest standard deviation of the honest noise, which is normal; 0 for exact labels.
            By default it is the `noise` that was found, and the result is then an estimate.
        confidence
            The probability with which the result holds; labels without noise do not need it.

        Examples
        --------
        >>> import numpy as np, neurotron as nt
        >>> draw = np.random.default_rng(0)
        >>> X = draw.standard_normal((400, 3))
        >>> y = X @ [1.0, -2.0, 0.5] + 0.1 * draw.standard_normal(400)
        >>> y[:40] = 7.0
        >>> solution = nt.solve(nt.networks.linear(3), X, y)
        >>> found = solution.radius(X, y, tampered=40, noise=0.1)
        >>> found.kind, round(found.radius, 2)
        ('theorem', 0.3)
        """
        X = _check.array("X", X, ("N", self.network.n_inputs), _check.LARGEST)
        y = _check.array("y", y, (len(X),), _check.LARGEST)
        tampered = _check.integer("tampered", tampered, 0)
        stated = self.noise if noise is None else _check.number("noise", noise, "[0, inf)")
        confidence = _check.number("confidence", confidence, "(0, 1)")
        return distance_of(
            self.network, X, y, self.weights, self.intercept, tampered=tampered, noise=stated,
            estimated=noise is None and self.noise > 0.0, confidence=confidence,
        )  # fmt: skip

    @property
    def statement(self) -> str:
        """What was found, in one paragraph."""
        rows, rejected = len(self.explained), int(self.rejected.sum())
        explained = int(self.explained.sum())
        parts = [f"A filter of {counted(len(self.weights), 'weight')} from {counted(rows, 'row')}."]
        if self.noise == 0.0:
            parts.append(f"It gives {part(explained, rows, 'labels')} exactly.")
        else:
            lost = part(rejected, rows, "rows") if rejected else "no rows"
            why = "are more than 4.7 standard deviations off"
            if self.hidden_share:
                why = "more likely belong to an attack that hides in the noise than to honest rows"
            parts.append(
                f"The honest noise has a standard deviation of about {self.noise:.3g}; {lost} are "
                f"rejected for labels that {why}. There is no proof on the rows, which needs "
                "honest labels that are exact."
            )
            if self.hidden_share:
                parts.append(f"Assumed: {self.assumed}")
        if self.proof.holds or self.noise == 0.0:
            parts.append(self.proof.statement)
        if 2 * rejected > rows:
            parts.append(
                "More than half of the rows are rejected, so the filter may be the attacker's."
            )
        parts.append(f"The search tried {counted(self.starts, 'start')}: {self.stopped}.")
        return " ".join(parts)

    def __str__(self) -> str:
        return wrap(self.statement)

    def __repr__(self) -> str:
        kept = f"{int((~self.rejected).sum()):,} of {len(self.rejected):,} rows kept"
        return (
            f"Solution({len(self.weights)} weights, noise={self.noise:.3g}, {kept}, "
            f"proven_against={self.proven_against})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "weights": f"{len(self.weights)}, of norm {np.linalg.norm(self.weights):.4g}",
            "honest noise": f"{self.noise:.3g}",
            "rejected": part(int(self.rejected.sum()), len(self.rejected), "rows"),
            "proven against": f"{max(self.proven_against, 0):,} tampered rows",
        }
        return card("Solution", facts, note=self.statement)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; rows are given by their numbers."""
        rows = {
            "rows": len(self.explained),
            "rows_explained": int(self.explained.sum()),
            "rejected_rows": np.flatnonzero(self.rejected).tolist(),
        }
        return rows | record(
            self, "statement", "weights", "intercept", "noise", "hidden_share", "deviations",
            "loss", "starts", "stopped", "converged", "proven_against", "proof", "exact", "assumed",
        )  # fmt: skip
