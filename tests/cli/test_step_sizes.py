"""The step sizes of the command line suit every network and law."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.cli import in_this_process

import neurotron as nt
from neurotron.cli import options, step_sizes

PAPER = options.build_problem("symmetric", "normal", None, None, 0.0, 0)
DEFAULTS = ("neuro-tron", "first-sample-sgd", "sgd")


def built(problem, text, *, papers=False, step_size=None):
    return step_sizes.build_trainer(
        text, problem, batch_size=16, papers=papers, step_size=step_size
    )


@pytest.mark.parametrize("network", ["relu-gate", "linear", "convolution", "symmetric:width=4"])
@pytest.mark.parametrize(
    "law", ["normal", "laplace", "student-t:dof=4", "student-t:dof=1", "autoregressive:rho=0.5"]
)
def test_no_trainer_diverges_and_neuro_tron_arrives(network, law):
    problem = options.build_problem(network, law, 16, None, 0.0, 1)
    arms = [nt.Arm(built(problem, text), name=text) for text in DEFAULTS]
    run = nt.simulate(problem, arms, steps=2000, batch_size=16)
    assert set(run.status) == {"finished"}
    assert np.isfinite(run.errors).all()
    assert run.errors[0, -1] < 0.5 * problem.initial_error()


@pytest.mark.parametrize(
    ("law", "step_size"),
    [("normal", 1e-4), ("student-t:dof=4", 1e-4), ("normal:scale=3", 5e-5),
     ("laplace:scale=2", 5e-5)],
)  # fmt: skip
def test_the_papers_settings_have_the_papers_step_sizes(law, step_size):
    problem = options.build_problem("symmetric", law, None, None, 0.0, 0)
    assert step_sizes.is_papers(problem.network, "symmetric")
    for text in ("neuro-tron:sensing=mean", "sgd"):
        assert built(problem, text, papers=True).step_size == step_size


def test_other_networks_are_not_the_papers():
    for text in ("symmetric:width=4", "symmetric:leak=0.1", "symmetric:outer_weights=2"):
        problem = options.build_problem(text, "normal", None, None, 0.0, 0)
        assert not step_sizes.is_papers(problem.network, text)


def test_a_step_size_that_is_given_is_used():
    assert built(PAPER, "sgd", papers=True, step_size=0.5).step_size == 0.5
    assert built(PAPER, "sgd:step_size=0.25", step_size=0.5).step_size == 0.25
    assert built(PAPER, "neuro-tron:step_size=0.25").step_size == 0.25


def test_the_step_sizes_in_use_are_printed():
    done = in_this_process(
        "simulate", "--network", "relu-gate", "--n-inputs", "8", "--steps", "20", "--trainer",
        "neuro-tron", "--trainer", "sgd", "--trainer", "refined-tron", "--attack", "none",
    )  # fmt: skip
    assert "(fastest)" in done.stdout
    assert "its own" in done.stdout
    problem = options.build_problem("relu-gate", "normal", 8, None, 0.0, 0)
    assert f"{built(problem, 'sgd').step_size:.3g}" in done.stdout.split()
