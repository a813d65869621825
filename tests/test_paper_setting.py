"""The paper's setting N(0, 1), n = 100, r = 25, k = 10, b = 16, η = 1e-4, on a fixed network."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.workloads import FOUR_LAWS
from evidence.recovery import BAR, replicate

import neurotron as nt

BOUNDS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)


@pytest.fixture(scope="module")
def run() -> nt.Trajectories:
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=1)
    problem = nt.Problem.draw(network, nt.Normal(scale=1.0), seed=1)
    arms = [
        nt.Arm(
            nt.NeuroTron(step_size=1e-4, sensing="mean"),
            nt.attacks.AlternatingSign(bound=bound, probability=0.5),
        )
        for bound in BOUNDS
    ]
    return nt.simulate(problem, arms, steps=40_000, batch_size=16, record=20)


def last_thousand(run: nt.Trajectories) -> np.ndarray:
    return np.median(run.errors[:, run.steps > 39_000], axis=1)


def test_without_attack_the_filter_is_recovered_to_rounding(run):
    assert run.errors[0, -1] < 1e-13


def test_a_small_attack_leaves_a_small_floor(run):
    assert 5e-4 <= last_thousand(run)[1] <= 3e-3


def test_the_floor_grows_with_the_bound(run):
    assert (np.diff(last_thousand(run)) > 0).all()


def test_a_net_on_which_sgd_ends_at_the_mirror_filter_and_neuro_tron_does_not():
    """The network of the README, in full."""
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=2)
    problem = nt.Problem.draw(network, nt.Normal(), seed=2)
    attack = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
    arms = [nt.Arm(nt.NeuroTron(1e-4, sensing="mean"), attack), nt.Arm(nt.SGD(1e-4), attack)]
    run = nt.simulate(problem, arms, steps=40_000, batch_size=16, seed=2)
    ours, theirs = run.errors[:, -1]
    assert ours < 5e-3
    assert theirs > 1.0
    w, true = run.weights[1], problem.true_weights
    assert -(w @ true) > 0.9 * np.linalg.norm(w) * np.linalg.norm(true)


@pytest.mark.parametrize("setting", FOUR_LAWS, ids=lambda setting: setting.name)
def test_a_replicate_of_the_recovery_evidence(setting):
    """One of the 80 rows of docs/evidence/recovery.md, cut at 80 000 steps."""
    assert replicate(setting, 1, steps=80_000)["final error"] < BAR
