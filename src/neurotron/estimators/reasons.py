"""Why not to trust a fit, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurotron._digits import percent, readable
from neurotron.residuals.patterns import Pattern

if TYPE_CHECKING:
    from neurotron.estimators.diagnosis import Diagnosis

FEW = 10
"""Rows for each fitted number that a fit needs, if labels have noise or are poisoned."""
MOST_SUSPECTS = 0.4
LEAST_EXPLAINED = 0.1
MOST_RELATED = 0.15
NEARLY_DEPENDENT = 1e5
LEAST_ACTIVE = 0.2


def few_rows(rows: int, wanted: int) -> str:
    """Return that rows are few for the numbers that are wanted; nothing if they are not."""
    if rows >= FEW * wanted:
        return ""
    return (
        f"{rows:,} rows are few for {wanted:,} numbers: give at least {FEW * wanted:,}, or leave "
        "out columns"
    )


def reasons_of(found: Diagnosis) -> Iterator[str]:
    """Yield the reasons not to trust a fit, the most serious first."""
    g = found.geometry
    if not found.converged:
        yield (
            "the search did not find the same filter often enough, so there may be a better "
            "one: give more rows, or leave out columns"
        )
    if found.far > MOST_SUSPECTS:
        yield (
            f"{percent(found.far)} of the labels are far from the model, and near one half the "
            "model of the majority cannot be told from the attacker's"
        )
    if few := few_rows(found.rows, g.wanted):
        yield few
    if g.determined < g.by_all_rows:
        yield (
            f"the rows that are no suspects determine only {g.determined} of {g.wanted} weights: "
            "give more rows, or leave out columns"
        )
    elif g.determined < g.wanted:
        yield (
            f"the rows determine only {g.determined} of {g.wanted} weights: leave out columns "
            "that are constant, repeated or combinations of others"
        )
    elif g.condition > NEARLY_DEPENDENT:
        yield (
            f"columns are nearly dependent (condition number {g.condition:.1g}), so the "
            "weights are not reliable: leave out some of them"
        )
    if found.explained < LEAST_EXPLAINED:
        yield (
            f"the inputs explain only {percent(max(found.explained, 0.0))} of the variance of "
            "the labels: add inputs, or transform them"
        )
    yield from _patterns(found)
    if g.related > MOST_RELATED:
        yield (
            "the inputs say which rows are suspects, so these may be an honest group that the "
            "model does not describe: look at them before you remove any"
        )
    if g.own_rows:
        yield (
            f"{strongest_row(found)} mostly determines its own prediction (by "
            f"{percent(g.influence)}), and so do {g.own_rows:,} of {found.rows:,} rows in all: "
            "a poisoned label cannot be noticed there, so check such labels by hand"
        )
    if g.active is not None and g.active < LEAST_ACTIVE:
        yield (
            f"all gates are off on {percent(1.0 - g.active)} of the rows, which say nothing "
            "about the filter: try network='linear', or standardize=True"
        )


def _patterns(found: Diagnosis) -> Iterator[str]:
    """Yield the reasons that the residuals and the suspects give."""
    if found.groups is not None:
        yield (
            f"the residuals come in two groups, {percent(found.groups.share)} and "
            f"{percent(1.0 - found.groups.share)} of the labels, which are about "
            f"{readable(found.groups.distance, 3)} apart: one of them may be attacked, or a "
            "column is missing that tells them apart"
        )
    if found.curve is not None:
        yield (
            f"the residuals follow a curve in {_named(found, found.curve)}, so the model has the "
            "wrong shape: transform the label or the inputs (for example by a logarithm), or "
            "add squares and products of columns"
        )
    elif found.growth is not None:
        yield (
            f"the noise is larger for some inputs than for others (it depends on "
            f"{_named(found, found.growth)}), so labels may be suspects where it is large, and "
            "attacks can hide there: transform the label, for example by a logarithm"
        )
    if found.rare is not None:
        yield (
            f"{percent(found.rare.strength)} of the rows in which {_named(found, found.rare)} is "
            "not 0 are suspects, and if they are honest its weight is wrong: check their "
            "labels by hand"
        )


def _named(found: Diagnosis, pattern: Pattern) -> str:
    """Return what a pattern is about, in words."""
    if not pattern.columns:
        return "the predictions"
    names = found.column_names
    parts = (repr(names[place]) if names else str(place) for place in pattern.columns)
    return f"column{'s' * (len(pattern.columns) > 1)} " + " and ".join(parts)


def strongest_row(found: Diagnosis) -> str:
    """Return the row with the largest influence, in words."""
    return f"row {found.geometry.strongest:,} (counted from {found.first_row})"
