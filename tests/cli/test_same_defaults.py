"""The commands and the functions of Python have the same defaults."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import neurotron as nt
from neurotron.attacks import build
from neurotron.cli.app import app

NETWORK = ("--network", "symmetric:filter_size=2,width=4,seed=3", "--n-inputs", "8")


def asked(*arguments: str) -> dict:
    """Return what a command prints as JSON."""
    found = CliRunner().invoke(app, [*arguments, *NETWORK, "--json"])
    assert found.exit_code in (0, 1), found.output
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def problem() -> nt.Problem:
    network = nt.networks.symmetric(n_inputs=8, filter_size=2, width=4, seed=3)
    return nt.Problem.draw(network, nt.Normal(), seed=0)


def test_certify_has_the_step_size_of_python(problem):
    attack = build("adaptive", problem, bound=0.25, probability=0.5, seed=0)
    found = nt.certify(problem, nt.Arm(nt.NeuroTron(), attack), steps=500)
    printed = asked("certify", "--steps", "500")
    assert (printed["step_size"], printed["radius"]) == (found.step_size, found.radius)
    assert (
        "This is the fastest step size. With step_size=" in found.statement
    )  # which one is better
    assert printed["confidence"] == found.confidence == 0.95


def test_simulate_trains_with_the_step_size_that_certify_certifies(problem):
    printed = asked("simulate", "--attack", "adaptive", "--trainer", "neuro-tron", "--steps", "20")
    attack = build("adaptive", problem, bound=0.25, probability=0.5, seed=0)
    run = nt.simulate(problem, nt.NeuroTron(), attack=attack, steps=20)
    (arm,) = printed["arms"]
    assert arm["error"] == run.errors[0, -1]
    step_size = nt.certify(problem, nt.NeuroTron(), steps=20).step_size
    again = nt.simulate(problem, nt.NeuroTron(step_size), attack=attack, steps=20)
    assert again.errors[0, -1] == run.errors[0, -1]


def test_plan_has_the_step_size_of_python(problem):
    found = nt.plan(problem, nt.Budget(0.5, 0.3), radius=2.0)
    printed = asked("plan", "--bound", "0.5", "--probability", "0.3", "--radius", "2")
    assert (printed["steps"], printed["trainer"]) == (found.steps, repr(found.arm.trainer))
    assert printed["certificate"]["step_size"] == found.certificate.step_size
