"""The parts of the compiled loop, each against an independent derivation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import neurotron as nt
from neurotron import _formula
from neurotron.engine.compiled import elementary  # noqa: F401
from neurotron.engine.compiled.products import add_transposed_product, product
from neurotron.engine.compiled.program import Program
from neurotron.engine.compiled.respond import is_symmetric, respond

log, expm1, cos_turn, sin_turn, select = (
    _formula.log, _formula.expm1, _formula.cos_turn, _formula.sin_turn, _formula.select
)  # fmt: skip


@njit(error_model="numpy")
def grow(x, out):
    for i in range(x.size):
        out[i] = expm1(x[i])


def test_growth_is_exact_to_a_few_units_in_the_last_place():
    draw = np.random.default_rng(0)
    x = np.concatenate([draw.uniform(0, 709, 50_000), 10.0 ** draw.uniform(-18, 0, 50_000), [0.0]])
    out = np.empty_like(x)
    grow(x, out)
    np.testing.assert_allclose(out, [math.expm1(one) for one in x], rtol=1e-15, atol=0)
    grow(np.array([709.5, 1e4, np.inf]), out)
    assert np.isinf(out[:3]).all()


@njit(error_model="numpy")
def elementwise(u, logs, cosines, sines, choices):
    for i in range(u.size):
        logs[i] = log(u[i])
        cosines[i] = cos_turn(u[i])
        sines[i] = sin_turn(u[i])
        choices[i] = select(u[i] < 0.5, -u[i], 2.0)


def test_logarithm_and_circle_are_exact_to_a_few_units_in_the_last_place():
    draw = np.random.default_rng(0)
    small = 10.0 ** -draw.uniform(0, 15, 20_000)
    u = np.concatenate([draw.random(50_000), small, 1.0 - small, [2.0**-53, 0.25, 0.5, 0.75, 1.0]])
    logs, cosines, sines, choices = np.empty((4, u.size))
    elementwise(u, logs, cosines, sines, choices)
    np.testing.assert_allclose(logs, [math.log(x) for x in u], rtol=1e-15, atol=0)
    # 2πu rounds: compare with the angle from the nearest quarter turn, which is exact
    quarter = np.floor(4.0 * u + 0.5)
    rest = 2.0 * np.pi * (u - 0.25 * quarter)
    turn = np.exp(1j * rest) * np.array([1, 1j, -1, -1j, 1])[quarter.astype(int)]
    np.testing.assert_allclose(cosines, turn.real, rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(sines, turn.imag, rtol=1e-15, atol=1e-16)
    np.testing.assert_array_equal(choices, np.where(u < 0.5, -u, 2.0))


def run(*calls):
    """Make compiled calls, once."""
    program = Program(calls, [], clock=np.zeros(1, dtype=int), shown=np.empty((0, 16)))
    program.run(0, 1, np.arange(0), np.empty((0, 8), dtype=int), np.empty((0, 0, 16)))


@pytest.mark.parametrize("rows", [1, 3, 4, 7, 16])
@pytest.mark.parametrize("size", [1, 4, 6])
def test_products_are_those_of_numpy(rows, size):
    draw = np.random.default_rng(rows * 10 + size)
    left, columns = draw.standard_normal((rows, 9)), draw.permutation(9)[:size]
    right, out = draw.standard_normal((size, 8)), np.full((rows, 20), 7.0)
    run((product, left, columns, right.ravel(), out.reshape(-1), 20, 11))
    np.testing.assert_allclose(out[:, 11:19], left[:, columns] @ right, atol=1e-13)
    assert (out[:, :11] == 7.0).all()
    assert (out[:, 19] == 7.0).all()
    weights, total = draw.standard_normal((rows, 8)), draw.standard_normal((size, 8))
    expected = total + left[:, columns].T @ weights
    flat = total.ravel()
    run((add_transposed_product, left, columns, weights.ravel(), flat))
    np.testing.assert_allclose(flat.reshape(size, 8), expected, atol=1e-13)


def compiled_response(network, responses):
    output, total, slope = np.empty((3, responses.shape[1]))
    coefficients = np.empty_like(responses)
    run(*respond(network, responses, output, True, coefficients, total, slope))
    return output, coefficients


def test_outputs_and_coefficients_are_those_of_the_network(network):
    responses = np.random.default_rng(0).standard_normal((len(network.basis), 200))
    output, coefficients = compiled_response(network, responses)
    expected = network.respond(responses[:, None, :].transpose(1, 0, 2))
    np.testing.assert_allclose(output, expected[0][0], atol=1e-14)
    np.testing.assert_allclose(coefficients, expected[1][0], atol=1e-14)


whole = st.integers(-40, 40).map(float)
tiny = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, 1.0, -1.0, 1e300])


@given(
    s=st.one_of(whole, tiny),
    v=st.one_of(whole, tiny),
    half=st.integers(1, 12),
    leak=st.sampled_from([0.0, 0.3]),
)
def test_the_closed_form_of_symmetric_gates_is_exact_at_ties(s, v, half, leak):
    """Whole numbers make gates s + f v exactly zero, where the slope is the leak."""
    network = nt.networks.symmetric(2, 1, 2 * half, seed=0, leak=leak)
    assert is_symmetric(network)
    output, coefficients = compiled_response(network, np.array([[s], [v]]))
    factors = [sign * f for f in range(1, half + 1) for sign in (1, -1)]
    slopes = [1.0 if s + f * v > 0.0 else leak for f in factors]
    share = 1.0 / (2 * half)
    sums = [slope * (s + f * v) for f, slope in zip(factors, slopes, strict=True)]
    size = share * sum(map(abs, sums)) + 1e-300
    assert output[0] == pytest.approx(share * math.fsum(sums), abs=1e-13 * size)
    assert coefficients[0, 0] == pytest.approx(share * sum(slopes), abs=1e-14)
    weighted = share * sum(f * slope for f, slope in zip(factors, slopes, strict=True))
    assert coefficients[1, 0] == pytest.approx(weighted, abs=1e-12)


def test_unequal_outer_weights_are_not_taken_for_symmetric():
    weighted = nt.networks.symmetric(5, 2, 4, outer_weights=[1, 1, 1, 2])
    assert not is_symmetric(weighted)
    mix = np.array([[1.0, 1.0], [1.0, -2.0]])
    assert not is_symmetric(nt.FilterNetwork(weighted.basis, mix))
