"""What the page of a study of rows says, as plain values for its template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from neurotron.lab.figures.chart import Chart
from neurotron.lab.report.content import first, of_any
from neurotron.lab.report.headline import Headline
from neurotron.lab.results.needed import needed, walked
from neurotron.lab.studies.rows_spec import SOLVERS

if TYPE_CHECKING:
    from neurotron.lab.claims import Judgement
    from neurotron.lab.results.fits import Fits

__all__ = ["headline", "page"]

EXACTLY = (
    "The filter is found exactly if its error ‖w − w*‖ is at most 1e-10 of ‖w*‖. A problem that is "
    "solved at two successive numbers of rows counts as solved at all larger ones."
)


def page(results: Fits, judgements: list[Judgement], charts: list[Chart]) -> dict[str, Any]:
    """Return the content of the page, except its figures and style."""
    levels, rows = needed(results)
    compared = results.shares.filter(~pl.col("setting").is_in(walked(results)))
    return of_any(results, judgements, charts) | {
        "headline": headline(results),
        "needed": {
            "levels": levels,
            "table": first([_named(results, it._asdict()) for it in rows]),
        },
        "compared": first([_named(results, row) for row in compared.to_dicts()]),
    }


def _named(results: Fits, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the words for its setting and its solver."""
    return row | {"setting": results.titles[row["setting"]], "solver": SOLVERS[row["solver"]]}


def headline(results: Fits) -> Headline:
    """Return in one sentence how many rows were enough, and where none were."""
    if not len(results.fits):
        return Headline("No fits have been computed yet.")
    smallest = results.smallest.filter(pl.col("setting").is_in(walked(results)), solver="solve")
    found = smallest["smallest"].drop_nulls().to_list()
    if not found:
        return Headline(f"{len(results.fits):,} fits to stored rows were computed.", EXACTLY)
    sentence = (
        f"nt.solve found the filter exactly from {min(found):g} to {max(found):g} rows for each "
        f"weight under {len(found)} of {len(smallest)} attacks on stored rows"
    )
    lost = len(smallest) - len(found)
    sentence += f"; under {lost}, no number of rows that was tried was enough" if lost else ""
    return Headline(f"{sentence}.", EXACTLY, ("rows-needed", "noise"))
