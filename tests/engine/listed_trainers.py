"""A program: adds adapting trainers to the list of built-in ones, and compares the two engines."""

from __future__ import annotations

import numpy as np
from tests.support.comparison import assert_equal_runs

import neurotron as nt
from neurotron.engine.compiled import formulas
from neurotron.networks.sensing import gaussian


class Clipping:
    """Clips residuals at a moving threshold, in units of a moving mean squared length."""

    state_fields = ("threshold", "square")
    initial_state = (1.0, 5.0)

    @staticmethod
    def influence(residual, state):
        threshold, square = state
        return np.minimum(np.maximum(residual, -threshold), threshold) * 2.0 / square

    @staticmethod
    def observe(residual, length, state):
        return np.abs(residual) <= state[0], length

    @staticmethod
    def adapt(state, mean, step):
        threshold, square = state
        faster = 0.1 / np.sqrt(1.0 + step)
        within, length = mean
        return threshold * np.exp(faster * (0.7 - within)), 0.9 * square + 0.1 * length


class ClippedSGD(Clipping, nt.SGD):
    pass


class ClippedFirst(Clipping, nt.FirstSampleSGD):
    pass


class ClippedTron(Clipping, nt.NeuroTron):
    pass


def compare(problem, steps=200, size=0.05):
    """Return the run of all directions, one also weighted, if it is the same on both engines."""
    network = problem.network
    matrix = gaussian(network.filter_size, network.n_inputs, seed=3)
    trainers = [
        ClippedSGD(size),
        ClippedFirst(size),
        ClippedTron(size, sensing=matrix),
        ClippedTron(size, sensing=matrix, weighting="inverse-norm"),
    ]
    attacks = [None, nt.attacks.AlternatingSign(0.5, 0.4), nt.attacks.Adaptive(3.0, 0.4)]
    arms = [nt.Arm(trainer, attack) for trainer in trainers for attack in attacks]
    arms.insert(4, nt.Arm(nt.SGD(0.001)))
    runs = [
        nt.simulate(problem, arms, steps=steps, batch_size=5, engine=engine)
        for engine in ("auto", "numpy")
    ]
    assert_equal_runs(*runs)
    return runs[0]


def main():
    """Print the engines, and how a tame and a wild run end."""
    formulas.TRAINERS += (ClippedSGD, ClippedFirst, ClippedTron)
    build, draw = nt.networks, np.random.default_rng(0)
    gates = build.from_gates(draw.standard_normal((3, 4, 7)), leak=0.05)
    for network in (build.symmetric(9, 4, 6, seed=3), build.convolution(9, 4, 2, leak=0.1), gates):
        run = compare(nt.Problem.draw(network, nt.Laplace(), seed=2))
        print(*{engine.name for engine in run.engines})  # noqa: T201
        X = draw.standard_normal((23, network.n_inputs))
        truth = draw.standard_normal(network.filter_size)
        rows = nt.Problem.from_rows(
            network, X, network(truth, X), sample_weight=draw.random(23), true_weights=truth
        )
        compare(rows)
    wild = compare(nt.Problem.draw(gates, nt.Normal(), seed=2), size=1e7)
    assert run.state.memory[0][0] != 1.0 != run.state.memory[0][1]
    print(run.status[0], wild.status[0])  # noqa: T201


if __name__ == "__main__":
    main()
