"""Results → plain series → picture.

A `Chart` holds numbers, labels and a caption; `draw` makes it a matplotlib figure, and the report
page draws it with Plotly.
"""

from neurotron.figures.chart import Chart, Line, Panel
from neurotron.figures.collection import charts
from neurotron.figures.printed import check_picture, draw, save
from neurotron.figures.trajectory import plot, run_chart

__all__ = [
    "Chart", "Line", "Panel", "charts", "check_picture", "draw", "plot", "run_chart", "save",
]  # fmt: skip
