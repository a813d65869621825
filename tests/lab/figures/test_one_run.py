from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.lab.figures import run_chart
from neurotron.lab.figures.one_result import run_lines
from neurotron.lab.figures.styles import OF_ALGORITHM

CONSTANT = nt.attacks.Constant(0.5, 0.1)


def test_a_diverged_arms_line_ends_and_the_others_are_whole(small_problem):
    arms = [nt.Arm(nt.SGD(5.0), name="wild"), nt.Arm(nt.SGD(0.02), name="calm")]
    run = nt.simulate(small_problem, arms, steps=100, batch_size=4, record="all")
    wild, calm = run_lines(run)
    assert (wild.name, calm.name) == ("wild", "calm")
    assert len(wild.x) == run.stopped_at[0] - 1
    np.testing.assert_array_equal(calm.x, np.arange(1, 101))
    np.testing.assert_array_equal(calm.y, run.errors[1, 1:])


def test_a_picture_is_saved_in_the_format_of_its_name(small_problem, tmp_path):
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(0.02))], steps=50, batch_size=4)
    for name, head in [("p.png", b"\x89PNG"), ("p.pdf", b"%PDF")]:
        run.plot(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(head)


@pytest.mark.parametrize(
    ("attacks", "title"),
    [
        ([None, None], "Training without an attack"),
        ([CONSTANT, nt.attacks.Constant(0.5, 0.1)],
         "Training under Constant(bound=0.5, probability=0.1)"),
        ([CONSTANT, None], "Training under different attacks"),
    ],
)  # fmt: skip
def test_the_title_says_what_the_labels_went_through(small_problem, attacks, title):
    arms = [nt.Arm(nt.SGD(0.02), attack, name=str(i)) for i, attack in enumerate(attacks)]
    assert run_chart(nt.simulate(small_problem, arms, steps=5, batch_size=4)).title == title


def test_a_kind_of_trainer_has_one_colour_in_shades(small_problem):
    """The same whatever its parameters; a trainer of one's own has another."""

    class Mine(nt.SGD):
        pass

    trainers = [nt.SGD(0.02), nt.NeuroTron(), nt.SGD(0.01), Mine(0.02)]
    run = nt.simulate(small_problem, trainers, steps=5, batch_size=4)
    light, tron, dark, mine = (line.style for line in run_lines(run))
    assert tron == OF_ALGORITHM["neuro-tron"]
    assert light.marker == dark.marker == OF_ALGORITHM["sgd"].marker
    assert light.colour != dark.colour
    assert mine.marker != light.marker


def test_a_schedule_looks_like_neuro_tron(small_problem):
    plan = nt.plan(small_problem, CONSTANT, steps=500, batch_size=4, step_size="scheduled")
    run = nt.simulate(small_problem, plan.arm, steps=5, batch_size=4)
    assert run_lines(run)[0].style == OF_ALGORITHM["neuro-tron"]


def test_the_legend_stays_inside_the_picture(small_problem):
    arms = [nt.Arm(nt.SGD(0.02), name="x" * 300), nt.Arm(nt.SGD(0.01), name="short")]
    figure = nt.simulate(small_problem, arms, steps=5, batch_size=4).plot()
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 < figure.axes[0].bbox.y0
