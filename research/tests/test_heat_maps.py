"""Heat maps of results in which the truth is known, and what both renderers make of them."""

from __future__ import annotations

import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest
from research.frontier.heat_maps import REGION, charts, grid_of
from tests.support.results import TRUE, ending_at, made
from tests.support.studies import DIVERGED, LIKE_THE_PAPERS

import neurotron as nt
from neurotron.lab.figures.render_matplotlib import encode
from neurotron.lab.figures.render_plotly import panel_figure

LENGTH = float(np.linalg.norm(TRUE))


PHASES = """
name = "phases"
[trainers]
Tron = "neuro-tron:step_size=fastest"
SGD = "sgd"
[[settings]]
name = "normal"
title = "N"
[[settings.sweeps]]
bound = [0, 0.25, 1, 4]
probability = [0.1, 0.2, 0.4, 0.6]
[[settings.sweeps]]
attack = "constant"
bound = [0.25, 1, 4]
probability = [0.1, 0.2, 0.4, 0.6]
[[settings.sweeps]]
attack = "adaptive"
bound = [1, 2]
probability = [0.1, 0.2, 0.4]
[[settings]]
name = "heavy"
title = "t"
like = "normal"
law = "student-t:dof=5"
"""


def of_phases(setting, replicate, arm):
    """SGD is exact below β = ½, at once but for the constant attack; Neuro-Tron has a floor."""
    size = arm["bound"] * arm["probability"] * (1.0 + 0.01 * replicate)
    worse = 3.0 if arm["attack"] == "constant" else 1.0
    if arm["algorithm"] == "sgd":
        if arm["probability"] < 0.5:
            return {"errors": ending_at(1e-14, 100 if worse > 1.0 else 10)}
        return DIVERGED
    sure = arm["bound"] * arm["probability"] <= 0.4
    return {"errors": ending_at(size * worse), "radius": (0.49 if sure else 0.51) * LENGTH}


BOUNDS, CHANCES = (0.25, 1.0, 4.0), (0.1, 0.2, 0.4, 0.6)


def maps_of(folder, text=PHASES, result=of_phases, replicates=5):
    results = made(folder / "made", nt.lab.parse(text.encode(), "made"), result, replicates)
    return {chart.name: chart for chart in charts(results)}


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    return maps_of(tmp_path_factory.mktemp("maps"))


def test_a_grid_needs_three_levels_of_both(maps):
    assert list(maps) == ["phase", "exact", "steps", "phase-alternating-sign", "phase-constant"]
    assert grid_of([(b, p) for b in BOUNDS for p in CHANCES]) == (list(BOUNDS), list(CHANCES))
    assert grid_of([(b, p) for b in BOUNDS for p in CHANCES[:2]]) is None
    assert grid_of([(0.0, p) for p in CHANCES]) is None


def test_two_sweeps_that_cross_are_no_grid(tmp_path):
    assert maps_of(tmp_path, LIKE_THE_PAPERS, lambda c, r, a: {}) == {}


def test_a_panel_per_trainer_and_setting_has_medians_with_intervals(maps):
    chart = maps["phase-alternating-sign"]
    titles = [panel.title for panel in chart.panels]
    assert titles == ["Tron, N", "SGD, N", "Tron, t", "SGD, t"]
    tron = chart.panels[0]
    assert tron.ticks == ("0.1", "0.2", "0.4", "0.6")
    assert tron.cells.rows == ("0.25", "1", "4")  # without θ = 0, which is no attack
    np.testing.assert_allclose(tron.cells.values, np.outer(BOUNDS, CHANCES) * 1.02)
    np.testing.assert_allclose(tron.cells.low, np.outer(BOUNDS, CHANCES))
    np.testing.assert_allclose(tron.cells.high, np.outer(BOUNDS, CHANCES) * 1.04)


def test_the_first_map_is_of_the_worst_attack(maps):
    values = maps["phase"].panels[0].cells.values
    np.testing.assert_allclose(values, 3.0 * np.outer(BOUNDS, CHANCES) * 1.02)
    assert "the worst of 2 attacks" in maps["phase"].title
    assert "alternating-sign, constant." in maps["phase"].caption
    assert "adaptive" not in maps["phase"].caption


def test_runs_that_diverged_are_infinite_and_dark(maps):
    chart = maps["phase-constant"]
    column = chart.panels[1].cells.values[:, -1]
    assert np.isinf(column).all()
    assert (chart.scale.places(column) == 0.0).all()
    assert chart.scale.word(column[0]) == "∞"
    assert chart.scale.low == 1e-14
    assert chart.scale.high == pytest.approx(3.0 * 4.0 * 0.6 * 1.02)


def test_shares_are_of_runs_below_1e_10(maps):
    tron, sgd = (panel.cells for panel in maps["exact"].panels[:2])
    assert (tron.values == 0.0).all()
    np.testing.assert_array_equal(sgd.values, [[1.0, 1.0, 1.0, 0.0]] * 3)
    np.testing.assert_allclose(sgd.low[0, 0], 0.025 ** (1 / 5))  # Clopper–Pearson, five of five


def test_steps_are_those_under_the_slowest_attack(maps):
    chart = maps["steps"]
    tron, sgd = (panel.cells for panel in chart.panels[:2])
    assert np.isinf(tron.values).all()
    np.testing.assert_array_equal(sgd.values, [[100.0, 100.0, 100.0, math.inf]] * 3)
    assert chart.scale.word(tron.values[0, 0]) == "never"


def test_the_certified_region_is_that_of_neuro_tron_in_all_panels(maps):
    for name in ("phase", "phase-constant"):
        for panel in maps[name].panels:
            np.testing.assert_array_equal(panel.cells.marked, np.outer(BOUNDS, CHANCES) <= 0.4)
        assert "with probability 95 %" in maps[name].caption
        assert list(maps[name].legend) == [REGION]


def test_a_cell_is_certified_only_if_it_is_so_in_every_replicate(tmp_path):
    def once_not(setting, replicate, arm):
        found = of_phases(setting, replicate, arm)
        return found | ({"radius": None} if replicate == 3 else {})

    chart = maps_of(tmp_path, result=once_not)["phase"]
    assert not any(panel.cells.marked.any() for panel in chart.panels)
    assert "No cell is certified." in chart.caption
    assert chart.legend == {}


def test_nothing_exact_has_no_maps_of_exact_recovery(tmp_path):
    assert "exact" not in maps_of(tmp_path, result=lambda c, r, a: {"errors": ending_at(0.1)})


def test_what_is_left_out_is_said_and_captions_tell_the_replicates(tmp_path, maps):
    settings = "".join(f'[[settings]]\nname = "c{i}"\nlike = "normal"\n' for i in range(12))
    text = PHASES + settings
    chart = maps_of(tmp_path, text, lambda c, r, a: {"errors": ending_at(0.1)}, 1)["phase-constant"]
    assert len(chart.panels) == 12
    assert "Shown are 6 of 14 settings." in chart.caption
    assert "over 1 replicate," in chart.caption
    assert "over 5 replicates," in maps["phase"].caption


def test_numbers_are_those_of_all_cells(maps):
    numbers = maps["phase-alternating-sign"].numbers()
    assert len(numbers) == 4 * 12
    assert numbers[0][:3] == ("Tron, N", "0.25", "0.1 (outlined)")
    assert numbers[0].value == pytest.approx(0.0255)
    assert numbers[3].at == "0.6 (outlined)"
    assert numbers[11].at == "0.6"


def test_print_has_every_number_the_outline_and_one_scale(maps):
    chart = maps["phase-constant"]
    picture = nt.lab.draw(chart)
    *panels, bar = picture.axes
    assert len(panels) == 4
    words = [text.get_text() for text in panels[0].texts]
    assert words == [chart.scale.word(value) for value in chart.panels[0].cells.values.flat]
    _, *outline = panels[0].lines  # the first is for the legend alone
    for line in outline:  # a white one, and a dashed one over it
        ends = line.get_xydata().reshape(-1, 3, 2)[:, :2].reshape(-1, 4)
        assert [*map(tuple, ends.tolist())] == chart.panels[0].cells.borders()
    assert len(outline) == 2
    marks = [text.get_text() for text in bar.get_yticklabels()]
    assert marks == [word for _, word in chart.scale.ticks()]
    assert [text.get_text() for text in picture.legends[0].get_texts()] == [REGION]
    assert encode(picture, ".png").startswith(b"\x89PNG")


def test_plotly_gets_the_same_cells_numbers_and_outline(maps):
    chart = maps["phase-constant"]
    made = panel_figure(chart, chart.panels[1])
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    dark, bright, under, over = go.Figure(made).data  # Plotly knows every key
    places = chart.scale.places(chart.panels[1].cells.values)
    drawn = np.where(np.array(dark.z) == None, bright.z, dark.z)  # noqa: E711
    np.testing.assert_allclose(drawn.astype(float), places, atol=1e-4)
    assert tuple(bright.text[0]) == ("1e-14", "1e-14", "1e-14", "")
    assert tuple(dark.text[0]) == ("", "", "", "∞")
    assert bright.hovertext[0][0] == "bound θ 0.25, probability β 0.1<br>1e-14 (1e-14 … 1e-14)"
    assert (under.meta, over.meta) == (REGION,) * 2
    assert len(under.x) == 3 * len(chart.panels[1].cells.borders())
    assert list(made["layout"]["yaxis"]["ticktext"]) == ["0.25", "1", "4"]
