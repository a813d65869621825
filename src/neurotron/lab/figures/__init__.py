"""Figures: results become plain series of numbers, and these become pictures.

A `Chart` holds numbers, labels and a caption; `draw` makes it a matplotlib figure, and the report
page draws it with Plotly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurotron import _check
from neurotron.lab.figures.chart import Chart, Line, Panel
from neurotron.lab.figures.one_run import plot, run_chart
from neurotron.lab.figures.render_matplotlib import check_picture, draw, save

if TYPE_CHECKING:
    from neurotron.lab.results.loading import AnyResults

__all__ = [
    "Chart", "Line", "Panel", "charts", "check_picture", "draw", "plot", "run_chart", "save",
]  # fmt: skip


def charts(results: AnyResults) -> list[Chart]:
    """Return every chart of a folder of results, the paper's figures first if it has their runs.

    >>> import neurotron as nt, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = nt.lab.studies.run(nt.lab.studies.read("smoke"), f"{place}/smoke", replicates=2)
    ...     drawn = nt.lab.figures.charts(nt.load_results(f"{place}/smoke"))
    >>> drawn[0].title
    'Neuro-Tron under the attack alternating-sign, for several bounds θ'
    >>> [panel.title for panel in drawn[0].panels]
    ['N(0, 1)', 'Laplace(1)']
    """
    from neurotron.lab.figures.collection import charts as every  # these need more packages
    from neurotron.lab.results import Damages, Fits, Results

    if isinstance(results, (Fits, Damages)):
        return every(results)
    return every(_check.instance("results", results, Results))
