"""Certificates: what they say, for whom, and when they say nothing."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from benchmarks.workloads import FOUR_LAWS
from scipy import stats
from tests.support.messages import refused, says

import neurotron as nt
from neurotron._digits import up
from neurotron._streams import Stream
from neurotron.data.base import draw_inputs

ATTACK = nt.attacks.Adaptive(bound=0.5, probability=0.3)


def certify(problem, trainer=None, attack=ATTACK, **options):
    options = {"batch_size": 8, "steps": 2000} | options
    return nt.certify(problem, nt.Arm(trainer or nt.NeuroTron(0.01), attack), **options)


def names(assumptions) -> list[str]:
    return [assumption.name for assumption in assumptions]


def test_a_certificate_reads_as_a_paragraph_with_its_assumptions(small_problem):
    text = str(certify(small_problem))
    head, _, assumptions = text.partition("Assumptions (✓ checked, • stated):")
    assert head.startswith("Guaranteed (sharp certificate, a theorem about the law")
    assert "probability at least 0.95" in head.replace("\n", " ")
    assert (assumptions.count("✓"), assumptions.count("•")) == (4, 1)
    assert "• The attack changes each label by at most θ" in assumptions
    assert max(map(len, text.splitlines())) <= 80


def test_it_becomes_json_and_back(small_problem):
    for method in ("sharp", "theorem1"):
        certificate = certify(small_problem, method=method)
        content = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
        assert (content["kind"], content["about"]) == ("theorem", "law")
        assert content["holds"] == certificate.holds
        assert content["confidence"] == 0.95
        assert len(content["assumptions"]) == len(certificate.assumptions)


def test_under_attack_the_radius_is_much_smaller_than_markovs(small_problem):
    certificate = certify(small_problem, confidence=0.9)
    assert certificate.root_mean_square == math.sqrt(certificate.mean_square_bounds[-1])
    assert certificate.root_mean_square < certificate.radius == certificate.radii[-1]
    assert certificate.radius < 0.6 * certificate.root_mean_square / math.sqrt(0.1)
    assert certificate.confidence == 0.9
    assert certificate.mean_square_bounds[0] == pytest.approx(small_problem.initial_error() ** 2)
    assert certificate.at_steps[-1] == 2000


def test_in_the_long_run_it_is_the_floor(small_problem):
    certificate = certify(small_problem, steps=None)
    assert certificate.root_mean_square == certificate.floor
    assert certificate.floor < certificate.radius < certificate.floor / math.sqrt(0.05)
    assert math.sqrt(certificate.mean_square_bounds[-1]) <= 1.011 * certificate.floor
    later = certify(small_problem, steps=10**9)
    assert later.radius == pytest.approx(certificate.radius, rel=1e-6)


def test_a_scheduled_trainer_comes_closer_than_any_constant_step(small_problem):
    scheduled = certify(small_problem, nt.NeuroTron("scheduled"))
    assert scheduled.step_size is None
    for eta in (0.003, 0.01, 0.03):
        assert scheduled.radius <= certify(small_problem, nt.NeuroTron(eta)).radius
    assert scheduled.limit <= scheduled.floor <= scheduled.limit * (1.0 + 1e-6)


@pytest.fixture
def gate_problem():
    """Return a problem in which no direction of the weights is special."""
    return nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(), seed=1)


def test_the_fastest_step_is_the_fastest(gate_problem):
    fastest = certify(gate_problem, nt.NeuroTron("fastest"), attack=None, steps=20)
    for factor in (0.5, 0.9, 1.1, 1.5):
        other = nt.NeuroTron(factor * fastest.step_size)
        assert certify(gate_problem, other, attack=None, steps=20).radius > fastest.radius


def test_what_is_certified_is_what_is_simulated(small_problem):
    """ "fastest" and "scheduled" resolve to the same numbers in both."""
    arm = nt.Arm(nt.NeuroTron("fastest"), ATTACK)
    certificate = nt.certify(small_problem, arm, batch_size=8, steps=10)
    number = nt.Arm(nt.NeuroTron(certificate.step_size), ATTACK)
    runs = [nt.simulate(small_problem, [one], steps=10, batch_size=8) for one in (arm, number)]
    np.testing.assert_allclose(runs[0].weights, runs[1].weights, rtol=1e-12)


def test_with_honest_labels_the_course_holds_for_all_steps_at_once(small_problem):
    certificate = certify(small_problem, attack=None)
    assert certificate.any_time
    assert certificate.radius <= certificate.radii[-1]
    assert "all steps at once" in str(certificate).replace("\n", " ")
    assert not certify(small_problem).any_time
    noisy = nt.Problem.draw(
        small_problem.network, nt.Normal(), true_weights=np.ones(4) * 2, noise=0.1
    )
    assert not certify(noisy, attack=None).any_time


def test_the_any_time_bound_holds_along_whole_paths(small_problem):
    """P(∃t: ‖d_t‖² > Δ_t/δ) ≤ δ = 0.2; of 60 runs at most 23 may break it (99.9 %)."""
    arm = nt.Arm(nt.NeuroTron("fastest"))
    certificate = nt.certify(small_problem, arm, batch_size=2, steps=200, confidence=0.8)
    broken = 0
    for i in range(60):
        run = nt.simulate(small_problem, [arm], steps=200, batch_size=2, replicate=i)
        broken += bool((run.errors[0] ** 2 > certificate.mean_square_bounds / 0.2).any())
    assert broken <= stats.binom.ppf(0.999, 60, 0.2)


def test_t4_has_no_certificate_without_weights_and_says_what_to_use():
    network = nt.networks.symmetric(12, 4, 6, seed=1)
    problem = nt.Problem.draw(network, nt.StudentT(4.0), seed=1)
    for method, failing in (("sharp", "moments"), ("theorem1", "m4")):
        certificate = certify(problem, method=method)
        assert not certificate.holds
        assert certificate.radius == math.inf
        assert names(certificate.failed) == [failing]
        assert "inverse-norm" in str(certificate)
        assert str(certificate).startswith("No guarantee")
    weighted = certify(problem, nt.NeuroTron("fastest", weighting="inverse-norm"))
    assert weighted.holds
    assert (weighted.kind, weighted.about) == ("theorem", "law")


@pytest.mark.parametrize("setting", FOUR_LAWS, ids=lambda setting: setting.name)
def test_the_papers_settings_are_outside_theorem_1_and_inside_ours(setting):
    problem = setting.problem(seed=0)
    attack = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
    arm = nt.Arm(nt.NeuroTron(setting.step_size, sensing="mean"), attack)
    paper = nt.certify(problem, arm, batch_size=16, steps=40_000, method="theorem1")
    text = " ".join(str(paper).split())
    fastest = nt.Arm(nt.NeuroTron("fastest"), attack)
    ours = nt.certify(problem, fastest, batch_size=16, steps=40_000)
    assert ours.holds
    if setting.name == "t(4)":
        assert names(paper.failed) == ["m4"]
        assert "weighting 'inverse-norm'" in text
    else:
        assert names(paper.failed) == ["c_trade > 0"]
        assert "Scale the inputs by more than" in text
        assert "sensing='polar'" in text
        assert ours.radius < problem.initial_error()


def test_remedies_work():
    """What the assumption c_trade > 0 says to change makes it hold."""
    problem = nt.Problem.draw(nt.networks.relu_gate(10), nt.Normal(), seed=1)
    trainer, attack = nt.NeuroTron(1e-4, "mean"), nt.attacks.Adaptive(0.01, 0.9)
    failed = certify(problem, trainer, attack, method="theorem1").failed[0]
    factor = float(failed.remedy.partition("more than ")[2].split(" ")[0])
    below = float(failed.remedy.partition("below ")[2].split(",")[0])
    scaled = nt.Problem.draw(nt.networks.relu_gate(10), nt.Normal(scale=1.01 * factor), seed=1)
    weaker = nt.attacks.Adaptive(0.01, 0.99 * below)
    for other in (
        certify(scaled, trainer, attack, method="theorem1"),
        certify(problem, trainer, weaker, method="theorem1"),
    ):
        assert "c_trade > 0" not in names(other.failed)


def test_theorem_1_holds_where_its_assumptions_do():
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(scale=20.0), seed=1)
    attack = nt.attacks.Adaptive(0.1, 0.1)
    plan = nt.plan(problem, attack, radius=1.0, batch_size=8, method="theorem1")
    certificate = plan.certificate
    assert certificate.holds
    assert all(assumption.holds for assumption in certificate.assumptions)
    assert certificate.radius <= 1.0
    sharp = nt.certify(problem, plan.arm, batch_size=8, steps=plan.steps)
    assert sharp.radius < certificate.radius


def test_a_matrix_without_pull_gets_no_certificate(small_problem):
    worst = -small_problem.network.mean_gate
    certificate = certify(small_problem, nt.NeuroTron(0.01, worst))
    assert names(certificate.failed) == ["λ1 > 0"]
    assert "sensing='optimal'" in str(certificate)


def test_a_step_too_large_has_a_bound_for_now_but_none_in_the_long_run(small_problem):
    assert certify(small_problem, nt.NeuroTron(10.0), steps=3).radius > 1.0
    certificate = certify(small_problem, nt.NeuroTron(10.0), steps=None)
    assert not certificate.holds
    assert names(certificate.failed) == ["step size"]


def test_an_asymmetric_law_gets_no_certificate():
    problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.ScipyLaw(stats.expon()))
    for method in ("sharp", "theorem1"):
        certificate = certify(problem, nt.NeuroTron(0.01, "mean"), method=method)
        assert not certificate.holds
        assert "parity" in names(certificate.failed)


def test_rows_have_a_plug_in_certificate_near_that_of_their_law():
    network = nt.networks.symmetric(6, 2, 4, seed=1)
    truth = np.array([1.0, -2.0])
    rows = draw_inputs(nt.Laplace(), Stream.of(1, 0), 0, 200_000, 6)
    known = certify(nt.Problem.draw(network, nt.Laplace(), true_weights=truth))
    data = certify(nt.Problem.draw(network, nt.Empirical(rows), true_weights=truth))
    assert data.kind == "plug-in"
    assert str(data).startswith("Plug-in estimate")
    assert data.radius == pytest.approx(known.radius, rel=0.1)  # τ is bounded in other ways
    assert names(data.failed) == ["parity"]
    assert not data.failed[0].blocking


def test_lopsided_rows_have_none():
    rows = np.random.default_rng(1).standard_normal((500, 3)) + 1.0
    problem = nt.Problem.draw(
        nt.networks.relu_gate(3), nt.Empirical(rows), true_weights=np.ones(3) * 2
    )
    certificate = certify(problem)
    assert not certificate.holds
    assert "symmetrized=True" in str(certificate)
    assert certify(
        nt.Problem.draw(problem.network, nt.Empirical(rows, True), true_weights=np.ones(3) * 2)
    ).holds


def test_who_does_not_know_the_truth_gives_a_bound(small_problem):
    unknown = nt.Problem(small_problem.network, nt.data.Simulated(small_problem.law))
    same = certify(unknown, initial_error=small_problem.initial_error())
    assert same.radius == pytest.approx(certify(small_problem).radius)
    larger = certify(small_problem, initial_error=10.0, steps=20)
    assert larger.radius > certify(small_problem, steps=20).radius


def test_a_budget_stands_for_every_attacker_within_it(small_problem):
    budget = nt.Budget(bound=1.0, probability=0.5)
    wide = certify(small_problem, budget=budget)
    stronger = nt.attacks.OddDirection(1.0, 0.5, direction=np.ones(4))
    assert wide.radius == certify(small_problem, attack=stronger).radius
    with pytest.raises(nt.InputError, match="exceeds the budget"):
        certify(small_problem, attack=nt.attacks.Adaptive(2.0, 0.5), budget=budget)


class SeesBatch(nt.attacks.Constant):
    """Looks at the whole batch."""

    scope = "batch"


class Unbounded(nt.attacks.Constant):
    """Outside every theorem."""

    covered = ()


def test_an_attacker_who_sees_the_batch_weakens_the_guarantee(small_problem):
    alone = certify(small_problem, attack=nt.attacks.Constant(0.5, 0.3))
    together = certify(small_problem, attack=SeesBatch(0.5, 0.3))
    assert together.radius > alone.radius
    assert "sees no more than the whole batch" in str(together).replace("\n", " ")


def test_an_attack_outside_the_theorems_is_only_measured(small_problem):
    attack = Unbounded(math.inf, 0.3)
    certificate = certify(small_problem, attack=attack)
    assert names(certificate.failed) == ["attack"]
    assert "measured" in str(certificate)


def test_a_measured_certificate_says_that_it_is(small_problem):
    arm = nt.Arm(nt.SGD(0.05), ATTACK)
    certificate = nt.certify(
        small_problem, arm, batch_size=8, steps=300, method="measured", confidence=0.8
    )
    assert certificate.kind == "measured"
    assert str(certificate).startswith("Measured, not proved.")
    errors = [
        nt.simulate(small_problem, [arm], steps=300, batch_size=8, replicate=i).errors[0, -1]
        for i in range(4)
    ]
    assert certificate.radius == max(errors)
    wild = nt.Arm(nt.SGD(1e6), ATTACK)
    diverged = nt.certify(small_problem, wild, batch_size=8, steps=20, method="measured")
    assert not diverged.holds
    assert "did not stay bounded" in str(diverged)


def test_a_schedule_made_for_another_attack_is_followed(small_problem):
    plan = nt.plan(
        small_problem, nt.Budget(0.1, 0.1), steps=500, batch_size=8, step_size="scheduled"
    )
    right = nt.certify(small_problem, plan.arm, batch_size=8, steps=500, budget=nt.Budget(0.1, 0.1))
    assert right.radius == plan.certificate.radius
    wrong = nt.certify(small_problem, plan.arm, batch_size=8, steps=500, budget=nt.Budget(0.5, 0.5))
    assert wrong.radius > right.radius
    best = certify(
        small_problem, nt.NeuroTron("scheduled"), nt.attacks.Adaptive(0.5, 0.5), steps=500
    )
    assert wrong.radius >= best.radius


@pytest.mark.parametrize("n", [1, 2])
def test_in_few_dimensions_inverse_norm_weights_serve_honest_labels_only(n):
    """E‖x‖⁻² is infinite for n ≤ 2, and only an attack or noise needs it."""
    problem = nt.Problem.draw(
        nt.networks.relu_gate(n), nt.StudentT(1.0), true_weights=np.full(n, 3.0)
    )
    trainer = nt.NeuroTron("fastest", weighting="inverse-norm")
    assert certify(problem, trainer, attack=None).holds
    assert names(certify(problem, trainer).failed) == ["moments"]
    with pytest.raises(nt.NotAchievable, match="moments"):
        nt.plan(
            problem,
            nt.Budget(None, 0.1),
            radius=1.0,
            steps=100,
            batch_size=4,
            weighting="inverse-norm",
        )


def test_a_schedule_made_for_a_nearer_start_is_not_trusted_from_afar(gate_problem):
    """What follows the wrong schedule is never certified better than the best schedule."""
    near = gate_problem.initial_error()
    plan = nt.plan(
        gate_problem, nt.Budget(0.5, 0.3), steps=300, batch_size=8, step_size="scheduled"
    )
    options = {"batch_size": 8, "steps": 300, "initial_error": 5.0 * near}
    followed = nt.certify(gate_problem, plan.arm, budget=nt.Budget(0.5, 0.3), **options)
    best = nt.plan(gate_problem, nt.Budget(0.5, 0.3), step_size="scheduled", **options).certificate
    assert followed.root_mean_square > best.root_mean_square
    assert best.root_mean_square > plan.certificate.root_mean_square


def test_the_schedule_that_is_certified_is_the_one_that_is_run():
    """On a table it starts at the distance to the fit, however near the start is to w*."""
    draw = np.random.default_rng(0)
    X, truth = draw.standard_normal((100, 3)), np.array([1.0, -2.0, 0.5])
    problem = nt.Problem.from_rows(
        nt.networks.linear(3), X, X @ truth + draw.standard_normal(100), replacement=True,
        true_weights=truth, initial_weights=truth,
    )  # fmt: skip
    arm = nt.Arm(nt.NeuroTron("scheduled"), nt.attacks.Adaptive(0.01, 0.1))
    found = nt.certify(problem, arm, batch_size=16, steps=1000)
    runs = [nt.simulate(problem, [arm], steps=1000, replicate=number) for number in range(8)]
    away = [np.linalg.norm(run.weights[0] - found.centre) for run in runs]
    assert math.sqrt(np.mean(np.square(away))) <= found.root_mean_square
    assert found.initial_error > 0.05


def test_columns_of_different_sizes_keep_their_certificate():
    draw = np.random.default_rng(0)
    X = draw.lognormal(0.0, 0.5, (200, 3))
    y = X @ [1.0, 2.0, 3.0] + 5.0 + draw.standard_normal(200)
    errors = []
    for size in (1.0, 100.0):
        problem = nt.Problem.from_rows(
            nt.networks.linear(3), X * [size, 1.0, 1.0], y, intercept=True, replacement=True
        )
        for steps in (10_000, None):
            found = nt.certify(problem, nt.NeuroTron(0.01), budget=nt.Budget(0.1, 0.1), steps=steps)
            errors.append(found.prediction_error)
        plan = nt.plan(problem, nt.Budget(0.1, 0.1), radius=0.3, radius_of="predictions")
        assert plan.certificate.prediction_error <= 0.3
    np.testing.assert_allclose(errors, errors[0], rtol=0.01)


def test_a_schedule_of_another_attack_has_no_long_run(small_problem):
    clean = nt.NeuroTron("scheduled").resolve(small_problem, batch_size=8, steps=0, attack=None)
    with pytest.raises(nt.InputError, match="made for another problem or attack"):
        certify(small_problem, clean, steps=None)
    assert certify(small_problem, clean, steps=100).holds


def test_a_schedule_of_another_network_is_refused(small_problem):
    other = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(), seed=1)
    schedule = nt.NeuroTron("scheduled").resolve(other, batch_size=8, steps=0, attack=None)
    with pytest.raises(nt.InputError, match=r"`sensing` must have shape \(4, 12\)"):
        certify(small_problem, schedule)
    with pytest.raises(nt.InputError, match=r"`sensing` must have shape \(4, 12\)"):
        nt.simulate(small_problem, [nt.Arm(schedule)], steps=1, batch_size=2)


def test_an_attack_outside_every_theorem_is_within_no_budget(small_problem):
    for attack in (Unbounded(math.inf, 0.3), Unbounded(0.1, 0.3)):
        with pytest.raises(nt.InputError, match="exceeds the budget"):
            certify(small_problem, attack=attack, budget=nt.Budget(1.0, 0.5))


def words(certificate) -> str:
    return " ".join(str(certificate).split())


def test_the_text_claims_no_more_than_is_proved(small_problem):
    independently = "attacks each label independently with probability at most β = 0.3"
    assert independently in words(certify(small_problem))
    assert "probability at least 1 − 1e-09" in words(certify(small_problem, confidence=1.0 - 1e-9))
    assert "Labels are honest." in words(certify(small_problem, attack=None))
    long = words(certify(small_problem, attack=None, steps=None))
    assert "true weights themselves" not in long
    assert "not resolved by floating point" in long
    radius = certify(small_problem, steps=777).radius
    quoted = float(
        words(certify(small_problem, steps=777)).split("‖w − w*‖ is at most ")[1].split(" ")[0]
    )
    assert radius <= quoted <= 1.001 * radius


class NearOnly(nt.attacks.Adaptive):
    """Attacks small inputs only."""

    query_fields = ("push", "norm")

    @staticmethod
    def chance(probability, query):
        return np.where(query.norm < 2.0, probability, 0.0)


class NearOdd(nt.attacks.OddDirection):
    """The same, along a direction: its chance is a function of x."""

    query_fields = ("probe", "norm")

    @staticmethod
    def chance(probability, query):
        return np.where(query.norm < 2.0, probability, 0.0)


def test_constants_of_one_attack_speak_of_that_attack_alone():
    rows = np.random.default_rng(1).standard_normal((300, 6))
    network = nt.networks.symmetric(6, 2, 4, seed=1)
    problem = nt.Problem.draw(
        network, nt.Empirical(rows, symmetrized=True), true_weights=[1.0, -2.0]
    )
    own = certify(problem, attack=NearOdd(0.5, 0.3, direction=[1.0, 0.0]))
    assert own.this_attack
    assert "against NearOdd(bound=0.5, probability=0.3) alone" in words(own)
    anybody = certify(problem, attack=NearOnly(0.5, 0.3))
    assert not anybody.this_attack
    assert own.radius < anybody.radius


def test_skewed_rows_are_not_taken_for_symmetric_ones():
    """Standardised lognormal rows have mean 0, and are not symmetric."""
    rows = np.random.default_rng(1).lognormal(0.0, 1.2, size=(2000, 1))
    rows = (rows - rows.mean()) / rows.std()
    problem = nt.Problem.draw(nt.networks.relu_gate(1), nt.Empirical(rows), true_weights=[-3.0])
    certificate = certify(problem, nt.NeuroTron("fastest"), attack=None)
    assert not certificate.holds
    assert names(certificate.failed) == ["parity"]


def test_rows_that_are_not_symmetric_hold_at_no_two_times_at_once():
    rows = np.random.default_rng(1).standard_normal((2000, 2))
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.Empirical(rows), true_weights=[2.0, 3.0])
    certificate = certify(problem, nt.NeuroTron("fastest"), attack=None)
    assert certificate.holds
    assert not certificate.any_time


def test_the_largest_step_size_settles_nowhere(gate_problem):
    fastest = certify(gate_problem, nt.NeuroTron("fastest"), attack=None).step_size
    certificate = certify(gate_problem, nt.NeuroTron(2.0 * fastest), attack=None, steps=None)
    assert not certificate.holds
    assert names(certificate.failed) == ["step size"]
    assert "because this does not hold: step size" in words(certificate)


def test_a_certificate_names_the_step_size_and_the_weighting_that_were_found(small_problem):
    problem = nt.Problem.draw(small_problem.network, nt.StudentT(4.0), seed=1)
    certificate = nt.certify(problem, nt.NeuroTron(), steps=1000)
    trained = certificate.trainer
    assert trained.weighting == "inverse-norm"
    assert trained.step_size == certificate.step_size
    assert repr(trained) in certificate.statement
    assert nt.certify(problem, trained, steps=1000).radius == certificate.radius


# ---- step sizes, and bounds that say nothing -----------------------------------------------------


@pytest.mark.parametrize("method", ["sharp", "theorem1"])
def test_the_fastest_step_size_is_not_praised_where_another_one_has_a_better_guarantee(method):
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(scale=2.0), seed=1)
    arm = nt.Arm(nt.NeuroTron(), nt.attacks.Adaptive(bound=0.1, probability=0.1))
    found = nt.certify(problem, arm, steps=4000, method=method)
    assert pickle.loads(pickle.dumps(found)).statement == found.statement
    best = nt.plan(problem, arm.attack, steps=4000, method=method)
    named = f"With step_size={best.certificate.step_size:.6g}, the guarantee is {up(best.answer)}."
    assert says(found.statement, "This is the fastest step size.", named)
    better = nt.NeuroTron(float(f"{best.certificate.step_size:.6g}"))
    again = nt.certify(problem, nt.Arm(better, arm.attack), steps=4000, method=method)
    assert again.radius <= best.answer * 1.001 < found.radius
    assert "fastest" not in again.statement


def test_without_an_attack_the_fastest_step_size_needs_no_advice(gate_problem):
    assert "step_size=" not in nt.certify(gate_problem, nt.NeuroTron(), steps=50).statement[300:]


def test_a_bound_that_is_no_better_than_the_start_is_called_useless():
    """One leaky gate on rows with a constant column: the fastest step is too long for the table."""
    draw = np.random.default_rng(0)
    X, w = np.column_stack([draw.standard_normal((300, 3)), np.ones(300)]), np.arange(4.0)
    network = nt.networks.relu_gate(4, leak=0.3)
    problem = nt.Problem.from_rows(network, X, network(w, X), replacement=True)
    found = nt.certify(problem, nt.NeuroTron(), budget=nt.Budget(1.0, 0.3), steps=1000)
    assert found.holds
    assert found.radius > 1e80
    assert not found.useful
    assert found.to_dict()["useful"] is False
    assert says(found.statement, "It is useless", "no bound is better than the start", "fastest")
    good = nt.certify(problem, nt.NeuroTron(0.01), budget=nt.Budget(1.0, 0.3), steps=1000)
    assert good.useful
    assert "useless" not in good.statement


@pytest.mark.parametrize("width", [math.nan, 79.5, 0, "80"])
def test_a_width_that_is_no_number_of_columns_is_refused_at_once(width):
    problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(), seed=1)
    found = nt.plan(problem, nt.Budget(0.1, 0.1), steps=1000)
    for text in (found.to_text, found.certificate.to_text):
        with refused("`width`", "whole number"):
            text(width=width)


@pytest.mark.parametrize("method", ["sharp", "theorem1"])
def test_extreme_step_sizes_are_refused_and_tiny_bounds_are_not(gate_problem, method):
    for step_size in (1e-300, 1e300):
        with pytest.raises(ValueError, match=r"`step_size` must be in \[1e-100, 1e100\]"):
            nt.certify(gate_problem, nt.NeuroTron(step_size), method=method)
    budget = nt.Budget(1e-300, 0.1)
    assert nt.certify(gate_problem, nt.NeuroTron(1e-3), budget=budget, method=method).useful
