"""The picture of a certificate, as series and as a file."""

from __future__ import annotations

import math

import numpy as np
import pytest

import neurotron as nt
from neurotron.lab.figures.one_result import certified_lines

ATTACK = nt.attacks.Adaptive(bound=0.5, probability=0.3)
ARM = nt.Arm(nt.NeuroTron(0.01), ATTACK)


def test_the_lines_are_root_mean_square_and_radius(small_problem):
    certificate = nt.certify(small_problem, ARM, batch_size=8, steps=500, failure=0.1)
    root, radius, limit = certified_lines(certificate)
    assert root.x[0] == 1.0
    assert root.x[-1] == 500.0
    np.testing.assert_array_equal(radius.y, certificate.radii[certificate.at_steps > 0])
    assert (radius.y <= root.y / math.sqrt(0.1) * (1.0 + 1e-8)).all()
    assert radius.y[-1] == pytest.approx(certificate.radius)
    assert "0.9" in radius.name
    assert set(limit.y) == {certificate.limit}


def test_a_measured_certificate_has_a_measured_line(small_problem):
    certificate = nt.certify(
        small_problem, ARM, batch_size=8, steps=50, failure=0.5, method="measured"
    )
    (line,) = certified_lines(certificate)
    assert line.name == "measured, root mean square"


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_it_is_drawn_over_a_run(small_problem, tmp_path, suffix):
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
