"""Charts for print are the same whether one process draws them or several."""

from __future__ import annotations

import multiprocessing
from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.messages import says

from neurotron import _check
from neurotron.lab.figures import Chart, Line, Panel, drawing, render_matplotlib
from neurotron.lab.figures.drawing import draw_all
from neurotron.lab.figures.styles import PLAIN


def chart(name: str) -> Chart:
    line = Line("line", np.array([1.0, 10.0]), np.array([1.0, 0.1]), PLAIN)
    return Chart(name, name, "", "steps", "error", (Panel("", (line,)),))


ODD = SimpleNamespace(name="odd", panels=())
"""What cannot be drawn."""


def test_the_pictures_are_the_same_by_one_process_and_by_several():
    charts, told = [chart("one"), chart("two")], []
    alone = draw_all(charts)
    together = draw_all(charts, 2, lambda *count: told.append(count))
    assert list(alone) == ["one.png", "one.pdf", "two.png", "two.pdf"]
    assert together == alone
    assert told == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_says_which_figure_cannot_be_drawn_and_why(workers):
    with pytest.raises(_check.InputError) as caught:
        draw_all([ODD, ODD], workers)
    assert says(caught.value, "figure 'odd'", "cannot be drawn", "must be a Chart")
    assert multiprocessing.active_children() == []


def test_a_process_that_ends_says_which_figure_it_drew(monkeypatch):
    class Killed:
        def result(self):
            raise drawing.BrokenProcessPool("killed")

    class Processes:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, *_):
            return Killed()

    monkeypatch.setattr(drawing, "ProcessPoolExecutor", Processes)
    monkeypatch.setattr(drawing, "wait", lambda flying, **_: SimpleNamespace(done=list(flying)))
    with pytest.raises(_check.InputError) as caught:
        draw_all([ODD, ODD], 2)
    assert says(caught.value, "figure 'odd'", "memory", "again")


def test_ctrl_c_ends_all_processes(monkeypatch):
    def pressed(*_, **__):
        assert len(multiprocessing.active_children()) == 2
        raise KeyboardInterrupt

    monkeypatch.setattr(drawing, "wait", pressed)
    with pytest.raises(KeyboardInterrupt):
        draw_all([ODD, ODD, ODD], 2)
    assert multiprocessing.active_children() == []


def test_one_chart_is_drawn_by_this_process(monkeypatch):
    monkeypatch.setattr(render_matplotlib, "draw", lambda chart: chart.name)
    monkeypatch.setattr(render_matplotlib, "encode", lambda picture, end: (picture + end).encode())
    assert draw_all([ODD], 8) == {"odd.png": b"odd.png", "odd.pdf": b"odd.pdf"}
    assert draw_all([], 8) == {}
