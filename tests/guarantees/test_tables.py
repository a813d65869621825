"""Guarantees about tables whose rows are drawn with replacement, whatever their labels are."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from tests.support.messages import says

import neurotron as nt

STEPS, RUNS = 500, 20


@functools.cache
def skewed() -> tuple[np.ndarray, np.ndarray]:
    """Return rows with long tails, and labels that no linear model explains."""
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.lognormal(0.0, 0.8, (300, 2)), draw.standard_normal((300, 2))])
    y = X[:, 0] ** 1.5 - np.sqrt(X[:, 1]) + X[:, 2] + draw.standard_normal(300) * X[:, 0]
    return X, y


def table(y: np.ndarray | None = None, **options) -> nt.Problem:
    X, honest = skewed()
    options = {"intercept": True, "replacement": True} | options
    return nt.Problem.from_rows(nt.networks.linear(4), X, honest if y is None else y, **options)


def certify(problem: nt.Problem, attack: nt.Attack | None = None, **options):
    options = {"steps": STEPS, "batch_size": 8} | options
    return nt.certify(problem, nt.Arm(nt.NeuroTron(0.02), attack), **options)


def distances(problem: nt.Problem, found: nt.guarantees.Certificate):
    """Return the distances to the certificate's centre after the last step of some runs."""
    return np.linalg.norm(finals(problem, found) - found.centre, axis=1)


def finals(problem: nt.Problem, found: nt.guarantees.Certificate) -> np.ndarray:
    """Return the weights after the last step of some runs."""
    runs = (
        nt.simulate(problem, [found.arm], steps=STEPS, batch_size=8, replicate=number)
        for number in range(RUNS)
    )
    return np.array([run.weights[0] for run in runs])


def root_mean_square(values: np.ndarray, errors: float = 0.0) -> float:
    """Return the root of the mean square, less some standard errors of that mean."""
    squares = values**2
    return float(np.sqrt(squares.mean() - errors * squares.std() / np.sqrt(len(values))))


def text(found: nt.guarantees.Certificate) -> str:
    return " ".join(str(found).split())


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    "attack",
    [None, nt.attacks.Constant(1.0, 0.3), nt.attacks.Adaptive(1.0, 0.3)],
    ids=["honest", "intercept", "adaptive"],
)
def test_a_wrong_model_on_a_skewed_table_has_a_theorem_that_holds(attack, weights):
    """Adaptive pushes away from the fit, so it must know it."""
    X, _ = skewed()
    weight = 1.0 / X[:, 0] if weights else None
    fit = table(sample_weight=weight).least_squares()
    problem = table(sample_weight=weight, true_weights=fit)
    found = certify(problem, attack)
    assert (found.kind, found.about) == ("theorem", "table")
    assert not found.failed
    np.testing.assert_allclose(found.centre, fit)
    measured = distances(problem, found)
    assert root_mean_square(measured, errors=3.1) <= found.root_mean_square
    assert measured.max() <= found.radius
    if not isinstance(attack, nt.attacks.Constant):  # which is not the worst one in this norm
        assert found.root_mean_square < 3.0 * root_mean_square(measured)


def test_the_start_of_a_table_is_computed_and_need_not_be_given():
    found = certify(table(initial_weights=np.zeros(5)))
    exact = np.linalg.norm(found.centre)
    assert exact <= found.initial_error <= exact * (1.0 + 1e-6)
    with pytest.raises(nt.InputError, match=r"`initial_error` must be at least ‖w_1 − w°‖"):
        certify(table(), initial_error=0.01)
    assert certify(table(), initial_error=50.0).initial_error == pytest.approx(50.0)


def test_a_certificate_of_a_table_says_what_it_is_about():
    found = certify(table(), nt.attacks.Constant(1.0, 0.3))
    said = text(found)
    assert "a theorem about this table, whose rows are drawn with replacement" in said
    assert "the distance ‖w − w°‖ to the least-squares fit w° of the table" in said
    assert "over the rows of the table" in said
    assert "w*" not in said
    assert found.to_dict()["centre"] == found.centre.tolist()
    assert "distance ‖w − w°‖" in found.facts


def test_the_same_rows_in_epochs_are_told_what_to_change():
    found = certify(table(replacement=False), initial_error=9.0)
    assert not found.holds
    assert "replacement=True" in text(found)
    X, _ = skewed()
    exact = table(X @ [1.0, 2.0, 3.0, 4.0], replacement=False)
    found = certify(exact, initial_error=9.0)
    assert found.holds
    assert found.kind == "plug-in"
    assert [a.name for a in found.failed] == ["independent rows"]


def test_exact_labels_are_learned_to_rounding_from_a_table():
    X, _ = skewed()
    problem = table(X @ [1.0, 2.0, 3.0, 4.0] + 5.0)
    found = nt.certify(problem, nt.NeuroTron("fastest"), steps=60_000, batch_size=16)
    assert (found.kind, found.about) == ("theorem", "table")
    assert found.radius < 1e-6
    np.testing.assert_allclose(found.centre, [1.0, 2.0, 3.0, 4.0, 5.0], rtol=1e-9)


def test_a_table_whose_columns_depend_on_each_other_is_refused():
    X, y = skewed()
    problem = nt.Problem.from_rows(
        nt.networks.linear(5), np.column_stack([X, X[:, 0] + 1.0]), y,
        intercept=True, replacement=True,
    )  # fmt: skip
    with pytest.raises(nt.InputError, match="no column that is a combination of others"):
        certify(problem)


def test_a_matrix_whose_mean_update_does_not_vanish_at_the_fit_is_refused():
    draw = np.random.default_rng(5)
    network = nt.networks.from_gates(draw.standard_normal((3, 2, 4)), leak=1.0)
    X, y = skewed()
    problem = nt.Problem.from_rows(network, X, y, replacement=True)
    found = nt.certify(problem, nt.NeuroTron(0.001, "polar"), steps=10)
    assert [a.name for a in found.failed] == ["fit"]
    says(text(found), "fit", "sensing='optimal'")
    assert nt.certify(problem, nt.NeuroTron(0.001, "optimal"), steps=10).holds


def test_a_plan_for_a_table_meets_its_goal():
    problem = table()
    plan = nt.plan(problem, nt.Budget(0.1, 0.2), radius=2.0, batch_size=8)
    assert (plan.certificate.kind, plan.certificate.about) == ("theorem", "table")
    assert plan.certificate.radius <= 2.0
    run = nt.simulate(problem, [plan.arm], steps=plan.steps, batch_size=8)
    assert np.linalg.norm(run.weights[0] - plan.certificate.centre) <= 2.0


# ---- predictions, and one leaky gate -------------------------------------------------------------


def off_by(problem: nt.Problem, found: nt.guarantees.Certificate) -> np.ndarray:
    """Return how far predictions are from those of the fit over the rows, root mean square."""
    x, network = problem.data.X, problem.network
    return np.array(
        [
            np.sqrt(np.mean((network(weights, x) - network(found.centre, x)) ** 2))
            for weights in finals(problem, found)
        ]
    )


def test_predictions_over_a_table_are_bounded_in_their_own_norm():
    """The constant attack moves the intercept, which is as far as any attack moves predictions."""
    problem = table()
    found = certify(problem, nt.attacks.Constant(1.0, 0.3))
    measured = off_by(problem, found)
    assert measured.max() <= found.prediction_error
    assert found.prediction_error < 0.5 * np.sqrt(found.risk) * found.radius
    by_rms = found.prediction_error * np.sqrt(
        1.0 - found.confidence
    )  # if it is Markov's inequality
    assert root_mean_square(measured, errors=3.1) <= found.prediction_error
    assert by_rms < 2.0 * root_mean_square(measured)


def leaky(**options) -> nt.Problem:
    X, y = skewed()
    full = np.column_stack([X, np.ones(len(X))])
    gate = nt.networks.relu_gate(5, leak=0.4)
    return nt.Problem.from_rows(gate, full, y, **{"replacement": True} | options)


@pytest.mark.parametrize(
    "attack", [None, nt.attacks.Constant(0.3, 0.3), nt.attacks.Adaptive(0.3, 0.3)],
    ids=["honest", "intercept", "adaptive"],
)  # fmt: skip
def test_one_leaky_gate_on_a_skewed_table_has_a_theorem_that_holds(attack):
    problem = leaky(true_weights=certify(leaky()).centre)
    found = certify(problem, attack)
    assert (found.kind, found.about) == ("theorem", "table")
    assert not found.failed
    measured = distances(problem, found)
    assert root_mean_square(measured, errors=3.1) <= found.root_mean_square
    assert measured.max() <= found.radius
    assert off_by(problem, found).max() <= found.prediction_error
    assert found.prediction_error < np.sqrt(found.risk) * found.radius


def test_the_fit_of_a_leaky_gate_is_where_the_mean_update_vanishes():
    problem, centre = leaky(), certify(leaky()).centre
    left = problem.data.y - problem.network(centre, problem.data.X)
    assert np.abs(left @ problem.data.X / len(left)).max() < 1e-11


def test_a_certificate_of_a_leaky_gate_says_what_it_is_about():
    said = text(certify(leaky()))
    assert "to the fit w° of the table at which the mean update without an attack is zero" in said
    assert "one leaky gate" in said
    assert "least-squares" not in said


@pytest.mark.parametrize(
    ("trainer", "options"),
    [
        (nt.NeuroTron(0.01, "mean"), {}),
        (nt.NeuroTron(0.01, weighting="inverse-norm"), {}),
        (nt.NeuroTron(0.01), {"replacement": False}),
    ],
)
def test_a_leaky_gate_without_symmetry_is_told_what_to_change(trainer, options):
    found = nt.certify(leaky(**options), trainer, steps=10, initial_error=9.0)
    assert not found.holds
    assert [a.name for a in found.failed if a.blocking] == ["parity"]
    remedy = "replacement=True" if options else "sensing='optimal'"
    assert remedy in text(found)


def test_a_leaky_gate_with_exact_labels_on_symmetric_rows_keeps_its_faster_certificate():
    X, _ = skewed()
    both = np.concatenate([X, -X])
    gate, truth = nt.networks.relu_gate(4, leak=0.4), np.array([1.0, -2.0, 0.5, 0.0])
    problem = nt.Problem.from_rows(
        gate, both, gate(truth, both), true_weights=truth, replacement=True
    )
    found = certify(problem)
    assert (found.kind, found.about) == ("theorem", "table")
    assert found.centre is None
    assert "parity" not in [a.name for a in found.failed]


def test_labels_changed_before_training_are_allowed_for_with_a_leaky_gate():
    X, y = skewed()
    labels, changed = nt.poison(X, y, nt.attacks.HighLeverage(bound=2.0, probability=0.02))
    clean = certify(leaky()).centre
    full = np.column_stack([X, np.ones(len(X))])
    problem = nt.Problem.from_rows(leaky().network, full, labels, replacement=True)
    found = certify(problem, budget=nt.Budget(2.0, rows=int(changed.sum())))
    to_clean = distances(problem, dataclasses.replace(found, centre=clean))
    assert to_clean.max() <= found.radius
    assert np.linalg.norm(found.centre - clean) <= found.floor - certify(problem).floor


# ---- other kinds ---------------------------------------------------------------------------------


def test_rows_that_inputs_are_drawn_from_are_a_table_if_they_are_symmetric():
    rows = np.random.default_rng(1).standard_normal((80, 3))
    gate = nt.networks.relu_gate(3)
    kinds = [
        certify(
            nt.Problem.draw(gate, nt.Empirical(rows, symmetrized=some), true_weights=[2.0, 0, 1])
        ).kind
        for some in (True, False)
    ]
    assert kinds == ["theorem", "plug-in"]


# ---- labels that were changed before training ----------------------------------------------------


def test_a_stored_attack_stays_within_the_distance_to_the_clean_fit():
    """The certificate sees the poisoned labels only; its radius is about the clean fit."""
    X, y = skewed()
    full = np.column_stack([X, np.ones(len(X))])
    attack = nt.attacks.HighLeverage(bound=20.0, probability=0.02)
    labels, changed = nt.poison(full, y, attack)
    problem, clean = table(labels), table().least_squares()
    found = certify(problem, budget=nt.Budget(20.0, rows=int(changed.sum())))
    assert (found.kind, found.about) == ("theorem", "table")
    to_clean = distances(problem, dataclasses.replace(found, centre=clean))
    assert root_mean_square(to_clean, errors=3.1) <= found.root_mean_square
    assert to_clean.max() <= found.radius
    honest = certify(problem)  # would not hold
    assert root_mean_square(to_clean, errors=3.1) > honest.root_mean_square
    assert found.floor - honest.floor < 3.0 * np.linalg.norm(found.centre - clean)


def test_the_bound_on_a_moved_fit_is_exceeded_by_no_choice_of_rows():
    X, y = (part[:12] for part in skewed())
    small = nt.Problem.from_rows(nt.networks.linear(4), X, y, replacement=True)
    budget = nt.Budget(3.0, rows=2)
    honest, found = certify(small), certify(small, budget=budget)
    moved = []
    for pair in itertools.combinations(range(12), 2):
        for signs in ((3.0, 3.0), (3.0, -3.0)):
            other = y.copy()
            other[list(pair)] += signs
            fit = nt.Problem.from_rows(nt.networks.linear(4), X, other).least_squares()
            moved.append(np.linalg.norm(fit - honest.centre))
    assert 0.6 * (found.floor - honest.floor) < max(moved) <= found.floor - honest.floor
    assert found.radius - honest.radius == pytest.approx(found.floor - honest.floor)


def test_a_certificate_of_changed_labels_says_so():
    said = text(certify(table(), budget=nt.Budget(1.0, rows=3)))
    assert "at most 3 labels of the table were changed before training" in said
    assert "with its unchanged labels" in said
    assert "honest." not in said


def test_a_plan_leaves_room_for_a_moved_fit():
    budget = nt.Budget(1.0, rows=3)
    plan = nt.plan(table(), budget, radius=1.0, batch_size=8)
    assert plan.certificate.budget == budget
    assert plan.certificate.radius <= 1.0
    assert plan.steps >= nt.plan(table(), None, radius=1.0, batch_size=8).steps
    with pytest.raises(nt.NotAchievable, match="only known to within"):
        nt.plan(table(), nt.Budget(100.0, rows=3), radius=1.0, batch_size=8)


@pytest.mark.parametrize("radius_of", ["weights", "predictions"])
def test_the_strongest_attack_on_stored_labels_is_planned(radius_of):
    asked = {"radius": 1.5, "batch_size": 8, "radius_of": radius_of}
    plan = nt.plan(table(), nt.Budget(rows=3), steps=2000, **asked)
    found = plan.certificate
    reached = found.radius if radius_of == "weights" else found.prediction_error
    assert plan.asked == "bound"
    assert found.budget == nt.Budget(plan.answer, rows=3)
    assert 1.499 < reached <= 1.5
    assert nt.plan(table(), found.budget, **asked).steps <= 2000
    with pytest.raises(nt.NotAchievable, match="more `rows`"):
        nt.plan(table(), nt.Budget(rows=0), steps=2000, **asked)
    with pytest.raises(nt.NotAchievable, match="steps suffice"):
        nt.plan(table(), nt.Budget(rows=3), steps=10, **asked)


@pytest.mark.parametrize("step_size", ["constant", "scheduled"])
@pytest.mark.parametrize("radius_of", ["weights", "predictions"])
def test_one_leaky_gate_without_symmetry_can_be_planned(step_size, radius_of):
    budget = nt.Budget(0.1, 0.1)
    asked = {"batch_size": 8, "step_size": step_size, "radius_of": radius_of}
    best = nt.plan(leaky(), budget, steps=3000, **asked)
    plan = nt.plan(leaky(), budget, radius=1.2 * best.answer, **asked)
    found = plan.certificate
    reached = found.radius if radius_of == "weights" else found.prediction_error
    assert 0.95 * 1.2 * best.answer < reached <= 1.2 * best.answer
    assert plan.steps < 3000
    assert (found.kind, found.about) == ("theorem", "table")


def test_changed_labels_need_a_table_with_replacement():
    budget = nt.Budget(1.0, rows=3)
    simulated = nt.Problem.draw(nt.networks.linear(3), nt.Normal(), true_weights=[0.0, 1.0, 2.0])
    for problem, method in (
        (table(replacement=False), "sharp"), (simulated, "sharp"), (simulated, "theorem1"),
    ):  # fmt: skip
        found = certify(problem, budget=budget, initial_error=9.0, method=method)
        assert "attack" in [a.name for a in found.failed]
        says(text(found), "Budget(bound=1, rows=3)", "method='sharp'", "replacement=True")
    with pytest.raises(nt.NotAchievable, match="replacement=True"):
        nt.plan(simulated, budget, radius=1.0, batch_size=8)
    with pytest.raises(nt.InputError, match="exceeds the budget"):
        certify(table(), nt.attacks.Constant(1.0, 0.3), budget=budget)


def test_a_budget_has_rows_or_a_probability():
    assert repr(nt.Budget(2.0, rows=1_234_567)) == "Budget(bound=2, rows=1234567)"
    with pytest.raises(nt.InputError, match=r"`rows`.*`probability`"):
        nt.Budget(1.0, 0.5, rows=3)
    with pytest.raises(nt.InputError, match=r"`rows`.*`scope`"):
        nt.Budget(1.0, scope="batch", rows=3)
    with pytest.raises(nt.InputError, match="`rows` must be a whole number"):
        nt.Budget(1.0, rows=1.5)
