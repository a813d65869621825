"""Charts of results in which the truth is known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.support.results import STEPS, ending_at, made
from tests.support.studies import (
    DIVERGED,
    LIKE_THE_PAPERS,
    OUTER_WEIGHTS,
    PAPER,
    SGD_LOST,
    as_in_the_paper,
    flat,
    like_the_paper,
)

import neurotron as nt
from neurotron.lab import figures


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    return like_the_paper(tmp_path_factory.mktemp("made") / "paper")


@pytest.fixture(scope="module")
def charts(paper):
    return {chart.name: chart for chart in nt.lab.charts(paper)}


def test_the_papers_figures_come_first_and_in_order(charts):
    assert list(charts)[:6] == [
        "figure-1a", "figure-1b", "figure-2a", "figure-2b", "figure-3a", "figure-3b"
    ]  # fmt: skip
    assert "figure-6" in charts
    assert {"paired-errors", "mirror-filter", "final-errors-alternating-sign-bound"} <= set(charts)


def test_figure_1_has_a_panel_per_law_and_a_line_per_attacked_level(charts):
    bound, chance = charts["figure-1a"], charts["figure-1b"]
    assert [panel.title for panel in bound.panels] == ["N", "t"]
    assert [line.name for line in bound.panels[0].lines] == ["θ = 0.125", "θ = 1", "θ = 4"]
    assert [line.name for line in chance.panels[0].lines] == ["β = 0.1", "β = 0.5", "β = 0.9"]
    assert "10 replicates" in bound.caption
    assert "Throughout, β = 0.5." in bound.caption
    assert "Throughout, θ = 1." in chance.caption


def test_lines_are_medians_and_bands_the_middle_of_replicates(charts):
    line = charts["figure-1a"].panels[0].lines[1]
    errors = 0.5 * (1.0 + 0.01 * np.arange(10))
    np.testing.assert_array_equal(line.x, STEPS[1:])
    assert line.y[-1] == errors[4]  # the lower of the middle two
    assert line.low[-1] == np.quantile(errors, 0.1, method="inverted_cdf")
    assert line.high[-1] == np.quantile(errors, 0.9, method="inverted_cdf")


def test_the_ends_of_lines_are_medians_of_final_errors(paper, charts):
    for number in charts["figure-2a"].numbers():
        level = {"bound": float(number.panel[4:]), "probability": 0.5}
        runs = paper.runs.filter(setting="normal", trainer=number.line, **level)
        assert number.value == nt.lab.median(runs["error"])


def test_figure_2_compares_all_trainers_at_each_level(charts):
    panels = charts["figure-2a"].panels
    assert [panel.title for panel in panels] == ["θ = 0.125", "θ = 1", "θ = 4"]
    assert [line.name for line in panels[0].lines] == ["Tron", "First", "SGD"]


def test_a_trainer_looks_the_same_in_every_figure(charts):
    seen = {}
    for name in ("figure-2a", "figure-3b", "final-errors-alternating-sign-bound", "mirror-filter"):
        for trainer, line in charts[name].legend.items():
            assert seen.setdefault(trainer, line.style) == line.style
    assert len({style.colour for style in seen.values()}) == 3


def test_figure_6_is_no_attack_and_the_smallest(charts):
    honest, small = charts["figure-6"].panels[0].lines
    assert (honest.name, small.name) == ("θ = 0", "θ = 0.125")
    assert honest.y[-1] < 1e-12 < small.y[-1]


def test_success_rates_are_shares_with_exact_intervals(charts):
    panel = charts["success-rates-alternating-sign-bound"].panels[0]
    assert panel.ticks == ("0", "0.125", "1", "4")
    tron, _, sgd = panel.lines
    np.testing.assert_array_equal(tron.y, 1.0)
    np.testing.assert_allclose(tron.low, 0.025 ** (1 / 10))  # Clopper–Pearson, ten of ten
    np.testing.assert_array_equal(sgd.y, 0.6)


def test_paired_errors_are_ratios_of_runs_on_the_same_data(charts):
    chart = charts["paired-errors"]
    assert chart.panels[0].ticks == ("÷ First", "÷ SGD")
    first_dots, first, sgd_dots, _ = chart.panels[0].lines
    np.testing.assert_allclose(first_dots.y, 1.0 / 3.0)
    assert first.y == pytest.approx(1.0 / 3.0)
    assert len(sgd_dots.y) == 10
    assert (sgd_dots.y < 0.5).sum() == SGD_LOST  # at the mirror; else twice SGD's error
    assert chart.reference == 1.0


def test_runs_that_found_the_filter_are_at_the_top_and_those_at_its_mirror_at_the_bottom(charts):
    panel = charts["mirror-filter"].panels[0]
    tron, _, sgd = panel.lines
    np.testing.assert_allclose(tron.y, 1.0)
    levels = 5  # at which labels are attacked
    assert (sgd.y < -0.99).sum() == SGD_LOST * levels
    assert len(sgd.y) == len(sgd.notes) == 10 * levels
    assert sgd.notes[0] == "replicate 0, θ = 0.125, β = 0.5"
    assert panel.ticks == ("Tron\n50 of 50", "First\n30 of 50", "SGD\n30 of 50")
    assert dict(charts["mirror-filter"].y_ticks)[1.0] == "found\nw*"


def test_the_mirror_picture_has_only_settings_and_attacks_in_which_algorithms_are_compared(
    tmp_path,
):
    text = (
        LIKE_THE_PAPERS
        + """
[[settings.sweeps]]
bound = 1
[[settings.sweeps]]
attack = "odd-direction"
trainers = ["Tron"]
[[settings.sweeps]]
attack = "impersonation"
bound = 100
[[settings]]
name = "alone"
law = "uniform"
trainers = ["Tron"]
"""
    )

    def impersonated(setting, replicate, arm):
        vector = (4.0, 3.0) if arm["attack"] == "impersonation" else None
        return flat(setting, replicate, arm) | {"attack_vector": vector}

    panels = charts_of(tmp_path, text, impersonated)["mirror-filter"].panels
    assert [panel.title for panel in panels] == ["N", "t"]
    assert panels[1].ticks == ("Tron\n5 of 5", "First\n5 of 5", "SGD\n5 of 5")


def test_numbers_say_which_interval_they_have(charts):
    assert charts["figure-1a"].interval == "80 % band"
    assert charts["final-errors-alternating-sign-bound"].interval == "95 % interval"


def test_every_chart_says_what_is_on_its_axes_and_over_how_many_replicates(charts):
    for chart in charts.values():
        assert chart.y_label
        assert chart.title
        assert "10 replicates" in chart.caption or chart.name == "certificate"
        assert chart.panels


def test_outer_weights_show_the_published_pair_first(tmp_path):
    results = made(tmp_path / "outer", OUTER_WEIGHTS, flat, 5)
    chart = next(chart for chart in nt.lab.charts(results) if chart.name == "figure-7")
    assert [panel.title for panel in chart.panels] == [
        "q = 1, η = 0.0001 (as published)", "q = 10, η = 2e-05 (as published)",
        "q = 1, η = 2e-05 (not in the paper)", "q = 10, η = 0.0001 (not in the paper)",
    ]  # fmt: skip


def test_figures_of_the_paper_are_of_studies_that_name_its_claims(paper, charts, tmp_path):
    text = LIKE_THE_PAPERS.replace(json.dumps(PAPER), "[]")
    named = set(charts_of(tmp_path, text, flat))
    assert not any(name.startswith("figure-") for name in named)
    assert {"levels-tron-alternating-sign-bound", "trainers-normal-alternating-sign-bound"} <= named


def test_other_laws_and_trainers_than_the_papers_are_not_in_its_figures(tmp_path):
    text = LIKE_THE_PAPERS.replace('SGD = "sgd"\n', 'SGD = "sgd"\nHuber = "huber-sgd"\n')
    text += '[[settings]]\nname = "even"\nlike = "normal"\nlaw = "uniform"\n'
    charts = charts_of(tmp_path, text, flat)
    assert [panel.title for panel in charts["figure-1a"].panels] == ["N", "t"]
    assert list(charts["figure-2a"].legend) == ["Tron", "First", "SGD"]
    assert "Huber" in charts["trainers-normal-alternating-sign-bound"].legend
    assert "trainers-even-alternating-sign-bound" in charts


GRID = """
name = "grid"
[trainers]
"$mine_" = "neuro-tron"
[[settings]]
name = "a"
[[settings.sweeps]]
attack = "odd-direction"
bound = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
probability = [0.1, 0.2]
[[settings.sweeps]]
attack = "none"
[[settings]]
name = "b"
like = "a"
[[settings.sweeps]]
attack = "none"
"""


def test_any_other_study_has_charts_too_and_says_what_it_leaves_out(tmp_path):
    charts = charts_of(tmp_path, GRID, flat, {"a": [0]})
    levels = charts["levels-mine-odd-direction-bound"]
    assert len(levels.panels) == 1  # "b" has no results
    assert len(levels.panels[0].lines) == 8
    assert "Shown are 8 of 10 levels." in levels.caption
    assert "1 replicate," in levels.caption
    assert "paired-errors" not in charts
    assert [line.name for line in charts["trainers-a-none-levels"].panels[0].lines] == ["$mine_"]


def test_runs_that_diverge_have_no_point_and_no_chart_breaks(tmp_path):
    late = DIVERGED | {"errors": ending_at(math.inf, None)}
    charts = charts_of(tmp_path, LIKE_THE_PAPERS, lambda c, r, a: late, 5)
    assert "final-errors-alternating-sign-bound" not in charts
    assert "paired-errors" not in charts
    assert "mirror-filter" not in charts
    assert charts["figure-1a"].panels[0].lines[0].x.max() < STEPS[-1]
    for chart in charts.values():
        figures.draw(chart)


def test_results_without_a_unit_have_no_charts(tmp_path):
    assert nt.lab.charts(made(tmp_path / "none", LIKE_THE_PAPERS, as_in_the_paper, 0)) == []


def test_a_certified_trajectory_lies_over_the_measured_one(tmp_path):
    study = nt.lab.parse(CERTIFIED.replace("[0, 0.1]", "0.1").encode(), "certified")
    results = nt.load_results(nt.lab.run(study, tmp_path / "certified", replicates=3).folder)
    chart = next(chart for chart in nt.lab.charts(results) if chart.name == "certificate")
    root, sure, *_, measured = chart.panels[0].lines
    assert (sure.y > root.y).all()
    assert measured.y[-1] <= sure.y[-1]
    closest = (results.runs["error"] / results.runs["radius"]).arg_max()
    assert measured.y[-1] == results.runs["error"][closest]
    assert sure.y[-1] == pytest.approx(results.runs["radius"][closest], rel=1e-6)
    assert "0 ended outside" in chart.caption


def test_a_study_of_many_settings_says_what_it_leaves_out_and_names_every_chart_once(tmp_path):
    settings = "".join(
        f'[[settings]]\nname = "c{i}"\n[[settings.sweeps]]\nbound = [0.1, 1]\n' for i in range(45)
    )
    text = f'name = "many"\n[trainers]\n"字" = "neuro-tron"\n"語" = "sgd"\n{settings}'
    results = made(tmp_path / "many", text, flat, 1)
    found = nt.lab.charts(results)
    names = [chart.name for chart in found]
    assert len(found) == 40
    assert len(set(names)) == 40
    (told,) = [chart for chart in found if "for other settings, are left out" in chart.caption]
    assert "10 more figures of this kind" in told.caption
    assert all(len(chart.panels) <= 12 for chart in found)


def test_charts_unfold_only_the_steps_they_draw(tmp_path, monkeypatch):
    study = b'name = "all"\n[trainers]\nt = "neuro-tron"\n[[settings]]\nname = "a"'
    steps = tuple(range(20_001))
    run = {"steps": steps, "errors": (0.5,) * len(steps), "losses": (1.0,) * len(steps)}
    results = made(tmp_path / "all", study, lambda c, r, a: run, 3)
    monkeypatch.setattr(
        type(results), "trajectories", property(lambda _: pytest.fail("all unfolded"))
    )
    chart = nt.lab.charts(results)[0]
    line = chart.panels[0].lines[0]
    assert line.x[-1] == 20_000
    assert 75 <= len(line.x) <= 150


def charts_of(folder, text, outcome, replicates=5):
    results = made(folder / "made", text, outcome, replicates)
    return {chart.name: chart for chart in nt.lab.charts(results)}


def test_levels_without_attack_never_make_a_sweep(tmp_path):
    """The longest list of probabilities is that of θ = 0, where nothing is attacked."""
    text = """
name = "tie"
claims = ["grows-with-bound"]
[trainers]
Tron = "neuro-tron:sensing=center"
[[settings]]
name = "normal"
network = "symmetric:width=10"
[[settings.sweeps]]
bound = [0, 0.125, 0.25, 0.5]
probability = [0.5, 0.9]
"""
    charts = charts_of(tmp_path, text, flat)
    assert [line.name for line in charts["figure-1b"].panels[0].lines] == ["β = 0.5", "β = 0.9"]
    assert "Throughout, θ = 0.25." in charts["figure-1b"].caption  # as in the paper
    assert "Throughout, β = 0.5." in charts["figure-1a"].caption
    assert "figure-2a" not in charts  # with whom would it be compared


def test_captions_of_the_papers_figures_say_what_is_there(tmp_path):
    text = (
        LIKE_THE_PAPERS.replace('SGD = "sgd"\n', 'mine = "neuro-tron:step_size=0.01"\n')
        + """
[[settings.sweeps]]
bound = [0, 0.125, 1, 4]
probability = 0.9
[[settings.sweeps]]
attack = "adaptive"
bound = [1, 2]
"""
    )
    charts = charts_of(tmp_path, text, flat)
    one = charts["figure-1a"]
    assert [panel.title for panel in one.panels] == ["N, β = 0.5", "t, β = 0.9"]
    assert "Throughout" not in one.caption
    two = charts["figure-2a"]
    assert "stochastic gradient descent" not in two.caption
    assert "'First'" in two.caption
    assert "mine" not in two.legend
    beside = charts["trainers-normal-alternating-sign-bound"]  # what the paper has no figure of
    assert list(beside.legend) == ["Tron", "First", "mine"]
    assert "levels-tron-adaptive-bound" in charts


def test_a_grid_says_which_levels_it_does_not_show(tmp_path):
    text = """
name = "grid"
[trainers]
t = "neuro-tron"
[[settings]]
name = "a"
[[settings.sweeps]]
bound = [0.1, 0.2, 0.4]
probability = [0.1, 0.2, 0.3, 0.4]
"""
    charts = charts_of(tmp_path, text, flat)
    bound = charts["levels-t-alternating-sign-bound"]
    assert "Throughout, β = 0.4." in bound.caption  # the hardest
    assert "6 more levels of this attack are not drawn" in bound.caption


def test_trainers_that_do_not_fit_are_told_of(tmp_path):
    trainers = "".join(f'"t{i}" = "neuro-tron:step_size=0.0{i + 1}"\n' for i in range(20))
    sweep = '[[settings]]\nname = "a"\n[[settings.sweeps]]\nbound = [1, 2]'
    charts = charts_of(tmp_path, f'name = "a"\n[trainers]\n{trainers}{sweep}', flat)
    for name in ("final-errors-alternating-sign-bound", "mirror-filter"):
        assert len(charts[name].legend) == 8
        assert "Shown are 8 of 20 trainers." in charts[name].caption
    assert "Shown are 8 of 19 trainers." in charts["paired-errors"].caption


def test_pairs_with_a_diverged_run_count_although_they_have_no_dot(tmp_path):
    text = """
name = "pairs"
[trainers]
ours = "neuro-tron"
theirs = "sgd"
[[settings]]
name = "a"
"""

    def mostly_lost(setting, replicate, arm):
        return DIVERGED if arm["trainer"] == "theirs" and replicate > 1 else flat(setting, 0, arm)

    chart = charts_of(tmp_path, text, mostly_lost)["paired-errors"]
    (dots,) = chart.panels[0].lines  # the median is zero: it has no place on the axis
    np.testing.assert_array_equal(dots.y, [1.0, 1.0])
    assert "3 replicates in which a run diverged" in chart.caption


def test_a_trainer_that_is_exact_has_no_ratio_and_is_named(tmp_path):
    text = """
name = "pairs"
[trainers]
ours = "neuro-tron"
theirs = "sgd"
exact = "refined-tron"
[[settings]]
name = "a"
"""

    def ended(setting, replicate, arm):
        return {"errors": ending_at(1e-15 if arm["trainer"] == "exact" else 0.1)}

    chart = charts_of(tmp_path, text, ended)["paired-errors"]
    assert chart.panels[0].ticks == ("÷ theirs",)
    assert chart.caption.endswith("which is rounding: exact.")
    first = text.replace('ours = "neuro-tron"\n', "")
    both = first.replace('theirs = "sgd"\n', "") + 'trainers = ["exact", "theirs"]\n'
    other = both.replace("[trainers]\n", '[trainers]\ntheirs = "sgd"\n')
    chart = charts_of(tmp_path / "other", other, ended)["paired-errors"]
    assert chart.panels[0].ticks == ("÷ theirs",)  # an exact first trainer is compared


def test_the_figure_of_section_3_5_tells_the_two_filters_apart(tmp_path):
    text = """
name = "impersonation"
claims = ["impersonation-wins"]
[trainers]
Tron = "neuro-tron:sensing=center"
[[settings]]
name = "impersonation"
law = "uniform"
network = "relu-gate"
n_inputs = 25
filter_size = 25
step_size = 0.05
[[settings.sweeps]]
attack = "impersonation"
bound = 100
probability = [0.5, 1]
"""
    weights = tuple(float(i) for i in range(25))

    def won(setting, replicate, arm):
        return {"weights": weights, "true_weights": tuple(reversed(weights)),
                "attack_vector": weights, "errors": ending_at(7.0)}  # fmt: skip

    adversary, true = charts_of(tmp_path, text, won)["section-3-5"].panels[0].lines
    assert "w_adv" in adversary.name
    assert (adversary.y < 1e-12).all()
    np.testing.assert_array_equal(true.y, 7.0)


CERTIFIED = """
name = "certified"
steps = 300
[trainers]
"Neuro-Tron" = "neuro-tron:step_size=fastest"
[[settings]]
name = "small"
n_inputs = 8
filter_size = 4
network = "symmetric:width=2"
[[settings.sweeps]]
bound = [0, 0.1]
"""


def test_the_certificate_of_an_attacked_run_is_shown_and_runs_outside_are_counted(tmp_path):
    def outside(setting, replicate, arm):  # only without attack
        return {"errors": ending_at(0.5), "radius": 0.6 if arm["bound"] else 0.1}

    chart = charts_of(tmp_path, CERTIFIED, outside, 3)["certificate"]
    assert chart.panels[0].title == "small, alternating-sign θ = 0.1, β = 0.5"
    assert (
        "Of 6 runs whose certificate is better than their starting point, 3 ended outside"
        in chart.caption
    )


@pytest.mark.parametrize(
    ("same", "said"),
    [
        ("true", "each with its own data, on one network with the same true weights"),
        ("false", "each with its own network, true weights and data"),
    ],
)
def test_captions_say_what_replicates_share(same, said, tmp_path):
    text = LIKE_THE_PAPERS.replace("[[settings]]\n", f"[[settings]]\nsame_problem = {same}\n")
    results = made(tmp_path / "r", text, as_in_the_paper, 2)
    captions = [chart.caption for chart in nt.lab.charts(results) if "Lines are" in chart.caption]
    assert captions
    assert all(said in caption for caption in captions)
