"""The step sizes of the command line suit every network and law."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.cli import in_this_process

import neurotron as nt
from neurotron.cli import options, step_sizes

PAPER = options.build_problem("symmetric", "normal", None, None, 0.0, 0)
DEFAULTS = ("neuro-tron", "first-sample-sgd", "sgd")


ATTACK = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)


def built(problem, text, *, attack=ATTACK, step_size=None):
    return step_sizes.Defaults(problem, attack, 2000, 16, step_size).build(text)


@pytest.mark.parametrize("network", ["relu-gate", "linear", "convolution", "symmetric:width=4"])
@pytest.mark.parametrize(
    "law",
    [
        "normal",
        "laplace",
        "student-t:dof=4",
        "student-t:dof=1",
        "autoregressive:rho=0.5",
        "corrupted:scale=0.1",
    ],
)
def test_no_trainer_diverges_and_neuro_tron_arrives(network, law):
    problem = options.build_problem(network, law, 16, None, 0.0, 1)
    run = nt.simulate(
        problem, [built(problem, text) for text in DEFAULTS], attack=ATTACK, steps=2000
    )
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
    assert step_sizes.papers_step_size(problem, "symmetric") == step_size


def test_other_networks_are_not_the_papers():
    for text in ("symmetric:width=4", "symmetric:leak=0.1", "symmetric:outer_weights=2"):
        problem = options.build_problem(text, "normal", None, None, 0.0, 0)
        assert not step_sizes.is_papers(problem.network, text)


def test_a_step_size_that_is_given_is_used():
    with pytest.raises(nt.InputError, match=r"step_size.*got 0"):
        built(PAPER, "sgd", step_size=0.0)
    assert built(PAPER, "sgd", step_size=0.5).step_size == 0.5
    assert built(PAPER, "sgd:step_size=0.25", step_size=0.5).step_size == 0.25
    assert built(PAPER, "neuro-tron:step_size=0.25").step_size == 0.25


@pytest.mark.parametrize("text", ["neuro-tron", "neuro-tron:sensing=mean"])
def test_neuro_tron_gets_the_step_size_of_the_best_guarantee(text):
    problem = options.build_problem("relu-gate", "normal", 8, None, 0.0, 1)
    trainer = built(problem, text)
    guaranteed = nt.certify(problem, nt.Arm(trainer, ATTACK), steps=2000).radius
    for factor in (0.5, 2.0):
        other = nt.NeuroTron(factor * trainer.step_size, trainer.sensing)
        assert guaranteed < nt.certify(problem, nt.Arm(other, ATTACK), steps=2000).radius


def test_without_any_guarantee_neuro_tron_gets_the_fastest_step_size():
    problem = options.build_problem("relu-gate", "normal", 8, None, 0.0, 1)
    assert built(problem, "neuro-tron", attack=nt.attacks.SignFlip()).step_size == "fastest"


def test_the_step_sizes_in_use_are_printed():
    done = in_this_process(
        "simulate", "--network", "relu-gate", "--n-inputs", "8", "--steps", "20", "--trainer",
        "neuro-tron", "--trainer", "sgd", "--trainer", "refined-tron", "--attack", "sign-flip",
    )  # fmt: skip
    assert "(fastest)" in done.stdout
    assert "its own" in done.stdout
    problem = options.build_problem("relu-gate", "normal", 8, None, 0.0, 0)
    flipped = step_sizes.Defaults(problem, nt.attacks.SignFlip(), 20, 16).build("sgd")
    assert f"{flipped.step_size:.3g}" in done.stdout.split()
