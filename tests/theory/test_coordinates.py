"""Other coordinates of the weights: the same training, and distances that are prediction errors."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import neurotron as nt
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.coordinates import Coordinates, for_predictions, output_form
from neurotron.theory.sharp import sharp_constants

LAWS = {
    "normal": (nt.Normal(scale=2.0), None),
    "uniform": (nt.Uniform(), None),
    "laplace, weighted": (nt.Laplace(), "inverse-norm"),
    "rows": (
        nt.Empirical(np.random.default_rng(3).standard_normal((40, 6)), symmetrized=True), None,
    ),
}  # fmt: skip


def gates(seed: int, leak: float = 0.2) -> nt.FilterNetwork:
    draw = np.random.default_rng(seed)
    matrices = draw.standard_normal((3, 2, 6)) + 2.0 * draw.standard_normal((1, 2, 6))
    return nt.networks.from_gates(matrices, outer_weights=draw.uniform(0.5, 2, 3), leak=leak)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("sensing", ["optimal", "mean"])
def test_constants_are_those_of_the_network_in_new_coordinates(name, sensing):
    law, weighting = LAWS[name]
    network = gates(1)
    problem = nt.Problem.draw(network, law, seed=1)
    m = problem.sensing_matrix(sensing, weighting)
    root = np.array([[2.0, 0.5], [0.5, 1.0]])
    new = Coordinates.of(root @ root)
    found = sharp_constants(problem, m, weighting, new)
    turned = nt.networks.from_gates(
        np.linalg.inv(root) @ network.gates, outer_weights=network.outer_weights, leak=network.leak
    )
    other = nt.Problem.draw(turned, law, true_weights=root @ problem.true_weights)
    expected = sharp_constants(other, root @ m, weighting)
    for field in dataclasses.fields(found):
        if field.name not in ("misfit", "spread", "skew"):
            value = getattr(expected, field.name)
            assert getattr(found, field.name) == pytest.approx(value, rel=1e-9), field.name
    assert found.skew == pytest.approx(expected.skew, abs=1e-9)
    attack = nt.Budget(0.7, 0.3)
    here = attack_moments(found, problem, m, weighting, attack, new)
    there = attack_moments(expected, other, root @ m, weighting, attack)
    assert here.tau == pytest.approx(there.tau, rel=1e-9)
    assert here.s2 == pytest.approx(there.s2, rel=1e-9)


def test_an_attack_on_some_rows_is_felt_in_new_coordinates():
    class Outliers(nt.attacks.Constant):
        """Attacks long rows only."""

        query_fields = ("norm",)

        @staticmethod
        def chance(probability, query):
            return probability * (query.norm > 1.0)

    rows = np.random.default_rng(0).standard_normal((30, 2))
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.Empirical(rows), seed=1)
    m = problem.sensing_matrix("optimal")
    root = np.array([[3.0, 0.0], [0.0, 1.0]])
    new = Coordinates.of(root @ root)
    constants = sharp_constants(problem, m, None, new)
    found = attack_moments(constants, problem, m, None, Outliers(1.0, 0.5), new)
    hit = 0.5 * (np.linalg.norm(rows, axis=1) > 1.0)
    lengths = np.linalg.norm(rows @ m.T @ root, axis=1)
    assert found.s2 == pytest.approx(np.sqrt((hit * lengths**2).mean()))
    assert found.s1 == pytest.approx((hit * lengths).mean())


@pytest.mark.parametrize("leak", [0.0, 0.3, 1.0])
def test_distances_bound_prediction_errors_exactly_on_finite_laws(leak):
    worst = 0.0
    for seed in range(30):
        draw = np.random.default_rng(seed)
        network = gates(seed, leak)
        rows = draw.standard_normal((5, 6))
        problem = nt.Problem.draw(network, nt.Empirical(rows, symmetrized=True), seed=seed)
        new = for_predictions(problem)
        both, truth = np.concatenate([rows, -rows]), problem.true_weights
        for size in (0.1, 1.0, 10.0):
            d = size * draw.standard_normal(2)
            off = network(truth + d, both) - network(truth, both)
            worst = max(worst, (off**2).mean() / np.linalg.norm(new.updates(d)) ** 2)
    assert worst <= 1.0 + 1e-9
    assert worst > (1.0 - 1e-9 if leak == 1.0 else 0.7)


def test_there_are_none_where_predictions_do_not_depend_on_a_direction():
    flat = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-7]])
    assert Coordinates.of(flat) is None
    assert Coordinates.of(np.diag([1.0, 0.0])) is None
    assert Coordinates.of(np.full((2, 2), np.inf)) is None
    heavy = nt.Problem.draw(nt.networks.relu_gate(3), nt.StudentT(1.5), seed=1)
    assert for_predictions(heavy) is None


def test_units_do_not_matter():
    units, form = np.diag([1e6, 1.0, 1e-7]), np.eye(3) + 0.5
    plain, other = Coordinates.of(form), Coordinates.of(units @ form @ units)
    m = np.random.default_rng(0).standard_normal((3, 4))
    np.testing.assert_allclose(other.forward @ np.linalg.inv(units), plain.forward, rtol=0.5)
    np.testing.assert_allclose(other.forward @ other.back, np.eye(3), atol=1e-12)
    for new, gate in ((plain, m), (other, units @ m)):
        np.testing.assert_allclose(
            new.gates(gate).T @ new.gates(gate), m.T @ np.linalg.inv(form) @ m, rtol=1e-9
        )


def test_norms_of_both_directions_are_not_understated():
    form = output_form(gates(2), np.eye(6))
    new = Coordinates.of(form)
    values = np.linalg.eigvalsh(form)
    assert new.stretches >= np.sqrt(values[-1])
    assert new.shrinks >= 1.0 / np.sqrt(values[0])
    np.testing.assert_allclose(new.forward @ new.back, np.eye(2), atol=1e-12)
