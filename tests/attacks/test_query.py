"""What an attacker sees: one builder, whatever is known of a batch."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.attacks import Burst, LargeNorm, OddDirection, Query
from neurotron.attacks.query import QueryBuilder, visible

VECTOR = np.array([1.0, -2.0, 0.5, 0.0])
X = np.random.default_rng(0).standard_normal((5, 12))


class Curious(nt.Attack):
    """Looks at everything."""

    @property
    def probe_vector(self):
        return VECTOR

    def distort(self, bound, query):
        return 0.0 * query.label


def unknown(query: Query) -> set[str]:
    return {name for name, value in zip(Query._fields, query, strict=True) if np.isnan(value).all()}


def test_of_rows_alone_signs_and_norms_are_known():
    query = QueryBuilder([Curious(1.0)]).build(X)
    np.testing.assert_array_equal(query.sign[:, 0], [-1.0, 1.0, -1.0, 1.0, -1.0])
    np.testing.assert_allclose(query.norm[:, 0], [np.sqrt(row @ row) for row in X], rtol=1e-15)
    assert unknown(query) == {*Query._fields} - {"sign", "norm"}


@pytest.mark.parametrize("sensing", [None, np.random.default_rng(1).standard_normal((4, 12))])
def test_with_a_network_the_probes_are_known(small_problem, sensing):
    network = small_problem.network
    query = QueryBuilder([Curious(1.0)], network, sensing).build(X)
    matrix = network.mean_gate if sensing is None else sensing
    for i, x in enumerate(X):
        assert query.probe[i, 0] == pytest.approx(VECTOR @ matrix @ x, rel=1e-12)
        assert query.probe_output[i, 0] == pytest.approx(network(VECTOR, x), rel=1e-12)


def test_every_arm_has_its_own_parameter_and_vector(small_problem):
    odd, large = OddDirection(1.0, direction=VECTOR), LargeNorm(1.0, cutoff=2.0)
    attacks = [Burst(1.0, share=0.3), None, odd, large]
    query = QueryBuilder(attacks, small_problem.network).build(X)
    np.testing.assert_array_equal(query.parameter, [[0.3, np.nan, np.nan, 2.0]])
    assert np.isnan(query.probe).all(axis=0).tolist() == [True, True, False, True]


def test_an_attack_sees_its_fields_of_its_arms_only():
    attack = LargeNorm(1.0, cutoff=2.0)
    push, label = np.arange(15.0).reshape(5, 3), np.ones((5, 1))
    query = QueryBuilder([attack] * 3).build(X, push=push, label=label)
    seen = visible(query, attack, np.array([2, 0]))
    np.testing.assert_array_equal(seen.push, push[:, [2, 0]])
    assert seen.norm.shape == (5, 1)
    assert unknown(seen) == {*Query._fields} - {"push", "norm", "parameter"}
