"""The picture of a verification, as series and as a file."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.lab.figures.one_result import verification_chart

NETWORK = nt.networks.relu_gate(3)
PROBLEM = nt.Problem.draw(NETWORK, nt.Normal(), true_weights=[1.0, -2.0, 0.5])


def verified(rows: int, attacked: float = 0.1, **stated) -> nt.Verification:
    """Return the verification of the true weights; attacked labels are 10 too large."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((rows, 3))
    y = NETWORK(PROBLEM.true_weights, X) + 10.0 * (draw.random(rows) < attacked)
    options = {"probability": attacked, "attacker": "coin"} | stated
    return nt.verify(PROBLEM, PROBLEM.true_weights, X, y, **options)


def test_the_lines_are_the_rows_the_share_needed_and_the_level():
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


def test_it_is_drawn(tmp_path):
    path = tmp_path / "picture.png"
    figure = verified(1000).plot(str(path))
    assert path.stat().st_size > 1000
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert labels == {"rows within the level", "share to exceed", "level of the radius"}


def test_a_picture_that_cannot_be_saved_is_refused():
    with pytest.raises(nt.InputError, match=r"must end in \.png"):
        verified(20).plot("picture.gif")
