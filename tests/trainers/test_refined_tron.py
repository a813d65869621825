"""The defence: where it recovers w* exactly, when it tries again, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.theory.one_step import bound_after
from neurotron.theory.sharp import sharp_recursion
from neurotron.trainers import refined_tron
from neurotron.trainers.refined_tron import Notes
from neurotron.trainers.stages import Snapshot, Stage
from neurotron.trainers.tracking import Tracked

EXACT = 1e-12


def small(law=None, seed=1):
    network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=seed)
    return nt.Problem.draw(network, nt.Normal() if law is None else law, seed=seed)


def additive(truth, theta=1.0, beta=0.4):
    """Every attack that adds to labels, against a constant share of them."""
    named, r = nt.attacks, len(truth)
    return [
        None,
        named.AlternatingSign(theta, beta),
        named.RandomSign(theta, beta),
        named.UniformNoise(theta, beta),
        named.Constant(theta, beta),
        named.OddDirection(theta, beta, direction=np.ones(r)),
        named.Impersonation(theta, beta, weights=-truth),
        named.Impersonation(1e6, beta, weights=-truth),
        named.Adaptive(theta, beta),
        named.Adaptive(5 * theta, beta),
        named.Mixture(theta, beta),
    ]


def errors(problem, arms, steps, batch_size=16, **options):
    return nt.simulate(problem, arms, steps=steps, batch_size=batch_size, **options).errors[:, -1]


def test_it_recovers_the_filter_exactly_under_every_additive_attack():
    problem = small()
    arms = [
        nt.Arm(nt.RefinedTron(), attack, name=f"{i}")
        for i, attack in enumerate(additive(problem.true_weights))
    ]
    assert (errors(problem, arms, 9000) < EXACT).all()


@pytest.mark.parametrize("law", [nt.Normal(), nt.Laplace(scale=2.0)], ids=repr)
def test_it_recovers_the_filters_of_the_papers_networks_exactly(law):
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=1)
    problem = nt.Problem.draw(network, law, seed=1)
    attacks = [
        nt.attacks.AlternatingSign(1.0, 0.4),
        nt.attacks.Impersonation(1.0, 0.4, weights=-problem.true_weights),
        nt.attacks.Adaptive(1.0, 0.4),
    ]
    found = errors(problem, [nt.Arm(nt.RefinedTron(), attack) for attack in attacks], 12_000)
    assert (found < EXACT).all()


def test_neuro_tron_alone_stays_at_a_distance_where_it_arrives():
    problem, attack = small(), nt.attacks.Adaptive(1.0, 0.4)
    arms = [nt.Arm(nt.NeuroTron("fastest"), attack), nt.Arm(nt.RefinedTron(), attack)]
    near, there = errors(problem, arms, 5000)
    assert there < EXACT < 0.01 < near


def test_it_ends_at_the_filter_where_its_second_stage_alone_ends_at_the_mirror():
    problem, attack = small(seed=10), nt.attacks.Adaptive(1.0, 0.4)
    arms = [nt.Arm(nt.ClippedSGD(), attack), nt.Arm(nt.RefinedTron(), attack)]
    run = nt.simulate(problem, arms, steps=6000, batch_size=16)
    assert run.errors[0, -1] > 1.0
    assert np.linalg.norm(run.weights[0] + problem.true_weights) < 1.0
    assert run.errors[1, -1] < EXACT


def hard():
    """A convolution where both stages end in a wrong basin at first."""
    problem = nt.Problem.draw(nt.networks.convolution(60, 8, 4), nt.Normal(), seed=1)
    options = {"steps": 12_000, "batch_size": 16, "replicate": 1}
    return problem, [nt.Arm(nt.RefinedTron(), nt.attacks.Adaptive(1.0, 0.2))], options


def test_a_second_try_finds_the_filter_where_the_first_does_not(monkeypatch):
    problem, arms, options = hard()
    run = nt.simulate(problem, arms, **options)
    assert run.errors[0, -1] < EXACT
    warm_up = resolved(problem, 12_000).ends[0]
    assert run.state.stages[0] == Stage(1, since=warm_up + 4 * max(warm_up // 2, 1000))
    monkeypatch.setattr(refined_tron, "FALLEN", np.inf)  # whatever it does, it converges
    assert nt.simulate(problem, arms, **options).errors[0, -1] > 0.1


# ---- how long its stages are --------------------------------------------------------------------


def resolved(problem, steps, batch_size=16, **settings):
    trainer = nt.RefinedTron(**settings)
    return trainer.resolve(problem, batch_size=batch_size, steps=steps, attack=None)


@pytest.mark.parametrize("law", [nt.Normal(), nt.Laplace(), nt.StudentT(2.0)], ids=repr)
def test_it_warms_up_for_as_long_as_the_certificate_says_without_an_attack(law):
    """The certified squared error falls by a million, and not one step earlier."""
    problem = small(law)
    defence = resolved(problem, 10**6)
    tron, steps = defence.parts[0], defence.ends[0]
    recursion = sharp_recursion(problem, np.asarray(tron.sensing), tron.weighting, None, 16)
    kept = bound_after(1.0, tron.step_size, *recursion.numbers)
    before, after = kept ** (steps - 1), kept**steps
    assert after <= 1e-6 * (1 + 1e-9)
    assert before > 1e-6


def test_it_warms_up_for_at_most_an_eighth_of_the_steps_and_at_least_one():
    problem = small()
    assert resolved(problem, 80).ends[0] == 10
    assert resolved(problem, 80, warm_up=70).ends[0] == 70
    for steps in (0, 1, 7, 15):
        assert resolved(problem, steps).ends[0] == 1


def test_a_trial_is_as_long_as_the_warm_up_at_least_two_thousand_steps():
    problem = small()
    assert resolved(problem, 10**5).half_trial == 1000
    long = resolved(problem, 10**5, warm_up=5000)
    assert (long.half_trial, long.latest) == (2500, 50_000)


def test_inputs_without_moments_are_weighted_where_moments_are_needed():
    for dof, first, second in [(6, None, None), (3, "inverse-norm", None),
                               (2, "inverse-norm", "inverse-norm"),
                               (1, "inverse-norm", "inverse-norm")]:  # fmt: skip
        tron, clipped = resolved(small(nt.StudentT(float(dof))), 1000).parts
        assert (tron.weighting, clipped.weighting) == (first, second)


# ---- what follows a stage that is over ----------------------------------------------------------


def snapshot(weights=1.0, threshold=1.0, absolute=1.0, length=1.0):
    memory = Tracked(3000.0, threshold, length, absolute, 0.2, 0.05, 1.0)
    return Snapshot(np.full(5, weights), tuple(memory))


@pytest.fixture(scope="module")
def defence():
    return resolved(small(), 20_000, warm_up=100)


def judged(defence, here, *, at=2100, **notes):
    """Return what follows a trial that ends at a step."""
    return defence.next_stage(Stage(1, 100, at, Notes(**{"mark": 1.0} | notes)), here)


@pytest.mark.parametrize(("threshold", "goes_on"), [(0.69, True), (0.71, False), (1.3, False)])
def test_it_goes_on_for_good_if_the_threshold_has_fallen(defence, threshold, goes_on):
    here = snapshot(threshold=threshold)
    stage, begin = judged(defence, here)
    if goes_on:
        assert stage == Stage(1, since=2100)
        assert begin is here
    else:
        assert stage == Stage(1, 2100, 3100, Notes(here, tries=1))
        np.testing.assert_array_equal(begin.weights, -np.ones(5))
        assert begin.memory == defence.parts[1].initial_state


@pytest.mark.parametrize(("threshold", "goes_on"), [(5.9e-12, True), (6.1e-12, False)])
def test_a_threshold_at_rounding_of_outputs_has_arrived(defence, threshold, goes_on):
    """Outputs have the size √9 · ‖w‖ = 3 · 2 = 6 here."""
    here = snapshot(2.0 / np.sqrt(5.0), threshold=threshold, length=9.0)
    stage, _ = judged(defence, here, mark=threshold)
    assert (stage == Stage(1, since=2100)) == goes_on


@pytest.mark.parametrize(("before", "better"), [(0.9, True), (1.1, False)])
@pytest.mark.parametrize(("now", "again"), [(7900, True), (7901, False)])
def test_it_keeps_the_place_with_the_smaller_mean_residual(defence, before, better, now, again):
    """And tries again as long as the next judgement is in the first half of the run."""
    earlier, here = snapshot(2.0, absolute=before), snapshot(3.0, absolute=1.0)
    stage, begin = judged(defence, here, at=now, best=earlier)
    best = earlier if better else here
    if again:
        assert stage == Stage(1, now, now + 1000, Notes(best, tries=1))
        np.testing.assert_array_equal(begin.weights, -here.weights)
    else:
        assert stage == Stage(1, since=now)
        assert begin is best


def test_averaging_goes_on_through_the_middle_of_a_trial(monkeypatch):
    """Marking the threshold leaves weights, state and average alone."""
    problem, attack = small(), nt.attacks.RandomSign(1.0, 0.4)
    courses = []
    for trial in (105, 400):  # with a mark at step 115 or none
        monkeypatch.setattr(refined_tron, "SHORTEST_TRIAL", trial)
        arms = [nt.Arm(nt.RefinedTron(10, averaging=True), attack)]
        courses.append(nt.simulate(problem, arms, steps=200, batch_size=16))
    one, other = courses
    assert [run.state.stages[0].until for run in courses] == [220, 410]
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.state.weights, other.state.weights)
    assert np.abs(one.weights[0] - one.state.weights[:, 0]).max() > 1e-6


def test_averaging_is_worth_it_where_honest_labels_are_noisy():
    exact = small()
    noisy = nt.Problem.draw(exact.network, exact.law, true_weights=exact.true_weights, noise=0.3)
    attack = nt.attacks.RandomSign(1.0, 0.2)
    arms = [nt.Arm(nt.RefinedTron(averaging=a), attack) for a in (True, False)]
    runs = [nt.simulate(noisy, arms, steps=6000, batch_size=16, replicate=i) for i in range(4)]
    averaged, plain = np.mean([run.errors[:, -1] for run in runs], axis=0)
    assert averaged < 0.6 * plain


# ---- edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dof", [3.0, 2.0, 1.0])
def test_it_recovers_the_filter_from_inputs_without_moments(dof):
    problem = small(nt.StudentT(dof))
    assert errors(problem, [nt.Arm(nt.RefinedTron(), nt.attacks.Adaptive(1.0, 0.3))], 8000) < EXACT


UNLIMITED = [
    nt.attacks.SignFlip(probability=0.3),
    nt.attacks.Replacement(2.0, probability=0.3),
    nt.attacks.Multiplicative(5.0, probability=0.3),
]


@pytest.mark.parametrize("attack", UNLIMITED, ids=repr)
def test_it_recovers_the_filter_from_labels_that_are_replaced_or_flipped(attack):
    assert errors(small(), [nt.Arm(nt.RefinedTron(), attack)], 6000) < EXACT


@pytest.mark.parametrize("options", [
    {"steps": 0, "batch_size": 4}, {"steps": 1, "batch_size": 4}, {"steps": 2, "batch_size": 1},
    {"steps": 400, "batch_size": 1},
])  # fmt: skip
@pytest.mark.parametrize("network", [nt.networks.relu_gate(1), nt.networks.symmetric(6, 3, 2)])
def test_the_smallest_runs_finish(network, options):
    problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    attack = nt.attacks.Adaptive(1.0, 0.3)
    run = nt.simulate(problem, [nt.Arm(nt.RefinedTron(), attack)], **options)
    assert run.status == ("finished",)
    assert run.steps[-1] == options["steps"]


def test_one_gate_of_one_input_and_batches_of_one_recover_the_filter():
    problem = nt.Problem.draw(nt.networks.relu_gate(1), nt.Normal(), seed=1)
    arm = nt.Arm(nt.RefinedTron(), nt.attacks.Adaptive(1.0, 0.3))
    assert errors(problem, [arm], 12_000, batch_size=1) < EXACT


def test_it_learns_from_rows_without_true_weights():
    draw, network = np.random.default_rng(0), nt.networks.symmetric(20, 5, 4, seed=1)
    X, truth = draw.standard_normal((500, 20)), draw.standard_normal(5)
    problem = nt.Problem.from_rows(network, X, network(truth, X))
    arm = nt.Arm(nt.RefinedTron(), nt.attacks.Constant(3.0, 0.4))
    run = nt.simulate(problem, [arm], steps=6000, batch_size=16)
    assert not run.has_errors
    np.testing.assert_allclose(run.weights[0], truth, atol=EXACT)


def test_no_theorem_covers_it_but_it_can_be_measured():
    problem, arm = small(), nt.Arm(nt.RefinedTron(), nt.attacks.Constant(1.0, 0.4))
    with pytest.raises(nt.InputError) as caught:
        nt.certify(problem, arm, batch_size=16, steps=5000)
    assert str(caught.value) == (
        "no theorem covers RefinedTron: certify NeuroTron, or use the method 'measured'"
    )
    measured = nt.certify(
        problem, arm, batch_size=16, steps=5000, method="measured", confidence=0.75
    )
    assert measured.kind == "measured"
    assert measured.radius < EXACT


# ---- why it can work ----------------------------------------------------------------------------


def test_what_the_list_and_the_help_say_names_the_exceptions():
    assert "with exceptions" in nt.trainers.BY_NAME.summary("refined-tron")
    text = " ".join(nt.RefinedTron.__doc__.split())
    for exception in ("largest inputs", "correlated inputs", "single leaky gate", "nearly half"):
        assert exception in text
