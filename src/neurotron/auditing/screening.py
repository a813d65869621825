"""Looks for suspects in a table before it is audited: labels that may be attacked already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._intervals import Interval
from neurotron._threads import no_warnings, one_blas_thread
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import NeuroTronRegressor

__all__ = ["Suspects", "screened"]

FEWEST = 5
"""Rows for each fitted number, from which on at most one honest table in twenty seems attacked, as
the false alarm rate says: with 4 it is one in eight, for normal noise and for Student's law."""


@dataclass(frozen=True)
class Suspects:
    """What `NeuroTronRegressor` says about the labels of a table, before anybody attacks them."""

    rows: tuple[int, ...] = ()
    """The rows whose labels do not fit, counted from 0."""
    attacked_fraction: Interval | None = None
    """Which share of the labels seems to be attacked; None if nobody could look."""
    reason: str = ""
    """Why nobody could look; empty if that was possible."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rows)


def screened(table: AuditedTable) -> Suspects:
    """Return the suspects of a table, by a linear fit to its inputs as numbers."""
    needed = FEWEST * (table.numbers.shape[1] + 1)
    if len(table) < needed:
        return Suspects(reason=f"{len(table):,} rows are too few, {needed:,} are needed")
    try:
        with one_blas_thread(), no_warnings():
            model = NeuroTronRegressor().fit(table.numbers, table.y)
    except ValueError as error:  # no columns, or numbers that are too large
        return Suspects(reason=_check.shorten(" ".join(str(error).split())))
    share = Interval(model.attacked_fraction_, *model.attacked_fraction_interval_)
    return Suspects(tuple(np.flatnonzero(model.suspects_).tolist()), share)
