"""`verify`: how far a filter is from the true one, whoever trained it."""

from __future__ import annotations

from typing import Any, cast, overload

import numpy.typing as npt

from neurotron import _check
from neurotron.guarantees.verify.case import Case, Inputs
from neurotron.guarantees.verify.fresh_rows import verify_cases
from neurotron.guarantees.verify.next_rows import verify_run
from neurotron.guarantees.verify.verification import Verification
from neurotron.problem import Problem
from neurotron.trajectories import Trajectories


@overload
def verify(
    problem: Problem,
    weights: npt.ArrayLike,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    probability: float,
    attacker: str = ...,
    confidence: float = ...,
    noise: str | float = ...,
    bound: float | None = ...,
) -> Verification: ...


@overload
def verify(
    problem: Trajectories,
    *,
    rows: int,
    probability: float,
    attacker: str = ...,
    confidence: float = ...,
    noise: str | float = ...,
    bound: float | None = ...,
) -> dict[str, Verification]: ...


def verify(
    problem: Problem | Trajectories,
    weights: npt.ArrayLike | None = None,
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    probability: float,
    attacker: str = "any",
    confidence: float = 0.999,
    noise: str | float = "independent",
    bound: float | None = None,
    rows: int | None = None,
) -> Verification | dict[str, Verification]:
    """Return a proven bound on the distance ‖ŵ − w*‖ of a filter, read off fresh rows.

    The filter may come from anywhere. Some of the labels may be attacked, without any bound on what
    is written into them: a filter that explains enough of the rows is close to the true one. The
    rows must be fresh, which means that nothing about them was used to find the filter.

    Instead of a problem, give the run of a simulation and a number of `rows`: every arm is verified
    on the next rows of its own stream, with the labels that its own attack writes.

    Parameters
    ----------
    problem
        The network, and the law of the inputs; or the result of `simulate`.
    weights
        The filter ŵ, shape (r,).
    X, y
        Fresh inputs, shape (N, n), and their labels, shape (N,).
    probability
        β, the largest share of attacked labels.
    attacker
        "any": at most βN of these rows, chosen after seeing all of them, or coins whose chance is
        β on average over the inputs. "coin": each label by a coin of its own, of chance at most β
        for every input, which allows more attacked labels.
    confidence
        1 − δ, the probability with which the radius holds. A wrong radius can be far off.
    noise
        What honest labels carry: "independent", noise of any law that is independent of the input;
        "even", noise that may depend on x, but is the same at −x; 0.0, none, so that labels are
        exact; or a number ς for normal noise of a standard deviation of at least ς. Noise is
        independent between rows.
    bound
        θ, if no label is changed by more; None if nothing is known.
    rows
        For a run: how many of the next rows to use.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    >>> attack = nt.attacks.AlternatingSign(bound=10.0, probability=0.1)
    >>> run = nt.simulate(problem, nt.RefinedTron(), attack=attack, steps=3000)
    >>> found = nt.verify(run, rows=1000, probability=0.1, attacker="coin", noise=0.0)
    >>> found["RefinedTron"].radius < 1e-11
    True
    """
    options: dict[str, Any] = {
        "probability": probability, "attacker": attacker, "confidence": confidence, "noise": noise,
        "bound": bound,
    }  # fmt: skip
    given = {"weights": weights, "X": X, "y": y}
    if isinstance(problem, Trajectories):
        extra = [name for name, value in given.items() if value is not None]
        if extra or rows is None:
            raise _check.InputError(
                "a run is verified on its next rows: write verify(run, rows=10_000, "
                "probability=…), without weights, X and y"
            )
        return verify_run(problem, rows, **options)
    missing = [name for name, value in given.items() if value is None]
    if missing or rows is not None:
        raise _check.InputError(
            "a filter is verified on fresh rows: write verify(problem, weights, X, y, "
            "probability=…), without `rows`"
        )
    filters, inputs, labels = (cast(npt.ArrayLike, value) for value in given.values())
    ((_, found),) = verify_cases([Case.of(Inputs.of(problem, inputs), filters, labels, **options)])
    return found
