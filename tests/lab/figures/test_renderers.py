"""What the renderers make of a chart."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import neurotron as nt
from neurotron.lab.figures import Chart, Line, Panel, draw, save
from neurotron.lab.figures.render_matplotlib import encode
from neurotron.lab.figures.render_plotly import panel_figure
from neurotron.lab.figures.styles import DASHES, OF_ALGORITHM, OTHERS, Style

BLUE = Style("#0072B2", "circle")
X = np.array([1.0, 10.0, 100.0])
HOSTILE = "$\\frac _<b>%{x}</b> \u200b字 __"


def chart(*lines, ticks=(), **settings):
    panel = Panel("panel", lines, ticks)
    return Chart("c", "title", "caption", "steps", "error", (panel,), "note", **settings)


def banded(name="a", high=(3.0, 2.0, 1.0)):
    return Line(name, X, X[::-1] * 1.0, BLUE, X[::-1] * 0.5, np.array(high))


def test_a_picture_has_its_title_labels_note_and_legend():
    figure = draw(chart(banded("one"), banded("two")))
    (legend,) = figure.legends
    texts = [text.get_text() for text in (*figure.texts, legend.get_title(), *legend.get_texts())]
    assert texts == ["title", "error", "steps\nnote", "one", "two"]
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [100.0, 10.0, 1.0])


def test_a_legend_reads_row_by_row():
    lines = [banded(f"a rather long name of line {i}") for i in range(6)]
    legend = draw(chart(*lines)).legends[0]
    names = [text.get_text()[-1] for text in legend.get_texts()]
    columns = legend._ncols
    assert columns == 2
    assert names == ["0", "2", "4", "1", "3", "5"]  # matplotlib fills columns


@pytest.mark.parametrize(("suffix", "head"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_the_same_chart_is_the_same_file(suffix, head):
    one, other = (encode(draw(chart(banded())), suffix) for _ in range(2))
    assert one == other
    assert one.startswith(head)


def test_names_that_look_like_mathematics_or_markup_are_only_names(tmp_path):
    hostile = Chart(
        "c", HOSTILE, HOSTILE, HOSTILE, HOSTILE, (Panel(HOSTILE, (banded(HOSTILE),), ()),) * 2
    )
    figure = draw(hostile)
    assert figure.legends[0].get_texts()[0].get_text() == HOSTILE.replace("$", r"\$")
    for suffix in ("png", "pdf", "svg"):
        save(figure, tmp_path / f"picture.{suffix}")


def test_a_name_that_begins_with_an_underscore_is_in_the_legend():
    assert len(draw(chart(banded("_mine"))).legends[0].get_texts()) == 1


def test_a_notebook_shows_a_figure(small_problem):
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(0.02))], steps=50, batch_size=4)
    assert nt.plot(run)._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("look", [*OF_ALGORITHM.values(), *OTHERS])
@pytest.mark.parametrize("dash", DASHES)
def test_every_style_is_known_to_both_renderers(look, dash):
    line = Line("a", X, X, look._replace(dash=dash))
    draw(chart(line))
    go.Figure(panel_figure(chart(line), chart(line).panels[0]))


def figure_of(made):
    figure = panel_figure(made, made.panels[0])
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure
    return go.Figure(figure)  # Plotly knows every key


def test_plotly_gets_a_band_and_a_line_that_tells_its_interval():
    band, line = figure_of(chart(banded(high=(200.0, 20.0, math.inf)))).data
    assert band.fill == "toself"
    assert band.hoverinfo == "skip"
    assert list(line.y) == [100.0, 10.0, 1.0]
    assert line.text[0] == "100 (50 … 200)"
    assert line.text[2] == "1 (0.5 … inf)"
    assert max(band.y) == 1000.0  # without end: ten times beyond the line
    assert line.meta == band.meta == "a"


def test_plotly_gets_bars_at_ticks():
    line = Line("a", np.array([0.0, 1.0]), np.array([0.5, 1.0]), BLUE, np.zeros(2), np.ones(2))
    made = figure_of(chart(line, ticks=("few", "many"), y_log=False, y_range=(0.0, 1.0)))
    (trace,) = made.data
    assert list(trace.error_y.array) == [0.5, 0.0]
    assert list(trace.error_y.arrayminus) == [0.5, 1.0]
    assert list(made.layout.xaxis.ticktext) == ["few", "many"]
    assert list(made.layout.yaxis.range) == [0.0, 1.0]


@pytest.mark.parametrize("joined", [True, False])
def test_points_with_bars_are_joined_only_if_they_are_a_line(joined):
    line = Line("a", X, X, BLUE, 0.5 * X, 2.0 * X, joined=joined)
    (axes,) = draw(chart(line, ticks=("few", "more", "many"))).axes
    (drawn,) = (one for one in axes.lines if len(one.get_xdata()) == len(X))
    assert (drawn.get_linestyle() == "None") == (not joined)


def test_markup_in_names_does_not_reach_plotly():
    (trace,) = figure_of(chart(Line(HOSTILE, X, X, BLUE, joined=False))).data
    assert "<b>%{x}" not in trace.hovertemplate
    assert "&lt;b&gt;&#37;{x}" in trace.hovertemplate


def test_dots_tell_their_notes():
    dots = Line("a", X, X, BLUE, joined=False, notes=("p", "q", "<r>"))
    (trace,) = figure_of(chart(dots)).data
    assert trace.mode == "markers"
    assert list(trace.text) == ["1; p", "10; q", "100; &lt;r&gt;"]


@pytest.mark.parametrize("name", ["a", "In CAPITAL letters " * 3, "a long name of a trainer " * 8])
@pytest.mark.parametrize("count", [1, 3])
def test_legend_title_and_note_stay_within_the_picture(name, count):
    lines = [banded(f"{i} {name}") for i in range(count)]
    long = dataclasses.replace(chart(*lines), title=f"title {name}", note="a note of words " * 9)
    figure = draw(long)
    renderer = FigureCanvasAgg(figure).get_renderer()
    for part in (*figure.legends, *figure.texts):
        box = part.get_window_extent(renderer)
        assert -1.0 <= box.x0 <= box.x1 <= figure.bbox.width + 1.0, part


def test_names_of_ticks_are_in_lines_and_heights_have_words():
    dots = Line("a", np.arange(2.0), np.array([1.0, -1.0]), BLUE, joined=False)
    made = chart(
        dots, ticks=("a trainer of two lines\n3 of 4", "b\n4 of 4"), y_log=False,
        y_range=(-1.1, 1.1), y_ticks=((1.0, "found\nw*"), (-1.0, "mirror")),
    )  # fmt: skip
    (axes,) = draw(made).axes
    assert axes.get_xticklabels()[0].get_text() == "a trainer of two\nlines\n3 of 4"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["found\nw*", "mirror"]
    layout = figure_of(made).layout
    assert layout.xaxis.ticktext[0] == "a trainer of two<br>lines<br>3 of 4"
    assert layout.yaxis.ticktext == ("found<br>w*", "mirror")
