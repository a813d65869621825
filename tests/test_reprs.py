"""No public object prints more than a few lines, whatever arrays it holds."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import stats
from tests.support.attacks import example

import neurotron as nt
from neurotron.attacks.query import QueryBuilder

MOST = 240
"""Characters: three lines of a terminal."""

N = 50
NETWORK = nt.networks.symmetric(
    N, 30, 10, seed=1, outer_weights=np.linspace(1.0, 2.0, 10), leak=0.1
)
X = np.random.default_rng(0).standard_normal((500, N))
ROWS = nt.data.Rows(X, X[:, 0], sample_weight=np.ones(500), true_weights=np.ones(30))
PROBLEM = nt.Problem.draw(NETWORK, nt.Correlated(nt.StudentT(5), np.eye(N)), seed=1, noise=0.1)
RUN = nt.simulate(PROBLEM, nt.SGD(0.001), steps=5, batch_size=2)
ITERATED = nt.simulation.iterate(PROBLEM, nt.SGD(0.001), steps=5, batch_size=2)
MATRIX = np.ones((30, N)) + np.eye(30, N)

OBJECTS = [
    NETWORK, NETWORK.basis, nt.networks.convolution(N, 9).basis, ROWS, PROBLEM, PROBLEM.data,
    nt.Problem(NETWORK, ROWS), nt.Empirical(X), nt.data.Corrupted(nt.Empirical(X), scale=1.0),
    nt.data.Corrupted(nt.Normal(), size=1.0, reads=np.ones(N)),
    nt.networks.relu_gate(2, activation="gelu").activation,
    PROBLEM.law, PROBLEM.even_moments(), nt.ScipyLaw(stats.logistic()),
    *(kind(4) if kind is nt.StudentT else kind() for kind in nt.laws.BUILT_IN),
    *(example(kind, bound=0.5, probability=0.5) for kind in nt.attacks.BUILT_IN),
    *(nt.trainers.build(name, step_size=0.1) for name in nt.trainers.BY_NAME),
    nt.NeuroTron(0.1, MATRIX), nt.NeuroTron().resolve(PROBLEM, batch_size=2, steps=9, attack=None),
    nt.NeuroTron("scheduled").resolve(PROBLEM, batch_size=2, steps=9, attack=None),
    nt.Stages((nt.NeuroTron(0.1, MATRIX), 0.5), (nt.SGD(0.1), 0.5)),
    nt.Budget(1.0, 0.5, "batch"), nt.Arm(nt.NeuroTron(0.1, MATRIX), nt.attacks.Constant(1.0)),
    RUN, RUN[0], RUN.state, ITERATED, next(iter(ITERATED)), RUN.summary(),
    PROBLEM.data.batch(NETWORK, nt.data.Stream.of(0, 0), 0, 8), nt.data.Stream.of(0, 0),
    nt.data.Purpose.NOISE,
    QueryBuilder([nt.attacks.Constant(1.0)], NETWORK).build(X, label=X[:, :1]),
]  # fmt: skip


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_an_object_prints_a_few_lines(thing):
    text = repr(thing)
    assert len(text) <= MOST
    assert "array(" not in text
    assert text.startswith((f"{type(thing).__name__}", "NeuroTron", "<", "arm"))


MADE_ELSEWHERE = {"Attack", "Data", "Law", "ProductLaw", "Trainer"}
"""Base classes: the objects above are of their subclasses."""


def test_every_public_class_is_among_them():
    packages = (nt.attacks, nt.data, nt.laws, nt.networks, nt.simulation, nt.trainers)
    public = {
        value
        for package in packages
        for value in map(vars(package).__getitem__, package.__all__)
        if inspect.isclass(value)
    }
    shown = {type(thing) for thing in OBJECTS}
    assert {kind.__name__ for kind in public - shown} == MADE_ELSEWHERE


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (nt.networks.relu_gate(8), "FilterNetwork(n_inputs=8, filter_size=8, width=1)"),
        (nt.networks.relu_gate(8, outer_weights=2.0, leak=0.1),
         "FilterNetwork(n_inputs=8, filter_size=8, width=1, outer_weights=2, leak=0.1)"),
        (NETWORK, "FilterNetwork(n_inputs=50, filter_size=30, width=10, outer_weights from 1 to 2, "
         "leak=0.1)"),
        (ROWS, "Rows(500 rows of 50 inputs, weighted, with true weights)"),
        (nt.data.Simulated(nt.Normal()), "Simulated(Normal(scale=1.0), without true weights)"),
        (nt.data.Simulated(nt.Normal(), [1.0], 0.5), "Simulated(Normal(scale=1.0), noise=0.5)"),
        (nt.Problem.draw(nt.networks.relu_gate(2), nt.Normal()),
         "Problem(FilterNetwork(n_inputs=2, filter_size=2, width=1), "
         "Simulated(Normal(scale=1.0)))"),
        (nt.Arm(nt.SGD(0.1)), "Arm(SGD(step_size=0.1))"),
        (nt.Arm(nt.SGD(0.1), nt.attacks.Constant(1.0), name="mine"),
         "Arm(SGD(step_size=0.1), Constant(bound=1, probability=1), name='mine')"),
        (nt.simulation.iterate(PROBLEM, nt.SGD(0.001), steps=5, batch_size=2),
         "Run(SGD: step 0 of 5)"),
        (RUN[0], f"ArmTrajectory(SGD: 5 steps, error {RUN.final_errors[0]:.3g})"),
    ],
)  # fmt: skip
def test_an_object_says_what_it_is_made_of(thing, text):
    assert repr(thing) == text


def test_a_law_of_ones_own_is_shown_by_its_name():
    """Commands print it: an address in memory would differ from run to run."""

    class Halved(nt.ProductLaw):
        symmetric, variance, kurtosis = True, 1 / 12, 1.8

        def coordinates(self, u, v):
            return (u - 0.5,)

    assert repr(Halved()) == "Halved"
    assert "from Halved" in f"from {nt.Problem.draw(nt.networks.linear(2), Halved()).law!r}"
