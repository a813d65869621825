"""Ceilings of estimators that bound their own predictions: certified Huber and medians of parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from tests.support.messages import says

import neurotron as nt
from neurotron.auditing.ceilings import settled
from neurotron.auditing.job import job_of
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import catalog

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((300, 2))
Y = X @ [1.0, -2.0] + 0.5 * DRAW.standard_normal(300)
ATTACKS = ["constant", "one-sided"]


def audited(estimator, bound=5.0, rows=3, **given):
    settings = {"remedies": [], "splits": 2, "replicates": 1, "attacks": ATTACKS}
    return nt.audit(estimator, X, Y, budget=nt.Budget(bound, rows=rows), **(settings | given))


@pytest.mark.parametrize(
    ("estimator", "bound"),
    [
        ("certified-huber", 1.0),
        ("certified-huber", 100.0),
        ("median-of-parts:of=tree:depth=2,parts=9", 100.0),
    ],
)
def test_no_attack_exceeds_the_ceiling_whatever_its_bound(estimator, bound):
    (ceiling,) = audited(estimator, bound).ceilings
    assert ceiling.holds
    assert ceiling.assumptions == ()
    for name in ("error", "mean", "worst"):
        reached, most = (getattr(ceiling, part + name) for part in ("reached_", ""))
        assert 0.0 < reached.estimate < most.estimate


def test_the_ceiling_of_a_fixed_clip_hardly_grows_with_the_size_of_changes():
    small, large = (audited("certified-huber", bound).ceilings[0] for bound in (10.0, 1e6))
    assert large.radius == pytest.approx(small.radius, rel=0.01)
    assert large.radius < 0.5


def test_the_clip_that_the_clean_labels_gave_stays_and_is_named():
    model = nt.CertifiedHuberRegressor().fit(X, Y)
    kept = settled(nt.CertifiedHuberRegressor(alpha=0.1), model)
    assert (kept.clip, kept.alpha) == (model.clip_, 0.1)
    tree = DecisionTreeRegressor()
    assert settled(tree, tree) is tree
    found = audited("certified-huber:clip=1.25").ceilings[0]
    assert says(found.statement, "the same clip", "1.25")


@pytest.mark.parametrize(
    ("estimator", "rows", "parts"),
    [("certified-huber", 150, ("112 labels",)), ("median-of-parts:parts=5", 4, ("3 labels", "5"))],
)
def test_too_many_labels_have_no_ceiling_and_a_reason(estimator, rows, parts):
    found = audited(estimator, rows=rows, attacks=["constant"]).ceilings[0]
    assert math.isinf(found.radius)
    assert found.reason
    assert "without any limit" in found.reason or says(found.reason, *parts)


def test_usual_remedies_have_ceilings_and_medians_of_parts_where_parts_are_large_enough(
    monkeypatch,
):
    monkeypatch.setattr(catalog, "REMEDIES", ("certified-huber",))
    found = audited("tree:depth=2", rows=1, remedies="usual", splits=1).remedies
    names = {"certified-huber", "median of 5 parts: tree", "median of 5 parts: tree:depth=2"}
    assert {remedy.name for remedy in found} == names
    assert all(remedy.total.estimate <= remedy.at_most.estimate for remedy in found)
    for rows, offered in ((2, True), (8, False)):
        job = job_of("tree", AuditedTable.of(X, Y), budget=nt.Budget(1.0, rows=rows))
        assert any("parts" in case.name for case in job.remedies.values()) == offered


def test_medians_of_parts_are_made_from_text():
    model = catalog.BY_NAME.build("median-of-parts:of=forest:trees=3;depth=2,parts=7")
    assert (model.parts, model.estimator.n_estimators, model.estimator.max_depth) == (7, 3, 2)
    with pytest.raises(nt.InputError) as caught:
        catalog.BY_NAME.build("median-of-parts:of=nonsense")
    assert says(caught.value, "nonsense")
