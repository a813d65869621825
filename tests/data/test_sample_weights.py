"""What the moments say of weighted rows, against one update of the engine for every row.

The rows are few and a batch is one of them, so that means over all rows are exact.
"""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron._streams import Stream
from neurotron.guarantees.assumptions import parity
from neurotron.theory.attack_moments import attack_moments

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((6, 3))
WEIGHT = np.array([5.0, 0.0, 1.0, 2.0, 0.5, 1.0])
TRUTH = np.array([1.0, -2.0, 0.5])
SENSING = DRAW.standard_normal((3, 3))
LINEAR = nt.networks.linear(3)
THETA = 0.3
WEIGHTINGS = [None, "inverse-norm"]


def rows_problem(x=X, weight=WEIGHT, network=LINEAR, truth=TRUTH, **options):
    y = network(truth, x)
    return nt.Problem.from_rows(network, x, y, sample_weight=weight, true_weights=truth, **options)


def updates(problem, trainer, attack=None):
    """Return w after one step on each row, less w before it; (N, r)."""
    inputs, found = problem.data.X, {}
    for seed in range(200):
        x = problem.data.batch(problem.network, Stream.of(seed, 0), 0, 1).inputs[0]
        row = int(np.flatnonzero((inputs == x).all(axis=1))[0])
        if row not in found:
            run = nt.simulate(problem, [nt.Arm(trainer, attack)], steps=1, batch_size=1, seed=seed)
            found[row] = run.weights[0] - problem.initial_weights
        if len(found) == len(inputs):
            break
    return np.array([found[row] for row in range(len(inputs))])


def tron(weighting):
    return nt.NeuroTron(1.0, SENSING, weighting=weighting)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_mean_and_mean_square_of_an_update_are_those_the_moments_say(weighting):
    problem = rows_problem()
    moved, moments = updates(problem, tron(weighting)), problem.even_moments(weighting)
    away = TRUTH - problem.initial_weights
    np.testing.assert_allclose(moved.mean(axis=0), SENSING @ moments.covariance @ away, rtol=1e-9)
    np.testing.assert_allclose(problem.weighted_covariance(weighting), moments.covariance)
    square = away @ moments.quartic(SENSING.T @ SENSING) @ away
    assert (moved**2).sum(axis=1).mean() == pytest.approx(square, rel=1e-9)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_what_an_attack_does_on_average_and_in_the_square_is_what_the_moments_say(weighting):
    """At w*, where an update is what the attacker makes it; the chance is a function of x too."""
    problem = rows_problem(initial_weights=TRUTH)
    pushed = updates(problem, tron(weighting), nt.attacks.Constant(THETA, 1.0)) / THETA
    lengths, moments = np.linalg.norm(pushed, axis=1), problem.even_moments(weighting)
    constants = nt.theory.sharp_constants(problem, SENSING, weighting)
    square = np.trace(SENSING @ moments.squared @ SENSING.T)
    assert (lengths**2).mean() == pytest.approx(square, rel=1e-9)
    assert constants.s0**2 == pytest.approx(square, rel=1e-9)
    attack = nt.attacks.HalfSpace(THETA, 0.7, direction=TRUTH)
    chance = 0.7 * (X @ SENSING.T @ TRUTH > 0.0)
    assert 0.0 < chance.mean() < 0.7
    found = attack_moments(constants, problem, SENSING, weighting, attack)
    assert found.s1 == pytest.approx((chance * lengths).mean(), rel=1e-9)
    assert found.s2**2 == pytest.approx((chance * lengths**2).mean(), rel=1e-9)
    directions = DRAW.standard_normal((1000, 3))
    along = np.abs(directions @ pushed.T) / np.linalg.norm(directions, axis=1)[:, None]
    assert found.tau >= (along * chance).mean(axis=1).max()
    assert constants.tau >= along.mean(axis=1).max()


def test_the_certificate_of_one_weight_is_exact_for_weighted_rows():
    """With one input nothing is lost to other directions: the bound after a step is met."""
    x = np.array([[1.0], [-1.0], [0.5], [-0.5], [2.0], [-2.0]])
    problem = rows_problem(x, [3.0, 3.0, 1.0, 1.0, 0.5, 0.5], nt.networks.linear(1), [2.0])
    trainer = nt.NeuroTron(0.2, [[1.0]])
    after = problem.initial_weights + updates(problem, trainer) - problem.true_weights
    certificate = nt.certify(problem, nt.Arm(trainer), batch_size=1, steps=1)
    assert certificate.holds
    assert certificate.mean_square_bounds[-1] == pytest.approx((after**2).mean(), rel=1e-9)


def test_the_fastest_step_size_is_safe_for_weighted_rows():
    """The one of the same rows without weights is not."""
    draw = np.random.default_rng(1)
    x, weight = draw.standard_normal((60, 3)), np.ones(60)
    weight[:3] = 200.0
    problem, plain = rows_problem(x, weight), rows_problem(x, None)
    fastest = nt.NeuroTron("fastest")
    unsafe = fastest.resolve(plain, batch_size=1, steps=0, attack=None)
    arms = [nt.Arm(fastest), nt.Arm(nt.NeuroTron(float(unsafe.step_size)))]
    run = nt.simulate(problem, arms, steps=20_000, batch_size=1)
    assert run.errors[0, -1] < 1e-9
    assert run.errors[1, -1] > 1.0


def test_weights_leave_the_chance_of_a_row_alone():
    law = rows_problem().law
    for order in (1, 2, 3, 4):
        mean = (np.linalg.norm(X, axis=1) ** order).mean()
        assert law.norm_moment(order, 3) == pytest.approx(mean, rel=1e-12)


def test_theorem_1_knows_no_sample_weights():
    problem = rows_problem(np.vstack([X, -X]), np.tile(WEIGHT, 2))
    assert problem.law.symmetric
    certificate = nt.certify(problem, nt.Arm(nt.NeuroTron(1e-3)), batch_size=4, method="theorem1")
    assert [a.name for a in certificate.failed] == ["as in the paper"]
    assert "rows are weighted" in str(certificate.failed[0])
    with pytest.raises(nt.InputError, match=r"sample weights.*weighted\)"):
        nt.theory.Theorem1.of(problem, SENSING, None, 4)


# ---- parity --------------------------------------------------------------------------------------


def test_rows_are_symmetric_with_their_weights_or_not_at_all():
    both = np.vstack([X, -X])
    assert nt.Empirical(both, sample_weight=np.tile(WEIGHT, 2)).symmetric
    assert not nt.Empirical(both, sample_weight=np.append(WEIGHT, np.ones(6))).symmetric


def test_a_row_is_as_lopsided_as_it_counts():
    x = np.random.default_rng(2).standard_normal((4000, 1))
    right = np.where(x[:, 0] > 0.0, 3.0, 1.0)
    assert not parity(rows_problem(x, None, nt.networks.linear(1), [2.0])).blocking
    leaning = parity(rows_problem(x, right, nt.networks.linear(1), [2.0]))
    assert leaning.blocking
    assert leaning.measured == pytest.approx(0.5, abs=0.05)
    mostly = np.vstack([np.abs(x), np.abs(x), np.abs(x), -np.abs(x)])
    made_up = np.where(mostly[:, 0] > 0.0, 1.0, 3.0)
    assert not parity(rows_problem(mostly, made_up, nt.networks.linear(1), [2.0])).blocking


def test_weighted_rows_of_a_symmetric_law_are_let_pass_and_few_that_count_are_too_few():
    draw = np.random.default_rng(3)
    passed = []
    for _ in range(200):
        x, weight = draw.standard_normal((300, 3)), draw.exponential(size=300)
        passed.append(not parity(rows_problem(x, weight)).blocking)
    assert np.mean(passed) >= 0.99
    weight = np.full(300, 1e-9)
    weight[:20] = 1.0
    found = parity(rows_problem(x, weight))
    assert found.blocking
    assert "20 rows (counted by their weights)" in found.remedy
