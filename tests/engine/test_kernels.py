"""The parts of the compiled loop, each against an independent derivation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from numba import njit

import neurotron as nt
from neurotron import _formula
from neurotron.engine.compiled import elementary  # noqa: F401
from neurotron.engine.compiled.products import add_transposed_product, product
from neurotron.engine.compiled.program import Program
from neurotron.engine.compiled.respond import is_symmetric, respond
from neurotron.networks.activations import BUILT_IN

log, expm1, cos_turn, sin_turn, t4_quantile, select = (
    _formula.log, _formula.expm1, _formula.cos_turn, _formula.sin_turn, _formula.t4_quantile,
    _formula.select,
)  # fmt: skip


@njit(error_model="numpy")
def elementwise(u, x, out):
    for i in range(u.size):
        out[0, i] = log(u[i])
        out[1, i] = expm1(x[i])
        out[2, i] = cos_turn(u[i])
        out[3, i] = sin_turn(u[i])
        out[4, i] = t4_quantile(u[i])
        out[5, i] = select(u[i] < 0.5, -u[i], 2.0)


def exact_t4_quantile(u):
    third = mp.asin(2 * u - 1) / 3
    return 4 * mp.sin(third) * mp.sqrt(mp.cos(third) / (2 * mp.sqrt(u * (1 - u))))


EXACT = {
    "log": (mp.log, 1.5),
    "expm1": (mp.expm1, 2.5),
    "cos_turn": (lambda v: mp.cospi(2 * v), 2.5),
    "sin_turn": (lambda v: mp.sinpi(2 * v), 2.5),
    "t4_quantile": (exact_t4_quantile, 5.0),
}
"""The functions, and how far from them we are at most, in units of the last place.

The largest errors found in 120 000 arguments each are 1.20, 2.24, 2.39, 2.18 and 4.33.
"""


@pytest.fixture(scope="module")
def elementary_values():
    """Arguments u in (0, 1] and x ≥ 0 of all sizes, with the compiled functions there."""
    draw = np.random.default_rng(0)
    small = 10.0 ** -draw.uniform(0, 15, 500)
    u = np.concatenate([draw.random(1000), small, 1.0 - small, [2.0**-53, 0.25, 0.5, 0.75]])
    x = np.concatenate([draw.uniform(0, 709, 1000), 10.0 ** draw.uniform(-18, 0, 1003), [0.0]])
    out = np.empty((6, u.size))
    elementwise(u, x, out)
    return u, x, out


@pytest.mark.parametrize(("row", "name"), list(enumerate(EXACT)))
def test_elementary_functions_are_exact_to_a_few_units_in_the_last_place(
    elementary_values, row, name
):
    u, x, out = elementary_values
    function, units = EXACT[name]
    with mp.workprec(120):
        exact = [function(mp.mpf(one)) for one in (x if name == "expm1" else u)]
        errors = [
            float(abs(mp.mpf(one) - truth)) / np.spacing(abs(float(truth)))
            for one, truth in zip(out[row], exact, strict=True)
        ]
    assert max(errors) <= units


def test_functions_are_right_at_the_edges(elementary_values):
    u, _, out = elementary_values
    np.testing.assert_array_equal(out[5], np.where(u < 0.5, -u, 2.0))
    edges = np.array([1.0, 1.0, 1.0])
    out = np.empty((6, 3))
    elementwise(edges, np.array([709.5, 1e4, np.inf]), out)
    assert (out[0] == 0.0).all()
    assert np.isinf(out[1]).all()
    assert (out[2] == 1.0).all()
    assert (out[3] == 0.0).all()


@njit(error_model="numpy")
def error_functions(x, out):
    for i in range(x.size):
        out[i] = _formula.erf(x[i])


def test_the_error_function_is_odd_and_exact_to_rounding():
    draw = np.random.default_rng(0)
    x = np.concatenate([draw.uniform(0, 7, 3000), 10.0 ** draw.uniform(-18, 0, 500), [0, 6, 6.1]])
    above, below = np.empty((2, x.size))
    error_functions(x, above)
    error_functions(-x, below)
    np.testing.assert_array_equal(below, -above)
    exact = np.array([float(mp.erf(mp.mpf(one))) for one in x])
    assert np.abs(above - exact).max() < 5e-16
    far = np.empty(3)
    error_functions(np.array([1e3, 1e200, np.inf]), far)
    assert (far == 1.0).all()


@pytest.mark.parametrize("activation", BUILT_IN)
def test_compiled_activations_are_exact_to_rounding_and_finite_far_out(activation):
    network = nt.networks.relu_gate(1, activation=activation)
    sizes = 10.0 ** np.random.default_rng(1).uniform(-9, 3, 392)
    z = np.concatenate([sizes, -sizes, [0.0, 40.0, -40.0, 35.0, -35.0, 709.5, 1e5, -1e5]] * 2)
    output, coefficients, spare = np.empty(z.size), np.empty((1, z.size)), np.empty(z.size)
    run(*respond(network, z[None], output, True, coefficients, spare, spare))
    with mp.workprec(120):
        value, slope = EXACT_ACTIVATIONS[activation]
        exact = [float(value(mp.mpf(one))) for one in z]
        assert np.max(np.abs(output - exact) / (1.0 + np.abs(z))) < 5e-16
        exact = [float(slope(mp.mpf(one))) for one in z]
        assert np.max(np.abs(coefficients[0] - exact)) < 1e-14  # |z| < 40 times rounding


EXACT_ACTIVATIONS = {
    "softplus": (lambda z: mp.log1p(mp.exp(z)), lambda z: 1 / (1 + mp.exp(-z))),
    "silu": (
        lambda z: z / (1 + mp.exp(-z)),
        lambda z: 1 / (1 + mp.exp(-z)) * (1 + z / (1 + mp.exp(z))),
    ),
    "gelu": (lambda z: z * mp.ncdf(z), lambda z: mp.ncdf(z) + z * mp.npdf(z)),
}


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
