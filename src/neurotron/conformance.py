"""Checks that your own law, attack, trainer or activation meets the requirements of the package.

Each function returns nothing if all is well, and otherwise raises `ConformanceError` with one
sentence. The built-in laws, attacks and trainers are tested with them, too.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._streams import Purpose, Stream
from neurotron._types import Array
from neurotron.attacks import Attack, Query
from neurotron.attacks.query import visible
from neurotron.attacks.scope import OTHER_SAMPLES, ask, looks_beyond, sample_queries
from neurotron.engine.numpy_cohort import answer
from neurotron.laws import Law, Normal, ProductLaw
from neurotron.networks import Activation, symmetric
from neurotron.problem import Problem
from neurotron.simulation import simulate
from neurotron.trainers import SGD, Arm, Trainer
from neurotron.trainers.stages import StagedTrainer

DRAWS = 200_000
SIGMAS = 5.0  # a correct law fails one comparison in two million

ELEMENTWISE = {"query": ("chance", "distort"), "batch": ("chance",), "rows": ()}
"""The formulas that must look at one sample at a time, for each scope of an attack."""


class ConformanceError(AssertionError):
    """A law, attack or trainer does not meet a requirement; the message says which."""


def check_activation(activation: Activation) -> None:
    """Check an activation that you have written: σ(z) = c z + ψ(z) with an even ψ.

    At 20 000 numbers z between −1e6 and 1e6, close together near 0, ψ must be even and finite, its
    derivative must agree with differences of ψ, and no slope between two of them may exceed the
    Lipschitz constant that is stated.

    Parameters
    ----------
    activation
        The activation to check.
    """
    _check.instance("activation", activation, Activation)
    z = np.concatenate([np.linspace(1e-3, 40.0, 8000), np.geomspace(41.0, 1e6, 2000)])
    z = np.concatenate([-z[::-1], [0.0], z])
    middle = (z[1:] + z[:-1]) / 2.0
    try:
        value, slope = (np.asarray(f(z), float) for f in (activation.even, activation.even_slope))
        each = [float(activation.even(float(one))) for one in z[::1000]]
        between = np.asarray(activation.even_slope(middle), float)
    except (TypeError, ValueError) as error:
        raise ConformanceError(
            f"`even` and `even_slope` of {activation.name} must accept numbers and arrays, as "
            f"NumPy's functions do: {error}"
        ) from None
    name, allowed = activation.name, activation.lipschitz * (1.0 + 1e-9)
    _expect(value.shape == z.shape == slope.shape, f"`even` of {name} must be elementwise")
    _expect(bool(np.isfinite([value, slope]).all()), f"`even` of {name} must be finite")
    near = 1e-12 * (1.0 + np.abs(value))
    uneven = np.abs(value - value[::-1]) > near
    _expect(
        not uneven.any(),
        f"`even` of {name} is not even: it is {value[uneven][:1]} at z = {z[uneven][:1]}, and "
        f"{value[::-1][uneven][:1]} at −z",
    )
    _expect(bool(np.allclose(each, value[::1000])), f"`even` of {name} must be elementwise")
    rise = np.diff(value) / np.diff(z)
    rounding = 4e-16 * np.abs(value[1:]) / np.diff(z)
    steepest = max(float((np.abs(rise) - rounding).max()), float(np.abs(slope).max()))
    _expect(
        steepest <= allowed,
        f"`lipschitz` of {name} must be at least {steepest:.6g}, got {activation.lipschitz:g}",
    )
    # between two points a function rises as steeply as its slope somewhere, also across a kink
    slopes = np.array([slope[1:], slope[:-1], between])
    near = 1e-4 * (1.0 + allowed) + rounding
    wrong = (rise < slopes.min(axis=0) - near) | (rise > slopes.max(axis=0) + near)
    wrong &= np.abs(middle) < 40.0  # farther out the steps are too large
    _expect(
        not wrong.any(),
        f"`even_slope` of {name} is not the derivative of `even` at z = {middle[wrong][:1]}",
    )


def check_law(law: Law, *, n_inputs: int = 3, seed: int = 0) -> None:
    """Check a law (probability distribution) of inputs that you have written.

    Shapes and repeatability are checked, and the stated moments are compared with 200 000 draws.
    They must agree within five standard errors. The variance is compared only if the fourth moment
    is finite, and the kurtosis only if the eighth is. Norm moments and τ may be too large, but not
    too small.

    Parameters
    ----------
    law
        The law to check.
    n_inputs
        Dimension of the inputs to draw, unless the law has a fixed one.
    seed
        Seed of the draws.
    """
    _check.instance("law", law, Law)
    n = _check.integer("n_inputs", law.n_inputs or n_inputs, 1)
    batch = max(DRAWS // n, 1000)
    _check.entries("the sample", batch, n)
    u, v = Stream.of(seed, 0).pairs(Purpose.INPUTS, 0, law.pairs(batch, n))
    x = law.inputs(u, v, batch, n)
    _expect(x.shape == (batch, n), f"inputs must have shape {(batch, n)}, got {x.shape}")
    _expect(np.array_equal(x, law.inputs(u, v, batch, n)), "the same uniforms must give the same x")
    if isinstance(law, ProductLaw):
        _check_coordinates(law, *law.coordinates(u, v))
    if law.symmetric:
        # arctan is odd and bounded, so its mean has a finite error whatever the tails
        direction = np.ones(n) / math.sqrt(n)
        _near("mean of arctan of a symmetric law", np.arctan(x @ direction), 0.0)
    if math.isfinite(law.norm_moment(4, n)):
        _check_moments(law, x)


def _check_coordinates(law: ProductLaw, first: Array, second: Array | None = None) -> None:
    """Compare the stated moments of one coordinate of a product law with draws."""
    _expect(law.variance > 0.0, f"`variance` must be positive, got {law.variance}")
    _expect(
        law.kurtosis >= 1.0, f"`kurtosis` = E x⁴/(E x²)² must be at least 1, got {law.kurtosis}"
    )
    if math.isfinite(law.kurtosis):
        _near("variance", first**2, law.variance)
    if law.tail > 8.0:
        _near("E x⁴ = kurtosis · variance²", first**4, law.kurtosis * law.variance**2)
    if second is not None:
        centred = (np.arctan(part) - np.arctan(part).mean() for part in (first, second))
        _near("covariance of the two coordinates of a pair", math.prod(centred), 0.0)


def _check_moments(law: Law, x: Array) -> None:
    """Compare the stated covariance and norm moments with draws."""
    batch, n = x.shape
    covariance = law.covariance(n)
    _expect(covariance is not None, "covariance must be finite where norm_moment(4) is")
    for i, j in itertools.combinations_with_replacement(range(min(n, 3)), 2):
        _near(f"covariance[{i}, {j}]", x[:, i] * x[:, j], float(np.asarray(covariance)[i, j]))
    norms = np.linalg.norm(x, axis=1)
    for order in (1, 2, 3, 4):
        stated, sample = law.norm_moment(order, n), norms**order
        low = sample.mean() - SIGMAS * sample.std() / math.sqrt(batch)
        _expect(
            stated >= low * (1.0 - 1e-9),
            f"norm_moment({order}) is {stated:.4g}, but the draws give at least {low:.4g}",
        )
    tau = law.even_moments(n).tau
    if tau is None:
        return
    for row in (np.eye(1, n), np.ones((1, n))):
        sample = np.abs(x @ row[0])
        low = sample.mean() - SIGMAS * sample.std() / math.sqrt(batch)
        _expect(
            tau(row) >= low * (1.0 - 1e-9),
            f"tau is {tau(row):.4g}, but the draws give at least {low:.4g}: check `scale_mixture` "
            "and `projection_factor`",
        )


def check_attack(attack: Attack, *, seed: int = 0) -> None:
    """Check an attack that you have written.

    Its changes must stay within its bound, and its probabilities must be at most `probability`. Its
    formulas must be elementwise and repeatable, and use only the fields in `query_fields`. A run
    must not change when other arms take part, or when it is interrupted. An attack of the scope
    "rows" may look at all rows, and cannot run.

    Parameters
    ----------
    attack
        The attack to check.
    seed
        Seed of the made-up queries and of the run.
    """
    _check.instance("attack", attack, Attack)
    _check.integer("seed", seed, 0)
    query = sample_queries(attack, seed, rows=64, arms=3)
    bound, chance = np.full((1, 3), attack.bound), np.full((1, 3), attack.probability)
    distortion = _asked(attack, "distort", bound, query)
    _expect(np.isfinite(distortion).all(), "distort must return finite numbers")
    largest = float(np.abs(distortion).max())
    _expect(
        largest <= attack.bound * (1.0 + 1e-12),
        f"distort must return |ξ| ≤ {attack.bound:g}, its bound, but |ξ| = {largest:g} exceeds it",
    )
    chances = _asked(attack, "chance", chance, query)
    inside = (chances >= 0.0) & (chances <= attack.probability * (1.0 + 1e-12))
    _expect(inside.all(), "chance must return probabilities of at most `probability`")
    for formula in ELEMENTWISE[attack.scope]:
        found = looks_beyond(attack, formula, seed)
        said = ", or set scope = 'batch'" if (formula, found) == ("distort", OTHER_SAMPLES) else ""
        _expect(not found, f"{formula} {found}: it must look at one sample at a time{said}")
    declared = visible(query, attack)
    for formula, most, whole in (("distort", bound, distortion), ("chance", chance, chances)):
        masked = _asked(attack, formula, most, declared)
        _expect(
            np.array_equal(masked, whole),
            f"{formula} uses a field of the query that is not in `query_fields`: add it there",
        )
    if attack.scope != "rows":
        _check_run(Arm(SGD(1e-3), attack, name="checked"), seed)


def check_trainer(trainer: Trainer, *, seed: int = 0) -> None:
    """Check a trainer that you have written.

    Its formulas must be elementwise, and its state must have a fixed size. A run must not change
    when other arms take part, or when it is interrupted.

    Parameters
    ----------
    trainer
        The trainer to check.
    seed
        Seed of the made-up residuals and of the run.
    """
    _check.instance("trainer", trainer, Trainer)
    _check.integer("seed", seed, 0)
    if isinstance(trainer, StagedTrainer):
        for part in trainer.parts:
            check_trainer(part, seed=seed)
        return
    draw = np.random.default_rng(seed)
    residual, length = draw.standard_normal((8, 3)), draw.random((8, 3)) + 0.1
    state = tuple(np.full(3, value) for value in trainer.initial_state)
    weight = _answer(trainer, "influence", trainer.influence(residual, state), (8, 3))
    one = tuple(value[:1] for value in state)
    alone = _answer(trainer, "influence", trainer.influence(residual[4:5, :1], one), (1, 1))
    _expect(alone[0, 0] == weight[4, 0], "influence must look at one residual at a time")
    if trainer.adapts:
        observed = trainer.observe(residual, length, state)
        rows = (_answer(trainer, "observe", value, (8, 3)) for value in observed)
        mean = tuple(value.mean(axis=0) for value in rows)
        after = trainer.adapt(state, mean, 0)
        _expect(
            len(after) == len(state),
            f"adapt must return {len(state)} numbers like initial_state, got {len(after)}",
        )
    _check_run(Arm(trainer, name="checked"), seed)


def _check_run(arm: Arm, seed: int) -> None:
    """Check that a run of the arm alone, with another arm, and in two parts is the same."""
    r, n = _dimensions(arm)
    problem = Problem.draw(symmetric(n, r, 4, seed=seed), Normal(), seed=seed)
    other = Arm(SGD(1e-3), name="other")

    def run(arms: list[Arm], steps: int = 240, **options: Any) -> Any:
        return simulate(problem, arms, steps=steps, batch_size=8, seed=seed, record=60, **options)

    alone, beside = run([arm]), run([other, arm])
    same = np.allclose(alone.weights[0], beside.weights[1], rtol=1e-9, atol=1e-12)
    _expect(same, "the run of an arm must not change when another arm takes part")
    resumed = run([arm], resume=run([arm], steps=120))
    _expect(
        np.array_equal(resumed.weights, alone.weights),
        "120 steps and 120 more must give the same as 240: keep no state outside `state`",
    )


def _dimensions(arm: Arm) -> tuple[int, int]:
    """Return (r, n) of a network that fits the arm."""
    sensing = getattr(arm.trainer, "sensing", None)
    if isinstance(sensing, np.ndarray):
        return sensing.shape[0], sensing.shape[1]
    vector = None if arm.attack is None else arm.attack.probe_vector
    r = 4 if vector is None else len(vector)
    return r, r + 3


def _asked(attack: Attack, formula: str, most: Array, query: Query) -> Array:
    """Return the values of a formula of an attack for the queries of a check."""
    try:
        value = ask(attack, formula, most, query)
    except _check.InputError as error:
        raise ConformanceError(str(error)) from None
    return _answer(attack, formula, value, (64, 3))


def _answer(owner: Attack | Trainer, formula: str, value: Any, shape: tuple[int, int]) -> Array:
    """Return the value of a formula, with the same checks as in a run."""
    try:
        return answer(owner, formula, value, shape)
    except _check.InputError as error:
        raise ConformanceError(str(error)) from None


def _near(name: str, sample: Array, expected: float) -> None:
    mean, error = float(sample.mean()), float(sample.std()) / math.sqrt(sample.size)
    _expect(
        abs(mean - expected) <= SIGMAS * error + 1e-12 * abs(expected),
        f"{name} is stated as {expected:.6g}, but the draws give {mean:.6g} ± {error:.2g}",
    )


def _expect(holds: bool | np.bool_, message: str) -> None:
    if not holds:
        raise ConformanceError(message)
