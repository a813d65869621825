"""Where an impersonation attack leads Neuro-Tron: near-optimality (section 3.5 of the paper)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks import Impersonation
from neurotron.problem import Problem
from neurotron.simulation import MOST_SAMPLES, MOST_STEPS
from neurotron.trainers import Arm, NeuroTron

__all__ = ["impersonated_mean"]


def impersonated_mean(
    problem: Problem, arm: Arm, *, steps: npt.ArrayLike, batch_size: int = 1
) -> Array:
    r"""Return the mean of the weights after each number of `steps`, an array of shape (steps, r).

    Under `Impersonation` of w_adv with constant β, and a bound that is never reached, the mean
    follows exactly

    .. math:: E[w_{t+1} - \bar w] = (I - \eta \tfrac{1+\alpha}2 M \Sigma \bar A^\top)
              E[w_t - \bar w], \qquad \bar w = w^* + \beta (w_{adv} - w^*) .

    At β = 1 the data are exactly those of w_adv, so no algorithm that recovers the filter from
    honest data can do better (docs/theory.md (c)).

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> problem = nt.Problem.draw(
    ...     nt.networks.relu_gate(2), nt.Rademacher(), true_weights=[1.0, 2.0])
    >>> liar = nt.attacks.Impersonation(weights=[3.0, 2.0], bound=2.0, probability=0.5)
    >>> arm = nt.Arm(nt.NeuroTron(0.5), liar)
    >>> nt.guarantees.impersonated_mean(problem, arm, steps=[0, 100]).round(6)
    array([[1., 1.],
           [2., 2.]])
    """
    truth = _check.instance("problem", problem, Problem).true_weights
    _check.instance("arm", arm, Arm)
    _check.integer("batch_size", batch_size, 1, MOST_SAMPLES)
    counts = np.atleast_1d(_check.whole_numbers("steps", steps, 0, MOST_STEPS))
    if truth is None:
        raise _check.InputError("the problem has no `true_weights`: give them to Problem.draw")
    attack = _check.instance("attack", arm.attack, Impersonation)
    trainer = arm.trainer.resolve(problem, batch_size=batch_size, steps=0, attack=attack)
    if type(trainer) is not NeuroTron:
        raise _check.InputError(
            "the mean is known only for NeuroTron with a constant step size: give a number"
        )
    covariance = problem.weighted_covariance(trainer.weighting)
    if covariance is None:
        raise _check.InputError(f"{problem.law!r} has no finite covariance")
    goal = truth + attack.probability * (attack.weights - truth)
    gate, pull = problem.network.mean_gate, problem.network.odd_slope
    matrix = np.asarray(trainer.sensing) @ covariance @ gate.T
    step = np.eye(len(truth)) - float(trainer.step_size) * pull * matrix
    start = problem.initial_weights - goal
    return np.stack([goal + np.linalg.matrix_power(step, int(count)) @ start for count in counts])
