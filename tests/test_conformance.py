"""The conformance functions catch what they promise to catch, and users' own pieces run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import neurotron as nt
from neurotron.conformance import ConformanceError


class Triangular(nt.ProductLaw):
    symmetric, variance, kurtosis = True, 1 / 6, 2.4

    def coordinates(self, u, v):
        return (u + v - 1.0,)


@dataclass(frozen=True, eq=False)
class Towards(nt.Attack):
    """Moves a label towards a target, by a method with a setting of its own."""

    target: float = 0.0
    query_fields = ("label",)

    def distort(self, bound, query):
        return np.clip(self.target - query.label, -bound, bound)


class LargeInputs(nt.Attack):
    """Attacks only inputs of large norm: β is a formula of the query."""

    query_fields = ("norm",)

    def distort(self, bound, query):
        return bound

    def chance(self, probability, query):
        return probability * (query.norm > 4.0)


class Shrinking(nt.Trainer):
    """Clips at a level that follows the residuals, scaled by the mean squared gradient."""

    direction = "gradient"
    initial_state = (1.0, 1.0)

    def influence(self, residual, state):
        level, power = state
        return np.clip(residual, -level, level) / power

    def observe(self, residual, length, state):
        return np.abs(residual) <= state[0], length

    def adapt(self, state, mean, step):
        level, power = state
        return level * np.exp(0.05 * (0.4 - mean[0])), power + 0.1 * (mean[1] - power)


def test_users_own_pieces_conform():
    nt.check_law(Triangular())
    nt.check_attack(Towards(bound=0.3, probability=0.5, target=1.0))
    nt.check_attack(LargeInputs(bound=0.3, probability=0.5))
    nt.check_trainer(Shrinking(step_size=0.5))


def test_users_own_pieces_run_beside_the_built_in_ones():
    problem = nt.Problem.draw(nt.networks.symmetric(12, 4, 4, seed=1), Triangular(), seed=1)
    attacks = [
        Towards(bound=0.3, probability=0.3, target=1.0),
        Towards(bound=0.3, probability=0.3, target=-1.0),
        nt.attacks.AlternatingSign(bound=0.3, probability=0.3),
        LargeInputs(bound=0.3, probability=0.3),
    ]
    trainers = [nt.NeuroTron(0.05), Shrinking(step_size=0.5), nt.SGD(0.05)]
    arms = [
        nt.Arm(trainer, attack, name=f"{trainer!r} {i}")
        for trainer in trainers
        for i, attack in enumerate(attacks)
    ]
    run = nt.simulate(problem, arms, steps=300, batch_size=16)
    assert set(run.status) == {"finished"}
    for i, arm in enumerate(arms):
        alone = nt.simulate(problem, [arm], steps=300, batch_size=16)
        assert alone.errors[0, -1] == pytest.approx(run.errors[i, -1], rel=1e-6, abs=1e-12)
    toward_one, toward_minus_one = run.weights[0], run.weights[1]
    assert np.linalg.norm(toward_one - toward_minus_one) > 1e-3


def test_an_attack_of_the_users_sees_the_norm_of_every_input():
    problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(scale=0.5), seed=1)
    honest, never = nt.Arm(nt.SGD(0.1)), nt.Arm(nt.SGD(0.1), LargeInputs(bound=1.0))
    run = nt.simulate(problem, [honest, never], steps=200, batch_size=8, engine="numpy")
    np.testing.assert_array_equal(run.weights[0], run.weights[1])


def test_an_attack_that_breaks_its_bound_is_named():
    class Liar(nt.Attack):
        query_fields = ("sign",)

        def distort(self, bound, query):
            return 1.5 * bound * query.sign

    problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal())
    sentence = r"Liar\(bound=0.2, probability=0.5\) .* bound.* -0.3 at step 0"
    with pytest.raises(nt.InputError, match=sentence):
        nt.simulate(problem, [nt.Arm(nt.SGD(0.1), Liar(0.2, 0.5))], steps=5, batch_size=4)
    with pytest.raises(ConformanceError, match=r"bound.*0\.3 exceeds"):
        nt.check_attack(Liar(0.2, 0.5))


def test_an_attack_that_answers_nan_is_named():
    class Nothing(nt.Attack):
        def distort(self, bound, query):
            return np.nan * query.label

    problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal())
    with pytest.raises(nt.InputError, match=r"Nothing\(.* nan"):
        nt.simulate(problem, [nt.Arm(nt.SGD(0.1), Nothing(0.2))], steps=5, batch_size=4)


def broken_law(**changes):
    return type("Broken", (Triangular,), changes)()


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (broken_law(variance=0.2), "variance is stated as 0.2"),
        (broken_law(kurtosis=2.5), "kurtosis · variance² is stated"),
        (broken_law(norm_moment=lambda self, order, n: 0.7**order), r"norm_moment\(2\) is"),
        (
            broken_law(
                coordinates=lambda self, u, v: (u + v,),
                variance=7 / 6,
                kurtosis=(31 / 15) * 36 / 49,
            ),
            "symmetric law",
        ),
        (broken_law(scale_mixture=True), "tau is .*scale_mixture"),
        (broken_law(inputs=lambda self, u, v, b, n: np.zeros((b, n + 1))), "shape"),
        (broken_law(covariance=lambda self, n: 100 * np.eye(n)), r"covariance\[0, 0\]"),
        (
            broken_law(
                coordinates=lambda self, u, v: (u - 0.5, u - 0.5), variance=1 / 12, kurtosis=1.8
            ),
            "two coordinates of a pair",
        ),
    ],
)
def test_check_law_catches_wrong_statements(law, message):
    with pytest.raises(ConformanceError, match=message):
        nt.check_law(law)


def test_check_attack_catches_a_formula_that_looks_at_the_whole_batch():
    class Peeking(nt.Attack):
        def distort(self, bound, query):
            return bound * np.tanh(query.label - query.label.mean())

    with pytest.raises(ConformanceError, match="one sample at a time"):
        nt.check_attack(Peeking(bound=0.5))

    class Honest(Peeking):
        scope = "batch"

    nt.check_attack(Honest(bound=0.5))


@pytest.mark.parametrize("value", [None, "x", np.zeros(7)], ids=["None", "text", "shape"])
def test_formulas_that_answer_nonsense_are_named_not_traced(value):
    attack = type("Nonsense", (nt.Attack,), {"distort": lambda self, bound, query: value})
    with pytest.raises(ConformanceError, match="distort of Nonsense"):
        nt.check_attack(attack(0.5))
    trainer = type("Nonsense", (nt.Trainer,), {"influence": lambda self, residual, state: value})
    with pytest.raises(ConformanceError, match="influence of Nonsense"):
        nt.check_trainer(trainer(0.5))


def test_check_attack_catches_a_field_that_is_not_declared():
    class Forgetful(nt.Attack):
        query_fields = ("label",)

        def distort(self, bound, query):
            return np.where(query.norm > 1.0, bound, 0.0)

    with pytest.raises(ConformanceError, match="not in `query_fields`"):
        nt.check_attack(Forgetful(bound=0.5))


def test_what_an_attack_does_not_declare_it_never_sees_whatever_the_other_arms_use(small_problem):
    class Forgetful(nt.Attack):
        query_fields = ("label",)

        def distort(self, bound, query):
            return np.where(query.norm > 1.0, bound, 0.0)

    forgetful = nt.Arm(nt.SGD(0.1), Forgetful(bound=0.5))
    neighbour = nt.Arm(nt.SGD(0.1), LargeInputs(bound=0.5))
    alone = nt.simulate(small_problem, [forgetful], steps=20, batch_size=4)
    beside = nt.simulate(small_problem, [forgetful, neighbour], steps=20, batch_size=4)
    np.testing.assert_allclose(alone.weights[0], beside.weights[0], rtol=1e-12)


def test_a_trainer_derived_from_neuro_tron_keeps_its_name_and_parameters(small_problem):
    class Clipped(nt.NeuroTron):
        def __init__(self, step_size, level):
            super().__init__(step_size)
            object.__setattr__(self, "level", level)

        def influence(self, residual, state):
            return np.clip(residual, -self.level, self.level)

    arms = [nt.Arm(Clipped(0.02, 0.1)), nt.Arm(nt.NeuroTron(0.02))]
    run = nt.simulate(small_problem, arms, steps=50, batch_size=4)
    assert arms[0].name == "Clipped"
    assert repr(arms[0].trainer) == "Clipped(step_size=0.02, sensing='optimal')"
    assert not np.allclose(run.weights[0], run.weights[1])
    with pytest.raises(nt.InputError, match="different `arms`"):
        nt.simulate(
            small_problem, [nt.Arm(Clipped(0.02, 0.2)), arms[1]], steps=60, batch_size=4, resume=run
        )
    nt.check_trainer(Clipped(0.02, 0.1))
    nt.check_trainer(nt.NeuroTron(1e-3, sensing=np.eye(3, 8)))


def test_check_trainer_catches_hidden_state_and_a_changing_state():
    class Hidden(nt.Trainer):
        count = [0]  # noqa: RUF012 — exactly the mistake to be caught

        def influence(self, residual, state):
            self.count[0] += 1
            return residual / self.count[0]

    with pytest.raises(ConformanceError, match=r"one residual at a time|state outside|beside"):
        nt.check_trainer(Hidden(step_size=0.1))

    class Growing(Shrinking):
        def adapt(self, state, mean, step):
            return (*state, 1.0)

    with pytest.raises(ConformanceError, match="must return 2 numbers"):
        nt.check_trainer(Growing(step_size=0.1))
