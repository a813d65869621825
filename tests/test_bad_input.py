"""Wrong calls, each with what the user must read: a name, a value, and a remedy or a range."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.support.messages import refused

import neurotron as nt
from neurotron.networks import sensing

NAN = float("nan")


def gate(n: int = 3) -> nt.FilterNetwork:
    return nt.networks.relu_gate(n)


def problem(**changes) -> nt.Problem:
    return nt.Problem.draw(gate(), nt.Normal(), true_weights=np.ones(3), **changes)


def simulate(arms=None, **changes):
    arms = [nt.Arm(nt.SGD(0.1))] if arms is None else arms
    options = {"steps": 5, "batch_size": 4} | changes
    return nt.simulate(options.pop("problem", problem()), arms, **options)


def attacked(attack, **changes):
    return simulate([nt.Arm(nt.SGD(0.1), attack)], **changes)


def formula(name, value) -> nt.Attack:
    """An attack one of whose formulas answers `value`."""
    answers = {"distort": 0.0, "chance": 0.5} | {name: value}
    methods = {key: lambda self, _, query, key=key: answers[key] for key in answers}
    return type("Formula", (nt.Attack,), methods)(1.0)


def adapting(name, value) -> nt.Trainer:
    """A trainer with a state, one of whose formulas answers `value`."""
    answers = {"influence": 1.0, "observe": (1.0,), "adapt": (1.0,)} | {name: value}
    methods = {key: lambda self, *_, key=key: answers[key] for key in answers}
    return type("Adapting", (nt.Trainer,), methods | {"initial_state": (1.0,)})(0.1)


X, Y = np.ones((4, 3)), np.ones(4)
NO_TRUTH = nt.Problem.from_rows(gate(), X, Y)
EXPONENTIAL = nt.Problem.draw(gate(), nt.ScipyLaw(stats.expon()))
RUN = simulate()

AT_ZERO = nt.Problem.draw(gate(), nt.Normal(), true_weights=np.zeros(3))
TRUTHLESS = nt.Problem(gate(), nt.data.Simulated(nt.Normal()))
TRON = nt.Arm(nt.NeuroTron(0.1))
BUDGET = nt.Budget(1.0, 0.5)
LIED_TO = nt.Arm(nt.NeuroTron(0.1), nt.attacks.Impersonation(1.0, weights=np.zeros(3)))
SMOKE = nt.lab.read("smoke")


def certify(arm=TRON, **changes):
    options = {"batch_size": 4} | changes
    return nt.certify(options.pop("problem", problem()), arm, **options)


def plan(attack=BUDGET, **changes):
    options = {"batch_size": 4} | changes
    return nt.plan(options.pop("problem", problem()), attack, **options)


CASES = [
    # certificates and plans
    (lambda: certify(nt.Arm(nt.SGD(0.1))), "SGD", "NeuroTron", "method 'measured'"),
    (lambda: certify(problem=TRUTHLESS), "true_weights", "‖w_1 − w*‖", "initial_error"),
    (lambda: certify(problem=AT_ZERO, initial_error=1.0),
     "initial_error", "‖w_1 − w*‖", "1.73205", "1"),
    (lambda: certify(confidence=1.0), "confidence", "(0, 1)", "1"),
    (lambda: certify(method="best"), "method", "'sharp'", "'theorem1'", "'measured'", "'best'"),
    (lambda: certify(method="measured"), "method 'measured'", "steps"),
    (lambda: certify(problem=TRUTHLESS, initial_error=1.0, steps=5, method="measured"),
     "method 'measured'", "true_weights"),
    (lambda: certify(budget=nt.Budget(1.0)), "budget", "bound", "probability"),
    (lambda: certify(nt.Arm(nt.NeuroTron("scheduled")), method="theorem1"),
     "Theorem 1", "step size", "method='sharp'"),
    (lambda: certify(budget=BUDGET, arm=nt.Arm(nt.NeuroTron("scheduled"))),
     "step_size='scheduled'", "budget", "plan(…, step_size='scheduled')"),
    (lambda: certify(steps=5, method="measured", confidence=0.999999),
     "method 'measured'", "999,999", "confidence", "0.999"),
    (lambda: plan(steps=5, problem=problem()), "nothing to plan", "true weights"),
    (lambda: nt.Budget(bound=-1.0), "bound", "[0, 1e70]", "-1"),
    (lambda: nt.Budget(scope="all"), "scope", "'query'", "'batch'", "'all'"),
    (lambda: plan(),
     "exactly three", "bound", "probability", "radius", "steps", "radius", "steps"),
    (lambda: plan(radius=1.0, steps=5),
     "exactly three", "bound", "probability", "radius", "steps", "all four"),
    (lambda: plan("adaptive", steps=5), "attack", "Attack", "Budget", "'adaptive'"),
    (lambda: plan(radius=-1.0), "radius", "[1e-90, 1e90]", "-1"),
    (lambda: plan(steps=0), "steps", "whole number", "1", "1e+15", "0"),
    (lambda: plan(steps=5, step_size=0.1), "step_size", "'constant'", "'scheduled'", "0.1"),
    (lambda: plan(nt.Budget(probability=0.0), radius=0.5, steps=10**6,
                  problem=AT_ZERO),
     "0", "probability", "every bound"),
    (lambda: nt.NeuroTron("slow"), "step_size", "'fastest'", "'scheduled'", "'slow'"),
    (lambda: nt.NeuroTron(0.1, weighting="norm"), "weighting", "'inverse-norm'", "'norm'"),
    (lambda: nt.SGD("fastest"), "step_size", "(0, inf)", "'fastest'"),
    (lambda: simulate([nt.Arm(nt.NeuroTron("scheduled"))], problem=nt.Problem.from_rows(
        gate(), np.eye(3), np.ones(3))),
     "step_size='scheduled'", "‖w_1 − w*‖", "true_weights",
     "plan(…, step_size='scheduled', initial_error=…)", "step_size='fastest'"),
    (lambda: simulate(nt.NeuroTron(), problem=EXPONENTIAL),
     "step_size='fastest'", "fourth moments", "ScipyLaw(expon())",
     "NeuroTron(step_size=1e-3, sensing='mean')", "Empirical(rows)"),
    (lambda: simulate(nt.ClippedTron(weighting="inverse-norm"), problem=EXPONENTIAL),
     "step_size='fastest'", "leave out weighting='inverse-norm'"),
    (lambda: simulate(nt.RefinedTron(), problem=EXPONENTIAL),
     "RefinedTron", "fourth moments", "ScipyLaw(expon())", "Empirical(rows)"),
    # networks
    (lambda: nt.networks.symmetric(9, 4, 5), "width", "even", "5"),
    (lambda: nt.networks.symmetric(4, 9, 4), "filter_size", "4", "9"),
    (lambda: nt.networks.symmetric(width=4), "n_inputs", "filter_size", "center"),
    (lambda: nt.networks.symmetric(5, 2, 4, center=np.ones((3, 5))), "center", "(2, 5)", "(3, 5)"),
    (lambda: nt.networks.symmetric(5, 2, 4, seed=-1), "seed", "0", "-1"),
    (lambda: nt.networks.relu_gate(2.5), "n_inputs", "1", "2.5"),
    (lambda: nt.networks.relu_gate(2, leak=1.5), "leak", "[0, 1]", "1.5"),
    (lambda: nt.networks.relu_gate(2, outer_weights=[1, 2]), "outer_weights", "(1,)", "(2,)"),
    (lambda: nt.networks.relu_gate(2, outer_weights=0.0),
     "outer_weights", "zero", "leave the gate out"),
    (lambda: nt.networks.relu_gate(2, outer_weights="heavy"),
     "outer_weights", "(-inf, inf)", "'heavy'"),
    (lambda: nt.networks.convolution(5, 7), "filter_size", "5", "7"),
    (lambda: nt.networks.convolution(5, 2, 0), "stride", "1", "0"),
    (lambda: nt.networks.convolution2d((4, 4), (5, 2)), "filter_shape[0]", "4", "5"),
    (lambda: nt.networks.convolution2d(16, (2, 2)), "image_shape", "pair", "16"),
    (lambda: nt.networks.from_gates(np.ones((2, 3))), "gates", "(k, r, n)", "(2, 3)"),
    (lambda: nt.networks.from_gates([[[1.0, NAN]]]), "gates", "finite", "nan", "0, 0, 1"),
    (lambda: nt.Empirical([[1e200]]), "rows", "[-1e+70, 1e+70]"),
    (lambda: nt.networks.from_gates([[[1e200]]]), "basis", "[-1e+70, 1e+70]"),
    (lambda: nt.networks.from_gates("gates"), "gates", "numbers", "'gates'"),
    (lambda: nt.networks.Windows(np.array([[0, 1], [2, 2]]), 3), "window 1", "twice", "one 1"),
    (lambda: nt.networks.Windows(np.array([[0, 3]]), 3), "index", "0 … 2", "0 … 3"),
    (lambda: gate()(np.ones(4), np.ones(3)), "weights", "(3,)", "(many, 3)", "(4,)"),
    (lambda: gate()(np.ones(3), np.ones((2, 5))), "x", "(3,)", "(many, 3)", "(2, 5)"),
    (lambda: sensing.wishart(4, 9, degrees=3), "degrees", "filter_size", "4", "3"),
    (lambda: sensing.gaussian(5, 3), "filter_size", "1", "3", "5"),
    (lambda: sensing.polar(gate(), [[1.0, 2, 0], [0, 1, 0], [0, 0, 1]]), "covariance", "symmetric"),
    (lambda: sensing.polar(gate(), -np.eye(3)), "covariance", "negative eigenvalues"),
    (lambda: nt.networks.convolution(6, 2, circular="no"), "circular", "bool", "'no'"),
    (lambda: nt.networks.symmetric(3, center=[1, 2]), "center", "(r, n)", "(2,)"),
    (lambda: nt.networks.Windows([[0.9, 1.9]], 3), "index", "whole numbers", "float64"),
    (lambda: gate()("abc", np.ones(3)), "weights", "numbers", "'abc'"),
    # laws
    (lambda: nt.Normal(scale=10**400), "scale", "[1e-70, 1e70]", "inf"),
    (lambda: nt.Empirical([["1", "2"]]), "rows", "numbers", "[['1', '2']]"),
    (lambda: nt.Empirical([[1j]]), "rows", "numbers", "[[1j]]"),
    (lambda: nt.Laplace().norm_moment(2, -3), "n_inputs", "1", "-3"),
    (lambda: nt.Empirical(X).norm_moment(1, 7), "Empirical(4 rows of 3 inputs)", "3", "7"),
    (lambda: nt.ScipyLaw(stats.norm(loc=[0, 1])), "distribution", "single numbers"),
    (lambda: nt.ScipyLaw(stats.norm(loc=[0, 1, 2])), "distribution", "single numbers"),
    (lambda: nt.ScipyLaw(stats.norm(scale=-1.0)),
     "ScipyLaw(norm(scale=-1))", "nan and nan", "parameters"),
    (lambda: nt.Correlated(nt.Normal(), np.zeros((2, 2))), "matrix", "zero"),
    (lambda: nt.check_law(type("Flat", (nt.ProductLaw,), {
        "variance": 1.0, "kurtosis": 1.0, "coordinates": lambda self, u, v: u})()),
     "Flat.coordinates", "tuple", "one or two arrays"),
    (lambda: nt.Normal(scale=0.0), "scale", "[1e-70, 1e70]", "0"),
    (lambda: nt.StudentT(-1.0), "dof", "(0, 1e100]", "-1"),
    (lambda: nt.StudentT("four"), "dof", "(0, 1e100]", "'four'"),
    (lambda: nt.Laplace(scale=NAN), "scale", "[1e-70, 1e70]", "nan"),
    (lambda: nt.ScipyLaw(3.0),
     "distribution", "frozen continuous", "scipy.stats.logistic()", "3.0"),
    (lambda: nt.Correlated.from_covariance([[1.0, 2.0], [2.0, 1.0]]),
     "covariance", "positive definite"),
    (lambda: nt.Correlated.from_covariance(np.eye(2), nt.StudentT(1)),
     "StudentT(scale=1.0, dof=1.0)", "variance", "Correlated(base, matrix)"),
    (lambda: nt.Empirical([[1.0, 2.0], [3.0, NAN]]), "rows", "finite", "nan", "row 1", "column 1"),
    (lambda: nt.Normal().norm_moment(5, 3), "order", "1", "4", "5"),
    # problems
    (lambda: nt.Problem.draw(gate(), nt.Normal(), true_weights=np.ones(4)),
     "true_weights", "(3,)", "(4,)"),
    (lambda: problem(noise=-1.0), "noise", "[0, 1e70]", "-1"),
    (lambda: problem(initial_weights=[1.0, 2.0, np.inf]),
     "initial_weights", "finite", "inf", "position 2"),
    (lambda: nt.Problem.draw(gate(), "normal"), "law", "Law", "'normal'"),
    (lambda: nt.Problem(gate(), nt.Normal()),
     "data", "Data", "Normal(scale=1.0)", "Problem.draw(network, law)",
     "Problem.from_rows(network, X, y)"),
    (lambda: nt.Problem.draw(gate(), nt.Empirical(np.ones((2, 5)))),
     "3", "Empirical(2 rows of 5 inputs)", "5"),
    (lambda: nt.Problem.draw(gate(), nt.Empirical(X, sample_weight=Y)),
     "Empirical(4 rows of 3 inputs, weighted)", "sample_weight",
     "Problem.from_rows(network, X, y, sample_weight=…)"),
    (lambda: nt.Problem.from_rows(gate(), X, Y, intercept=True),
     "intercept", "linear", "leak=0", "leak=1", "networks.linear(n_inputs)",
     "leave out `intercept`"),
    (lambda: nt.Problem.from_rows(nt.networks.linear(2), X, Y, intercept=True),
     "X", "(N, 2)", "(4, 3)"),
    # attacks
    (lambda: nt.attacks.AlternatingSign(bound=-0.1), "bound", "[0, inf)", "-0.1"),
    (lambda: nt.attacks.Constant(bound=1.0, probability=1.5), "probability", "[0, 1]", "1.5"),
    (lambda: nt.attacks.Adaptive(bound=True), "bound", "[0, inf)", "True"),
    (lambda: nt.attacks.OddDirection(1.0, direction=np.zeros(3)), "direction", "zero"),
    (lambda: nt.attacks.Burst(1.0, share=1.5), "share", "[0, 1]", "1.5"),
    (lambda: nt.attacks.LargeNorm(1.0, cutoff=-1.0), "cutoff", "[0, inf)", "-1"),
    (lambda: nt.attacks.Multiplicative(NAN), "factor", "[-1e70, 1e70]", "nan"),
    (lambda: nt.attacks.Replacement(-1.0), "scale", "[0, 1e70]", "-1"),
    (lambda: nt.attacks.Mixture(np.inf), "bound", "[0, inf)", "inf"),
    (lambda: plan(nt.attacks.SignFlip(), steps=5),
     "SignFlip(probability=1)", "budget", "method 'measured'"),
    (lambda: attacked(nt.attacks.Impersonation(1.0, weights=np.ones(4))),
     "Impersonation(bound=1, probability=1)", "(4,)", "3"),
    (lambda: attacked(nt.attacks.Adaptive(1.0), problem=NO_TRUTH),
     "Adaptive(bound=1, probability=1)", "push", "true_weights", "query_fields"),
    # trainers
    (lambda: nt.NeuroTron(0.0), "step_size", "(0, inf)", "0"),
    (lambda: nt.NeuroTron(0.1, sensing="best"),
     "sensing", "'optimal'", "'polar'", "'mean'", "'center'", "'best'"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1, sensing=np.ones((2, 3))))]),
     "sensing", "(3, 3)", "(2, 3)"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1, sensing=np.ones((3, 3))))]),
     "sensing matrix", "full rank"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1))],
                      problem=nt.Problem.draw(gate(), nt.StudentT(2))),
     "sensing='optimal'", "finite variance", "weighting='inverse-norm'", "sensing='mean'", "array"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1, weighting="inverse-norm"))],
                      problem=nt.Problem.draw(gate(), nt.Correlated(nt.Laplace(), np.eye(3)))),
     "sensing='optimal'", "E[xxᵀ/‖x‖²]", "Correlated(Laplace(scale=1.0), matrix of shape (3, 3))",
     "leave out weighting='inverse-norm'", "sensing='mean'"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1))],
                      problem=nt.Problem.draw(gate(), nt.Correlated(nt.StudentT(1), np.eye(3)))),
     "sensing='optimal'", "finite variance", "sensing='mean'", "array"),
    (lambda: nt.ClippedSGD(quantile=0.0), "quantile", "(0, 1)", "0"),
    (lambda: nt.HuberSGD(speed=2.0), "speed", "(0, 1]", "2"),
    (lambda: nt.TrimmedSGD(-1.0), "pace", "(0, inf)", "-1"),
    (lambda: nt.HuberSGD(weighting="norm"), "weighting", "'inverse-norm'", "'norm'"),
    (lambda: nt.ClippedTron(quantile=1.0), "quantile", "(0, 1)", "1"),
    (lambda: nt.ClippedTron(speed="fast"), "speed", "(0, 1]", "'fast'"),
    (lambda: simulate([nt.Arm(nt.ClippedTron("scheduled"))]),
     "step_size='scheduled'", "NeuroTron", "ClippedTron"),
    (lambda: nt.RefinedTron(0), "warm_up", "1", "0"),
    (lambda: nt.RefinedTron(quantile=0.0), "quantile", "(0, 1)", "0"),
    (lambda: nt.RefinedTron(speed=2.0), "speed", "(0, 1]", "2"),
    (lambda: nt.RefinedTron(pace=-1.0), "pace", "(0, inf)", "-1"),
    (lambda: nt.RefinedTron(averaging="yes"), "averaging", "bool", "'yes'"),
    (lambda: nt.SGD(0.1, averaging="yes"), "averaging", "bool", "'yes'"),
    (lambda: nt.Stages(), "shares", "1", "0"),
    (lambda: nt.Stages(nt.SGD(0.1)), "stages[0]", "pair", "(trainer, share of the steps)"),
    (lambda: nt.Stages((nt.SGD(0.1), 0.5), ("sgd", 0.5)),
     "trainer of stages[1]", "Trainer", "'sgd'"),
    (lambda: nt.Stages((nt.SGD(0.1), 0.5), (nt.SGD(0.1), 0.4)), "shares", "1", "0.9"),
    (lambda: nt.Stages((nt.SGD(0.1), 1.5), (nt.SGD(0.1), -0.5)),
     "share of stages[0]", "(0, 1]", "1.5"),
    (lambda: nt.Stages((nt.SGD(0.1), 0.5), (nt.RefinedTron(), 0.5)), "stages[1]", "Stages(…)"),
    (lambda: certify(nt.Arm(nt.Stages((nt.NeuroTron(0.1), 1.0)))),
     "Stages", "NeuroTron", "method 'measured'"),
    (lambda: certify(nt.Arm(nt.NeuroTron(0.1, averaging=True))),
     "averaged weights", "averaging", "method 'measured'"),
    (lambda: nt.Arm("sgd"), "trainer", "Trainer", "'sgd'"),
    (lambda: nt.Arm(nt.SGD(0.1), "noise"), "attack", "Attack", "'noise'"),
    (lambda: type("Odd", (nt.Trainer,), {"direction": "first-gradient"})(0.1),
     "Odd.direction", "'sensing'", "'gradient'", "'first_gradient'", "'first-gradient'"),
    (lambda: nt.Arm(nt.SGD(0.1), name=0), "name", "str", "0"),
    (lambda: attacked(formula("chance", 7.0)),
     "Formula(bound=1, probability=1)", "chance", "[0, probability]", "step 0"),
    (lambda: attacked(formula("distort", None)),
     "distort", "Formula(bound=1, probability=1)", "(4, 1)", "NoneType", "()"),
    (lambda: attacked(formula("distort", np.zeros(4))),
     "distort", "Formula(bound=1, probability=1)", "(4, 1)", "ndarray", "(4,)"),
    (lambda: attacked(type("Prober", (nt.attacks.OddDirection,), {"probe_vector": None})(
        1.0, direction=[1.0])),
     "Prober(bound=1, probability=1)", "probe_vector"),
    (lambda: simulate([nt.Arm(adapting("adapt", (1.0, 2.0)))]),
     "adapt", "Adapting(step_size=0.1)", "1", "initial_state", "2"),
    (lambda: simulate([nt.Arm(adapting("influence", "all"))]),
     "influence", "Adapting(step_size=0.1)", "(4, 1)", "str", "()"),
    (lambda: simulate([nt.Arm(type("Own", (nt.Trainer,), {"direction": "sensing"})(0.1))]),
     "Own(step_size=0.1)", "'sensing'", "sensing matrix", "NeuroTron"),
    # simulate
    (lambda: simulate(3), "arms", "list", "trainers", "Arm(trainer, attack)", "3"),
    (lambda: simulate("sgd"), "arms", "list", "trainers", "Arm(trainer, attack)", "'sgd'"),
    (lambda: simulate(progress=3), "progress", "(step, steps)", "3"),
    (lambda: simulate(steps=10**9, record="all"), "record='all'", "1,000,000,000", "record=100"),
    (lambda: simulate(resume=RUN, problem=NO_TRUTH), "resume", "different", "problem"),
    (lambda: simulate([]), "arms", "at least one trainer", "Arm"),
    (lambda: simulate([nt.SGD(0.1), "sgd"]), "arms[1]", "Trainer", "'sgd'"),
    (lambda: simulate([nt.NeuroTron]), "arms[0]", "the class NeuroTron", "NeuroTron(…)"),
    (lambda: simulate(nt.SGD), "arms[0]", "the class SGD", "SGD(…)"),
    (lambda: nt.Arm(nt.SGD), "trainer", "the class SGD", "SGD(…)"),
    (lambda: simulate([nt.attacks.Constant(1.0)]),
     "arms[0]", "trainer", "Constant(bound=1, probability=1)", "attack=…"),
    (lambda: simulate([nt.SGD(0.1), nt.SGD(0.1)]), "'SGD'", "Arm(trainer, attack, name=…)"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(), name="SGD"), nt.SGD(0.1)]), "'SGD'", "name=…"),
    (lambda: simulate(attack=nt.attacks.Constant(1.0)),
     "attack", "bare trainers", "Arm", "leave out", "Constant(bound=1, probability=1)",
     "Arm(trainer, attack)"),
    (lambda: simulate(nt.SGD(0.1), attack="adaptive"), "attack", "Attack", "'adaptive'"),
    (lambda: nt.simulate(X, Y, steps=5, batch_size=4),
     "problem", "Problem", "ndarray", "Problem.from_rows(network, X, y)"),
    (lambda: simulate(problem=X.tolist()), "problem", "list", "Problem.from_rows(network, X, y)"),
    (lambda: simulate(problem=gate()),
     "problem", "FilterNetwork", "Problem.draw(network, law)", "Problem.from_rows(network, X, y)"),
    (lambda: simulate(problem=3), "problem", "Problem", "int", "Problem.draw(network, law)"),
    (lambda: nt.Problem(gate()),
     "data", "None", "Problem.draw(network, law)", "Problem.from_rows(network, X, y)"),
    (lambda: simulate(steps=1.5), "steps", "whole number", "1.5"),
    (lambda: simulate(steps=float("inf")), "steps", "whole number", "inf"),
    (lambda: RUN["SGDD"], "arm", "'SGDD'", "did you mean 'SGD'"),
    (lambda: RUN[1], "arm", "-1", "0", "1"),
    (lambda: simulate(problem=NO_TRUTH).final_errors,
     "errors ‖w − w*‖", "unknown", "losses", "true_weights"),
    (lambda: simulate(problem=NO_TRUTH)[0].errors,
     "errors ‖w − w*‖", "unknown", "losses", "true_weights"),
    (lambda: simulate(steps=-1), "steps", "0", "1e+15", "-1"),
    (lambda: simulate(batch_size=0), "batch_size", "1", "10,000,000", "0"),
    (lambda: simulate(record="often"), "record", "'log'", "'all'", "'often'"),
    (lambda: simulate(record=0), "record", "1", "0"),
    (lambda: simulate(engine="gpu"), "engine", "'auto'", "'compiled'", "'numpy'", "'gpu'"),
    (lambda: attacked(formula("distort", 0.0), engine="compiled"),
     "engine='compiled'", "'SGD'", "Formula",
     "not built in", "engine='auto'"),
    (lambda: simulate(resume=RUN, engine="numpy"), "resume", "'SGD'", "compiled", "numpy"),
    (lambda: simulate(replicate=-1), "replicate", "0", "-1"),
    (lambda: simulate(problem=TRUTHLESS),
     "Normal(scale=1.0)", "true_weights", "Problem.draw(network, law, true_weights=…)",
     "Problem.from_rows(network, X, y)"),
    (lambda: simulate(problem=NO_TRUTH).errors,
     "errors ‖w − w*‖", "unknown", "losses", "true_weights"),
    (lambda: nt.Problem.from_rows(gate(), np.ones((4, 5)), Y),
     "3", "Empirical(4 rows of 5 inputs)", "5"),
    (lambda: nt.data.Rows(X, np.ones(3)), "y", "(4,)", "(3,)"),
    (lambda: nt.data.Rows(X, Y, sample_weight=-Y), "sample_weight", "nonnegative", "zero"),
    (lambda: simulate(resume=RUN, seed=1), "resume", "seed=0", "1"),
    (lambda: simulate(resume=RUN, steps=2), "steps", "5", "2"),
    (lambda: simulate([nt.Arm(nt.SGD(0.2))], resume=RUN), "resume", "different", "arms"),
    (lambda: simulate(batch_size=10**7, problem=nt.Problem.draw(gate(100), nt.Normal())),
     "batch", "100,000,000", "10000000 × 100"),
    # theory
    (lambda: nt.theory.gaussian_risk_probability(8, NAN, 0.05), "scale", "(0, 1e70]", "nan"),
    (lambda: nt.theory.gaussian_trade_off(8, -1.0, 0.5), "scale", "(0, 1e70]", "-1"),
    (lambda: nt.theory.sharp_constants(problem(), np.ones((3, 2))), "sensing", "(3, 3)", "(3, 2)"),
    (lambda: nt.guarantees.impersonated_mean(problem(), LIED_TO, steps=3, batch_size=None),
     "batch_size", "1", "10,000,000", "None"),
    (lambda: nt.guarantees.impersonated_mean(problem(), LIED_TO, steps=[0.5]),
     "steps", "0", "1e+15", "[0.5]"),
    (lambda: certify(seed=-1), "seed", "0", "-1"),
    # names and texts
    (lambda: nt.attacks.build(None, problem(), bound=1.0, probability=0.5, seed=0),
     "text", "text", "None"),
    (lambda: nt.attacks.build("none", None, bound=1.0, probability=0.5, seed=0),
     "problem", "Problem", "None"),
    (lambda: nt.attacks.build("none", problem(), bound=1.0, probability=0.5, seed="x"),
     "seed", "0", "'x'"),
    (lambda: nt.trainers.build(None, step_size=0.1), "text", "text", "None"),
    # checks
    (lambda: nt.check_attack(nt.attacks.Constant(1.0), seed=-1), "seed", "0", "-1"),
    (lambda: nt.check_trainer(nt.SGD(0.1), seed=-1), "seed", "0", "-1"),
    # studies, results and figures
    (lambda: nt.lab.parse("text", "x"), "content", "bytes", "TOML", "'text'"),
    (lambda: nt.lab.run(SMOKE, "out", mixed="no"), "mixed", "bool", "'no'"),
    (lambda: nt.lab.run(SMOKE, ""), "folder", "file or folder", "''"),
    (lambda: nt.load_results(None), "folder", "file or folder", "None"),
    (lambda: nt.load_results("x" * 100_000), "folder", f"'{'x' * 56}...", "File name too long"),
    (lambda: nt.lab.rate(7, 3), "successes", "0", "3", "7"),
    (lambda: nt.lab.rate(-1, 3), "successes", "0", "3", "-1"),
    (lambda: nt.lab.bootstrap([1.0, 2.0], seed=[1]), "seed", "whole number", "[1]"),
    (lambda: nt.lab.evaluate(None), "results", "Results", "None"),
    (lambda: nt.plot(None), "run", "Trajectories", "None"),
    (lambda: nt.lab.charts(None), "results", "Results", "None"),
    (lambda: nt.lab.figures.draw(None), "chart", "Chart", "None"),
    (lambda: nt.lab.figures.save(None, "a.png"), "figure", "draw(chart)", "None"),
    # sizes
    (lambda: nt.networks.symmetric(n_inputs=10**9, filter_size=2),
     "gates", "100,000,000", "2 × 1000000000"),
    (lambda: nt.networks.relu_gate(10**30), "input", "100,000,000", f"{10**30}"),
    (lambda: nt.networks.convolution(10**8, 3, stride=2), "windows", "100,000,000", "49999999 × 3"),
    (lambda: nt.networks.convolution2d((10**9, 10**30), (2, 2), 10**31),
     "image", "100,000,000", f"1000000000 × {10**30}"),
    (lambda: nt.networks.Windows([[0, 1]], 10**30), "input", "100,000,000", f"{10**30}"),
    (lambda: nt.check_law(nt.Normal(), n_inputs=10**9),
     "sample", "100,000,000", "1000 × 1000000000"),
    (lambda: nt.Problem.draw(gate(10**5), nt.Normal()).covariance,
     "covariance", "100,000,000", "100000 × 100000"),
    (lambda: nt.Empirical(np.broadcast_to(1.0, (10**6, 10**6))),
     "rows", "100,000,000", "1000000 × 1000000"),
    (lambda: nt.Normal(scale="x" * 10**6), "scale", "[1e-70, 1e70]", f"'{'x' * 56}..."),
    (lambda: nt.Normal(scale=np.ones((9, 9))), "scale", "[1e-70, 1e70]", "array([[1., 1., 1.,"),
    (lambda: nt.Problem.draw(gate(), nt.Normal(), seed=10**5000), "seed", "1000 digits"),
    (lambda: nt.theory.lambda1(EXPONENTIAL, np.eye(3)),
     "λ1", "parity-symmetric", "ScipyLaw(expon())"),
    (lambda: nt.theory.lambda1(problem(), np.ones((2, 2))), "sensing", "(3, 3)", "(2, 2)"),
    (lambda: nt.theory.lambda2(3.0), "sensing", "(r, n)", "()"),
    (lambda: nt.theory.lambda3(None), "network", "FilterNetwork", "None"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[" ".join(parts) for _, *parts in CASES])
def test_a_wrong_call_gets_one_clear_sentence(case):
    call, *parts = case
    with refused(*parts):
        call()


@pytest.mark.parametrize("record", [2**63, 10**30])
def test_a_record_beyond_the_run_keeps_the_first_and_the_last_step(record):
    run = simulate(record=record)
    assert run.steps.tolist() == [0, 5]
    assert run.steps.dtype == np.intp


def test_a_class_in_place_of_a_trainer_is_told_how_to_write_it(small_problem):
    with pytest.raises(nt.InputError, match=r"the class NeuroTron: write NeuroTron\("):
        nt.certify(small_problem, nt.NeuroTron)
