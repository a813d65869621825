"""Ceilings by proof and by certified training: never exceeded, and no constant can be smaller."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from tests.support.messages import says

import neurotron as nt
from neurotron.auditing import certified
from neurotron.auditing.certified import certified_ceiling
from neurotron.estimators import certified_training
from neurotron.estimators.certified_training import CertifiedTrainingRegressor

# ---- a proof on the rows -------------------------------------------------------------------------

TRUE = np.array([1.0, -2.0])


def exact(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, their exact labels, and test rows."""
    draw = np.random.default_rng(seed)
    X, test = draw.standard_normal((rows, 2)), draw.standard_normal((20, 2))
    return X, X @ TRUE, test


def linear_fit(X: np.ndarray, y: np.ndarray) -> nt.NeuroTronRegressor:
    return nt.NeuroTronRegressor(fit_intercept=False, max_iter=5).fit(X, y)


def impostor(X: np.ndarray, honest: int, size: float = 1.0) -> np.ndarray:
    """Return a filter that shares one honest row with the true one."""
    return TRUE + size * np.array([-X[honest, 1], X[honest, 0]])


def labels_of(X: np.ndarray, y: np.ndarray, attacked: tuple[int, ...], weights: np.ndarray):
    labels = y.copy()
    labels[list(attacked)] = X[list(attacked)] @ weights
    return labels


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_reports_its_proof_predicts_as_without_any_attack_on_all_subsets():
    X, y, test = exact(9)
    clean, most = linear_fit(X, y), 3
    ceiling = certified_ceiling(clean, X, y, test, bound=np.inf, rows=most)
    right = 0
    for attacked in itertools.combinations(range(9), most):
        honest = next(row for row in range(9) if row not in attacked)
        poisoned = linear_fit(X, labels_of(X, y, attacked, impostor(X, honest)))
        shift = np.abs(poisoned.predict(test) - clean.predict(test)).max()
        found = shift <= ceiling.worst
        right += found
        assert ceiling.covers(poisoned) == found  # both ways: right fits say so, wrong ones do not
    assert right > 40  # of 84: the search is fooled by some


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_one_row_less_in_the_condition_a_wrong_fit_would_be_covered():
    """At 2k > p the wrong filter explains most rows, and is proved against k − 1 rows."""
    X, y, test = exact(10)
    clean = linear_fit(X, y)
    assert clean.proven_against_ == 8
    assert not isinstance(certified_ceiling(clean, X, y, test, bound=1.0, rows=4), str)
    reason = certified_ceiling(clean, X, y, test, bound=1.0, rows=5)
    assert says(reason, "8", "10")
    poisoned = linear_fit(X, labels_of(X, y, (0, 1, 2, 3, 4, 5), impostor(X, 9)))
    assert np.abs(poisoned.weights_ - TRUE).max() > 0.1
    assert poisoned.proven_against_ == 5  # of the 6 rows that were attacked
    ceiling = certified_ceiling(clean, X, y, test, bound=1.0, rows=4)
    assert not ceiling._replace(needs=6).covers(poisoned)
    assert ceiling._replace(needs=5).covers(poisoned)


NETWORKS = {
    "linear": (nt.networks.linear(3), {}),
    "one gate": (nt.networks.relu_gate(3), {"network": "relu"}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("attack", [nt.attacks.PickedRows, nt.attacks.Impostor])
@pytest.mark.parametrize("name", NETWORKS)
def test_attacks_with_another_filter_leave_covered_fits_as_they_are(name, attack):
    network, parameters = NETWORKS[name]
    draw = np.random.default_rng(1)
    X, test = draw.standard_normal((60, 3)), draw.standard_normal((20, 3))
    w = draw.standard_normal(3)
    y = network(w, X)

    def fitted(labels):
        return nt.NeuroTronRegressor(fit_intercept=False, max_iter=5, **parameters).fit(X, labels)

    clean, covered = fitted(y), 0
    for share in (0.05, 0.1, 0.2, 0.3, 0.45):
        ceiling = certified_ceiling(clean, X, y, test, bound=np.inf, rows=int(share * 60))
        if isinstance(ceiling, str):
            continue
        labels, _ = nt.poison(X, y, attack(probability=share), seed=0, model=(network, w))
        poisoned = fitted(labels)
        if ceiling.covers(poisoned):
            covered += 1
            shift = poisoned.predict(test) - clean.predict(test)
            assert np.abs(shift).max() <= ceiling.worst
    assert covered >= 1


def test_rows_that_the_clean_fit_does_not_explain_count_as_tampered_with():
    X, y, test = exact(30)
    y[:2] += 1.0
    clean = linear_fit(X, y)
    assert clean.proven_against_ == 26
    assert certified_ceiling(clean, X, y, test, bound=1.0, rows=12).needs == 14
    assert says(certified_ceiling(clean, X, y, test, bound=1.0, rows=13), "26", "28")


def test_noise_and_rows_in_hyperplanes_have_no_ceiling_and_a_reason():
    X, y, test = exact(60)
    noisy = y + 0.1 * np.random.default_rng(0).standard_normal(60)
    assert says(certified_ceiling(linear_fit(X, noisy), X, noisy, test, bound=1.0, rows=1), "noise")
    many = np.random.default_rng(0).integers(0, 3, (400, 12)).astype(float)  # "measured" only
    labels = many @ np.arange(12.0)
    model = nt.NeuroTronRegressor(max_iter=5).fit(many, labels)
    assert model.certificate_.kind == "measured"
    reason = certified_ceiling(model, many, labels, many, bound=1.0, rows=1)
    assert says(reason, "do not prove", "estimate")


def test_a_proof_that_assumes_rows_in_general_position_is_no_ceiling():
    X = np.random.default_rng(0).standard_normal((100, 8))
    model = nt.NeuroTronRegressor(max_iter=5).fit(X, X @ np.arange(8.0))
    assert says(model.certificate_.kind, "proved if")
    reason = certified_ceiling(model, X, X @ np.arange(8.0), X, bound=1.0, rows=1)
    assert says(reason, "do not prove", "general position")


def test_other_regressors_have_no_ceiling_here_and_none_is_given_before_a_fit():
    X, y, test = exact(9)
    assert certified_ceiling(Ridge().fit(X, y), X, y, test, bound=1.0, rows=1) == ""
    with pytest.raises(NotFittedError):
        certified_ceiling(nt.NeuroTronRegressor(), X, y, test, bound=1.0, rows=1)
    with pytest.raises(nt.InputError) as caught:
        certified_ceiling(linear_fit(X, y), X, y, test, bound=-1.0, rows=1)
    assert says(caught.value, "`bound`", "-1")


# ---- certified training --------------------------------------------------------------------------

ROWS, MOST, BOUND = 80, 12, 2.0


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return skewed rows, labels that are not linear in them, and test rows."""
    draw = np.random.default_rng(seed)
    X, test = (np.exp(0.5 * draw.standard_normal((count, 3))) for count in (ROWS, 40))
    return X, X[:, 0] ** 2 - X[:, 1] + draw.standard_normal(ROWS) + 100.0, test


def trained(X: np.ndarray, y: np.ndarray, seed: int = 0, steps: int = 4_000):
    return CertifiedTrainingRegressor(steps=steps, random_state=seed).fit(X, y)


def worst_labels(model: CertifiedTrainingRegressor, row: np.ndarray) -> np.ndarray:
    """Return the change of labels that moves the mean prediction for a whitened row most."""
    effect = model.rows_ @ row
    change = np.zeros(len(effect))
    chosen = np.argsort(-np.abs(effect))[:MOST]
    change[chosen] = BOUND * np.sign(effect[chosen])
    return change


def changes(model: CertifiedTrainingRegressor, test: np.ndarray) -> dict[str, np.ndarray]:
    """Return changes of labels within the budget that do not depend on the draws."""
    asked = model.whitened(test)
    vectors = np.linalg.eigh(asked.T @ asked)[1]
    draw = np.random.default_rng(0)
    signs = np.zeros(ROWS)
    signs[draw.permutation(ROWS)[:MOST]] = BOUND * draw.choice([-1.0, 1.0], MOST)
    return {
        "mean": worst_labels(model, asked.mean(axis=0)),
        "worst": worst_labels(model, asked[np.linalg.norm(asked, axis=1).argmax()]),
        "error": worst_labels(model, vectors[:, -1]),
        "random signs": signs,
    }


def shifts(model, X, y, test, change) -> dict[str, float]:
    shift = trained(X, y + change).predict(test) - model.predict(test)
    return {
        "error": float(np.sqrt(np.mean(shift**2))),
        "mean": abs(float(shift.mean())),
        "worst": float(np.abs(shift).max()),
    }


def test_no_change_of_labels_exceeds_the_ceiling_of_certified_training():
    X, y, test = table()
    model = trained(X, y)
    ceiling = certified_ceiling(model, X, y, test, bound=BOUND, rows=MOST)
    assert ceiling.needs is None
    reached = dict.fromkeys(("error", "mean", "worst"), 0.0)
    for change in changes(model, test).values():
        found = shifts(model, X, y, test, change)
        for name, value in found.items():
            assert value <= getattr(ceiling, name)
            reached[name] = max(reached[name], value)
    for name, value in reached.items():  # so that half of a ceiling would be exceeded
        assert value > 0.5 * getattr(ceiling, name)


def test_the_draws_add_to_the_ceiling_of_certified_training(monkeypatch):
    """In the mean over the draws the attack reaches the ceiling, so some draws exceed it."""
    X, y, test = table()
    model = trained(X, y)
    change = changes(model, test)["mean"]
    reached = [
        abs(float((trained(X, y + change, seed).predict(test) - before.predict(test)).mean()))
        for seed, before in ((seed, trained(X, y, seed)) for seed in range(4))
    ]
    ceiling = certified_ceiling(model, X, y, test, bound=BOUND, rows=MOST)
    monkeypatch.setattr(certified, "FAILURE", 1e12)
    without = certified_ceiling(model, X, y, test, bound=BOUND, rows=MOST)
    assert without.mean < max(reached) < ceiling.mean
    assert np.mean(reached) == pytest.approx(without.mean, rel=0.03)


def test_certified_training_is_bounded_for_bounded_changes_only():
    X, y, test = table()
    model = trained(X, y, steps=100)
    assert says(certified_ceiling(model, X, y, test, bound=np.inf, rows=1), "any amount")
    none = certified_ceiling(model, X, y, test, bound=1.0, rows=0)
    assert max(none[:3]) < 1e-6
    far = X.copy()
    far[0] = 1e6
    wild = trained(far, y, steps=100)
    wild.step_size_ = 1.0
    assert says(certified_ceiling(wild, far, y, test, bound=1.0, rows=1), "too large")


def test_more_rows_than_there_are_move_as_much_as_all():
    X, y, test = table()
    model = trained(X, y, steps=100)
    all_, more = (certified_ceiling(model, X, y, test, bound=1.0, rows=k) for k in (ROWS, 999))
    assert all_ == more


def test_a_start_that_is_not_forgotten_counts(monkeypatch):
    """All labels that rise by θ move every prediction by θ, however short the training is."""
    monkeypatch.setattr(certified_training, "FORGETS", 0.5)
    monkeypatch.setattr(certified, "FAILURE", 1e12)
    X, y, _ = table()
    model = trained(X, y, steps=1_000)
    ceiling = certified_ceiling(model, X, y, X, bound=BOUND, rows=ROWS)
    shift = trained(X, y + BOUND, steps=1_000).predict(X) - model.predict(X)
    assert np.allclose(shift, BOUND)
    assert ceiling.mean == pytest.approx(BOUND, rel=1e-3)


def test_certified_training_is_almost_least_squares():
    X, y, test = table()
    gap = trained(X, y).predict(test) - LinearRegression().fit(X, y).predict(test)
    assert np.sqrt(np.mean(gap**2)) < 0.1 * y.std()


@pytest.mark.parametrize("scale", [1e-9, 1e6, 1e12])
def test_certified_training_is_linear_for_labels_of_any_size(scale):
    X, y, test = table()
    predicted = trained(X, y, steps=400).predict(test)
    assert np.allclose(trained(X, scale * y, steps=400).predict(test), scale * predicted, rtol=1e-9)
