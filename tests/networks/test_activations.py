"""Activations σ(z) = c z + ψ(z) with an even part ψ."""

from __future__ import annotations

import copy
import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neurotron as nt
from neurotron.networks.activations import BUILT_IN, Activation

NAMES = list(BUILT_IN)

EXACT = {
    "softplus": lambda z: mpmath.log1p(mpmath.exp(z)),
    "silu": lambda z: z / (1 + mpmath.exp(-z)),
    "gelu": lambda z: z * mpmath.ncdf(z),
}
"""The usual definitions, which do not mention an even part."""


def root(lipschitz=0.5, even_slope=lambda z: 0.5 * z / np.sqrt(1.0 + z * z), even=None):
    even = even or (lambda z: 0.5 * np.sqrt(1.0 + z * z))
    return Activation("root", even, even_slope, lipschitz)


@pytest.mark.parametrize("name", NAMES)
@given(z=st.floats(-50.0, 50.0))
def test_value_and_derivative_are_the_usual_ones(name, z):
    with mpmath.workdps(40):
        value, slope = EXACT[name](mpmath.mpf(z)), mpmath.diff(EXACT[name], mpmath.mpf(z))
    found = BUILT_IN[name]
    assert float(found.value(z)) == pytest.approx(float(value), rel=1e-14, abs=1e-14 * (1 + abs(z)))
    assert float(found.derivative(z)) == pytest.approx(float(slope), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("name", NAMES)
@given(z=st.floats(-1e6, 1e6))
def test_what_is_left_of_the_linear_part_is_even_to_the_last_bit(name, z):
    assert BUILT_IN[name].even(z) == BUILT_IN[name].even(-z)
    assert BUILT_IN[name].even_slope(z) == -BUILT_IN[name].even_slope(-z)


def test_the_lipschitz_constants_are_the_largest_slopes_rounded_up():
    """Where the second derivative vanishes: z = √2 for GELU, z tanh(z/2) = 2 for SiLU."""
    with mpmath.workdps(30):
        gelu = mpmath.erf(1) / 2 + mpmath.exp(-1) / mpmath.sqrt(mpmath.pi)
        z = mpmath.findroot(lambda z: z * mpmath.tanh(z / 2) - 2, 2.4)
        bend = mpmath.tanh(z / 2)
        silu = bend / 2 + z * (1 - bend**2) / 4
        for name, largest in {"softplus": mpmath.mpf("0.5"), "gelu": gelu, "silu": silu}.items():
            assert 0 <= BUILT_IN[name].lipschitz - largest < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_no_slope_between_two_points_exceeds_the_constant(name):
    z = np.linspace(-30.0, 30.0, 400_001)
    slopes = np.abs(BUILT_IN[name].even_slope(z))
    # between grid points a slope changes by at most the step times |ψ''| ≤ 1
    assert slopes.max() <= BUILT_IN[name].lipschitz
    assert slopes.max() >= BUILT_IN[name].lipschitz - 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_built_in_activations_pass_the_check(name):
    nt.check_activation(BUILT_IN[name])
    too_small = Activation(name, BUILT_IN[name].even, BUILT_IN[name].even_slope,
                           BUILT_IN[name].lipschitz * 0.999)  # fmt: skip
    with pytest.raises(nt.conformance.ConformanceError, match="lipschitz"):
        nt.check_activation(too_small)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (root(even=lambda z: 0.5 * np.sqrt(1.0 + z * z) + 1e-3 * z), "not even"),
        (root(lipschitz=0.4), "at least 0.5"),
        (root(even_slope=lambda z: 0.4 * z / np.sqrt(1.0 + z * z)), "not the derivative"),
        (root(even=lambda z: np.abs(z).mean()), "elementwise"),
        (root(even=math.cos), "numbers and arrays"),
        (root(even=lambda z: 1.0 / np.abs(np.where(z == 0.0, 1e-320, z))), "finite"),
    ],
    ids=["odd-part", "lipschitz", "derivative", "elementwise", "numbers-only", "finite"],
)
def test_the_check_says_what_is_wrong(wrong, words):
    with np.errstate(all="ignore"), pytest.raises(nt.conformance.ConformanceError, match=words):
        nt.check_activation(wrong)


def test_kinks_are_allowed():
    """Hard-swish is z/2 plus an even function with kinks at ±3."""
    hard = Activation(
        "hard-swish", lambda z: z * (np.clip(z + 3.0, 0.0, 6.0) / 6.0 - 0.5),
        lambda z: np.where(np.abs(z) < 3.0, z / 3.0, 0.5 * np.sign(z)), lipschitz=1.0,
    )  # fmt: skip
    nt.check_activation(hard)
    sharp = Activation(
        "sharp softplus", lambda z: 0.5 * np.abs(z) + np.log1p(np.exp(-100.0 * np.abs(z))) / 100.0,
        lambda z: 0.5 * np.tanh(50.0 * z), lipschitz=0.5,
    )  # fmt: skip
    nt.check_activation(sharp)


def test_your_own_activation_is_trained_on_the_slower_engine():
    nt.check_activation(root())
    network = nt.networks.symmetric(12, 3, 4, seed=1, activation=root())
    problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    run = nt.simulate(problem, nt.NeuroTron(), steps=600, batch_size=16)
    assert run.engines[0].name == "numpy"
    assert "activation root" in run.engines[0].reason
    assert run.final_errors[0] < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_a_network_remembers_its_activation(name):
    for network in (
        nt.networks.symmetric(6, 2, 4, activation=name),
        nt.networks.convolution(6, 2, activation=name),
        nt.networks.convolution2d((3, 3), (2, 2), activation=name),
        nt.networks.from_gates(np.ones((2, 2, 3)), activation=name),
        nt.networks.relu_gate(3, activation=name),
        nt.networks.BY_NAME.build(f"convolution2d:n_inputs=9,filter_size=4,activation={name}"),
    ):
        assert network.activation == BUILT_IN[name]
        assert f"activation={name}" in repr(network)
        assert not network.is_linear
        for copied in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
            assert copied.activation == network.activation


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"activation": "gelo"}, "did you mean 'gelu'"),
        ({"activation": "tanh"}, "odd part is not linear"),
        ({"activation": "ELU"}, "odd part is not linear"),
        ({"activation": "gelu", "leak": 0.1}, "not both"),
        ({"activation": 3}, "an Activation"),
        ({"activation": np.tanh}, "an Activation"),
    ],
    ids=["typo", "not-linear", "capitals", "leak", "number", "function"],
)
def test_other_values_are_refused(given, words):
    with pytest.raises(nt.InputError, match=words):
        nt.networks.relu_gate(3, **given)


def test_relu_is_the_name_of_the_usual_activation():
    assert nt.networks.relu_gate(3, activation="relu").activation is None
    assert nt.networks.relu_gate(3, activation="Swish").activation == BUILT_IN["silu"]


@pytest.mark.parametrize("leak", [0.0, 0.3, 1.0])
def test_the_leaky_relu_has_the_constants_of_the_paper(leak):
    network = nt.networks.relu_gate(3, leak=leak)
    assert (network.odd_slope, network.even_lipschitz) == ((1 + leak) / 2, (1 - leak) / 2)
    assert network.is_linear == (leak == 1.0)
    assert network.steepest == 1.0
    assert network.at_zero == 0.0


def test_the_output_of_zero_weights_counts_as_rounded():
    network = nt.networks.convolution(6, 2, activation="softplus", outer_weights=-2.0)
    assert network.at_zero == pytest.approx(2.0 * math.log(2.0))
    assert abs(network(np.zeros(2), np.ones(6))) == pytest.approx(network.at_zero)
