"""Poisons the labels of stored rows with any attack of the library.

>>> import numpy as np, neurotron as nt
>>> X = np.random.default_rng(0).standard_normal((200, 3))
>>> y = X @ [1.0, -2.0, 0.5]
>>> labels, mask = nt.poison(X, y, nt.attacks.HighLeverage(bound=2.0, probability=0.1))
>>> int(mask.sum()), bool((labels[~mask] == y[~mask]).all())
(20, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._types import Array, Mask
from neurotron.attacks import Attack, Query
from neurotron.attacks.query import Known, QueryBuilder, visible
from neurotron.attacks.scope import ask
from neurotron.attacks.table import AttackedTable
from neurotron.engine.numpy_cohort import answer
from neurotron.networks import FilterNetwork, linear
from neurotron.solvers import Solution

ROUNDING = 1e-12
"""Largest relative change of a label that counts as rounding."""
MODELS = (
    "a fitted regressor with a method predict(X), a filter (network, weights), a Solution, a "
    "network, or the weights of a linear filter"
)


def poison(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    attack: Attack,
    *,
    seed: int = 0,
    model: Any = None,
    label_range: tuple[float, float] | None = None,
) -> tuple[Array, Mask]:
    """Return the labels of a table after an attack, and a mask of those that it changed.

    Each row has its own coin, so the attack changes a share β of the labels on average. An attack
    that chooses among all rows (`HighLeverage`, `PickedRows`, `Impostor`) changes at most ⌊βN⌋ of N
    labels: exactly ⌊βN⌋ unless some of them would stay the same.

    A table has neither steps nor a trainer whose weights move. The attacks `Adaptive`, `Burst`,
    `LargeNorm` and `Mixture` therefore push a fit along the direction u in which the rows resist
    least: with g = ∇f(x) the gradient of a row, u is the eigenvector for the smallest positive
    eigenvalue of the mean of ggᵀ. Every row counts as one step, so `Burst` attacks the first rows
    of every 1000, and `AlternatingSign` alternates from row to row.

    Parameters
    ----------
    X, y
        Inputs (N, n) and honest labels (N,), with entries up to 1e70.
    attack
        The attack on the labels.
    seed
        Seed of the coins, and of what the attack draws.
    model
        The model behind the honest labels: a filter (network, weights), a `Solution`, a network
        without weights, or the weights (n,) of a linear filter. It may also be a fitted regressor
        with a method ``predict(X)``, which says nothing about gradients. Without a filter or a
        network, the rows are taken as those of a linear filter, whose gradient is the row itself.
        `PickedRows` without weights gives the labels that this model predicts.
    label_range
        The smallest and the largest label that is possible. Changed labels are clipped to it.

    Returns
    -------
    labels
        The labels after the attack, (N,).
    mask
        True where a label was changed by more than rounding, (N,). All others are as they were.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.relu_gate(2)
    >>> X = [[1, 0], [0, 1], [1, 1], [2, 1]]
    >>> attack = nt.attacks.PickedRows(weights=[2.0, 4.0], probability=0.5)
    >>> labels, mask = poison(X, network([1.0, 1.0], X), attack, model=network)
    >>> labels, mask
    (array([1., 1., 6., 8.]), array([False, False,  True,  True]))
    """
    table = _table(X, y, model, _check.integer("seed", seed, 0))
    low, high = range_of(label_range, table.labels)
    attack = _check.instance("attack", attack, Attack).aimed(table)
    _check_fit(attack, table)
    coins, uniforms = (
        1.0 - _seeds.generator(table.seed, "poison", name).random(len(table))
        for name in ("coins", "uniforms")
    )
    query = visible(_query(attack, table, uniforms), attack)
    if attack.scope == "rows":
        coins = _ranks(attack, table, coins)
    hit = coins <= _chance(attack, query, len(table))
    received = np.clip(table.labels + _changes(attack, query, hit), low, high)
    size = np.maximum(np.abs(received), np.abs(table.labels))
    mask = hit & (np.abs(received - table.labels) > ROUNDING * size)
    return np.where(mask, received, table.labels), mask


# ---- the table -----------------------------------------------------------------------------------


def _table(X: npt.ArrayLike, y: npt.ArrayLike, model: Any, seed: int) -> AttackedTable:
    """Return what is known about the rows and the model behind their labels."""
    inputs = _check.array("X", X, ("N", "n"), _check.LARGEST)
    labels = _check.array("y", y, (len(inputs),), _check.LARGEST)
    columns = inputs.shape[1]
    network, weights, intercept, predictions = linear(columns), None, 0.0, None
    if isinstance(model, FilterNetwork):
        network = model
    elif (
        isinstance(model, (tuple, list)) and len(model) == 2 and isinstance(model[0], FilterNetwork)
    ):
        network, weights = model
    elif isinstance(model, Solution):
        network, weights, intercept = model.network, model.weights, model.intercept
    elif callable(getattr(model, "predict", None)) and not isinstance(model, type):
        predictions = _check.array("model.predict(X)", model.predict(inputs), (len(inputs),))
    elif model is not None:
        weights = _linear_weights(model)
    if network.n_inputs != columns:
        raise _check.InputError(
            f"`X` must have as many columns as the network of `model` has inputs, "
            f"{network.n_inputs}, got {columns}"
        )
    if weights is not None:
        weights = _check.array("model weights", weights, (network.filter_size,), _check.LARGEST)
    return AttackedTable(inputs, labels, network, weights, intercept, predictions, seed)


def _linear_weights(model: Any) -> Array:
    try:
        return _check.array("model", model, ("n",))
    except _check.InputError:
        raise _check.InputError(f"`model` must be {MODELS}, got {_check.shown(model)}") from None


def range_of(given: tuple[float, float] | None, labels: Array) -> tuple[float, float]:
    """Return the smallest and the largest possible label; all honest ones must be possible."""
    if given is None:
        return -np.inf, np.inf
    ends = _check.numbers("label_range", given)
    if ends.shape != (2,) or not ends[0] <= ends[1]:
        raise _check.InputError(
            f"`label_range` must be two numbers (low, high) with low ≤ high, got "
            f"{_check.shown(given)}"
        )
    outside = np.flatnonzero((labels < ends[0]) | (labels > ends[1]))
    if outside.size:
        raise _check.InputError(
            f"`label_range` must contain all honest labels, but y is {labels[outside[0]]:g} at row "
            f"{outside[0]}"
        )
    return float(ends[0]), float(ends[1])


# ---- the attack ----------------------------------------------------------------------------------


def _check_fit(attack: Attack, table: AttackedTable) -> None:
    """Refuse an attack that needs something that was not given; the message says what to pass."""
    vector, size = attack.probe_vector, table.network.filter_size
    if vector is not None and np.shape(vector) != (size,):
        raise _check.InputError(
            f"attack {attack!r} has a vector of shape {np.shape(vector)}, but the filter has "
            f"{size} weights: pass its network as model=network or model=(network, weights)"
        )
    if attack.query_fields == Query._fields:
        return  # it does not say what it uses, so what is not known is NaN
    fields = {*attack.query_fields}
    if vector is None and "probe" in fields:
        raise _check.InputError(
            f"attack {attack!r} uses a probe, but has no `probe_vector` to probe with"
        )
    if not table.has_gradient and "push" in fields:
        raise _check.InputError(
            f"attack {attack!r} needs the gradient of each row: pass model=(network, weights)"
        )
    if not table.has_output and (
        "output" in fields or (vector is None and "probe_output" in fields)
    ):
        raise _check.InputError(
            f"attack {attack!r} needs the labels that a model predicts: pass a fitted regressor as "
            "model=…, or a filter as model=(network, weights)"
        )


def _query(attack: Attack, table: AttackedTable, uniforms: Array) -> Query:
    """Return what the attacker sees of each row, as far as it is known."""
    known: dict[str, Known] = {
        "label": table.labels[:, None],
        "uniform": uniforms[:, None],
        "step": np.arange(float(len(table)))[:, None],
    }
    if table.has_output:
        known |= dict.fromkeys(("output", "probe_output"), lambda: table.output()[:, None])
    if attack.probe_vector is not None:
        known["probe_output"] = lambda: table.output(attack.probe_vector)[:, None]
    if table.has_gradient:
        known["push"] = lambda: table.push[:, None]
    return QueryBuilder([attack], table.network).build(table.inputs, **known)


def _ranks(attack: Attack, table: AttackedTable, coins: Array) -> Array:
    """Return the place of each row by its priority, in (0, 1]; coins decide between equal ones.

    These numbers take the place of coins, so that exactly ⌊βN⌋ of them are at most β. They are
    slightly smaller than i/N, because β may be rounded.
    """
    count = len(table)
    priority = answer(attack, "priority", attack.priority(table), (count,))
    if np.isnan(priority).any():
        raise _check.InputError(f"`priority` of {attack!r} must return numbers, got nan")
    ranks = np.empty(count)
    ranks[np.lexsort((coins, -priority))] = (np.arange(1.0, count + 1.0) - 1e-9) / count
    return ranks


def _chance(attack: Attack, query: Query, count: int) -> Array:
    """Return the probability β of each row, after checking that it is in [0, probability]."""
    most = np.full((1, 1), attack.probability)
    chance = answer(attack, "chance", ask(attack, "chance", most, query), (count, 1))[:, 0]
    if not ((chance >= 0.0) & (chance <= most * (1.0 + 1e-12))).all():
        raise _check.InputError(
            f"`chance` of {attack!r} must return probabilities in [0, {attack.probability:g}]"
        )
    return chance


def _changes(attack: Attack, query: Query, hit: Mask) -> Array:
    """Return the change ξ of each label, zero where it is not attacked, after checking |ξ| ≤ θ."""
    most = np.full((1, 1), attack.bound)
    change = answer(attack, "distort", ask(attack, "distort", most, query), (len(hit), 1))[:, 0]
    change = np.where(hit, change, 0.0)
    excess = np.flatnonzero(~(np.abs(change) <= attack.bound * (1.0 + 1e-12)) | np.isinf(change))
    if excess.size:
        raise _check.InputError(
            f"`distort` of {attack!r} must return finite changes within its bound, but returned "
            f"{change[excess[0]]:g} at row {excess[0]}"
        )
    return change
