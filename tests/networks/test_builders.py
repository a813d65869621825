from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neurotron as nt


@given(
    half=st.integers(1, 6),
    r=st.integers(1, 5),
    extra=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_the_mean_gate_of_a_symmetric_network_is_its_center(half, r, extra, seed):
    network = nt.networks.symmetric(r + extra, r, 2 * half, seed=seed)
    center, spread = network.basis.values
    np.testing.assert_allclose(network.mean_gate, center, atol=1e-12)
    offsets = [j for j in range(-half, half + 1) if j != 0]
    for gate, j in zip(network.gates, offsets, strict=True):
        np.testing.assert_allclose(gate, center + j * spread, atol=1e-12)


def test_symmetric_takes_given_matrices_and_projects_twice_whatever_the_width():
    center, spread = np.random.default_rng(0).standard_normal((2, 3, 5))
    network = nt.networks.symmetric(center=center, spread=spread, width=8)
    np.testing.assert_array_equal(network.basis.values, [center, spread])
    assert network.project(np.ones((2, 5))).shape == (2, 2, 3)


def test_the_drawn_center_depends_on_the_seed_only():
    drawn = nt.networks.symmetric(5, 2, 4, seed=1).basis.values[0]
    spread = np.ones((2, 5))
    np.testing.assert_array_equal(
        drawn, nt.networks.symmetric(5, 2, 8, spread=spread, seed=1).basis.values[0]
    )
    assert not np.array_equal(drawn, nt.networks.symmetric(5, 2, 4, seed=2).basis.values[0])


def naive_convolution(w, signal, stride, circular=False):
    """Mean of relu over windows, written with loops."""
    n, total, count = len(signal), 0.0, 0
    start = 0
    while start < n and (circular or start + len(w) <= n):
        z = sum(w[j] * signal[(start + j) % n] for j in range(len(w)))
        total, count, start = total + max(z, 0.0), count + 1, start + stride
    return total / count


@pytest.mark.parametrize(
    ("n", "r", "stride", "circular"),
    [(9, 4, 1, False), (9, 4, 2, False), (10, 3, 3, True), (5, 5, 1, False), (7, 2, 5, True)],
)
def test_convolution_equals_a_loop_written_naively(n, r, stride, circular):
    network = nt.networks.convolution(n, r, stride, circular=circular)
    draw = np.random.default_rng(6)
    w, x = draw.standard_normal(r), draw.standard_normal((5, n))
    expected = [naive_convolution(w, row, stride, circular) for row in x]
    np.testing.assert_allclose(network(w, x), expected, rtol=1e-12)


@pytest.mark.parametrize("stride", [1, (2, 1), (1, 3)])
def test_convolution2d_equals_a_loop_written_naively(stride):
    down, across = (stride, stride) if isinstance(stride, int) else stride
    network = nt.networks.convolution2d((5, 6), (2, 3), stride)
    draw = np.random.default_rng(7)
    w, images = draw.standard_normal((2, 3)), draw.standard_normal((4, 5, 6))
    for image in images:
        values = [
            max(float((image[i : i + 2, j : j + 3] * w).sum()), 0.0)
            for i in range(0, 4, down)
            for j in range(0, 4, across)
        ]
        assert network(w.ravel(), image.ravel()) == pytest.approx(np.mean(values), rel=1e-12)


def test_a_convolution_never_forms_a_dense_matrix_to_answer():
    network = nt.networks.convolution(20_000, 50, 10)
    x = np.random.default_rng(0).standard_normal((2, 20_000))
    assert np.isfinite(network(np.ones(50), x)).all()
    assert "gates" not in network.__dict__


# ---- linear networks and intercepts --------------------------------------------------------------


def test_the_linear_network_is_the_product_with_its_filter():
    draw = np.random.default_rng(7)
    w, x = draw.standard_normal(4), draw.standard_normal((9, 4))
    network = nt.networks.linear(4)
    np.testing.assert_allclose(network(w, x), x @ w, rtol=1e-13)
    np.testing.assert_allclose(network.gradient(w, x), x, rtol=1e-13)
    np.testing.assert_array_equal(nt.networks.BY_NAME.build("linear", n_inputs=4)(w, x), x @ w)


OPPOSITE = np.random.default_rng(0).standard_normal((3, 4, 7))
LINEAR_NETWORKS = {
    "linear": nt.networks.linear(6),
    "weighted gate": nt.networks.relu_gate(6, outer_weights=3.0, leak=1.0),
    "symmetric": nt.networks.symmetric(9, 4, 4, seed=3, outer_weights=[1, 2, 0.5, -3], leak=1.0),
    "convolution": nt.networks.convolution(9, 4, 2, leak=1.0),
    "opposite": nt.networks.from_gates(OPPOSITE, outer_weights=[1.0, -2.0, 1.0], leak=1.0),
}


@pytest.mark.parametrize("name", LINEAR_NETWORKS)
def test_an_intercept_is_added_to_what_a_network_of_leak_one_predicts(name):
    network, draw = LINEAR_NETWORKS[name], np.random.default_rng(8)
    longer = nt.networks.with_intercept(network)
    assert (longer.n_inputs, longer.filter_size) == (network.n_inputs + 1, network.filter_size + 1)
    w, x = draw.standard_normal(network.filter_size), draw.standard_normal((5, network.n_inputs))
    ones = np.column_stack([x, np.ones(5)])
    found = longer(np.append(w, 2.5), ones)
    np.testing.assert_allclose(found, x @ network.mean_gate.T @ w + 2.5, rtol=1e-12)
    np.testing.assert_allclose(found, network(w, x) + 2.5, rtol=1e-12)


def test_the_linear_network_with_an_intercept_is_never_formed_as_a_matrix():
    assert isinstance(nt.networks.with_intercept(nt.networks.linear(3)).basis, nt.networks.Windows)


@pytest.mark.parametrize("leak", [0.0, 0.5])
def test_an_intercept_of_another_network_is_refused_with_what_to_do(leak):
    with pytest.raises(nt.InputError, match=rf"leak={leak:g}: .*networks\.linear\(n_inputs\)"):
        nt.networks.with_intercept(nt.networks.relu_gate(3, leak=leak))
