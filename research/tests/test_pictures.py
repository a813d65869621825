"""The pictures of docs can be drawn, and the numbers below them are right."""

from __future__ import annotations

import numpy as np
import pytest
from docs import pictures
from research.pages import ROOT
from research.tests.documents import PROOFS, assert_says

pytestmark = [pytest.mark.long, pytest.mark.quick]
READS = (PROOFS, ROOT / "docs" / "pictures.py")


def test_the_sharp_certificate_plans_far_fewer_steps_than_theorem_1():
    weak = pictures.weak_attack()
    assert_says(PROOFS, "it plans {} million steps", weak.theorem1.steps / 1e6)
    assert_says(PROOFS, "the sharp certificate plans {}.", weak.sharp.steps)
    assert weak.sharp.steps < 1e-3 * weak.theorem1.steps
    assert weak.same_run.radius < weak.theorem1.certificate.radius


def test_the_strong_attack_keeps_below_the_certificate_and_near_the_limit():
    strong = pictures.strong_attack()
    for name, certified in strong.certified.items():
        measured = strong.measured[name]
        assert measured[-1] < certified[-1] < 1.1 * measured[-1]
        assert strong.limit < certified[-1]


def test_the_picture_is_drawn(tmp_path):
    figure = pictures.draw(pictures.strong_attack(steps=1000, runs=1), pictures.weak_attack())
    figure.savefig(tmp_path / "picture.png")
    assert [len(axes.lines) for axes in figure.axes] == [5, 3]


def test_every_activation_is_drawn_as_the_sum_of_a_line_and_an_even_function(tmp_path):
    figure = pictures.draw_parts()
    figure.savefig(tmp_path / "picture.png")
    assert len(figure.axes) == 4
    for axes in figure.axes:
        whole, line, even = (one.get_ydata() for one in axes.lines)
        np.testing.assert_allclose(whole, line + even)
        np.testing.assert_allclose(even, even[::-1], atol=1e-15)
        np.testing.assert_allclose(line, -line[::-1])
