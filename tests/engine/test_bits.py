"""Results keep their bits: what a run gives today, it gave before, and will give tomorrow.

The compiled engine draws, sums and rounds in a fixed order, so on the platforms it is tested on its
results are the same to the last bit. A change of these digests is a change of every result: it must
be meant, and said in the changelog. Step sizes and matrices are given here, since those that are
computed go through libraries whose last bits depend on the machine.
"""

from __future__ import annotations

import hashlib
import platform

import numpy as np
import pytest

import neurotron as nt

A = nt.attacks
SIGNS = [1.0, -1.0, 0.5, 0.25, -2.0]


def digest(run: nt.Trajectories) -> str:
    """Return a hash of everything that was recorded."""
    content = hashlib.sha256()
    for array in (run.steps, run.errors, run.losses, run.weights):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()[:16]


def learn(network: nt.FilterNetwork, law: nt.Law, attack: nt.Attack | None, **options) -> str:
    problem = nt.Problem.draw(network, law, true_weights=SIGNS, noise=options.pop("noise", 0.0))
    trainers = [
        nt.NeuroTron(0.002, "mean"),
        nt.SGD(0.002),
        nt.FirstSampleSGD(0.002),
        nt.NeuroTron(0.05, "mean", weighting="inverse-norm", averaging=True),
    ]
    arms = [nt.Arm(trainer, attack) for trainer in trainers]
    run = nt.simulate(problem, arms, steps=300, batch_size=7, seed=5, engine="compiled", **options)
    assert set(run.status) == {"finished"}
    return digest(run)


SYMMETRIC = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
CONVOLUTION = nt.networks.convolution(n_inputs=16, filter_size=5, stride=2)
LEAKY = nt.networks.symmetric(n_inputs=9, filter_size=5, width=6, seed=2, leak=0.3)
RUNS = {
    "honest": (SYMMETRIC, nt.Normal(), None, {}),
    "noisy": (SYMMETRIC, nt.Normal(scale=2.0), None, {"noise": 0.1}),
    "adaptive": (SYMMETRIC, nt.Normal(), A.Adaptive(0.5, 0.3), {}),
    "laplace": (LEAKY, nt.Laplace(), A.AlternatingSign(0.5, 0.3), {}),
    "uniform": (CONVOLUTION, nt.Uniform(), A.Mixture(0.5, 0.3), {}),
    "signs": (SYMMETRIC, nt.Rademacher(), A.RandomSign(0.5, 0.3), {}),
    "heavy tails": (CONVOLUTION, nt.StudentT(dof=4), A.Burst(0.5, 1.0, share=0.2), {}),
    "impersonated": (LEAKY, nt.Normal(), A.Impersonation(0.5, 0.3, weights=SIGNS[::-1]), {}),
    "one side": (SYMMETRIC, nt.Normal(), A.HalfSpace(0.5, 0.3, direction=SIGNS), {}),
    "replaced": (LEAKY, nt.Normal(), A.Replacement(bound=1.0, probability=0.5, scale=2.0), {}),
    "another replicate": (SYMMETRIC, nt.Normal(), A.Constant(0.5, 0.3), {"replicate": 3}),
}
EXPECTED = {
    "honest": "3e8778b4af125993",
    "noisy": "eec403711bf379ff",
    "adaptive": "6b344d8b2518984a",
    "laplace": "7c01c95e0f54b25d",
    "uniform": "aca947f6305b52d3",
    "signs": "e72948d04b71349e",
    "heavy tails": "1fc4475fc0e3a97d",
    "impersonated": "c1c5af7b3f9d9111",
    "one side": "62b5c5b81bf20229",
    "replaced": "bf0bb59d2ee34d96",
    "another replicate": "27cf4dcdb0a3c819",
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the digests are those of x86-64")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_has_the_bits_it_always_had(name):
    network, law, attack, options = RUNS[name]
    assert learn(network, law, attack, **options) == EXPECTED[name]
