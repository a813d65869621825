from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.networks import sensing


def covariance(n: int, seed: int = 0) -> np.ndarray:
    factor = np.random.default_rng(seed).standard_normal((n, 2 * n))
    return factor @ factor.T / n


def test_optimal_inverts_the_mean_gate_seen_through_the_covariance():
    network, sigma = nt.networks.symmetric(9, 4, 6, seed=2), covariance(9)
    product = network.mean_gate @ sigma @ sensing.optimal(network, sigma).T
    np.testing.assert_allclose(product, np.eye(4), atol=1e-10)


def test_polar_has_orthonormal_rows_and_the_singular_values_on_the_product():
    network, sigma = nt.networks.symmetric(9, 4, 6, seed=2), covariance(9)
    m = sensing.polar(network, sigma)
    np.testing.assert_allclose(m @ m.T, np.eye(4), atol=1e-12)
    product = network.mean_gate @ sigma @ m.T
    np.testing.assert_allclose(product, product.T, atol=1e-10)


@pytest.mark.parametrize("outer_weights", [3.0, [1.0, -2.0, 0.5, 4.0]])
def test_center_is_the_mean_of_the_gates_whatever_the_outer_weights(outer_weights):
    network = nt.networks.symmetric(7, 3, 4, seed=1, outer_weights=outer_weights)
    np.testing.assert_allclose(sensing.center(network), network.gates.mean(axis=0), atol=1e-14)
    windows = nt.networks.convolution(7, 4, outer_weights=outer_weights)
    np.testing.assert_allclose(sensing.center(windows), windows.gates.mean(axis=0), atol=1e-14)


@pytest.mark.parametrize("make", [sensing.gaussian, sensing.wishart])
def test_random_constructions_have_full_rank_and_follow_their_seed(make):
    m = make(4, 9, seed=3)
    assert np.linalg.matrix_rank(m) == 4
    np.testing.assert_array_equal(m, make(4, 9, seed=3))
    assert not np.array_equal(m, make(4, 9, seed=4))


def test_the_wishart_block_is_symmetric_positive_definite():
    block = sensing.wishart(4, 9, degrees=6)[:, :4]
    np.testing.assert_allclose(block, block.T)
    assert np.linalg.eigvalsh(block)[0] > 0


def test_a_ring_without_stride_is_refused_because_no_matrix_can_train_it():
    ring = nt.networks.convolution(8, 3, circular=True)
    for make in (sensing.polar, sensing.optimal):
        with pytest.raises(nt.InputError, match="no sensing matrix can train this network"):
            make(ring, np.eye(8))
