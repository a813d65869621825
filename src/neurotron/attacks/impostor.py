"""Gives the labels of another filter that agrees with the true one on as many rows as it can."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from neurotron import _check, _seeds
from neurotron._types import Array, Mask
from neurotron.attacks.picked_rows import PickedRows
from neurotron.attacks.table import AttackedTable
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem

TRIES = 6
"""Starts at each distance from the true filter, each with other rows to share."""
HALVINGS = 30
"""How often the distance of the starts is halved before the search is given up."""
ROUNDS = 20
"""Most Newton steps from one start."""


class Impostor(PickedRows):
    r"""Gives stored rows the labels of a filter that agrees with w* on others; no guarantee.

    .. math:: f_{w'}(x_i) = f_{w^*}(x_i) \text{ for some honest rows } x_i, \qquad
              \xi = \mathrm{clip}(f_{w'}(x) - y,\, -\theta,\, \theta) \text{ elsewhere}

    The filter w′ agrees with w* on r − 1 rows, or on r rows if the network is not linear and such a
    filter is found. If honest labels are exact and θ does not clip, w′ therefore explains these
    rows and the ⌊βN⌋ attacked ones, which can be more than half of all rows at β < ½. With a finite
    θ, w′ is taken so close to w* that enough labels differ by at most θ, if there is one. Use it
    with `neurotron.poison`, to test a proof that a filter is w*.

    Knows: x, y, w* and the network. Budget: any change of exactly ⌊βN⌋ of N labels. Guarantees:
    none.

    Parameters
    ----------
    weights
        The filter w′, shape (r,). If it is left out, it is found in the rows.
    bound
        The bound θ ≥ 0, the largest change of a label; infinite by default.
    probability
        The share β in [0, 1] of the rows that are attacked.
    """

    knowledge: ClassVar[str] = "x, y, w* and the network"

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Leave the filter open: it is found in the rows."""
        return {}

    def aimed(self, table: AttackedTable) -> Self:
        """Return the attack with a filter w′ that shares as many rows with w* as was found."""
        if self.weights is not None:
            return self
        return dataclasses.replace(self, weights=self._filter(table))

    def priority(self, table: AttackedTable) -> Array:
        """Return the difference of the labels; rows come last if w′ would not explain them."""
        assert self.probe_vector is not None
        gap, explained = self._explained(table, self.probe_vector)
        return np.where(explained, gap, np.where(gap > 0.0, -gap, -np.inf))

    def _explained(self, table: AttackedTable, weights: Array) -> tuple[Array, Mask]:
        """Return how much labels differ, and which rows the filter can explain if attacked.

        Differences that are only rounding are set to zero. Rows without a gradient do not count.
        """
        gap = np.abs(table.output(weights) - table.labels)
        gap[gap <= 1e-9 * gap.max()] = 0.0
        active = table.gradient_at(weights).any(axis=1)
        return gap, active & (gap > 0.0) & (gap <= self.bound)

    def _filter(self, table: AttackedTable) -> Array:
        """Return the first filter that can explain ⌊βN⌋ attacked rows, or else the first one."""
        first, wanted = None, int(self.probability * len(table) + 1e-9)
        for found in _filters(table):
            if first is None:
                first = found
            _, explained = self._explained(table, found)
            if explained.sum() >= wanted:
                return found
        if first is None:
            raise _check.InputError(
                f"{self!r} finds no other filter that shares rows with the true one: give it "
                "`weights`, or use PickedRows"
            )
        return first


def _filters(table: AttackedTable) -> Iterator[Array]:
    """Yield filters that share rows with the true one: first those with more rows, and far ones."""
    true_weights = table.known_weights("the true filter")
    usable = np.flatnonzero(table.gradient.any(axis=1))
    r, linear = table.network.filter_size, table.network.is_linear
    draw = _seeds.generator(table.seed, "impostor")
    length = float(np.linalg.norm(true_weights)) or 1.0
    # r equations determine the filter near w*, so only far starts can find another one
    for shared, halvings in ((r, 0 if linear else 2), (r - 1, HALVINGS)):
        if shared > len(usable):
            continue
        for distance in length * 0.5 ** np.arange(halvings):
            for _ in range(TRIES):
                rows = table.inputs[draw.choice(usable, shared, replace=False)]
                start = draw.standard_normal(r)
                start *= distance / np.linalg.norm(start)
                found = _agreeing(table.network, true_weights, true_weights + start, rows)
                if found is not None and np.linalg.norm(found - true_weights) > 0.01 * distance:
                    yield found
                    break


def _agreeing(
    network: FilterNetwork, true_weights: Array, start: Array, rows: Array
) -> Array | None:
    """Return a filter that gives `rows` the same labels as the true one, or None.

    The output is piecewise linear in the filter, so Newton's method reaches rounding or fails.
    """
    labels, found = network(true_weights, rows), start
    exact = 1e-13 * np.abs(labels).max(initial=0.0)
    for _ in range(ROUNDS):
        step = np.linalg.pinv(network.gradient(found, rows)) @ (labels - network(found, rows))
        found = found + step
        if np.abs(labels - network(found, rows)).max(initial=0.0) <= exact:
            return found
    return None
