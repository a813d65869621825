"""The pictures of a run, of a certificate and of a verification, as series and as files."""

from __future__ import annotations

import math

import numpy as np
import pytest

import neurotron as nt
from neurotron.lab.figures import run_chart
from neurotron.lab.figures.one_result import certificate_chart, run_lines, verification_chart
from neurotron.lab.figures.styles import OF_ALGORITHM

CONSTANT = nt.attacks.Constant(0.5, 0.1)
ARM = nt.Arm(nt.NeuroTron(0.01), nt.attacks.Adaptive(bound=0.5, probability=0.3))
NETWORK = nt.networks.relu_gate(3)
PROBLEM = nt.Problem.draw(NETWORK, nt.Normal(), true_weights=[1.0, -2.0, 0.5])


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


def test_the_lines_of_a_certificate_are_root_mean_square_and_radius(small_problem):
    certificate = nt.certify(small_problem, ARM, batch_size=8, steps=500, confidence=0.9)
    root, radius, limit = certificate_chart(certificate).lines
    assert root.x[0] == 1.0
    assert root.x[-1] == 500.0
    np.testing.assert_array_equal(radius.y, certificate.radii[certificate.at_steps > 0])
    assert (radius.y <= root.y / math.sqrt(0.1) * (1.0 + 1e-8)).all()
    assert radius.y[-1] == pytest.approx(certificate.radius)
    assert "0.9" in radius.name
    assert set(limit.y) == {certificate.limit}


def test_a_measured_certificate_has_a_measured_line(small_problem):
    certificate = nt.certify(
        small_problem, ARM, batch_size=8, steps=50, confidence=0.5, method="measured"
    )
    (line,) = certificate_chart(certificate).lines
    assert line.name == "measured, root mean square"


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_certificate_is_drawn_over_a_run(small_problem, tmp_path, suffix):
    certificate = nt.certify(small_problem, ARM, batch_size=8, steps=50)
    run = nt.simulate(small_problem, [ARM], steps=50, batch_size=8)
    path = tmp_path / f"picture.{suffix}"
    figure = certificate.plot(str(path), run=run)
    assert path.stat().st_size > 1000
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert labels == {
        "guaranteed, root mean square", "guaranteed with probability 0.95",
        "best possible bound (step size → 0)", "measured",
    }  # fmt: skip


def test_where_nothing_is_guaranteed_there_is_nothing_to_draw_but_no_error(tmp_path):
    problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.StudentT(3.0), seed=1)
    certificate = nt.certify(problem, ARM, batch_size=8, steps=50)
    assert not certificate.holds
    certificate.plot(str(tmp_path / "empty.png"))


def test_a_run_without_errors_is_not_drawn_as_if_its_losses_were_errors():
    network = nt.networks.linear(2)
    problem = nt.Problem.from_rows(network, np.eye(2), np.ones(2))
    run = nt.simulate(problem, [nt.Arm(nt.SGD(0.1))], steps=10, batch_size=2)
    arm = nt.Arm(nt.NeuroTron(0.1))
    certificate = nt.certify(problem, arm, batch_size=2, steps=10, initial_error=2.0)
    with pytest.raises(nt.InputError, match="`run` has no errors"):
        certificate.plot(run=run)


def verified(rows: int, attacked: float = 0.1, **stated) -> nt.Verification:
    """Return the verification of the true weights; attacked labels are 10 too large."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((rows, 3))
    y = NETWORK(PROBLEM.true_weights, X) + 10.0 * (draw.random(rows) < attacked)
    options = {"probability": attacked, "attacker": "coin"} | stated
    return nt.verify(PROBLEM, PROBLEM.true_weights, X, y, **options)


def test_the_lines_of_a_verification_are_the_rows_the_share_needed_and_the_level():
    found = verified(1000)
    rows, needed, level = verification_chart(found).lines
    assert rows.x[0] == found.levels[0]
    assert rows.x[-1] == pytest.approx(10.0)
    assert rows.y[-1] == 1.0
    assert (np.diff(rows.y) > 0).all()
    assert (np.diff(rows.x) >= 0).all()
    np.testing.assert_array_equal(needed.y, found.threshold)
    assert set(level.x) == {found.level}
    assert level.y.max() == found.share


def test_few_points_show_exact_rows_and_attacked_ones_alike():
    """Their residuals differ by fourteen powers of ten."""
    rows = verification_chart(verified(20_000)).lines[0]
    assert len(rows.x) <= 150
    assert 0.8 < (rows.x < 1e-9).mean() < 0.95


def test_without_a_radius_there_is_no_level_but_the_share_that_would_be_needed():
    found = verified(10)
    assert not found.holds
    names = [line.name for line in verification_chart(found).lines]
    assert names == ["rows within the level", "share to exceed"]


def test_shares_among_the_rows_in_cells_are_noted():
    by_cells = verified(2000, 0.4, noise=0.0)
    assert by_cells.theorem == "cells"
    assert "cells" in verification_chart(by_cells).note
    assert verification_chart(verified(1000)).note == ""


def test_a_verification_is_drawn(tmp_path):
    path = tmp_path / "picture.png"
    figure = verified(1000).plot(str(path))
    assert path.stat().st_size > 1000
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert labels == {"rows within the level", "share to exceed", "level of the radius"}


def test_a_picture_that_cannot_be_saved_is_refused():
    with pytest.raises(nt.InputError, match=r"must end in \.png"):
        verified(20).plot("picture.gif")
