"""The prediction error of a certificate: in label units, and not below what is measured."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

import neurotron as nt
from neurotron._digits import up
from neurotron._streams import Stream
from neurotron.data.base import draw_inputs
from neurotron.theory.sharp import risk_constant

ATTACK = nt.attacks.Adaptive(bound=0.1, probability=0.2)
NETWORKS = {
    "gate": nt.networks.relu_gate(4),
    "leaky": nt.networks.relu_gate(4, leak=0.3, outer_weights=2.0),
    "linear": nt.networks.linear(4),
    "symmetric": nt.networks.symmetric(6, 2, 4, seed=1),
    "convolution": nt.networks.convolution(6, 3),
}


def problem_of(network, law=None):
    return nt.Problem.draw(network, law or nt.Normal(scale=2.0), seed=1)


def measured_ratios(problem, count=20_000):
    """Return mean squared prediction errors over ‖d‖², for small and large d in many directions."""
    inputs = draw_inputs(problem.law, Stream.of(1, 0), 0, count, problem.network.n_inputs)
    truth, draw = problem.true_weights, np.random.default_rng(1)
    seen = problem.network(truth, inputs)
    found = []
    for size in (0.1, 1.0, 10.0):
        for _ in range(5):
            d = size * draw.standard_normal(len(truth))
            off = problem.network(truth + d, inputs) - seen
            found.append(float((off**2).mean() / (d @ d)))
    return np.array(found)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_constant_bounds_measured_prediction_errors(name):
    problem = problem_of(NETWORKS[name])
    c, ratios = risk_constant(problem), measured_ratios(problem)
    assert (ratios <= 1.05 * c).all()  # 20,000 inputs: 5 % is three standard deviations
    if name != "symmetric":  # its directions differ in length, so that few come near the constant
        assert ratios.max() > 0.55 * c


def test_for_a_linear_network_it_is_the_largest_variance():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    law = nt.laws.Correlated.from_covariance(covariance)
    c = risk_constant(problem_of(nt.networks.linear(2), law))
    assert c == pytest.approx(np.linalg.eigvalsh(covariance)[-1], rel=1e-6)


@pytest.mark.parametrize("method", ["sharp", "theorem1", "measured"])
def test_every_method_says_how_far_predictions_are_off(method):
    problem = problem_of(nt.networks.relu_gate(4), nt.Normal(scale=20.0))
    found = nt.plan(problem, ATTACK, radius=1.0, batch_size=8, method="theorem1")
    steps = 200 if method == "measured" else found.steps
    certificate = nt.certify(
        problem, found.arm, batch_size=8, steps=steps, confidence=0.8, method=method
    )
    by_radius = math.sqrt(certificate.risk) * certificate.radius
    assert certificate.prediction_error == pytest.approx(by_radius)  # no direction is special here
    assert certificate.risk >= 0.999 * risk_constant(problem)
    text = " ".join(str(certificate).split())
    assert f"predictions are off by at most {up(certificate.prediction_error)} (" in text
    content = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert content["prediction_error"] == certificate.prediction_error


def test_a_trained_network_predicts_within_it(small_problem):
    arm = nt.Arm(nt.NeuroTron(0.05), ATTACK)
    certificate = nt.certify(small_problem, arm, batch_size=8, steps=300)
    run = nt.simulate(small_problem, [arm], steps=300, batch_size=8)
    inputs = draw_inputs(small_problem.law, Stream.of(2, 0), 0, 5000, 12)
    network = small_problem.network
    off = network(run.weights[0], inputs) - network(small_problem.true_weights, inputs)
    assert math.sqrt((off**2).mean()) <= certificate.prediction_error


@pytest.mark.parametrize(
    ("law", "network"),
    [
        (nt.StudentT(1.0), nt.networks.relu_gate(4)),
        (nt.ScipyLaw(stats.expon()), nt.networks.relu_gate(4)),
    ],
    ids=["no second moment", "not symmetric"],
)
def test_where_no_constant_is_known_nothing_is_said(law, network):
    problem = problem_of(network, law)
    assert risk_constant(problem) == math.inf
    certificate = nt.certify(
        problem, nt.Arm(nt.SGD(1e-6)), batch_size=8, steps=5, confidence=0.5, method="measured"
    )
    assert certificate.prediction_error == math.inf
    assert certificate.to_dict()["prediction_error"] is None
    assert "predictions" not in str(certificate)


def test_notebook_cards_have_the_numbers_and_escape_what_others_wrote(small_problem):
    class Odd(nt.attacks.Constant):
        """Has a name like markup."""

        def __repr__(self):
            return "<script>"

    plan = nt.plan(small_problem, Odd(0.1, 0.2), steps=700, batch_size=8)
    measured = nt.certify(
        small_problem, plan.arm, batch_size=8, steps=5, confidence=0.5, method="measured"
    )
    radius = f"{plan.certificate!r}".partition("radius=")[2].partition(",")[0]
    for page in (plan._repr_html_(), plan.certificate._repr_html_()):
        assert radius in page
        assert "prediction error" in page
    assert "<script>" not in measured._repr_html_()
    assert "&lt;script&gt;" in measured._repr_html_()
    assert "✓" in plan.certificate._repr_html_()


# ---- a bound of its own, in coordinates in which distances are prediction errors -----------------


def lopsided(leak=1.0, seed=1):
    """Return a problem whose predictions depend much more on one direction than on another."""
    law = nt.laws.Correlated(nt.Normal(), np.diag([10.0, 1.0, 0.2]))
    return nt.Problem.draw(nt.networks.relu_gate(3, leak=leak), law, seed=seed)


@pytest.mark.parametrize("step_size", [0.01, "scheduled"])
def test_it_is_much_smaller_than_the_radius_says_where_directions_differ(step_size):
    problem = lopsided()
    attack = nt.attacks.OddDirection(0.1, 0.5, direction=[1.0, 0.0, 0.0])
    arm = nt.Arm(nt.NeuroTron(step_size), attack)
    found = nt.certify(problem, arm, steps=3000)
    assert found.prediction_error < 0.1 * math.sqrt(found.risk) * found.radius
    lengths = np.array([10.0, 1.0, 0.2])
    runs = [nt.simulate(problem, [arm], steps=3000, replicate=number) for number in range(10)]
    off = [np.linalg.norm(lengths * (run.weights[0] - problem.true_weights)) for run in runs]
    assert 0.5 * found.prediction_error < max(off) <= found.prediction_error


def test_a_random_start_is_allowed_for():
    problem = lopsided()
    surely, randomly = (
        nt.certify(problem, nt.NeuroTron(0.01), steps=30, initial_error=9.0, random_start=one)
        for one in (False, True)
    )
    assert surely.prediction_error <= randomly.prediction_error


@pytest.mark.parametrize("method", ["sharp", "theorem1"])
@pytest.mark.parametrize("step_size", ["constant", "scheduled"])
def test_plans_for_predictions_meet_their_accuracy(method, step_size):
    if method == "theorem1" and step_size == "scheduled":
        return
    problem, attack = lopsided(0.5), nt.attacks.Adaptive(0.02, 0.002)
    options = {"radius_of": "predictions", "step_size": step_size, "method": method}
    options["batch_size"] = 1
    plan = nt.plan(problem, attack, radius=1.0, **options)
    assert 0.9 < plan.certificate.prediction_error <= 1.0
    assert "predictions" in plan.to_dict()["radius_of"]
    best = nt.plan(problem, attack, steps=plan.steps, **options)
    assert best.answer == best.certificate.prediction_error <= 1.0 + 1e-7
    assert "the smallest prediction error that can be guaranteed" in " ".join(str(best).split())
    tolerated = nt.plan(problem, nt.Budget(None, 0.002), radius=1.0, steps=plan.steps, **options)
    assert tolerated.answer >= 0.999 * 0.02
    assert tolerated.certificate.prediction_error <= 1.0


def test_a_plan_for_predictions_reaches_what_one_for_all_directions_does_not():
    problem, attack = lopsided(), nt.attacks.Adaptive(0.2, 0.2)
    direct = nt.plan(problem, attack, radius=0.2, radius_of="predictions")
    by_radius = 0.2 / math.sqrt(risk_constant(problem))
    with pytest.raises(nt.NotAchievable):
        nt.plan(problem, attack, radius=by_radius)
    assert direct.certificate.prediction_error <= 0.2


def test_without_second_moments_only_weights_can_be_planned():
    problem = problem_of(nt.networks.relu_gate(4), nt.StudentT(1.0))
    with pytest.raises(nt.NotAchievable, match="radius_of='weights'"):
        nt.plan(problem, ATTACK, radius=1.0, radius_of="predictions")
    with pytest.raises(nt.InputError, match="radius_of"):
        nt.plan(problem, ATTACK, radius=1.0, radius_of="labels")
