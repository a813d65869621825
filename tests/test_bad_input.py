"""Wrong calls, each with the exact sentence a user reads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

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
SMOKE = nt.studies.read("smoke")


def certify(arm=TRON, **changes):
    options = {"batch_size": 4} | changes
    return nt.certify(options.pop("problem", problem()), arm, **options)


def plan(attack=BUDGET, **changes):
    options = {"batch_size": 4} | changes
    return nt.plan(options.pop("problem", problem()), attack, **options)


CASES = [
    # certificates and plans
    (lambda: certify(nt.Arm(nt.SGD(0.1))),
     "no theorem covers SGD: certify NeuroTron, or use method='measured'"),
    (lambda: certify(problem=TRUTHLESS),
     "the problem has no `true_weights`: give a bound on ‖w_1 − w*‖ as `initial_error`"),
    (lambda: certify(problem=AT_ZERO, initial_error=1.0),
     "`initial_error` must be at least ‖w_1 − w*‖ = 1.73205, got 1"),
    (lambda: certify(failure=1.0), "`failure` must be in [1e-15, 1), got 1"),
    (lambda: certify(method="best"),
     "`method` must be one of 'sharp', 'theorem1', 'measured', got 'best'"),
    (lambda: certify(method="measured"), "method='measured' needs `steps`"),
    (lambda: certify(problem=TRUTHLESS, initial_error=1.0, steps=5, method="measured"),
     "method='measured' needs the problem's `true_weights`"),
    (lambda: certify(budget=nt.Budget(1.0)), "`budget` must have both `bound` and `probability`"),
    (lambda: certify(nt.Arm(nt.NeuroTron("scheduled")), method="theorem1"),
     "Theorem 1 is about one step size: use method='sharp'"),
    (lambda: certify(budget=BUDGET, arm=nt.Arm(nt.NeuroTron("scheduled"))),
     "step_size='scheduled' goes by the arm's own attack: for a budget take the arm of "
     "plan(…, step_size='scheduled')"),
    (lambda: certify(steps=5, method="measured", failure=1e-6),
     "method='measured' would need 999,999 runs: `failure` at least 0.001"),
    (lambda: plan(steps=5, problem=problem()),
     "nothing to plan: the start is at the true weights"),
    (lambda: nt.Budget(bound=-1.0), "`bound` must be in [0, 1e70], got -1"),
    (lambda: nt.Budget(scope="all"), "`scope` must be one of 'query', 'batch', got 'all'"),
    (lambda: plan(),
     "leave out exactly one of bound, probability, accuracy and steps: accuracy and steps are "
     "missing"),
    (lambda: plan(accuracy=1.0, steps=5),
     "leave out exactly one of bound, probability, accuracy and steps: all four are given"),
    (lambda: plan("adaptive", steps=5), "`attack` must be an Attack or a Budget, got 'adaptive'"),
    (lambda: plan(accuracy=-1.0), "`accuracy` must be in [1e-90, 1e90], got -1"),
    (lambda: plan(steps=0), "`steps` must be a whole number from 1 to 1e+15, got 0"),
    (lambda: plan(steps=5, step_size=0.1),
     "`step_size` must be one of 'constant', 'scheduled', got 0.1"),
    (lambda: plan(nt.Budget(probability=0.0), accuracy=0.5, steps=10**6,
                  problem=AT_ZERO),
     "nobody attacks with probability 0: every bound is tolerated"),
    (lambda: nt.NeuroTron("slow"), "`step_size` must be one of 'fastest', 'scheduled', got 'slow'"),
    (lambda: nt.NeuroTron(0.1, weighting="norm"),
     "`weighting` must be one of 'inverse-norm', got 'norm'"),
    (lambda: nt.SGD("fastest"), "`step_size` must be a number in (0, inf), got 'fastest'"),
    (lambda: simulate([nt.Arm(nt.NeuroTron("scheduled"))], problem=nt.Problem.from_rows(
        gate(), np.eye(3), np.ones(3))),
     "step_size='scheduled' goes by ‖w_1 − w*‖, and the problem has no `true_weights`: take the "
     "arm of plan(…, step_size='scheduled', initial_error=…), or step_size='fastest'"),
    (lambda: simulate([nt.Arm(nt.NeuroTron("fastest"))],
                      problem=nt.Problem.draw(gate(), nt.StudentT(3.0), true_weights=np.zeros(3))),
     "finding a step size needs moments that StudentT(scale=1.0, dof=3.0) does not have or does "
     "not say: give step_size a number, or weighting='inverse-norm'"),
    # networks
    (lambda: nt.networks.symmetric(9, 4, 5),
     "`width` must be even, got 5: symmetric gates come in pairs M ± jC"),
    (lambda: nt.networks.symmetric(4, 9, 4), "`filter_size` must be at most the input's 4, got 9"),
    (lambda: nt.networks.symmetric(width=4),
     "give `n_inputs` and `filter_size`, or the matrix `center`"),
    (lambda: nt.networks.symmetric(5, 2, 4, center=np.ones((3, 5))),
     "`center` must have shape (2, 5), got (3, 5)"),
    (lambda: nt.networks.symmetric(5, 2, 4, seed=-1),
     "`seed` must be a whole number of at least 0, got -1"),
    (lambda: nt.networks.relu_gate(2.5),
     "`n_inputs` must be a whole number of at least 1, got 2.5"),
    (lambda: nt.networks.relu_gate(2, leak=1.5), "`leak` must be in [0, 1], got 1.5"),
    (lambda: nt.networks.relu_gate(2, outer_weights=[1, 2]),
     "`outer_weights` must have shape (1,), got (2,)"),
    (lambda: nt.networks.relu_gate(2, outer_weights=0.0),
     "`outer_weights` must not be zero: leave the gate out instead"),
    (lambda: nt.networks.relu_gate(2, outer_weights="heavy"),
     "`outer_weights` must be a number in (-inf, inf), got 'heavy'"),
    (lambda: nt.networks.convolution(5, 7), "`filter_size` must be at most the input's 5, got 7"),
    (lambda: nt.networks.convolution(5, 2, 0),
     "`stride` must be a whole number of at least 1, got 0"),
    (lambda: nt.networks.convolution2d((4, 4), (5, 2)),
     "`filter_shape[0]` must be at most the input's 4, got 5"),
    (lambda: nt.networks.convolution2d(16, (2, 2)),
     "`image_shape` must be a pair of whole numbers, got 16"),
    (lambda: nt.networks.from_gates(np.ones((2, 3))),
     "`gates` must have shape (k, r, n), got (2, 3)"),
    (lambda: nt.networks.from_gates([[[1.0, NAN]]]),
     "`gates` must be finite, got nan at position 0, 0, 1"),
    (lambda: nt.Empirical([[1e200]]), "`rows` must have entries in [-1e+70, 1e+70]"),
    (lambda: nt.networks.from_gates([[[1e200]]]), "`basis` must have entries in [-1e+70, 1e+70]"),
    (lambda: nt.networks.from_gates("gates"), "`gates` must be an array of numbers, got 'gates'"),
    (lambda: nt.networks.Windows(np.array([[0, 1], [2, 2]]), 3),
     "window 1 uses an input twice: each gate of a convolution has at most one 1 in each column"),
    (lambda: nt.networks.Windows(np.array([[0, 3]]), 3), "`index` must lie in 0 … 2, got 0 … 3"),
    (lambda: gate()(np.ones(4), np.ones(3)),
     "`weights` must have shape (3,) or (many, 3), got (4,)"),
    (lambda: gate()(np.ones(3), np.ones((2, 5))),
     "`x` must have shape (3,) or (many, 3), got (2, 5)"),
    (lambda: sensing.wishart(4, 9, degrees=3),
     "`degrees` must be at least `filter_size` = 4 for full rank, got 3"),
    (lambda: sensing.gaussian(5, 3), "`filter_size` must be a whole number from 1 to 3, got 5"),
    (lambda: sensing.polar(gate(), [[1.0, 2, 0], [0, 1, 0], [0, 0, 1]]),
     "`covariance` must be symmetric"),
    (lambda: sensing.polar(gate(), -np.eye(3)),
     "`covariance` must not have negative eigenvalues"),
    (lambda: nt.networks.convolution(6, 2, circular="no"), "`circular` must be a bool, got 'no'"),
    (lambda: nt.networks.symmetric(3, center=[1, 2]),
     "`center` must have shape (r, n), got (2,)"),
    (lambda: nt.networks.Windows([[0.9, 1.9]], 3), "`index` must hold whole numbers, got float64"),
    (lambda: gate()("abc", np.ones(3)), "`weights` must be an array of numbers, got 'abc'"),
    # laws
    (lambda: nt.Normal(scale=10**400), "`scale` must be in [1e-70, 1e70], got inf"),
    (lambda: nt.Empirical([["1", "2"]]), "`rows` must be an array of numbers, got [['1', '2']]"),
    (lambda: nt.Empirical([[1j]]), "`rows` must be an array of numbers, got [[1j]]"),
    (lambda: nt.Laplace().norm_moment(2, -3),
     "`n_inputs` must be a whole number of at least 1, got -3"),
    (lambda: nt.Empirical(X).norm_moment(1, 7),
     "Empirical(4 rows of 3 inputs) has 3 inputs, not 7"),
    (lambda: nt.ScipyLaw(stats.norm(loc=[0, 1])),
     "`distribution` must have single numbers as its parameters"),
    (lambda: nt.ScipyLaw(stats.norm(loc=[0, 1, 2])),
     "`distribution` must have single numbers as its parameters"),
    (lambda: nt.ScipyLaw(stats.norm(scale=-1.0)),
     "ScipyLaw(norm(scale=-1)) has quartiles nan, nan: check its parameters"),
    (lambda: nt.Correlated(nt.Normal(), np.zeros((2, 2))), "`matrix` must not be zero"),
    (lambda: nt.laws.Corrupted(nt.Normal(), -1.0), "`scale` must be in [1e-70, 1e70], got -1"),
    (lambda: nt.laws.Corrupted(nt.Normal(), 1.0, 1.5), "`probability` must be in [0, 1], got 1.5"),
    (lambda: nt.laws.Corrupted("normal", 1.0), "`law` must be a Law, got 'normal'"),
    (lambda: nt.laws.Corrupted(nt.laws.Corrupted(nt.Normal(), 1.0), 1.0),
     "`law` is corrupted already, got Corrupted(Normal(scale=1.0), scale=1, probability=1)"),
    (lambda: nt.check_law(type("Flat", (nt.ProductLaw,), {
        "variance": 1.0, "kurtosis": 1.0, "coordinates": lambda self, u, v: u})()),
     "Flat.coordinates must return a tuple of one or two arrays"),
    (lambda: nt.Normal(scale=0.0), "`scale` must be in [1e-70, 1e70], got 0"),
    (lambda: nt.StudentT(-1.0), "`dof` must be in (0, 1e100], got -1"),
    (lambda: nt.StudentT("four"), "`dof` must be a number in (0, 1e100], got 'four'"),
    (lambda: nt.Laplace(scale=NAN), "`scale` must be in [1e-70, 1e70], got nan"),
    (lambda: nt.ScipyLaw(3.0),
     "`distribution` must be a frozen continuous scipy.stats distribution such as "
     "scipy.stats.logistic(), got 3.0"),
    (lambda: nt.Correlated.from_covariance([[1.0, 2.0], [2.0, 1.0]]),
     "`covariance` must be positive definite"),
    (lambda: nt.Correlated.from_covariance(np.eye(2), nt.StudentT(1)),
     "StudentT(scale=1.0, dof=1.0) has no variance: give Correlated(base, matrix) instead"),
    (lambda: nt.Empirical([[1.0, 2.0], [3.0, NAN]]),
     "`rows` must be finite, got nan at row 1, column 1"),
    (lambda: nt.Normal().norm_moment(5, 3), "`order` must be a whole number from 1 to 4, got 5"),
    # problems
    (lambda: nt.Problem.draw(gate(), nt.Normal(), true_weights=np.ones(4)),
     "`true_weights` must have shape (3,), got (4,)"),
    (lambda: problem(noise=-1.0), "`noise` must be in [0, 1e70], got -1"),
    (lambda: problem(initial_weights=[1.0, 2.0, np.inf]),
     "`initial_weights` must be finite, got inf at position 2"),
    (lambda: nt.Problem.draw(gate(), "normal"), "`law` must be a Law, got 'normal'"),
    (lambda: nt.Problem(gate(), nt.Normal()),
     "`data` must be Data, got Normal(scale=1.0): write Problem.draw(network, law) for a law, "
     "Problem.from_rows(network, X, y) for rows"),
    (lambda: nt.Problem.draw(gate(), nt.Empirical(np.ones((2, 5)))),
     "the network takes 3 inputs, but Empirical(2 rows of 5 inputs) has 5"),
    (lambda: nt.Problem.draw(gate(), nt.Empirical(X, sample_weight=Y)),
     "inputs cannot be drawn from Empirical(4 rows of 3 inputs, weighted), whose `sample_weight` "
     "belong to rows with labels: give them to Problem.from_rows(network, X, y, sample_weight=…)"),
    (lambda: nt.Problem.from_rows(gate(), X, Y, intercept=True),
     "an intercept needs a network that is linear in x, and this one has leak=0: use leak=1 or "
     "networks.linear(n_inputs), or subtract a constant from y and leave out `intercept`"),
    (lambda: nt.Problem.from_rows(nt.networks.linear(2), X, Y, intercept=True),
     "`X` must have shape (N, 2), got (4, 3)"),
    # attacks
    (lambda: nt.attacks.AlternatingSign(bound=-0.1), "`bound` must be in [0, inf), got -0.1"),
    (lambda: nt.attacks.Constant(bound=1.0, probability=1.5),
     "`probability` must be in [0, 1], got 1.5"),
    (lambda: nt.attacks.Adaptive(bound=True), "`bound` must be a number in [0, inf), got True"),
    (lambda: nt.attacks.OddDirection(1.0, direction=np.zeros(3)), "`direction` must not be zero"),
    (lambda: nt.attacks.Burst(1.0, share=1.5), "`share` must be in [0, 1], got 1.5"),
    (lambda: nt.attacks.LargeNorm(1.0, cutoff=-1.0), "`cutoff` must be in [0, inf), got -1"),
    (lambda: nt.attacks.Multiplicative(NAN), "`factor` must be in [-1e70, 1e70], got nan"),
    (lambda: nt.attacks.Replacement(-1.0), "`scale` must be in [0, 1e70], got -1"),
    (lambda: nt.attacks.Mixture(np.inf), "`bound` must be in [0, inf), got inf"),
    (lambda: plan(nt.attacks.SignFlip(), steps=5),
     "no guarantee covers SignFlip(probability=1): plan against a Budget, or certify with "
     "method='measured'"),
    (lambda: attacked(nt.attacks.Impersonation(1.0, weights=np.ones(4))),
     "attack Impersonation(bound=1, probability=1) has a vector of shape (4,), but the network "
     "has 3 weights"),
    (lambda: attacked(nt.attacks.Adaptive(1.0), problem=NO_TRUTH),
     "attack Adaptive(bound=1, probability=1) uses `push`, which needs the problem's true_weights "
     "(if it does not look at it, its `query_fields` should say so)"),
    # trainers
    (lambda: nt.NeuroTron(0.0), "`step_size` must be in (0, inf), got 0"),
    (lambda: nt.NeuroTron(0.1, sensing="best"),
     "`sensing` must be one of 'optimal', 'polar', 'mean', 'center', got 'best'"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1, sensing=np.ones((2, 3))))]),
     "`sensing` must have shape (3, 3), got (2, 3)"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1, sensing=np.ones((3, 3))))]),
     "the sensing matrix must have full rank: its rows are dependent"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1))],
                      problem=nt.Problem.draw(gate(), nt.StudentT(2))),
     "sensing='optimal' needs a law of finite variance: use weighting='inverse-norm', "
     "sensing='mean' or an array"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1, weighting="inverse-norm"))],
                      problem=nt.Problem.draw(gate(), nt.Correlated(nt.Laplace(), np.eye(3)))),
     "sensing='optimal' needs E[xxᵀ/‖x‖²], which is not known for Correlated(Laplace(scale=1.0), "
     "matrix of shape (3, 3)): leave out weighting='inverse-norm', or use sensing='mean'"),
    (lambda: simulate([nt.Arm(nt.NeuroTron(0.1))],
                      problem=nt.Problem.draw(gate(), nt.Correlated(nt.StudentT(1), np.eye(3)))),
     "sensing='optimal' needs a law of finite variance: use sensing='mean' or an array"),
    (lambda: nt.Normal(1.0), "write Normal(scale=1.0), each argument by name; got Normal(1.0)"),
    (lambda: nt.StudentT(4, 2),
     "write StudentT(dof=…, scale=1.0), each argument by name; got StudentT(4, 2)"),
    (lambda: nt.StudentT(),
     "write StudentT(dof=…, scale=1.0), each argument by name; got StudentT()"),
    (lambda: nt.Empirical(),
     "write Empirical(rows=…, symmetrized=False, sample_weight=None), each argument by name; got "
     "Empirical()"),
    (lambda: nt.ScipyLaw(),
     "write ScipyLaw(distribution=…), each argument by name; got ScipyLaw()"),
    (lambda: nt.Normal(sigma=1), "unknown argument of Normal 'sigma': known: scale"),
    (lambda: nt.ClippedSGD(quantile=0.0), "`quantile` must be in (0, 1), got 0"),
    (lambda: nt.HuberSGD(speed=2.0), "`speed` must be in (0, 1], got 2"),
    (lambda: nt.TrimmedSGD(-1.0), "`pace` must be in (0, inf), got -1"),
    (lambda: nt.HuberSGD(weighting="norm"),
     "`weighting` must be one of 'inverse-norm', got 'norm'"),
    (lambda: nt.ClippedTron(quantile=1.0), "`quantile` must be in (0, 1), got 1"),
    (lambda: nt.ClippedTron(speed="fast"), "`speed` must be a number in (0, 1], got 'fast'"),
    (lambda: simulate([nt.Arm(nt.ClippedTron("scheduled"))]),
     "step_size='scheduled' is for NeuroTron itself, not for ClippedTron"),
    (lambda: nt.RefinedTron(0), "`warm_up` must be a whole number of at least 1, got 0"),
    (lambda: nt.RefinedTron(quantile=0.0), "`quantile` must be in (0, 1), got 0"),
    (lambda: nt.RefinedTron(speed=2.0), "`speed` must be in (0, 1], got 2"),
    (lambda: nt.RefinedTron(pace=-1.0), "`pace` must be in (0, inf), got -1"),
    (lambda: nt.RefinedTron(averaging="yes"), "`averaging` must be a bool, got 'yes'"),
    (lambda: nt.SGD(0.1, averaging="yes"), "`averaging` must be a bool, got 'yes'"),
    (lambda: nt.Stages(), "the shares must add up to 1, got 0"),
    (lambda: nt.Stages(nt.SGD(0.1)), "stages[0] must be a pair (trainer, share of the steps)"),
    (lambda: nt.Stages((nt.SGD(0.1), 0.5), ("sgd", 0.5)),
     "`trainer of stages[1]` must be a Trainer, got 'sgd'"),
    (lambda: nt.Stages((nt.SGD(0.1), 0.5), (nt.SGD(0.1), 0.4)),
     "the shares must add up to 1, got 0.9"),
    (lambda: nt.Stages((nt.SGD(0.1), 1.5), (nt.SGD(0.1), -0.5)),
     "`share of stages[0]` must be in (0, 1], got 1.5"),
    (lambda: nt.Stages((nt.SGD(0.1), 0.5), (nt.RefinedTron(), 0.5)),
     "stages[1] has stages itself: write them in one row"),
    (lambda: certify(nt.Arm(nt.Stages((nt.NeuroTron(0.1), 1.0)))),
     "no theorem covers Stages: certify NeuroTron, or use method='measured'"),
    (lambda: certify(nt.Arm(nt.NeuroTron(0.1, averaging=True))),
     "no theorem covers averaged weights: certify without `averaging`, or use method='measured'"),
    (lambda: nt.Arm("sgd"), "`trainer` must be a Trainer, got 'sgd'"),
    (lambda: nt.Arm(nt.SGD(0.1), "noise"), "`attack` must be an Attack, got 'noise'"),
    (lambda: type("Odd", (nt.Trainer,), {"direction": "first-gradient"})(0.1),
     "`Odd.direction` must be one of 'sensing', 'gradient', 'first_gradient', got "
     "'first-gradient'"),
    (lambda: nt.Arm(nt.SGD(0.1), name=0), "`name` must be a str, got 0"),
    (lambda: attacked(formula("chance", 7.0)),
     "attack Formula(bound=1, probability=1) gave a chance outside [0, probability] at step 0"),
    (lambda: attacked(formula("distort", None)),
     "distort of Formula(bound=1, probability=1) must return a number or numbers of shape (4, 1), "
     "got NoneType of shape ()"),
    (lambda: attacked(formula("distort", np.zeros(4))),
     "distort of Formula(bound=1, probability=1) must return a number or numbers of shape (4, 1), "
     "got ndarray of shape (4,)"),
    (lambda: attacked(type("Prober", (nt.attacks.OddDirection,), {"probe_vector": None})(
        1.0, direction=[1.0])),
     "attack Prober(bound=1, probability=1) uses a probe, but has no `probe_vector` to probe with"),
    (lambda: simulate([nt.Arm(adapting("adapt", (1.0, 2.0)))]),
     "adapt of Adapting(step_size=0.1) must return 1 numbers like initial_state, got 2"),
    (lambda: simulate([nt.Arm(adapting("influence", "all"))]),
     "influence of Adapting(step_size=0.1) must return a number or numbers of shape (4, 1), got "
     "str of shape ()"),
    (lambda: simulate([nt.Arm(type("Own", (nt.Trainer,), {"direction": "sensing"})(0.1))]),
     "trainer Own(step_size=0.1) has direction 'sensing' but no sensing matrix: derive it from "
     "NeuroTron"),
    # simulate
    (lambda: simulate(3), "`arms` must be a list of Arm: write [arm]"),
    (lambda: simulate(progress=3), "`progress` must be a function of (step, steps), got 3"),
    (lambda: simulate(steps=10**9, record="all"),
     "record='all' would keep 1,000,000,000 records: record every 100 steps or fewer times"),
    (lambda: simulate(resume=RUN, problem=NO_TRUTH),
     "`resume` was run with a different `problem`"),
    (lambda: simulate([]), "`arms` must hold at least one Arm"),
    (lambda: simulate(nt.Arm(nt.SGD(0.1))), "`arms` must be a list of Arm: write [arm]"),
    (lambda: simulate([nt.SGD(0.1)]), "`arms[0]` must be an Arm, got SGD(step_size=0.1)"),
    (lambda: simulate([nt.Arm(nt.SGD(0.1)), nt.Arm(nt.SGD(0.1))]),
     "two arms are called 'SGD(step_size=0.1)': tell them apart with name=…"),
    (lambda: simulate(steps=-1), "`steps` must be a whole number from 0 to 1e+15, got -1"),
    (lambda: simulate(batch_size=0), "`batch_size` must be a whole number from 1 to 1e+07, got 0"),
    (lambda: simulate(record="often"), "`record` must be one of 'log', 'all', got 'often'"),
    (lambda: simulate(record=0), "`record` must be a whole number of at least 1, got 0"),
    (lambda: simulate(engine="gpu"),
     "`engine` must be one of 'auto', 'compiled', 'numpy', got 'gpu'"),
    (lambda: attacked(formula("distort", 0.0), engine="compiled"),
     "engine='compiled' cannot run arm 'SGD(step_size=0.1) under Formula(bound=1, probability=1)': "
     "the attack Formula is not built in; engine='auto' runs such arms on the NumPy engine"),
    (lambda: simulate(resume=RUN, engine="numpy"),
     "`resume` was run with arm 'SGD(step_size=0.1)' on the compiled engine, not on numpy: the two "
     "round differently"),
    (lambda: simulate(replicate=-1), "`replicate` must be a whole number of at least 0, got -1"),
    (lambda: simulate(problem=TRUTHLESS),
     "there are no labels to train on, since the data are drawn from Normal(scale=1.0) without "
     "`true_weights`: give them to Problem.draw(network, law, true_weights=…), or give rows with "
     "labels to Problem.from_rows(network, X, y)"),
    (lambda: simulate(problem=NO_TRUTH).errors,
     "there are no errors ‖w − w*‖, because the labels come from data whose true weights w* are "
     "unknown: look at `losses`, or give `true_weights` with the data"),
    (lambda: nt.Problem.from_rows(gate(), np.ones((4, 5)), Y),
     "the network takes 3 inputs, but Empirical(4 rows of 5 inputs) has 5"),
    (lambda: nt.data.Rows(X, np.ones(3)), "`y` must have shape (4,), got (3,)"),
    (lambda: nt.data.Rows(X, Y, sample_weight=-Y),
     "`sample_weight` must be nonnegative and not all zero"),
    (lambda: simulate(resume=RUN, seed=1), "`resume` was run with seed=0, not 1"),
    (lambda: simulate(resume=RUN, steps=2),
     "`steps` counts from the start: must be at least the 5 made, got 2"),
    (lambda: simulate([nt.Arm(nt.SGD(0.2))], resume=RUN),
     "`resume` was run with a different `arms`"),
    (lambda: simulate(batch_size=10**7, problem=nt.Problem.draw(gate(100), nt.Normal())),
     "a batch must have at most 100,000,000 entries, got 10000000 × 100"),
    # theory
    (lambda: nt.theory.gaussian_risk_probability(8, NAN, 0.05),
     "`scale` must be in (0, 1e70], got nan"),
    (lambda: nt.theory.gaussian_trade_off(8, -1.0, 0.5), "`scale` must be in (0, 1e70], got -1"),
    (lambda: nt.theory.sharp_constants(problem(), np.ones((3, 2))),
     "`sensing` must have shape (3, 3), got (3, 2)"),
    (lambda: nt.guarantees.impersonated_mean(problem(), LIED_TO, steps=3, batch_size=None),
     "`batch_size` must be a whole number from 1 to 1e+07, got None"),
    (lambda: nt.guarantees.impersonated_mean(problem(), LIED_TO, steps=[0.5]),
     "`steps` must be whole numbers from 0 to 1e+15, got [0.5]"),
    (lambda: certify(seed=-1), "`seed` must be a whole number of at least 0, got -1"),
    # names and texts
    (lambda: nt.attacks.build(None, problem(), bound=1.0, probability=0.5, seed=0),
     "`text` must be text, got None"),
    (lambda: nt.attacks.build("none", None, bound=1.0, probability=0.5, seed=0),
     "`problem` must be a Problem, got None"),
    (lambda: nt.attacks.build("none", problem(), bound=1.0, probability=0.5, seed="x"),
     "`seed` must be a whole number of at least 0, got 'x'"),
    (lambda: nt.trainers.build(None, step_size=0.1), "`text` must be text, got None"),
    # checks
    (lambda: nt.check_attack(nt.attacks.Constant(1.0), seed=-1),
     "`seed` must be a whole number of at least 0, got -1"),
    (lambda: nt.check_trainer(nt.SGD(0.1), seed=-1),
     "`seed` must be a whole number of at least 0, got -1"),
    # studies, results and figures
    (lambda: nt.studies.parse("text", "x"),
     "`content` must be the bytes of a TOML file, got 'text'"),
    (lambda: nt.studies.run(SMOKE, "out", mixed="no"), "`mixed` must be a bool, got 'no'"),
    (lambda: nt.studies.run(SMOKE, ""),
     "`folder` must be the name of a file or folder, got ''"),
    (lambda: nt.studies.train(SMOKE.model_dump_json(), "nrmal", 0),
     "unknown setting 'nrmal': did you mean 'normal'? known: laplace, normal"),
    (lambda: nt.studies.train("{", "normal", 0),
     "not JSON: Invalid JSON: EOF while parsing an object at line 1 column 1"),
    (lambda: nt.load_results(None), "`folder` must be the name of a file or folder, got None"),
    (lambda: nt.load_results("x" * 100_000),
     f"`folder` must be the name of a file or folder, got '{'x' * 56}... (File name too long)"),
    (lambda: nt.results.rate(7, 3), "`successes` must be a whole number from 0 to 3, got 7"),
    (lambda: nt.results.rate(-1, 3), "`successes` must be a whole number from 0 to 3, got -1"),
    (lambda: nt.claims.evaluate(None), "`results` must be a Results, got None"),
    (lambda: nt.plot(None), "`run` must be a Trajectories, got None"),
    (lambda: nt.figures.charts(None), "`results` must be a Results, got None"),
    (lambda: nt.figures.draw(None), "`chart` must be a Chart, got None"),
    (lambda: nt.figures.save(None, "a.png"), "`figure` must be one of draw(chart), got None"),
    # sizes
    (lambda: nt.networks.symmetric(n_inputs=10**9, filter_size=2),
     "the gates' matrices must have at most 100,000,000 entries, got 2 × 1000000000"),
    (lambda: nt.networks.relu_gate(10**30),
     f"the input must have at most 100,000,000 entries, got {10**30}"),
    (lambda: nt.networks.convolution(10**8, 3, stride=2),
     "all windows together must have at most 100,000,000 entries, got 49999999 × 3"),
    (lambda: nt.networks.convolution2d((10**9, 10**30), (2, 2), 10**31),
     f"the image must have at most 100,000,000 entries, got 1000000000 × {10**30}"),
    (lambda: nt.networks.Windows([[0, 1]], 10**30),
     f"the input must have at most 100,000,000 entries, got {10**30}"),
    (lambda: nt.check_law(nt.Normal(), n_inputs=10**9),
     "the sample must have at most 100,000,000 entries, got 1000 × 1000000000"),
    (lambda: nt.Problem.draw(gate(10**5), nt.Normal()).covariance,
     "the covariance must have at most 100,000,000 entries, got 100000 × 100000"),
    (lambda: nt.Empirical(np.broadcast_to(1.0, (10**6, 10**6))),
     "`rows` must have at most 100,000,000 entries, got 1000000 × 1000000"),
    (lambda: nt.Normal(scale="x" * 10**6),
     f"`scale` must be a number in [1e-70, 1e70], got '{'x' * 56}..."),
    (lambda: nt.Normal(scale=np.ones((9, 9))),
     "`scale` must be a number in [1e-70, 1e70], got array([[1., 1., 1., 1., 1., 1., 1., 1., 1.], "
     "[1., 1., 1.,..."),
    (lambda: nt.Problem.draw(gate(), nt.Normal(), seed=10**5000),
     "`seed` must have at most 1000 digits"),
    (lambda: nt.theory.lambda1(EXPONENTIAL, np.eye(3)),
     "λ1 needs a parity-symmetric law of x (Assumption 1), and ScipyLaw(expon()) is not known to "
     "be one"),
    (lambda: nt.theory.lambda1(problem(), np.ones((2, 2))),
     "`sensing` must have shape (3, 3), got (2, 2)"),
    (lambda: nt.theory.lambda2(3.0), "`sensing` must have shape (r, n), got ()"),
    (lambda: nt.theory.lambda3(None), "`network` must be a FilterNetwork, got None"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_a_wrong_call_gets_one_clear_sentence(call, sentence):
    with pytest.raises(nt.InputError) as caught:
        call()
    assert str(caught.value) == sentence


@pytest.mark.parametrize("record", [2**63, 10**30])
def test_a_record_beyond_the_run_keeps_the_first_and_the_last_step(record):
    run = simulate(record=record)
    assert run.steps.tolist() == [0, 5]
    assert run.steps.dtype == np.intp


def test_there_are_at_least_thirty_of_them():
    assert len(CASES) >= 30
