"""Train, attack, certify and study depth-2 single-filter networks with poisoned labels.

>>> import neurotron as nt
>>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
>>> problem = nt.Problem.draw(network, nt.Normal(scale=1.0), seed=1)
>>> attack = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
>>> trainers = [nt.NeuroTron(), nt.SGD(step_size=0.02)]
>>> run = nt.simulate(problem, trainers, attack=attack, steps=1000, batch_size=16, seed=0)
>>> run.errors.shape == (2, len(run.steps))
True

Everything is imported on first use: ``import neurotron`` loads neither the compiler nor SciPy.
Type checkers read ``__init__.pyi``, which ``python -m neurotron._names`` writes from `_HOME`.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "neurotron._check": ["InputError"],
    "neurotron.attacks": ["Attack", "Budget", "Query"],
    "neurotron.auditing": ["Audit", "audit"],
    "neurotron.conformance": [
        "check_activation", "check_attack", "check_law", "check_trainer",
    ],
    "neurotron.estimators": [
        "CertifiedHuberRegressor", "MedianOfParts", "NeuroTronRegressor", "intervals",
        "load_model",
    ],
    "neurotron.laws": [
        "Correlated", "Empirical", "Laplace", "Law", "Normal", "ProductLaw", "Rademacher",
        "ScipyLaw", "StudentT", "Uniform",
    ],
    "neurotron.lab.figures": ["plot"],
    "neurotron.networks": ["FilterNetwork"],
    "neurotron.poisoning": ["poison"],
    "neurotron.problem": ["Problem"],
    "neurotron.simulation": ["simulate"],
    "neurotron.lab.training.runs": ["load_results"],
    "neurotron.solvers": ["Solution", "solve"],
    "neurotron.guarantees": [
        "Certificate", "NotAchievable", "Plan", "Verification", "certify", "plan", "verify",
    ],
    "neurotron.trainers": [
        "SGD", "Arm", "ClippedSGD", "ClippedTron", "FirstSampleSGD", "HuberSGD", "NeuroTron",
        "RefinedTron", "Stages", "Trainer", "TrimmedSGD",
    ],
    "neurotron.trajectories": ["Trajectories"],
    "neurotron.work": ["Study"],
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_SUBPACKAGES = (
    "attacks", "data", "guarantees", "lab", "laws", "networks", "simulation", "solvers", "theory",
    "trainers",
)  # fmt: skip
_SEARCHED = ("attacks", "data", "laws", "networks", "simulation", "solvers", "theory", "trainers")

__all__ = sorted([*_MODULE_OF, *_SUBPACKAGES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    elif name in _SUBPACKAGES:
        value = importlib.import_module(f"neurotron.{name}")
    elif name == "__version__":
        value = importlib.import_module("neurotron._environment").package_version()
    else:
        raise AttributeError(f"module 'neurotron' has no attribute {name!r}{_hint(name)}")
    globals()[name] = value
    return value


def _hint(name: str) -> str:
    """Return a hint: the module where a name is found, or the most similar name."""
    import difflib
    import importlib.util

    if name.startswith("_") or importlib.util.find_spec(f"neurotron.{name}"):
        return ""  # a module of the package: it may be about to be imported
    places = {each: f"nt.{each}" for each in __all__}
    for package in _SEARCHED:
        module = importlib.import_module(f"neurotron.{package}")
        places = {each: f"nt.{package}.{each}" for each in module.__all__} | places
    if name in places:
        return f": it is {places[name]}"
    spelt = {each.lower(): each for each in places}
    near = difflib.get_close_matches(name.lower(), spelt, n=1)
    return f": did you mean {places[spelt[near[0]]]}?" if near else ""


def __dir__() -> list[str]:
    return sorted(__all__)
