"""A hundred thousand wrong studies and wrong calls: each gets one sentence, or is right."""

from __future__ import annotations

import contextlib
import copy
import datetime
import fractions
import itertools
import json
import math
import random
import signal
import tomllib
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from tests.support.attacks import own_settings
from tests.support.pieces import pieces

import neurotron as nt
from neurotron.conformance import ConformanceError
from neurotron.lab.pages.writing import to_toml
from neurotron.lab.store.folder import Folder
from neurotron.lab.studies import reading
from neurotron.lab.studies.completion import completed
from neurotron.lab.training import building
from neurotron.lab.training.spec import Setting
from neurotron.lab.training.unit import train

pytestmark = pytest.mark.long

STUDIES, CALLS = pieces(60_000, 20), pieces(40_000, 10)
SECONDS = 20.0
"""Of processor time that one study or one call may take."""


class Enough(BaseException):
    """Raised by progress of ours: what was asked for is being computed, so it was accepted."""


class Hang(BaseException):
    """A call took too long."""


@contextlib.contextmanager
def limited():
    """Raise `Hang` after some seconds of processor time."""

    def stop(*_):
        raise Hang

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, previous)


def outcome(call):
    """Return "accepted", "refused", or what went wrong."""
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that overflow
            call()
    except Enough:
        return "accepted"
    except (nt.InputError, ConformanceError) as error:
        text = str(error)
        if text and text.isprintable() and len(text) < 600:
            return "refused"
        return f"not one sentence: {text[:200]!r}"
    except Hang:
        return "hang"
    except MemoryError:
        return "MemoryError"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "accepted"


@pytest.fixture(autouse=True)
def nothing_written(tmp_path, monkeypatch):
    """Nothing appears in the current folder."""
    place = tmp_path / "empty"
    place.mkdir()
    monkeypatch.chdir(place)
    yield
    assert list(place.iterdir()) == []


# ---- values ------------------------------------------------------------------------------------


class Rude:
    """Cannot show itself."""

    def __repr__(self):
        raise RuntimeError("no")


class Anything:
    """Takes any arguments."""

    def __init__(self, *_):
        pass


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


NASTY = {
    "none": None, "true": True, "false": False, "zero": 0, "one": 1, "two": 2, "minus": -1,
    "2**31": 2**31, "2**63 - 1": 2**63 - 1, "2**63": 2**63, "-2**63 - 1": -(2**63) - 1,
    "2**64": 2**64, "10**30": 10**30, "10**5000": 10**5000, "half": 0.5, "nan": math.nan,
    "inf": math.inf, "-inf": -math.inf, "huge": 1e308, "tiny": 5e-324, "minus half": -0.5,
    "-0.0": -0.0, "complex": 1j, "fraction": fractions.Fraction(1, 3),
    "huge fraction": fractions.Fraction(10**400), "int8": np.int8(3),
    "uint64": np.uint64(2**64 - 1), "float16": np.float16(0.1), "NumPy true": np.bool_(True),
    "NaT": np.datetime64("NaT"),
    "date": datetime.date(1979, 5, 27), "": "", "word": "fastest", "long": "x" * 10**6,
    "NUL": "a\0b", "bidi": "a\u202eb", "surrogate": "\ud800", "newline": "a\nb", "format": "{0}%s",
    "settings": "sgd:step_size=1e400,,=", "bytes": b"abc", "many bytes": b"\xff" * 10**5,
    "list": [], "list of nan": [math.nan], "list of text": ["a", "b"], "ragged": [[1], [1, 2]],
    "deep": nested(500), "tuple": (), "dict": {}, "dict of lists": {"a": [1]}, "set": {1, 2},
    "object": object(), "rude": Rude(), "class": Anything, "lambda": lambda *_: None,
    "range": range(3), "empty array": np.empty(0), "0-d": np.array(1.0), "ints": np.arange(3),
    "objects": np.array([None, 1], dtype=object), "complex array": np.ones(3) * 1j,
    "masked": np.ma.masked_array([1.0, 2.0], [True, False]), "text array": np.array(["a"]),
    "huge array": np.broadcast_to(1.0, (10**6, 10**6)),
    "huge row": np.broadcast_to(1.0, (10**12,)), "many axes": np.ones((1,) * 20),
    "infinite array": np.full((3, 3), np.inf), "overflow": np.full((3, 3), 1e308),
    "zeros": np.zeros((3, 3)), "path": Path("no/such/place"), "nan path": Path("a\0b"),
}  # fmt: skip


# ---- calls -------------------------------------------------------------------------------------


def stop(*_):
    raise Enough


def solve_quietly(**arguments):
    """Solve a table without the warnings about rows that do not determine all weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return nt.solve(**arguments)


def good_calls(folder):
    """Return every public callable by name, with arguments it accepts."""
    gate = nt.networks.relu_gate(3)
    rows = np.vstack([np.eye(3), -np.eye(3)])
    problem = nt.Problem.draw(gate, nt.Normal(), seed=1)
    attack = nt.attacks.Constant(0.1, 0.1)
    arm = nt.Arm(nt.NeuroTron(0.1), attack)
    run = nt.simulate(problem, [arm], steps=3, batch_size=2)
    study = nt.lab.read("smoke")
    study = replace(study, settings=[one | {"steps": 10} for one in study.settings])
    nt.lab.run(study, folder, replicates=1)
    results = nt.load_results(folder)
    chart = nt.lab.figures.run_chart(run)
    model = folder.with_name("model.safetensors")
    nt.NeuroTronRegressor().fit(np.arange(20.0).reshape(10, 2) ** 2, np.arange(10.0)).save(model)
    budget = nt.Budget(0.1, 0.1)
    theorem = nt.theory.Theorem1.of(problem, np.eye(3), budget, 4)
    moved = nt.Problem.draw(gate, nt.data.Corrupted(nt.Normal(), size=0.5, probability=0.1), seed=1)
    liar = nt.Arm(nt.NeuroTron(0.1), nt.attacks.Impersonation(1.0, weights=[1.0, 2.0, 3.0]))
    asked = {"bound": 0.1, "probability": 0.5}
    scaled = {"scale": 1.0}
    stepped = {"step_size": 0.1, "averaging": False}
    robust = {"pace": 0.1, "averaging": False, "weighting": None, "quantile": 0.2, "speed": 0.1}
    weighted = {"sensing": "optimal", "weighting": None}
    simulated = {
        "problem": problem, "arms": [arm, nt.SGD(0.1)], "attack": attack, "steps": 3,
        "batch_size": 2, "seed": 0, "replicate": 0,
        "record": "log", "engine": "auto", "resume": None, "progress": stop,
    }  # fmt: skip
    certified = {
        "problem": problem, "arm": arm, "batch_size": 4, "steps": 10, "confidence": 0.9,
        "initial_error": None, "method": "sharp", "budget": None, "seed": 0,
    }  # fmt: skip
    verified = {
        "problem": problem, "weights": np.ones(3), "X": rows, "y": np.ones(6), "probability": 0.1,
        "attacker": "any", "confidence": 0.99, "noise": 0.0, "bound": 1.0, "rows": None,
    }  # fmt: skip
    audited = {
        "estimator": "ridge", "X": np.vstack([rows, 2 * rows]), "y": np.arange(12.0),
        "budget": nt.Budget(1.0, 0.2), "attacks": ["constant"], "tolerance": 0.5, "remedies": [],
        "splits": 1, "replicates": 1, "label_range": None, "seed": 0, "executor": None,
        "progress": None,
    }  # fmt: skip
    planned = {
        "problem": problem, "attack": budget, "batch_size": 4, "radius": 10.0, "steps": None,
        "confidence": 0.9, "initial_error": None, "method": "sharp", "step_size": "constant",
        **weighted,
    }  # fmt: skip
    shaped = {"outer_weights": 1.0, "leak": 0.1, "activation": "relu"}
    gelu = nt.networks.relu_gate(1, activation="gelu").activation
    many, signs = np.vstack([rows] * 9), np.tile([1.0, -1.0, 0.5], 18)
    halves = nt.MedianOfParts(LinearRegression(), parts=3).fit(many, signs)
    huber = nt.CertifiedHuberRegressor().fit(many, signs)
    sized = {"filter_size": 2, "n_inputs": 3, "seed": 0}
    return {
        "Arm": (nt.Arm, {"trainer": nt.SGD(0.1), "attack": attack, "name": "a"}),
        "Budget": (nt.Budget, asked | {"scope": "query"}),
        "ClippedSGD": (nt.ClippedSGD, robust),
        "ClippedTron": (nt.ClippedTron, stepped | weighted | {"quantile": 0.5, "speed": 0.1}),
        "Correlated": (nt.Correlated, {"base": nt.Normal(), "matrix": np.eye(3)}),
        "Correlated.from_covariance": (
            nt.Correlated.from_covariance, {"covariance": np.eye(3), "base": None}),
        "Empirical": (
            nt.Empirical, {"rows": rows, "symmetrized": False, "sample_weight": None}),
        "FilterNetwork": (nt.FilterNetwork, {"basis": gate.basis, "mix": None} | shaped),
        "FilterNetwork.__call__": (gate, {"weights": np.ones(3), "x": np.ones(3)}),
        "FilterNetwork.gradient": (gate.gradient, {"weights": np.ones(3), "x": np.ones(3)}),
        "FirstSampleSGD": (nt.FirstSampleSGD, stepped),
        "HuberSGD": (nt.HuberSGD, robust),
        "Laplace": (nt.Laplace, scaled),
        "Law.norm_moment": (nt.Laplace().norm_moment, {"order": 3, "n_inputs": 3}),
        "Law.covariance": (nt.Laplace().covariance, {"n_inputs": 3}),
        "NeuroTron": (nt.NeuroTron, stepped | weighted),
        "Normal": (nt.Normal, scaled),
        "Problem": (
            nt.Problem,
            {"network": gate, "data": problem.data, "initial_weights": None}),
        "Problem.draw": (
            nt.Problem.draw,
            {"network": gate, "law": nt.Normal(), "true_weights": None, "seed": 0, "noise": 0.0,
             "initial_weights": None}),
        "Problem.from_rows": (
            nt.Problem.from_rows,
            {"network": gate, "X": rows, "y": np.ones(6), "sample_weight": None,
             "true_weights": np.ones(3), "intercept": False, "initial_weights": None}),
        "Problem.from_rows.intercept": (
            lambda X, y: nt.Problem.from_rows(nt.networks.linear(3), X, y, intercept=True),
            {"X": rows, "y": np.ones(6)}),
        "Problem.even_moments": (problem.even_moments, {"weighting": None}),
        "Problem.initial_error": (problem.initial_error, {"given": None}),
        "Problem.norm_moment": (problem.norm_moment, {"order": 1}),
        "Rademacher": (nt.Rademacher, scaled),
        "RefinedTron": (
            nt.RefinedTron,
            {"warm_up": None, "averaging": False, "pace": None, "quantile": 0.2, "speed": 0.1}),
        "Rows": (
            nt.data.Rows,
            {"X": rows, "y": np.ones(6), "sample_weight": None, "true_weights": None}),
        "SGD": (nt.SGD, stepped),
        "ScipyLaw": (nt.ScipyLaw, {"distribution": stats.logistic()}),
        "Simulated": (
            nt.data.Simulated, {"law": nt.Normal(), "true_weights": np.ones(3), "noise": 0.0}),
        "Stages": (lambda stage: nt.Stages(stage), {"stage": (nt.SGD(0.1), 1.0)}),
        "Stages.share": (
            lambda trainer, share: nt.Stages((trainer, share)),
            {"trainer": nt.SGD(0.1), "share": 1.0}),
        "StudentT": (nt.StudentT, scaled | {"dof": 4.0}),
        "Trainer": (nt.Trainer, stepped),
        "Trajectories.__getitem__": (run.__getitem__, {"arm": 0}),
        "Trajectories.plot": (run.plot, {"path": None}),
        "TrimmedSGD": (nt.TrimmedSGD, robust),
        "Uniform": (nt.Uniform, scaled),
        "certify": (nt.certify, certified),
        "check_activation": (nt.check_activation, {"activation": gelu}),
        "networks.Activation": (
            nt.networks.Activation,
            {"name": "a", "even": gelu.even, "even_slope": gelu.even_slope, "lipschitz": 1.0,
             "slope": 0.5}),
        "check_attack": (nt.check_attack, {"attack": attack, "seed": 0}),
        "check_law": (nt.check_law, {"law": nt.Normal(), "n_inputs": 3, "seed": 0}),
        "check_trainer": (nt.check_trainer, {"trainer": nt.SGD(0.01), "seed": 0}),
        "intervals": (  # scikit-learn says what is wrong with X
            partial(nt.intervals, halves, rows),
            {"y_cal": np.ones(6), "confidence_level": 0.5, "poisoned": 1, "coin": None,
             "given_calibration": None, "training_attacker": "same", "bound": math.inf,
             "scale": None}),
        "CertifiedHuberRegressor.damage_bound": (
            partial(huber.damage_bound, X=rows), {"m": 1, "bound": math.inf}),
        "CertifiedHuberRegressor.predict_bounds": (
            partial(huber.predict_bounds, rows), {"m": 1, "bound": math.inf}),
        "MedianOfParts.predict_bounds": (
            partial(halves.predict_bounds, rows), {"m": 1, "bound": math.inf}),
        "load_model": (nt.load_model, {"path": model}),
        "load_results": (nt.load_results, {"folder": folder}),
        "plan": (nt.plan, planned),
        "verify": (nt.verify, verified),
        "audit": (nt.audit, audited),
        "plot": (nt.plot, {"run": run, "path": None}),
        "poison": (
            nt.poison,
            {"X": rows, "y": np.ones(6), "attack": nt.attacks.HighLeverage(0.1, 0.5), "seed": 0,
             "model": np.ones(3), "label_range": (0.0, 2.0)}),
        "poison.impostor": (
            lambda X, model: nt.poison(X, np.ones(6), nt.attacks.Impostor(), model=model),
            {"X": rows, "model": (gate, np.ones(3))}),
        "Solution.predict": (
            nt.solve(nt.networks.linear(3), rows, np.ones(6)).predict, {"X": rows}),
        "Solution.radius": (
            nt.solve(nt.networks.linear(3), rows, np.ones(6)).radius,
            {"X": rows, "y": np.ones(6), "tampered": 0, "noise": 0.1, "confidence": 0.9}),
        "simulate": (nt.simulate, simulated),
        "solve": (
            solve_quietly,
            {"network": nt.networks.linear(3), "X": rows, "y": np.ones(6),
             "sample_weight": np.ones(6), "intercept": False, "seed": 0}),
        "simulation.iterate": (lambda **options: list(nt.simulation.iterate(**options)), simulated),
        "attacks.Attack.spending": (
            lambda problem, bound, share, seed: nt.attacks.LargeNorm.spending(
                problem, bound, share, seed),
            {"problem": problem, "bound": 0.1, "share": 0.5, "seed": 0}),
        **{
            f"attacks.{kind.__name__}": (kind, asked | own_settings(kind, 3))
            for kind in nt.attacks.BUILT_IN
        },
        "attacks.build": (
            nt.attacks.build, asked | {"text": "large-norm", "problem": problem, "seed": 0}),
        "claims.evaluate": (nt.lab.evaluate, {"results": results}),
        "claims.write": (nt.lab.claims.write, {"results": results, "judgements": []}),
        "figures.charts": (nt.lab.charts, {"results": results}),
        "figures.check_picture": (
            lambda path: nt.lab.figures.check_picture("path", path), {"path": folder / "a.png"}),
        "figures.draw": (nt.lab.figures.draw, {"chart": chart}),
        "figures.run_chart": (nt.lab.figures.run_chart, {"run": run}),
        "figures.save": (
            nt.lab.figures.save, {"figure": nt.lab.figures.draw(chart), "path": folder / "a.png"}),
        "laws.BY_NAME.build": (nt.laws.BY_NAME.build, {"text": "normal"}),
        "data.Corrupted": (
            nt.data.Corrupted,
            {"clean": nt.Normal(), "size": 1.0, "probability": 0.5, "reads": np.ones(3),
             "moves": None, "true_weights": np.ones(3), "noise": 0.1}),
        "networks.Matrices": (nt.networks.Matrices, {"values": np.ones((2, 2, 3))}),
        "networks.Windows": (nt.networks.Windows, {"index": [[0, 1]], "n_inputs": 3}),
        "networks.convolution": (
            nt.networks.convolution,
            {"n_inputs": 6, "filter_size": 3, "stride": 1, "circular": False} | shaped),
        "networks.convolution2d": (
            nt.networks.convolution2d,
            {"image_shape": (4, 4), "filter_shape": (2, 2), "stride": (1, 2)} | shaped),
        "networks.convolution2d.lengths": (
            lambda height, breadth, rows, stride: nt.networks.convolution2d(
                (height, breadth), (rows, 1), (stride, 1)),
            {"height": 4, "breadth": 4, "rows": 2, "stride": 1}),
        "networks.from_gates": (nt.networks.from_gates, {"gates": np.ones((2, 2, 3))} | shaped),
        "networks.linear": (nt.networks.linear, {"n_inputs": 3}),
        "networks.relu_gate": (nt.networks.relu_gate, {"n_inputs": 3} | shaped),
        "networks.with_intercept": (
            nt.networks.with_intercept, {"network": nt.networks.linear(3)}),
        "networks.symmetric": (
            nt.networks.symmetric, sized | shaped | {"width": 4, "center": None, "spread": None}),
        "sensing.center": (nt.networks.sensing.center, {"network": gate}),
        "sensing.gaussian": (nt.networks.sensing.gaussian, sized),
        "sensing.mean": (nt.networks.sensing.mean, {"network": gate}),
        "sensing.optimal": (
            nt.networks.sensing.optimal, {"network": gate, "covariance": np.eye(3)}),
        "sensing.polar": (nt.networks.sensing.polar, {"network": gate, "covariance": np.eye(3)}),
        "sensing.sensing_matrix": (
            nt.networks.sensing.sensing_matrix,
            {"sensing": "optimal", "network": gate, "covariance": np.eye(3)}),
        "sensing.wishart": (nt.networks.sensing.wishart, sized | {"degrees": 2}),
        "results.Folder.read": (Folder.read, {"path": folder}),
        "results.bootstrap": (
            nt.lab.bootstrap, {"values": [1.0, 2.0], "statistic": np.mean, "seed": 0}),
        "lab.load": (nt.lab.load, {"folder": folder}),
        "results.rate": (nt.lab.rate, {"successes": 1, "trials": 3}),
        "lab.catalog": (nt.lab.catalog, {}),
        "lab.parse": (nt.lab.parse, {"content": b"", "origin": "x"}),
        "lab.read": (nt.lab.read, {"name_or_file": "smoke", "allow_code": False}),
        "lab.run": (
            nt.lab.run,
            {"study": study, "folder": folder, "replicates": 1, "workers": 1, "executor": None,
             "mixed": False, "progress": stop}),
        "lab.report": (nt.lab.report, {"folder": folder, "allow_code": False}),
        "lab.template": (nt.lab.template, {}),
        "Study": (
            nt.Study,
            {"name": "x", "settings": [{"name": "a"}], "unit": train, "columns": {"error": float},
             "claims": (), "charts": (), "title": "", "replicates": 2, "seed": 0,
             "data": {"X": np.eye(2)}, "costs": {"a": 2.0}}),
        "theory.Theorem1.of": (
            nt.theory.Theorem1.of,
            {"problem": problem, "sensing": np.eye(3), "attack": attack, "batch_size": 4}),
        "theory.gaussian_risk_probability": (
            nt.theory.gaussian_risk_probability, scaled | {"n_inputs": 3, "confidence": 0.9}),
        "theory.gaussian_trade_off": (
            nt.theory.gaussian_trade_off, scaled | {"n_inputs": 3, "probability": 0.1}),
        "theory.gaussian_scale": (
            nt.theory.gaussian_scale, {"n_inputs": 3, "trade_off": 1.0, "probability": 0.1}),
        "theory.compensating_weight": (
            nt.theory.compensating_weight,
            {"theorem": theorem, "bound_factor": 2.0, "probability_factor": 1.5}),
        "guarantees.unique_minimum": (nt.guarantees.unique_minimum, {"problem": problem}),
        "guarantees.biased_weights": (
            nt.guarantees.biased_weights, {"problem": moved, "sensing": np.eye(3)}),
        "guarantees.impersonated_mean": (
            nt.guarantees.impersonated_mean,
            {"problem": problem, "arm": liar, "steps": [1, 2], "batch_size": 1}),
        "theory.lambda1": (
            nt.theory.lambda1, {"problem": problem, "sensing": np.eye(3), "weighting": None}),
        "theory.lambda2": (nt.theory.lambda2, {"sensing": np.eye(3)}),
        "theory.lambda3": (nt.theory.lambda3, {"network": gate}),
        "theory.sharp_constants": (
            nt.theory.sharp_constants,
            {"problem": problem, "sensing": np.eye(3), "weighting": None}),
        "trainers.build": (nt.trainers.build, {"text": "sgd", "step_size": 0.1}),
    }  # fmt: skip


NOT_CALLED = {
    "Attack", "Data", "Law", "ProductLaw",  # abstract: their subclasses are called
    "InputError", "NotAchievable", "StorageError",
    # keep what they are given until `fit`, as scikit-learn wants it
    "CertifiedHuberRegressor", "MedianOfParts", "NeuroTronRegressor",
    # records that the package itself makes, of plain values
    "Assumption", "Audit", "Batch", "Certificate", "Chart", "Claim", "Damages", "EvenMoments",
    "Failure", "Finding", "Fits",
    "Folder", "Guarantee", "Interval", "Judgement", "Line", "Panel", "Plan", "Progress", "Purpose",
    "Proof", "Query", "Records", "Recursion", "Report", "Results", "Run", "SharpConstants",
    "Solution", "Stream", "Theorem1", "Trajectories", "Unit",
    "UniqueMinimum", "Verification",
    # what claims and charts of one's own are made of, with plain values
    "Headline", "Runs", "Style", "TextTable", "above", "at_least", "at_most", "below", "between",
    "count", "median", "percent", "spread", "styles", "times", "worst",
}  # fmt: skip


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return good_calls(tmp_path_factory.mktemp("results") / "smoke")


def wrong_calls(calls, rng, count):
    """Yield `count` wrong calls: first every single wrong argument, then pairs of them."""
    single = [
        (name, {key: bad})
        for name in calls
        for key in calls[name][1]
        for bad in NASTY
        if key != "statistic" or not callable(NASTY[bad])  # what it raises is the caller's own
    ]
    rng.shuffle(single)
    yield from single[:count]
    with_two = [n for n in calls if len(calls[n][1]) > 1 and "statistic" not in calls[n][1]]
    for _ in range(count - len(single)):
        name = rng.choice(with_two)
        keys = rng.sample(list(calls[name][1]), 2)
        yield name, {key: rng.choice(list(NASTY)) for key in keys}


@pytest.mark.quick
def test_every_public_callable_is_called(calls):
    packages = [
        nt, nt.attacks, nt.data, nt.guarantees, nt.lab, nt.lab.figures, nt.laws, nt.networks,
        nt.simulation, nt.solvers, nt.theory, nt.trainers,
    ]  # fmt: skip
    public = {
        name for package in packages for name in package.__all__
        if callable(getattr(package, name))
    }  # fmt: skip
    module = nt.networks.sensing
    public |= {
        name for name, one in vars(module).items()
        if getattr(one, "__module__", "") == module.__name__ and not name.startswith("_")
    }  # fmt: skip
    assert public - {name.split(".")[-1] for name in calls} - NOT_CALLED == set()


@pytest.mark.parametrize("numbers", CALLS, ids=str)
def test_a_wrong_call_is_refused_in_one_sentence_or_right(calls, numbers, monkeypatch):
    monkeypatch.setattr(Folder, "written", stop)
    monkeypatch.setattr(Folder, "write", stop)
    found, counts = {}, Counter()
    everything = wrong_calls(calls, random.Random(0), numbers.stop)
    for name, wrong in itertools.islice(everything, numbers.start, None):
        function, arguments = calls[name]
        given = arguments | {key: NASTY[bad] for key, bad in wrong.items()}
        ended = outcome(lambda function=function, given=given: function(**given))
        counts[ended] += 1
        if ended not in ("accepted", "refused"):
            found.setdefault(f"{name}: {ended}", wrong)
    assert not found, "\n".join(f"{key}  {wrong}" for key, wrong in found.items())
    assert counts["refused"] > counts["accepted"]


# ---- studies -----------------------------------------------------------------------------------

CATALOG = [
    (reading.CATALOG / f"{name}.toml").read_bytes()
    for name in ("paper", "smoke", "batch-size", "_template")
]
VALUES = [
    None, True, 0, 1, -1, 2, 2**63, 10**30, 0.5, -0.5, 1e308, 5e-324, "", "a", "x" * 5000, "a\0b",
    "a\u202eb", "\u009b", "a\nb", [], [[]], [0.5, 0.5], [1, "a"], {}, {"a": {"a": 1}}, "none",
    "adaptive", "sgd:step_size=nan", "student-t:dof=4", "burst:share=0.5", "symmetric:width=4",
    "refined-tron", "convolution:stride=2", "corrupted:scale=1", "laplace:scale=1e69", "relu-gate",
]  # fmt: skip
PIECES = [
    b"[", b"]", b"{", b"}", b'"', b"'", b'"""', b"'''", b"\\", b"\n", b"=", b".", b",", b"#", b"\0",
    b"\xff", b"\xef\xbb\xbf", b"1e400", b"-", b"9" * 50, b"nan", b"inf", b"true", b"1979-05-27",
    b"[[settings]]\n", b"[settings]\n", b"like = ", b"\\u0000", b"\xe2\x80\xae", b"a.b.c = 1\n",
]  # fmt: skip


def mutated_bytes(rng, text):
    """Return the bytes after a few random edits."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 1, 1, 2, 8, 60]))
        new = rng.choice(
            [b"", bytes([rng.randrange(256)]), rng.choice(PIECES), text[start:end] * 2]
        )
        text = text[:start] + new + text[end:]
    return text


def places(tree):
    """Yield every (container, key) of a tree of dictionaries and lists."""
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from places(value)


def mutated_tree(rng, tree):
    """Return the study after a few changes of keys, values, types and nesting."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 3)):
        everywhere = list(places(tree))
        if not everywhere:
            break
        container, key = rng.choice(everywhere)
        kind = rng.randrange(5)
        if kind == 0:
            del container[key]
        elif kind == 1:
            container[key] = copy.deepcopy(rng.choice(VALUES))
        elif kind == 2:
            other, name = rng.choice(everywhere)
            if key in container if isinstance(container, dict) else key < len(container):
                with contextlib.suppress(LookupError):
                    container[key] = copy.deepcopy(other[name])
        elif kind == 3 and isinstance(container, dict):
            container[rng.choice(["x", "seed", "noise", "title", "a\nb", "", "bound"])] = (
                container.pop(key)
            )
        else:
            container[key] = rng.choice([[container[key]], {"a": container[key]}])
    return tree


def settings_of(study):
    return [Setting.model_validate(one, strict=False) for one in study.settings]


def is_small(study):
    """Tell whether a study is checked in no time."""
    settings = settings_of(study)
    sizes = max(one.n_inputs * one.filter_size for one in settings)
    samples = max(one.batch_size for one in settings)
    arms = sum(one.most_arms for one in settings)
    return sizes <= 10**4 and samples <= 10**4 and arms <= 500 and len(settings) < 10


def read_back(study):
    text = to_toml(study.spec(), study.replicates)
    again = nt.lab.parse(text.encode(), "again").spec()
    assert again | {"note": ""} == study.spec() | {"note": ""}


@pytest.mark.parametrize("numbers", STUDIES, ids=str)
def test_a_mutated_study_is_refused_in_one_sentence_or_reads_back_the_same(numbers):
    rng, found, counts = random.Random(numbers.start), {}, Counter()
    trees = [tomllib.loads(text.decode()) for text in CATALOG]
    valid = []
    for _ in numbers:
        if rng.random() < 0.5:
            text = mutated_bytes(rng, rng.choice(CATALOG))
            ended = outcome(lambda text=text: valid.append(nt.lab.parse(text, "x")))
        else:
            text = json.dumps(mutated_tree(rng, rng.choice(trees)))
            ended = outcome(lambda text=text: valid.append(completed(json.loads(text), None)))
        counts[ended] += 1
        if ended == "accepted":
            ended = outcome(lambda: read_back(valid[-1]))
        if ended not in ("accepted", "refused"):
            found.setdefault(ended, text)
    for study in filter(is_small, valid):
        ended = outcome(lambda study=study: building.check(settings_of(study)))
        if ended not in ("accepted", "refused"):
            found.setdefault(ended, study)
    assert not found, "\n".join(f"{key}: {str(text)[:3000]}" for key, text in found.items())
    assert counts["accepted"] > 0
    assert counts["refused"] > 0
