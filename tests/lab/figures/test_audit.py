"""The picture of an audit, as series and as a file."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.support.audits import ATTACKS, ceiling, damage, made, no_ceiling, single

import neurotron as nt
from neurotron.lab.figures.one_result import MOST_ATTACKS, audit_chart


def test_the_points_are_the_rises_in_percent_the_most_harmful_first():
    (panel,) = audit_chart(made()).panels
    measured, limit = panel.lines
    assert panel.ticks == tuple(sorted(ATTACKS, key=lambda name: -ATTACKS[name]))
    assert measured.y.tolist() == pytest.approx([100.0 * rise for rise in ATTACKS.values()])
    assert measured.low[0] == pytest.approx(0.85 * 34.0)
    assert measured.high[0] == pytest.approx(1.15 * 34.0)
    assert measured.x.tolist() == [*range(len(ATTACKS))]
    assert limit.y.tolist() == pytest.approx([36.0, 36.0])


def test_the_ceiling_is_one_number_of_the_table_beside_the_figure():
    numbers = audit_chart(made()).numbers()
    assert [one.at for one in numbers if one.line == "ceiling"] == ["all"]
    assert len(numbers) == len(ATTACKS) + 1


def test_the_tolerance_is_marked_if_there_is_one():
    assert audit_chart(made()).reference == pytest.approx(10.0)
    chart = audit_chart(made(tolerance=None))
    assert chart.reference is None
    assert "tolerance" not in chart.caption


def test_everything_that_is_drawn_is_within_the_axis():
    for audit in (made(), made(tolerance=2.0), made(damages=(damage("constant", -0.5),))):
        chart = audit_chart(audit)
        low, high = chart.y_range
        heights = [0.0, *([] if chart.reference is None else [chart.reference])]
        for line in chart.lines:
            heights += [*line.y, *([] if line.low is None else [*line.low, *line.high])]
        assert low < min(heights)
        assert max(heights) < high


def test_a_ceiling_far_above_the_damages_is_said_and_not_drawn():
    chart = audit_chart(made(ceilings=(ceiling(9.0),)))
    assert [line.name for line in chart.lines] == ["measured"]
    assert "the ceiling is at 900 %" in chart.caption
    assert chart.y_range[1] < 100.0


def test_without_a_ceiling_the_caption_does_not_speak_of_one():
    chart = audit_chart(made(ceilings=(no_ceiling("it is not linear in the labels"),)))
    assert [line.name for line in chart.lines] == ["measured"]
    assert "ceiling" not in chart.caption


def test_of_several_budgets_the_largest_is_drawn_with_its_ceiling():
    two = (*made().damages, *(damage(name, rise / 2, share=0.05) for name, rise in ATTACKS.items()))
    chart = audit_chart(made(damages=two, ceilings=(ceiling(0.2, share=0.05), ceiling(0.36))))
    measured, limit = chart.lines
    assert measured.y[0] == pytest.approx(34.0)
    assert limit.y[0] == pytest.approx(36.0)
    assert "The budget is 10 % by 1" in chart.caption


def test_of_many_attacks_the_most_harmful_are_drawn():
    many = tuple(damage(f"attack-{i}", 0.01 * i) for i in range(40))
    (panel,) = audit_chart(made(damages=many)).panels
    assert panel.ticks == tuple(f"attack-{i}" for i in range(39, 39 - MOST_ATTACKS, -1))


def test_what_is_not_known_is_not_drawn():
    """One split has no interval, and a fit that failed has no error."""
    one = replace(damage("constant", 0.2), relative=single(0.2))
    failed = replace(damage("sign-flip", 0.2), relative=nt._intervals.Interval(*[math.inf] * 3))
    chart = audit_chart(made(damages=(one, failed), splits=1))
    (line,) = (line for line in chart.lines if line.name == "measured")
    assert (line.y.tolist(), line.low.tolist(), line.high.tolist()) == ([20.0], [20.0], [20.0])
    assert math.isfinite(sum(chart.y_range))


def test_labels_without_a_bound_are_changed_by_any_amount():
    open_ = tuple(damage(name, rise, bound=math.inf) for name, rise in ATTACKS.items())
    assert "10 % by any amount" in audit_chart(made(damages=open_, ceilings=())).caption


def test_it_is_drawn(tmp_path):
    figure = made().plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"measured", "ceiling"}


def test_a_picture_that_cannot_be_saved_is_refused():
    with pytest.raises(nt.InputError, match=r"must end in \.png"):
        made().plot("picture.gif")
