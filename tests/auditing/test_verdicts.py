"""Verdicts: tolerances, suspects that leave them open, and people who accept suspects."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_diabetes
from tests.support.audited import BUDGET, small_table
from tests.support.audits import check, damage, made, single
from tests.support.messages import says

import neurotron as nt
from neurotron._digits import percent
from neurotron._intervals import Interval
from neurotron.auditing import job
from neurotron.auditing.job import Suspects
from neurotron.auditing.splits import AuditedTable

FEW = ("constant", "worst-error")
OPTIONS = {"attacks": FEW, "remedies": (), "splits": 3, "replicates": 1}
X, Y = small_table(80)


def poisoned(rows: int, by: float = 9.0) -> np.ndarray:
    """Return the labels of the table, of which the first few are moved."""
    return Y + by * (np.arange(len(Y)) < rows)


def houses() -> tuple[np.ndarray, np.ndarray]:
    frame = pl.read_csv("docs/houses.csv").drop("town").drop_nulls()
    return frame.drop("price").to_numpy(), frame["price"].to_numpy()


def audited(rows, labels, **more):
    return nt.audit("ridge", rows, labels, **{"budget": BUDGET, **OPTIONS, **more})


# ---- one tolerance -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.11, 0.2, "exceeded"), (0.09, 0.11, "undecided"), (0.05, 0.1, "within")],
)
@pytest.mark.parametrize("what", ["error", "change"])
def test_the_verdict_is_by_the_interval_of_the_strongest_damage(low, high, verdict, what):
    found = check(Interval((low + high) / 2.0, low, high), what=what)
    assert made(checks=(found,)).verdict == verdict


def test_a_ceiling_within_the_tolerance_decides_even_after_one_split():
    for most, verdict in ((0.1, "within"), (0.11, "undecided"), (None, "undecided")):
        assert check(single(0.05), most=(most,)).verdict == verdict


def test_the_worse_of_two_tolerances_counts():
    within, exceeded = (
        check(single(0.05), most=(0.06,)),
        check(Interval(0.3, 0.2, 0.4), what="change"),
    )
    assert made(checks=(within,)).verdict == "within"
    assert made(checks=(within, exceeded)).verdict == "exceeded"
    assert "move a prediction by more than the tolerance of 0.1" in str(made(checks=(exceeded,)))


def test_no_prediction_may_change_by_more_than_an_absolute_tolerance():
    found = audited(X, Y)
    most = max(check.most[0] for check in audited(X, Y, max_change=1.0).checks)
    assert found.verdict == "not asked"
    assert found.ceilings[0].worst.estimate < most  # that of the worst split counts
    proved = audited(X, Y, max_change=1.001 * most)
    assert proved.verdict == "within"
    assert "whatever its method" in str(proved)
    assert audited(X, Y, max_change=0.3 * most).verdict == "exceeded"


def test_one_prediction_on_one_split_is_enough_to_exceed_an_absolute_tolerance():
    (found,) = audited(X, Y, max_change=1.0).checks
    values = [
        audited(X, Y, max_change=1.0, splits=1, seed=seed).checks[0].found[0].estimate
        for seed in (0, 1)
    ]
    assert found.found[0].low == found.found[0].estimate >= values[0]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_change", -1.0),
        ("max_change", np.nan),
        ("accept_suspects", -1),
        ("accept_suspects", 0.5),
    ],
)
def test_impossible_limits_are_refused(option, value):
    with pytest.raises(nt.InputError, match=f"`{option}` must be"):
        audited(X, Y, **{option: value})


# ---- suspects ------------------------------------------------------------------------------------


def test_a_table_that_is_poisoned_already_leaves_the_verdict_undecided():
    found = audited(X, poisoned(8), tolerance=9.0)
    assert found.suspects.rows == tuple(range(8))
    assert found.suspects.attacked_fraction.low > 0.01
    assert found.verdict == "undecided"
    words = " ".join(str(found).split())
    assert says(words, "8 labels are suspects", "neurotron clean", "--accept-suspects 8")
    assert says(found.headline, "8 labels are suspects", "without them")


@pytest.mark.parametrize(("low", "verdict"), [(0.0099, "within"), (0.0101, "undecided")])
def test_more_than_one_label_in_a_hundred_that_seems_attacked_leaves_it_open(low, verdict):
    some = Suspects((1, 2, 3, 4, 5), Interval(0.02, low, 0.03))
    found = made(
        suspects=some, checks=(check(Interval(0.05, 0.04, 0.06)),),
        without_suspects=(damage("strongest", 0.05),),
    )  # fmt: skip
    assert found.verdict == verdict


def test_wrong_labels_that_do_not_show_are_not_denied():
    """A tenth of the labels is wrong by three times the noise, and the interval does not say so."""
    draw = np.random.default_rng(3)
    rows = draw.standard_normal((200, 3))
    labels = rows @ np.ones(3) + draw.standard_normal(200) + 3.0 * (np.arange(200) < 20)
    found = audited(rows, labels, tolerance=9.0)
    assert found.suspects.count == 0
    assert found.suspects.attacked_fraction.high < 0.1
    assert "less than about five times the noise often do not show" in " ".join(str(found).split())


def test_no_tolerance_holds_where_nobody_could_look_for_suspects():
    """Four wrong labels of 40 make a rise of 1,000 % one of 16 %, among too many columns."""
    asked = {"tolerance": 0.5, "budget": nt.Budget(bound=5.0, probability=0.1), "splits": 5}
    draw = np.random.default_rng(5)
    rows = draw.standard_normal((40, 9))
    labels = rows @ draw.standard_normal(9) + 0.1 * draw.standard_normal(40)
    assert audited(rows, labels, **asked).verdict == "exceeded"
    labels[:4] += 30.0
    found = audited(rows, labels, **asked)
    assert found.largest.relative.high < 0.5
    assert found.verdict == "undecided"
    words = " ".join(str(found).split())
    assert says(words, "Nobody could look for suspects: 40 rows are too few", "--accept-suspects 0")
    accepted = audited(rows, labels, **asked, accept_suspects=0)
    assert accepted.verdict == "within"
    assert "accepted by a person" in str(accepted)


def test_no_tolerance_holds_where_nothing_can_be_audited_without_the_suspects():
    labels = np.zeros(len(Y))
    labels[0] = 100.0  # without this suspect, all labels are equal
    found = audited(X, labels, tolerance=9.0)
    assert (found.suspects.rows, found.without_suspects) == ((0,), ())
    assert found.suspects.attacked_fraction.low < 0.01
    assert found.verdict == "undecided"
    assert "Without the suspects, the table cannot be audited." in " ".join(str(found).split())
    assert "1 of 80 labels does not fit" in " ".join(str(found).split())
    assert audited(X, labels, tolerance=9.0, accept_suspects=1).verdict == "within"


def test_nothing_is_recommended_and_no_remedy_holds_while_labels_are_in_doubt():
    many = Suspects((1, 2, 3), Interval(0.03, 0.02, 0.04))
    assert made().recommendation is not None
    found = made(suspects=many)
    assert found.recommendation is None
    assert found.to_dict()["doubt"].startswith("At least 2 % of the labels seem to be attacked")
    words = " ".join(str(found).split())
    assert "None is recommended as long as the labels of the table are in doubt" in words
    assert "holds the tolerance" not in words.lower()
    assert replace(found, accept_suspects=3).recommendation == made().recommendation


def test_the_damage_without_suspects_is_that_of_the_cleaned_table():
    found, cleaned = audited(X, poisoned(8)), audited(X[8:], Y[8:])
    assert found.without_suspects == cleaned.strongest
    assert found.strongest != cleaned.strongest
    assert cleaned.without_suspects == ()
    assert cleaned.suspects.rows == ()


def test_nothing_is_computed_twice_if_there_are_no_suspects():
    done = []
    audited(X, Y, tolerance=1.0, progress=lambda now, of: done.append(of))
    assert set(done) == {3}
    audited(X, poisoned(8), tolerance=1.0, progress=lambda now, of: done.append(of))
    assert max(done) == 6


def test_suspects_on_whom_the_side_of_the_tolerance_depends_leave_it_undecided():
    few = Suspects((1,), Interval(0.005, 0.001, 0.02))
    within, beyond = Interval(0.05, 0.04, 0.06), Interval(0.3, 0.2, 0.4)
    for first, second in ((within, beyond), (beyond, within)):
        both = (check(first), check(second, without_suspects=True))
        found = made(suspects=few, checks=both)
        assert found.verdict == "undecided"
        assert replace(found, accept_suspects=1).verdict == "exceeded"
        assert replace(found, accept_suspects=0).verdict == "undecided"
    same = (check(beyond), check(beyond, without_suspects=True))
    assert made(suspects=few, checks=same).verdict == "exceeded"
    other = (check(within), check(beyond, without_suspects=True, what="change"))
    assert made(suspects=few, checks=other).verdict == "exceeded"  # these are two tolerances


def test_accepted_suspects_let_the_worse_damage_decide():
    asked = {"tolerance": 0.1, "budget": nt.Budget(bound=1.0, rows=2)}
    found = audited(X, poisoned(8), accept_suspects=8, **asked)
    on_all, without = found.checks
    assert (on_all.verdict, without.verdict) == ("within", "exceeded")
    assert found.verdict == "exceeded"
    assert says(
        " ".join(str(found).split()), "once the suspects are left out", "8 suspects were accepted"
    )
    assert audited(X, poisoned(8), accept_suspects=7, **asked).verdict == "undecided"


def test_why_nobody_could_look_for_suspects_is_said():
    found = audited(X[:19], Y[:19])
    assert found.suspects == Suspects(reason="19 rows are too few, 20 are needed")
    assert "Nobody looked for suspects" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["suspects"]["attacked_fraction"] is None
    assert audited(X[:20], Y[:20]).suspects.reason == ""


def test_honest_tables_seldom_seem_to_be_attacked():
    """The false alarm rate is 5 %, and the fewest rows that are looked at keep it."""
    alarms = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        rows = draw.standard_normal((5 * job.FEWEST, 4))
        table = AuditedTable.of(rows, rows @ np.ones(4) + draw.standard_t(4, len(rows)))
        alarms += job.screened(table).count > 0
    assert alarms <= 4


# ---- tables of the documentation -----------------------------------------------------------------


@pytest.mark.parametrize("accept", [None, 29])
def test_the_houses_as_they_are_decide_nothing_and_the_guide_says_so(accept):
    found = audited(
        *houses(), budget=nt.Budget(bound=100.0, rows=20), attacks="worst-error", tolerance=0.1,
        accept_suspects=accept, splits=5,
    )  # fmt: skip
    assert found.suspects.count == 30
    assert found.largest.relative.high < 0.1
    assert found.verdict == "undecided"
    (without,) = found.without_suspects
    clean = without.error.estimate / without.relative.estimate
    guide = " ".join(Path("docs/audit.md").read_text("utf-8").split())
    for before, rise in (
        (found.clean_error.estimate, found.largest.relative),
        (clean, without.relative),
    ):
        assert f"error of {before:.0f} rises by {percent(rise.estimate)}" in guide


def test_the_cleaned_houses_exceed_the_tolerance_that_the_others_seemed_to_hold():
    rows, labels = houses()
    asked = {"budget": nt.Budget(bound=100.0, rows=20), "tolerance": 0.1}
    wrong = job.screened(AuditedTable.of(rows, labels)).rows
    kept = np.delete(np.arange(len(labels)), wrong)
    found = audited(rows[kept], labels[kept], **asked)
    assert (found.suspects.count, found.verdict) == (0, "exceeded")


def test_untouched_diabetes_decides():
    rows, labels = load_diabetes(return_X_y=True)
    budget = nt.Budget(bound=100.0, probability=0.1)
    for tolerance, verdict in ((0.05, "exceeded"), (0.5, "within")):
        found = audited(rows, labels, budget=budget, tolerance=tolerance)
        assert (found.suspects.count, found.verdict) == (0, verdict)


@pytest.mark.long
def test_untouched_diamonds_decide():
    package = importlib.util.find_spec("plotnine")
    if package is None:
        pytest.skip("plotnine, which has the diamonds, is not installed")
    table = pl.read_csv(Path(package.origin).parent / "data" / "diamonds.csv")
    sizes = table.select("carat", "x", "y", "z", "price").to_numpy()
    logs = np.log(sizes[(sizes > 0.0).all(axis=1)][::13])
    rows, labels = logs[:, :-1], logs[:, -1]
    budget = nt.Budget(bound=1.0, probability=0.05)
    for tolerance, verdict in ((0.05, "exceeded"), (9.0, "within")):
        assert audited(rows, labels, budget=budget, tolerance=tolerance).verdict == verdict


def test_headlines_name_suspects_only_if_there_are_any():
    assert "suspect" not in made().headline
    one = made(
        suspects=Suspects((3,), Interval(0.0, 0.0, 0.01)), without_suspects=(damage("x", 0.2),)
    )
    assert "1 label is a suspect; without them the error can rise by 20 %." in one.headline
    assert one.headline.count("transfer attacks only") == 1  # of the remedy
    assert replace(one, transfers_only=True).headline.count("transfer attacks only") == 3
