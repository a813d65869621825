"""What an audit says is true: closed forms, budgets, verdicts, and nothing else is touched."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from tests.support.audited import BUDGET, small_table

import neurotron as nt
from neurotron.auditing.attackers import EXACT
from neurotron.auditing.splits import AuditedTable

X, Y = small_table()
FEW = ("constant", "linear-surrogate", "worst-error")
"""Attacks for tests in which it does not matter how many there are."""


def audited(estimator, **settings):
    given = {"budget": BUDGET, "remedies": [], "splits": 3, "replicates": 1} | settings
    return nt.audit(estimator, X, Y, **given)


def test_the_mean_of_the_labels_moves_by_exactly_the_share_times_the_bound():
    found = audited(DummyRegressor())
    ceiling, share = found.ceilings[0], 4 / 45
    assert found.damages[0].rows == 4
    assert ceiling.worst.estimate == pytest.approx(share)
    assert ceiling.mean.estimate == pytest.approx(share)
    assert ceiling.reached_worst.estimate == pytest.approx(share)


def test_the_nearest_label_can_be_moved_by_the_whole_bound_and_no_more():
    found = audited(KNeighborsRegressor(1))
    assert found.ceilings[0].worst.estimate == pytest.approx(1.0)
    assert found.ceilings[0].reached_worst.estimate == pytest.approx(1.0)


@pytest.mark.parametrize(
    "estimator", [LinearRegression(), Ridge(3.0), KNeighborsRegressor(3), "splines"],
    ids=["least-squares", "ridge", "neighbors", "splines"],
)  # fmt: skip
def test_ceilings_of_predictions_are_reached_and_none_is_exceeded(estimator):
    found = audited(estimator, replicates=2)
    (ceiling,) = found.ceilings
    assert ceiling.reason == ""
    assert ceiling.reached_worst.estimate == pytest.approx(ceiling.worst.estimate)
    assert ceiling.reached_mean.estimate == pytest.approx(ceiling.mean.estimate)
    assert ceiling.reached_error.estimate <= ceiling.error.estimate
    for damage in found.damages:
        assert damage.error.estimate <= ceiling.error.estimate
        assert damage.worst.estimate <= ceiling.worst.estimate * (1.0 + 1e-9)


def test_a_ceiling_that_an_attack_exceeds_is_withdrawn(monkeypatch):
    from neurotron.auditing import ceilings

    whole = ceilings.exact_ceiling
    for field in ("error", "mean", "worst"):
        part = 0.3 if field == "error" else 0.9

        def lower(scene, most, field=field, part=part):
            right = whole(scene, most)
            return right._replace(**{field: part * getattr(right, field)})

        monkeypatch.setattr(ceilings, "exact_ceiling", lower)
        (ceiling,) = audited(Ridge(), replicates=1).ceilings
        assert ceiling.error is None
        assert "exceeded the ceiling" in ceiling.reason


def test_an_estimator_that_is_not_linear_has_no_ceiling_but_a_reason():
    (ceiling,) = audited("huber", attacks="constant").ceilings
    assert ceiling.error is None
    assert not ceiling.holds
    assert "There is no ceiling, because" in ceiling.statement
    assert "not linear" in ceiling.reason


def test_the_attack_on_the_error_is_at_least_as_strong_as_the_others_on_least_squares():
    found = audited("least-squares")
    assert found.worst.attack == "worst-error"
    assert found.worst.relative.estimate > 0.02


# ---- budgets -------------------------------------------------------------------------------------


def test_a_budget_of_rows_is_the_same_as_the_share_rounded_up():
    by_rows = audited("ridge", budget=nt.Budget(bound=1.0, rows=6), attacks=FEW)
    assert by_rows.damages[0].rows == 5  # 6 of 60 rows are 4.5 of 45
    assert by_rows.headline.startswith("11 % of the labels (5 of 45)")
    assert audited("ridge", attacks=FEW).damages[0].rows == 4


def test_larger_budgets_do_more_damage():
    budgets = [nt.Budget(bound=b, probability=p) for b in (0.5, 2.0) for p in (0.1, 0.3)]
    found = audited("ridge", budget=budgets, attacks=FEW)
    worst = [ceiling.worst.estimate for ceiling in found.ceilings]
    assert len(found.ceilings) == 4
    assert worst[0] < worst[1] < worst[3]
    assert worst[2] == pytest.approx(4.0 * worst[0])


def test_labels_stay_in_their_range_and_ceilings_use_it():
    low, high = float(Y.min()), float(Y.max())
    wide = {"budget": nt.Budget(bound=30.0, probability=0.1), "attacks": ("constant", *EXACT)}
    free = audited("ridge", **wide)
    limited = audited("ridge", **wide, label_range=(low, high))
    anything = audited(
        "ridge", **wide | {"budget": nt.Budget(probability=0.1)}, label_range=(low, high),
        tolerance=0.1,
    )  # fmt: skip
    assert limited.ceilings[0].worst.estimate < free.ceilings[0].worst.estimate
    assert anything.ceilings[0].worst.estimate >= limited.ceilings[0].worst.estimate
    assert anything.ceilings[0].reached_worst.estimate == pytest.approx(
        anything.ceilings[0].worst.estimate
    )
    assert "anything in their range" in anything.headline
    assert json.dumps(anything.to_dict(), allow_nan=False)


# ---- verdict and search --------------------------------------------------------------------------


def test_the_verdict_compares_the_damage_with_the_tolerance():
    assert audited("ridge", attacks=FEW).verdict == "not asked"
    assert audited("ridge", attacks=FEW, tolerance=0.001).verdict == "exceeded"
    assert audited("ridge", attacks=FEW, tolerance=100.0).verdict == "within"


def test_one_split_decides_nothing_that_is_not_proved():
    found = audited("huber", attacks=FEW, tolerance=0.5, splits=1)
    assert found.verdict == "undecided"
    assert "use more splits" in " ".join(str(found).split())


def test_a_ceiling_below_the_tolerance_means_within():
    found = audited(DummyRegressor(), tolerance=0.2)
    assert found.ceilings[0].relative.high < 0.2
    assert found.verdict == "within"


def test_the_smallest_number_of_rows_is_between_what_is_proved_and_what_breaks():
    (breaking,) = audited("ridge", tolerance=0.4, splits=5, attacks=FEW).breaking
    assert 0 < breaking.proven <= breaking.unbroken < breaking.rows
    assert breaking.share == breaking.rows / 45
    # a larger tolerance needs more rows
    (looser,) = audited("ridge", tolerance=0.8, splits=5, attacks=FEW).breaking
    assert looser.rows > breaking.rows
    assert looser.proven > breaking.proven


def test_the_search_by_fits_tries_fewer_and_more_rows_than_the_budget():
    (strict,), (loose,) = (
        audited("huber", tolerance=tolerance, attacks=FEW).breaking for tolerance in (0.4, 0.8)
    )
    assert strict.rows < 4 < loose.rows
    assert strict.unbroken < strict.rows
    assert loose.unbroken < loose.rows
    assert loose.proven is None


def test_the_harmless_number_is_the_largest_one_below_the_ceiling():
    (breaking,) = audited("ridge", tolerance=0.2, attacks=FEW).breaking
    share = (breaking.proven + 0.5) / 45
    inside, beyond = (
        audited("ridge", budget=nt.Budget(bound=1.0, probability=part), attacks=FEW)
        for part in (share, share + 1 / 45)
    )
    assert inside.damages[0].rows == breaking.proven
    assert inside.ceilings[0].relative.estimate <= 0.2
    assert beyond.ceilings[0].relative.high > 0.2


# ---- rows and remedies ---------------------------------------------------------------------------


def test_the_rows_that_matter_most_are_those_whose_labels_move_the_predictions_most():
    table, effects = AuditedTable.of(X, Y), [[] for _ in Y]
    for number in range(3):
        split = table.split(0, number)
        before = Ridge().fit(split.X, split.y).predict(split.test_X)
        for place, row in enumerate(split.training):
            moved = split.y.copy()
            moved[place] += 1.0
            after = Ridge().fit(split.X, moved).predict(split.test_X)
            effects[row].append(np.sqrt(np.mean((after - before) ** 2)))
    means = np.array([np.mean(found) if found else 0.0 for found in effects])
    first = audited(Ridge(), attacks=FEW).influential[:3]
    assert [each.row for each in first] == np.argsort(-means)[:3].tolist()
    assert [each.shift for each in first] == pytest.approx(np.sort(means)[::-1][:3].tolist())


def test_remedies_are_sorted_and_a_clear_one_is_recommended():
    budget = nt.Budget(bound=30.0, probability=0.1)
    found = audited("least-squares", budget=budget, remedies=["huber", "neurotron"], attacks=FEW)
    errors = [remedy.error.estimate for remedy in found.remedies]
    assert errors == sorted(errors)
    assert found.recommendation is not None
    assert found.recommendation.name in found.headline
    assert found.recommendation.saved.low > 0.0
    assert found.recommendation.total.estimate < found.worst.relative.estimate


def test_a_remedy_that_costs_too_much_is_not_recommended():
    budget = nt.Budget(bound=30.0, probability=0.1)
    found = audited("least-squares", budget=budget, remedies=[DummyRegressor()], attacks=FEW)
    assert found.remedies[0].price.estimate > 0.1
    assert found.recommendation is None
    assert "None is recommended: none makes" in " ".join(str(found).split())


def test_a_remedy_that_cannot_be_fitted_is_named_and_left_out():
    found = audited("ridge", attacks=FEW, remedies=["nearest-neighbors:k=1000", "huber"])
    assert [remedy.name for remedy in found.remedies] == ["huber"]
    assert "nearest-neighbors" in found.failures[0]
    assert "Not compared" in str(found)


def test_a_remedy_has_the_verdict_that_its_own_audit_would_have():
    found = audited("least-squares", attacks=FEW, remedies=["ridge", "huber"], tolerance=0.2)
    own = {name: audited(name, attacks=FEW, tolerance=0.2) for name in ("ridge", "huber")}
    for remedy in found.remedies:
        assert remedy.verdict == own[remedy.name].verdict
        assert remedy.transfers_only == (remedy.name == "huber") == own[remedy.name].transfers_only
        largest = own[remedy.name].largest
        assert remedy.error.estimate == pytest.approx(
            own[remedy.name].clean_error.estimate + largest.error.estimate
        )


def test_a_model_is_compared_with_least_squares_on_the_same_splits():
    assert audited(LinearRegression(), attacks="constant").versus_least_squares.estimate == (
        pytest.approx(0.0, abs=1e-12)
    )
    mean = audited(DummyRegressor(), attacks="constant")
    both = [audited(each, attacks="constant").clean_error.estimate
            for each in (DummyRegressor(), LinearRegression())]  # fmt: skip
    assert mean.versus_least_squares.estimate == pytest.approx(both[0] / both[1] - 1.0, rel=0.2)
    assert "worse than least squares" in mean.poor_fit


def test_an_attack_that_would_lower_the_error_is_not_made():
    """A low quantile of the labels is nearer to their mean if some of them are raised."""
    low = DummyRegressor(strategy="quantile", quantile=0.2)
    found = audited(low, remedies=[low], attacks="constant", budget=nt.Budget(bound=3.0, rows=12))
    (remedy,) = found.remedies
    assert found.largest.worst.estimate > 0.1
    assert found.largest.error.estimate == remedy.total.estimate == 0.0


def test_a_remedy_has_a_ceiling_in_units_of_the_audited_estimator():
    found = audited("least-squares", attacks=FEW, remedies=["ridge:alpha=10"])
    (remedy,) = found.remedies
    assert remedy.at_most.estimate >= remedy.total.estimate


# ---- output --------------------------------------------------------------------------------------


def test_everything_prints():
    found = audited("ridge", tolerance=0.1, remedies=["huber"])
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    for part in ("Verdict", "at most", "reached", "worst-error", "MATTER MOST", "huber"):
        assert part in text
    with pytest.raises(nt.InputError, match="`width`"):  # it never returned
        found.to_text(width=math.nan)
    assert "worst attack" in repr(found)
    assert "<table>" in found._repr_html_()
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["verdict"] == found.verdict
    assert plain["damages"][0]["attack"] == found.damages[0].attack
    assert plain["damages"][0]["relative"]["estimate"] == found.damages[0].relative.estimate


def test_without_an_error_the_unit_is_named():
    labels = X @ [1.0, 2.0, 3.0]
    found = nt.audit("least-squares", X, labels, budget=BUDGET, remedies=[], splits=2, attacks=FEW)
    assert found.unit == pytest.approx(1e-6 * labels.std())
    assert "because without an attack there is no error" in " ".join(str(found).split())


@pytest.mark.parametrize("name", ["X", "y"])
def test_masked_values_are_refused_and_never_used_as_data(name):
    rows, labels = small_table(40)
    given = {"X": rows, "y": labels}
    given[name] = np.ma.masked_greater(given[name], 1.0)
    with pytest.raises(nt.InputError, match=f"`{name}` is a masked array: fill the masked values"):
        nt.audit("ridge", **given, budget=BUDGET)


def test_columns_of_the_same_name_are_refused_before_the_estimator_is_blamed():
    twice = pd.DataFrame(X[:, :2], columns=["a", "a"])
    with pytest.raises(nt.InputError, match="`X` has 2 columns named 'a': rename or leave out"):
        nt.audit("ridge", twice, Y, budget=BUDGET)


def test_labels_too_small_to_be_squared_are_refused():
    with pytest.raises(nt.InputError, match="`y` has no value beyond 1e-60: give it in another"):
        nt.audit("ridge", X, 1e-300 * Y, budget=BUDGET)
