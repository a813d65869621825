from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import neurotron as nt
from neurotron.attacks import (
    Adaptive,
    AlternatingSign,
    Constant,
    Impersonation,
    OddDirection,
    Query,
    RandomSign,
    UniformNoise,
)

VECTOR = np.array([1.0, -2.0, 0.5, 0.0])
ALL = [
    AlternatingSign(bound=0.3, probability=0.5),
    RandomSign(bound=0.3, probability=0.5),
    UniformNoise(bound=0.3, probability=0.5),
    Constant(bound=0.3, probability=0.5),
    OddDirection(bound=0.3, probability=0.5, direction=VECTOR),
    Impersonation(bound=0.3, probability=0.5, weights=VECTOR),
    Adaptive(bound=0.3, probability=0.5),
]


@pytest.mark.parametrize("attack", ALL, ids=repr)
def test_every_attack_conforms(attack):
    nt.check_attack(attack)


finite = st.floats(-1e6, 1e6)


@given(
    values=hnp.arrays(float, (8, 5), elements=finite),
    uniform=hnp.arrays(float, (8, 1), elements=st.floats(1e-9, 1 - 1e-9)),
    bound=st.floats(0, 1e3),
)
def test_no_query_makes_a_distortion_exceed_its_bound(values, uniform, bound):
    label, output, push, probe, probe_output = values.T[:, :, None]
    sign = np.where(np.arange(8) % 2, 1.0, -1.0)[:, None]
    query = Query(label, output, sign, uniform, push, probe, probe_output, np.abs(label), 0.0)
    for attack in ALL:
        assert np.abs(attack.distort(bound, query)).max() <= bound


def received(problem, attack, batch_size=8, steps=3):
    """Labels as an SGD learner that never moves receives them, and the honest ones."""
    from neurotron.engine.numpy_cohort import NumpyCohort
    from neurotron.engine.setup import Setup
    from neurotron.engine.sources import Simulated
    from neurotron.engine.state import CohortState
    from neurotron.engine.streams import Stream

    arms = [nt.Arm(nt.SGD(1e-300), attack)]
    state = CohortState.initial(problem, arms)
    stream = Stream.of(0, 0)
    cohort = NumpyCohort(Setup(problem, arms, batch_size, Simulated(problem), stream, state))
    for _ in range(steps):
        seen = cohort._see()
        yield cohort._received(seen)[:, 0], seen.batch
        cohort.advance(state.step + 1, np.arange(0))


def test_the_papers_attack_starts_with_minus_theta(small_problem):
    for labels, batch in received(small_problem, AlternatingSign(bound=0.5, probability=1.0)):
        np.testing.assert_allclose(labels - batch.labels, [-0.5, 0.5] * 4, atol=1e-12)


def test_impersonation_with_room_gives_exactly_the_other_filters_labels(small_problem):
    attack = Impersonation(bound=1e3, probability=1.0, weights=VECTOR)
    for labels, batch in received(small_problem, attack):
        np.testing.assert_allclose(labels, small_problem.network(VECTOR, batch.inputs), atol=1e-12)


def test_odd_direction_is_an_odd_function_of_x(small_problem):
    attack = OddDirection(bound=0.5, probability=1.0, direction=VECTOR)
    for labels, batch in received(small_problem, attack):
        expected = 0.5 * np.sign(batch.inputs @ small_problem.network.mean_gate.T @ VECTOR)
        np.testing.assert_allclose(labels - batch.labels, expected, atol=1e-12)


def test_a_share_beta_of_the_labels_is_attacked(small_problem):
    attack = Constant(bound=1.0, probability=0.3)
    hits = np.concatenate(
        [labels - batch.labels for labels, batch in received(small_problem, attack, 500, 40)]
    )
    # binomial: five standard deviations of 20 000 coins
    assert abs(hits.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 20_000)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_never_and_always_mean_what_they_say(small_problem, probability):
    attack = Constant(bound=1.0, probability=probability)
    for labels, batch in received(small_problem, attack, 2000, 5):
        np.testing.assert_allclose(labels - batch.labels, probability, atol=1e-12)


def test_labels_attacked_at_a_lower_probability_are_a_subset(small_problem):
    low, high = (
        [labels for labels, _ in received(small_problem, Constant(bound=1.0, probability=p), 400)]
        for p in (0.2, 0.5)
    )
    for few, many in zip(low, high, strict=True):
        assert (few <= many).all()
        assert (few < many).any()


def test_adaptive_pushes_away_from_the_true_weights(small_problem):
    """Against it the error stays above what the same budget without a plan does."""
    arms = [
        nt.Arm(nt.NeuroTron(0.02), attack)
        for attack in (Adaptive(bound=0.5, probability=0.5), AlternatingSign(0.5, 0.5))
    ]
    run = nt.simulate(small_problem, arms, steps=4000, batch_size=8, record=10)
    adaptive, alternating = np.median(run.errors[:, run.steps > 2000], axis=1)
    assert adaptive > 3 * alternating
