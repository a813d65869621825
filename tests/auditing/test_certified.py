"""Ceilings by proof: never exceeded, and no constant can be smaller."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from tests.support.messages import says

import neurotron as nt
from neurotron.auditing.ceilings import by_proof

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
    ceiling = by_proof(clean, y, most)
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
    X, y, _ = exact(10)
    clean = linear_fit(X, y)
    assert clean.proven_against_ == 8
    assert not isinstance(by_proof(clean, y, 4), str)
    reason = by_proof(clean, y, 5)
    assert says(reason, "8", "10")
    poisoned = linear_fit(X, labels_of(X, y, (0, 1, 2, 3, 4, 5), impostor(X, 9)))
    assert np.abs(poisoned.weights_ - TRUE).max() > 0.1
    assert poisoned.proven_against_ == 5  # of the 6 rows that were attacked
    ceiling = by_proof(clean, y, 4)
    assert not ceiling._replace(needs=6).covers(poisoned)
    assert ceiling._replace(needs=5).covers(poisoned)


NETWORKS = {
    "linear": (nt.networks.linear(3), {}),
    "one gate": (nt.networks.relu_gate(3), {"network": "relu-gate"}),
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
        ceiling = by_proof(clean, y, int(share * 60))
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
    X, y, _ = exact(30)
    y[:2] += 1.0
    clean = linear_fit(X, y)
    assert clean.proven_against_ == 26
    assert by_proof(clean, y, 12).needs == 14
    assert says(by_proof(clean, y, 13), "26", "28")


def test_noise_and_rows_in_hyperplanes_have_no_ceiling_and_a_reason():
    X, y, _ = exact(60)
    noisy = y + 0.1 * np.random.default_rng(0).standard_normal(60)
    assert says(by_proof(linear_fit(X, noisy), noisy, 1), "noise")
    many = np.random.default_rng(0).integers(0, 3, (400, 12)).astype(float)  # "measured" only
    labels = many @ np.arange(12.0)
    model = nt.NeuroTronRegressor(max_iter=5).fit(many, labels)
    assert model.certificate_.basis == "measured"
    certain = model.certificate_.unconditional
    assert by_proof(model, labels, certain // 2).needs == certain // 2
    assert says(by_proof(model, labels, certain), str(certain), str(2 * certain))


def test_a_number_that_assumes_rows_in_general_position_is_no_ceiling():
    X = np.random.default_rng(0).standard_normal((100, 8))
    labels = X @ np.arange(8.0)
    model = nt.NeuroTronRegressor(max_iter=5).fit(X, labels)
    assert says(model.certificate_.basis, "proved if")
    certain = model.certificate_.unconditional
    assert says(by_proof(model, labels, certain), str(certain), str(2 * certain))
    labels[: certain + 1] += 1.0  # more rows contradict it than that number allows
    model = nt.NeuroTronRegressor(max_iter=5).fit(X, labels)
    assert says(by_proof(model, labels, 1), "do not prove", "general position")


def test_other_regressors_have_no_ceiling_here_and_none_is_given_before_a_fit():
    X, y, _ = exact(9)
    assert by_proof(Ridge().fit(X, y), y, 1) == ""
    with pytest.raises(NotFittedError):
        by_proof(nt.NeuroTronRegressor(), y, 1)
