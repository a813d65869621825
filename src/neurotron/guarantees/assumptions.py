"""The assumptions of certificates: what is required, what is found, what to change."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from neurotron._types import Array
from neurotron.data import Rows, Simulated
from neurotron.guarantee import Assumption, stated
from neurotron.laws import Empirical
from neurotron.problem import Problem
from neurotron.theory.coordinates import Coordinates
from neurotron.theory.leaky_gate import has_leaky_gate
from neurotron.theory.rounding import label_rounding
from neurotron.theory.table import TableFit

LEAST_SQUARES = 1e4
"""By how much a least squares fit may be worse than rounding makes it."""


def labels(problem: Problem) -> list[Assumption]:
    """Return the assumption on honest labels, unless it holds by construction.

    Simulated labels are f_{w*}(x) plus independent noise. Rows of data have labels of any kind.
    They are compared with the labels of w*. If w* is unknown and the network is linear, they are
    compared with the least squares fit: what that does not explain, no filter does.
    """
    data = problem.data
    if type(data) is Simulated:
        return []
    name, statement = "labels", "Honest labels are exactly f_{w*}(x), without noise."
    remedy = "Use the method 'measured' of certify, which needs no theorem."
    if type(data) is Rows and problem.network.is_linear:
        remedy = (
            "With Problem.from_rows(…, replacement=True), the method 'sharp' guarantees the "
            "distance to the least-squares fit, whatever the labels are."
        )
    if type(data) is not Rows:
        measured = f"no theorem covers the labels of {type(data).__name__}"
        return [Assumption(name, statement, measured, "exact", False, remedy)]
    weights, looseness = data.true_weights, 1.0
    if weights is None and problem.network.is_linear:
        seen = data.X @ problem.network.mean_gate.T
        weights, looseness = np.asarray(np.linalg.lstsq(seen, data.y)[0], float), LEAST_SQUARES
    if weights is None:
        measured = "it is not known whether they are, because the `true_weights` are not"
        remedy = "The guarantee is about exact labels only."
        return [Assumption(name, statement, measured, "exact", False, remedy, blocking=False)]
    off = np.abs(data.y - problem.network(weights, data.X))
    allowed = looseness * label_rounding(problem.network, weights, data.X)
    text = "exact" if (off <= allowed).all() else f"they are off by up to {off.max():.3g}"
    return [Assumption(name, statement, text, "exact", text == "exact", remedy)]


def noise(problem: Problem, *, by_fourth_moment: bool) -> Assumption:
    """Return what is stated about honest noise, and whether the radius uses its fourth moment."""
    heavy = "The radius uses no fourth moment, as constants are known only for linear images of "
    heavy += (
        "independent normal, uniform or random-sign coordinates, without weights, from a start "
    )
    heavy += "that is not random, and against attackers who see no more than their own sample."
    if by_fourth_moment:
        heavy = f"Its fourth moment is at most {problem.noise_kurtosis:g} times that squared."
    spread = f"Honest noise has mean 0 and a variance of at most {problem.noise:.4g}², given x."
    return stated("noise", f"{spread} {heavy}")


def fit_of_table(fit: TableFit) -> Assumption:
    """Return what is needed of a table in place of exact labels."""
    statement = (
        "Rows are drawn with replacement, and without an attack the mean update vanishes at the "
        f"{'least-squares ' if fit.gain == 1.0 else ''}fit of the table. Labels may be anything."
    )
    holds = fit.is_centre
    found = "it does" if holds else f"it vanishes at a distance of {fit.unexplained:.3g} from it"
    return Assumption("fit", statement, found, "it does", holds, "Use sensing='optimal'.")


def independent_rows(problem: Problem) -> list[Assumption]:
    """Return the assumption that samples are drawn independently, unless they are simulated."""
    data = problem.data
    if type(data) is not Rows:
        return []
    name, statement = "independent rows", "Rows are drawn independently, with replacement."
    if data.replacement:
        return [Assumption(name, statement, "with replacement", "with replacement", True)]
    found = "every epoch visits each row once"
    remedy = "Use Problem.from_rows(…, replacement=True)."
    return [Assumption(name, statement, found, "with replacement", False, remedy, blocking=False)]


def linear_or_parity(problem: Problem, coordinates: Coordinates) -> Assumption:
    """Return the symmetry of the inputs, or why it is not needed."""
    if coordinates.of_gate:
        statement = (
            "The network is one leaky gate (0 < leak < 1) and the sensing matrix is 'optimal', so "
            "inputs need not be symmetric."
        )
        return Assumption("one leaky gate", statement, "one leaky gate", "one leaky gate", True)
    if not problem.network.is_linear or problem.law.symmetric:
        return parity(problem)
    statement = "The network is linear (leak = 1), so inputs need not be symmetric."
    return Assumption("linear", statement, "linear", "linear", True)


FEWEST_ROWS = 50
"""Fewer rows do not show whether their law is symmetric: no plug-in certificate."""
CHANCE = 1e-3
"""The largest probability that rows of a symmetric law are refused, from about 150 rows on."""
MOST_LOPSIDED, NEGLIGIBLE = 0.5, 0.02
"""The largest asymmetry allowed for few rows, and the one that is allowed for any number."""


def parity(problem: Problem) -> Assumption:
    """Return the paper's Assumption 1: x and −x have the same law.

    Rows of data are never exactly symmetric. A plug-in certificate allows the asymmetry of N random
    rows of a symmetric law: both measures of a column exceed t with probability at most
    2 exp(−Nt²/2), by Hoeffding's inequality given the sizes |x|. Rows of one sign only measure 1,
    and are refused at every N: `MOST_LOPSIDED` is the most that is allowed, and `FEWEST_ROWS` are
    needed. Rows that count c times are worth N/E[c²] rows.
    """
    law, statement = problem.law, "The input distribution is symmetric: x and −x have the same law."
    if law.symmetric:
        return Assumption("parity", statement, "symmetric", "symmetric", True)
    if not isinstance(law, Empirical):
        measured = f"it is not known whether {law!r} is"
        remedy = "No guarantee is known without it."
        return Assumption("parity", statement, measured, "symmetric", False, remedy)
    n, counts = law.rows.shape[1], law.counts
    count = len(counts) / float((counts**2).mean())
    by_chance = math.sqrt(2.0 * math.log(4.0 * n / CHANCE) / count)
    allowed = min(max(by_chance, NEGLIGIBLE), MOST_LOPSIDED)
    lopsided, remedies = _lopsidedness(law.rows, counts), []
    if count < FEWEST_ROWS:
        worth = " (counted by their weights)" if law.weighted else ""
        remedies.append(
            f"{count:.3g} rows{worth} are too few to tell: give at least {FEWEST_ROWS}."
        )
    if has_leaky_gate(problem):
        remedies.append(
            "One leaky gate needs no symmetry with sensing='optimal', a constant step size or the "
            "schedule of a plan, no weighting, and columns of similar size that do not nearly "
            "depend on each other."
        )
    if problem.true_weights is not None:
        remedies.append(
            "If labels can be made for −x as well, draw each row with either sign: "
            "Problem.draw(network, Empirical(rows, symmetrized=True), true_weights=…)."
        )
    return Assumption(
        "parity",
        f"{statement} For rows of data, the asymmetry of every column's signs and mean must be at "
        f"most {allowed:.2g}.",
        lopsided,
        f"≤ {allowed:.2g}; exactly 0 in the theorem",
        False,
        " ".join(remedies) or "No guarantee is known without it.",
        blocking=lopsided > allowed or count < FEWEST_ROWS,
    )


def _lopsidedness(rows: Array, counts: Array) -> float:
    """Return the largest |share of positive − share of negative| or |mean|/deviation of a column.

    For a sample of N rows of a symmetric law it is about 1/√N. A row counts c times, as its weight
    says. With c² in the deviation, both measures obey Hoeffding's inequality for N/E[c²] rows.
    """
    signs = np.abs((counts[:, None] * np.sign(rows)).mean(axis=0))
    counted = counts[:, None] * rows
    deviations = np.sqrt((counted**2).mean(axis=0) / (counts**2).mean())
    means = np.abs(counted.mean(axis=0)) / deviations.clip(min=1e-300)
    return float(max(signs.max(), means.max()))


def below(name: str, statement: str, value: float, limit: float, remedy: str) -> Assumption:
    """Return the assumption that a number is below a limit, which the statement ends with."""
    text = f"{statement} {limit:.4g}."
    return Assumption(name, text, value, f"< {limit:.4g}", value < limit, remedy)


def positive_pull(lambda1: float, better: str) -> Assumption:
    """Return the assumption λ1 > 0, which the `better` sensing matrix always meets."""
    statement = (
        "The pull λ1 of honest labels on the weights, the smallest eigenvalue of the symmetric "
        "part of ĀΣMᵀ, is positive."
    )
    remedy = f"Use sensing={better!r}."
    return Assumption("λ1 > 0", statement, lambda1, "> 0", lambda1 > 0.0, remedy)


def finite_constant(
    name: str, statement: str, value: float, remedy: Callable[[], str]
) -> Assumption:
    """Return the assumption that a moment exists; a remedy is looked for only if it does not."""
    holds = math.isfinite(value)
    return Assumption(name, statement, value, "finite", holds, "" if holds else remedy())
