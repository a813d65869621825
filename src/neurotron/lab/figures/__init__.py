"""Figures: results become plain series of numbers, and these become pictures.

A `Chart` holds numbers, labels and a caption; `draw` makes it a matplotlib figure, and the report
page draws it with Plotly.
"""

from __future__ import annotations

from neurotron.lab.figures.chart import Chart, Line, Panel
from neurotron.lab.figures.one_result import plot, run_chart
from neurotron.lab.figures.render_matplotlib import check_picture, draw, save

__all__ = ["Chart", "Line", "Panel", "check_picture", "draw", "plot", "run_chart", "save"]
