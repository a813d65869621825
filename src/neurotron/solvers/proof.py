"""The proof on the rows: how many rows may be tampered with before a filter could be wrong.

If honest labels are exact, a filter ŵ that is not w* explains two kinds of rows only: tampered
ones, and honest ones on which ŵ and w* have the same output. How many of the second kind there can
be is known. So a filter that explains more rows than that, plus the tampered ones, is w*. The
theorem and its proof are in docs/theory.md, section (i).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._digits import counted, up
from neurotron._types import Array, Mask
from neurotron.guarantee import Guarantee, stated
from neurotron.networks import FilterNetwork
from neurotron.solvers.coincidence import coincidences
from neurotron.solvers.position import (
    by_rounding,
    fullest_hyperplane,
    group_sizes,
    most_in_groups,
    structure,
)  # fmt: skip
from neurotron.theory.agreement import Agreement

MOST_OUTPUTS = 3e8
SMALL = 1e-6
SAME_OUTPUT = 1e-6
"""Outputs whose relative difference is at most this count as shared, which is the safe side."""
EXACT = stated("exact labels", "Honest labels are exactly f_{w*}(x), without noise.")
GENERAL = stated(
    "general position",
    "The rows are in general position, as independent rows of a continuous law are.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Proof(Guarantee):
    """What the rows prove about a filter, if honest labels are exact.

    It is a theorem if no other filter shares more rows, because all hyperplanes were tried; with
    the assumption `GENERAL`, if that is so for independent rows of a continuous law, and a search
    found nothing that speaks against it. It is "measured" if `shared` is the largest number that
    was found, so that `tampered` is an estimate.
    """

    derived = ("basis",)

    tampered: int = -1
    """The filter is w* if at most so many rows have been tampered with. It is −1 if nothing is
    proved, even if no row has been."""
    shared: int = 0
    """The most rows that another filter shares with this one, of those that count."""
    unconditional: int = -1
    """The same as `tampered` as far as that is proved whatever the rows are: by their moments, for
    linear networks and single gates. It is −1 if that proves nothing."""
    distance: float = 0.0
    """Rounding leaves so much of xᵀ(ŵ − w*), its root mean square over the rows that count, if at
    most `unconditional` rows have been tampered with."""
    reason: str
    """Why, in a sentence."""

    @property
    def basis(self) -> str:
        """What the proof rests on, beside exact labels: in words, "none" if nothing is proved."""
        if not self.holds:
            return "none"
        if self.kind == "measured":
            return "measured"
        general = GENERAL in self.assumptions
        return "proved if the rows are in general position" if general else "proved"

    @property
    def proved(self) -> int:
        """The number of tampered rows up to which nothing but exact labels is assumed."""
        return max(self.unconditional, self.tampered if self.basis == "proved" else -1)

    @property
    def quantity(self) -> str:
        """What the radius is a bound on."""
        return "distance ‖ŵ − w*‖ up to rounding"

    @property
    def statement(self) -> str:
        """What is proved, or why nothing is."""
        if not self.holds:
            return f"There is no proof on the rows: {self.reason}."
        text = (
            "If honest labels are exact, this is the true filter as long as at most "
            f"{counted(self.tampered, 'label')} were tampered with ({self.basis}: {self.reason})."
        )
        if self.basis == "proved" or self.unconditional < 0:
            return text
        return (
            f"{text} Whatever the rows are, it is as long as at most "
            f"{counted(self.unconditional, 'label')} were (proved, up to a distance of "
            f"{up(self.distance)} by rounding, the root mean square over the rows that count)."
        )

    @property
    def facts(self) -> dict[str, str]:
        """The main numbers as text, each with its name."""
        against = {"proven against": counted(self.tampered, "tampered row")} if self.holds else {}
        return super().facts | against

    def __repr__(self) -> str:
        return f"Proof({self.basis}, tampered={self.tampered}, shared={self.shared})"


def prove(
    network: FilterNetwork,
    X: npt.ArrayLike,
    weights: npt.ArrayLike,
    explained: npt.ArrayLike,
    *,
    intercept: bool = False,
    rounding: float = 0.0,
) -> Proof:
    """Return how many tampered rows the proof of a filter allows.

    Parameters
    ----------
    network
        The network.
    X
        All rows of inputs, (N, n).
    weights
        The filter, (r,).
    explained
        Which rows have the label that the filter gives them, up to rounding, (N,). Rows that are
        not to count, such as those of sample weight 0, may be left out.
    intercept
        Whether an intercept was fitted, too. Only networks of leak 1 have a proof with one.
    rounding
        How far labels can be from the outputs that explain them.

    Examples
    --------
    >>> import neurotron as nt
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> proof = prove(nt.networks.linear(3), X, [1.0, 2.0, 3.0], np.ones(40))
    >>> proof.tampered, proof.basis
    (37, 'proved')
    """
    x = _check.array("X", X, ("N", network.n_inputs))
    w = _check.array("weights", weights, (network.filter_size,))
    mask = _check.array("explained", explained, (len(x),)) > 0.0
    if network.activation is not None:
        name = network.activation.name
        return nothing(f"the proof counts pieces on which a network is linear, and {name} has none")
    if network.is_linear:
        return _prove_linear(network, x, mask, intercept, 2.0 * rounding)
    if intercept:
        return nothing("a network that is not linear has no proof with an intercept")
    if network.width == 1:
        on, slope = _is_on(network, network(w, x)), network.leak if network.leak > SMALL else 1.0
        return _prove_linear(network, x, mask & on, False, 2.0 * rounding / slope)
    return _prove_patterns(network, x, w, mask)


def _prove_linear(
    network: FilterNetwork, x: Array, mask: Mask, intercept: bool, gap: float
) -> Proof:
    """Two filters share the rows in a hyperplane; the same holds for the active rows of a gate.

    Where both explain a row, xᵀ(ŵ − w*) is at most the `gap`.
    """
    seen = x @ network.mean_gate.T
    if intercept:
        seen = np.hstack([seen, np.ones((len(x), 1))])
    seen = seen[mask & _nonzero(seen)]
    p = seen.shape[1]
    if _rank(seen) < p:
        return nothing("the rows explained do not determine a filter")
    most, complete = fullest_hyperplane(seen)
    if complete:
        proof = _conclude(len(seen), most)
    else:
        shared = _of_general_rows(seen, p - 1)
        found = structure(x, intercept) or "many rows lie in one hyperplane" * (most > shared)
        proof = _conclude(len(seen), max(most, shared), found, general=True)
    agreement = Agreement(seen)
    certain = agreement.exceptions if proof.holds else -1
    return replace(proof, unconditional=certain, distance=agreement.within(max(certain, 0), gap))


def _prove_patterns(network: FilterNetwork, x: Array, w: Array, mask: Mask) -> Proof:
    """Another filter may have other patterns, and share one row more than a linear one."""
    found = structure(x, False)
    if found:
        return nothing(f"{found}, and only linear networks and single gates are proved then")
    gradient, coefficients = _seen(network, x, w)
    size = np.linalg.norm(coefficients, axis=1)
    counts = mask & _nonzero(gradient) & (size > SMALL * np.abs(network.share).sum())
    where = np.flatnonzero(counts & _is_on(network, gradient @ w))
    if not w.any() or not where.size:
        return nothing("all gates are off on all rows explained")
    others = coincidences(network, w, coefficients[where])
    where = where[~others.lost]
    gradient, rows = gradient[where], x[where]
    if _rank(gradient) < network.filter_size:
        return nothing("the rows explained, and not inactive, do not determine a filter")
    if fullest_hyperplane(gradient)[0] > _of_general_rows(rows, network.filter_size - 1):
        return nothing("the rows are not in general position: many gradients are in a hyperplane")
    if len(others.filters) * len(rows) * network.width * network.filter_size > MOST_OUTPUTS:
        return nothing("too many filters might share a whole pattern with it")
    shared = max(
        _of_general_rows(rows, network.filter_size),
        _most_shared(network, w, others.filters, rows),
        _shared_by_a_negative_multiple(network, w, rows),
    )
    return _conclude(len(rows), shared, others.undecided, general=True)


def _of_general_rows(rows: Array, exactly: int) -> int:
    """Return how many rows another filter shares that shares so many groups, and rounding more."""
    sizes = group_sizes(rows)
    return most_in_groups(sizes, exactly + by_rounding(len(sizes), exactly))


def _conclude(rows: int, shared: int, doubt: str = "", *, general: bool = False) -> Proof:
    text = f"another filter shares at most {shared} of the {rows} rows that count"
    if rows <= shared:
        return nothing(f"{text}, so the filter could be wrong even if no row was tampered with")
    if doubt:
        text = (
            f"the most rows found that another filter shares are {shared} of the {rows} that "
            f"count; this is an estimate, because {doubt}"
        )
    return Proof(
        kind="measured" if doubt else "theorem", about="table", radius=0.0, confidence=1.0,
        assumptions=(EXACT, GENERAL) if general and not doubt else (EXACT,),
        tampered=rows - 1 - shared, shared=shared, reason=text,
    )  # fmt: skip


def nothing(reason: str) -> Proof:
    """Return the proof of nothing, with the reason."""
    return Proof(
        kind="theorem", about="table", radius=math.inf, confidence=1.0, assumptions=(),
        reason=reason,
    )  # fmt: skip


def _is_on(network: FilterNetwork, outputs: Array) -> Mask:
    """Whether the output is not that of a filter all of whose gates are off, up to rounding."""
    if network.leak > SMALL:
        return np.ones(len(outputs), np.bool_)
    size = np.abs(outputs)
    level = np.median(size[size > 0.0]) if size.any() else 1.0
    return np.asarray(size > SMALL * level)


def _seen(network: FilterNetwork, x: Array, w: Array) -> tuple[Array, Array]:
    """Return the gradients and the coefficients of Ā_S in the basis, a block of rows at a time."""
    block = max(1, 4_000_000 // (len(network.basis) * network.filter_size))
    gradients, coefficients = [], []
    for start in range(0, len(x), block):
        projected = network.project(x[start : start + block])
        _, parts = network.respond((projected @ w)[:, :, None])
        gradients.append(np.einsum("bl,blr->br", parts[:, :, 0], projected))
        coefficients.append(parts[:, :, 0])
    return np.concatenate(gradients), np.concatenate(coefficients)


def _nonzero(rows: Array) -> Mask:
    size = np.abs(rows).max(axis=1)
    return np.asarray(size > 1e-12 * size.max())


def _rank(rows: Array) -> int:
    """Return the rank; the first rows mostly have it."""
    size = np.abs(rows).max(axis=0, initial=0.0)
    scaled = rows / np.where(size > 0.0, size, 1.0)
    few = scaled[: 3 * rows.shape[1]]
    rank = int(np.linalg.matrix_rank(few, rtol=1e-10)) if len(few) else 0
    if rank == rows.shape[1] or len(few) == len(rows):
        return rank
    return int(np.linalg.matrix_rank(scaled, rtol=1e-10))


def _most_shared(network: FilterNetwork, w: Array, filters: Array, rows: Array) -> int:
    """Return how many of the rows the best of the filters shares with `w`."""
    if not len(filters):
        return 0
    total = np.zeros(len(filters), np.intp)
    block = max(1, 4_000_000 // (len(filters) * (len(network.basis) + network.width)))
    level = np.median(np.abs(network(w, rows[:1000])))
    for start in range(0, len(rows), block):
        part = rows[start : start + block]
        own = network(w, part)[:, None]
        gap = np.abs(network(filters, part) - own)
        total += np.count_nonzero(gap <= SAME_OUTPUT * (np.abs(own) + level), axis=0)
    return int(total.max())


def _shared_by_a_negative_multiple(network: FilterNetwork, w: Array, rows: Array) -> int:
    """Return how many of the rows the best c·ŵ with c < 0 shares: those with one f_ŵ/f_−ŵ = −c."""
    own, other = network(w, rows), network(-w, rows)
    ratios = own[other != 0.0] / other[other != 0.0]
    sizes = np.sort(np.log(ratios[ratios > 0.0]))
    edges = np.flatnonzero(np.diff(sizes, prepend=-np.inf, append=np.inf) > SAME_OUTPUT)
    return int(np.diff(edges).max(initial=0))
