"""The rows of a table that count: what is searched of them, and the last step on all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork
from neurotron.residuals.robust import BISQUARE, NORMAL_MEDIAN, hampel, median
from neurotron.residuals.suspects import FAR, LEAST_FAR, explain
from neurotron.solvers.all_rows import AllRows, LinearRows, RowsInBlocks
from neurotron.solvers.candidates import CORE, CORE_PER_WEIGHT, concentrated
from neurotron.solvers.finish import finish
from neurotron.solvers.linearized import (
    Linearized,
    block_length,
    blocks_of,
    calmness,
    coordinates_for,
)
from neurotron.solvers.rare_columns import corrected, rare_columns
from neurotron.solvers.search import CLOSE, Found, Progress, loss, search
from neurotron.solvers.strict import held_finish, noise_of, strictly

SAMPLE, SAMPLE_PER_WEIGHT = 5_000, 64
"""Rows that are searched, if there are more; all rows take part in the last step."""
CORE_STARTS = 8
"""How many starts for a linear network descend on few rows. All rows that are searched judge them,
and take part in further descents if no filter is found."""
SEEN = 0.3
"""Least second moment in these rows of every direction, in those of all rows."""
ROWS_PER_WEIGHT = 10
"""Fewer rows are never searched, even if the caller wants that."""
EXACT = 1e-9
"""Smaller residuals and scales, in typical labels, are rounding."""
OTHERS = (0.25, 0.6)
"""Shares of labels that differ from a frequent value and are believed beside it: fewer are taken
for errors (on the table of affairs, 68 % are zero and the others are honest)."""
WORSE = 1.25
"""The last step is undone if it raises the loss by more than this factor."""
ENOUGH_PER_WEIGHT = 15
"""Rows for each weight with which a filter that shows much less noise need not name an attack."""
JUDGES, JUDGES_PER_WEIGHT, QUIETER = 200, 25, 0.75
"""Rows that it takes to compare the noise of two filters, and by which factor the strict last step
must show less noise than the usual one (0.64 to 0.73 in attacks of tests, above 0.76 on clean
cars-mpg, where it was chosen)."""


@dataclass(frozen=True, eq=False)
class Table:
    """The rows that count, in units in which labels are about 1, and inputs of gates, too.

    The labels are without the output of zero weights.
    """

    network: FilterNetwork
    inputs: Array
    labels: Array
    counts: Array | None
    calm: Array
    intercept: bool
    input_unit: float
    label_unit: float
    level: float

    @classmethod
    def of(
        cls,
        network: FilterNetwork,
        X: Array,
        y: Array,
        counts: Array | None,
        counted: Mask,
        *,
        intercept: bool,
    ) -> Table:
        """Return the table of the rows that count, after refusing too few of them."""
        rows, wanted = int(counted.sum()), network.filter_size + intercept
        if rows <= wanted:
            raise _check.InputError(
                f"`X` has {rows:,} rows that count, but {wanted:,} numbers are to be found: give "
                f"more rows, at least {10 * wanted:,} if labels have noise or are tampered with"
            )
        if rows < len(X):
            X, y, counts = X[counted], y[counted], None if counts is None else counts[counted]
        if network.activation is not None:
            y = y - network.share.sum() * network.activation.value(0.0)
        level = median(y, counts) if intercept else 0.0
        sizes = np.abs(y - level)
        input_unit = 1.0 if network.is_linear else _unit(np.linalg.norm(X, axis=1))
        label_unit = _unit(sizes)
        return cls(
            _in_units(network, label_unit), X if input_unit == 1.0 else X / input_unit,
            (y - level) / label_unit, counts, calmness(X, intercept=intercept), intercept,
            input_unit, label_unit, level,
        )  # fmt: skip

    @property
    def loss_unit(self) -> float:
        """The unit of |residual| / ‖x‖; the leverages of a linear network have no unit."""
        return self.label_unit / self.input_unit

    def searched(self, draw: np.random.Generator, given: int | None) -> Linearized:
        """Return the rows to search: all, or a random sample if there are many.

        `given` is the most rows that the caller wants to search; None for the default.
        """
        spread = self.calm if self.counts is None else self.calm * self.counts
        coordinates = coordinates_for(self.network, self.inputs, spread, intercept=self.intercept)
        usual = max(
            min(SAMPLE, block_length(self.network)), SAMPLE_PER_WEIGHT * coordinates.shape[1]
        )
        most = usual if given is None else max(given, ROWS_PER_WEIGHT * coordinates.shape[1])
        if len(self.labels) <= most:
            return self._linearized(slice(None), coordinates)
        chosen = np.sort(draw.choice(len(self.labels), most, replace=False))
        return self._linearized(chosen, coordinates)

    def found(
        self, searched: Linearized, draw: np.random.Generator, most: int, first: Array | None,
        progress: Progress | None,
    ) -> Found:  # fmt: skip
        """Return the best filter of at most so many starts, and how it was found."""

        def tell(tried: int, before: int = 0) -> None:
            if progress is not None:
                progress(before + tried, most)

        shared = searched.size - 1 if searched.linear else self.network.filter_size
        core = _core(searched, draw)
        if core is searched:
            return search(searched, shared, draw, most, first, tell=tell)
        found = search(searched, shared, draw, min(most, CORE_STARTS), first, core, tell)
        if found.converged or found.starts == most:
            return found
        later = partial(tell, before=found.starts)
        again = search(searched, shared, draw, most - found.starts, found.point, tell=later)
        return replace(again, starts=again.starts + found.starts)

    def finished(self, searched: Linearized, found: Found, tolerance: float) -> tuple[Array, float]:
        """Return the point after the last step on all rows, unless that is worse, and the scale."""
        point, scale = finish(self._all_rows(searched), found.point, settled=tolerance)
        after = loss(searched, searched.residuals(point)) if np.isfinite(point).all() else np.inf
        return (found.point if after > WORSE * found.loss + 1e-7 else point), scale

    def in_the_plain_basin(
        self, searched: Linearized, point: Array, scale: float, tolerance: float
    ) -> tuple[Array, float]:
        """Return where the last step ends from least squares, unless the point is clearly better.

        It is if its residuals name an attack and show much less noise, or are more likely. Without
        an attack, rows with large leverage would be rejected only because they are curved.
        """
        rows = RowsInBlocks(lambda: [searched], one_block=True)
        plain, noise = finish(rows, concentrated(searched, point, 1.0), settled=tolerance)
        if np.linalg.norm(plain - point) <= CLOSE * min(scale, noise):
            return point, scale
        ours, other = (
            explain(searched.residuals(each), level, searched.counts)
            for each, level in ((point, scale), (plain, noise))
        )
        named = ours.share is not None
        many = len(searched) >= max(JUDGES, ENOUGH_PER_WEIGHT * searched.size)
        if scale <= (QUIETER if named or many else 0.5) * noise:
            return point, scale
        if named and ours.evidence > other.evidence:
            return point, scale
        return finish(self._all_rows(searched), plain, settled=tolerance)

    def beside_ties(
        self, searched: Linearized, point: Array, tolerance: float
    ) -> tuple[Array, float] | None:
        """Return the last step with the noise of the other labels, if one value hides the noise.

        Where one value is so frequent that the point follows it exactly, and no other label, such
        as zeros among counts, the noise is not zero, and the many other labels are not all wrong.
        """
        values, repeats = np.unique(searched.y, return_counts=True)
        others = searched.y != values[repeats.argmax()]
        exact = np.abs(searched.residuals(point)) <= EXACT
        low, high = OTHERS
        if not low <= np.mean(others) <= high or np.mean(exact[others]) > 0.1:
            return None
        start = concentrated(searched, point, 1.0)
        noise = float(np.median(np.abs(searched.residuals(start))[others])) / NORMAL_MEDIAN
        rows = self.linear_rows(searched)
        return held_finish(rows, start, noise, hampel, settled=tolerance), noise

    def checked_by_column(
        self, searched: Linearized, point: Array, scale: float, tolerance: float
    ) -> tuple[Array, float]:
        """Return the point with the weights of rare columns that most of their rows agree with.

        It is kept as it is if the last step from there would explain fewer rows.
        """
        start = self._with_rare_columns(searched, point, scale)
        if start is point:
            return point, scale
        after = finish(self._all_rows(searched), start, settled=tolerance)
        least = min(scale, after[1])
        more = self._explained(searched, after[0], least) > self._explained(searched, point, least)
        return after if more else (point, scale)

    def _with_rare_columns(self, searched: Linearized, point: Array, scale: float) -> Array:
        """Return the point with corrected weights of rare columns, or the point itself.

        This is for networks whose weights belong to the columns.
        """
        network, rows = self.network, self.inputs
        plain = network.filter_size == network.n_inputs and searched.linear
        if not plain or not np.array_equal(network.mean_gate, np.eye(network.n_inputs)):
            return point
        part = rows if len(rows) <= SAMPLE else rows[:: -(-len(rows) // SAMPLE)]
        centres = np.median(part, axis=0) if self.intercept else np.zeros(rows.shape[1])
        columns = rare_columns(part, centres)
        if not columns.size:
            return point
        weights, constant = searched.weights(point)
        residuals = self.labels - rows @ weights - constant
        changes = corrected(residuals, rows, centres, columns, self.counts, scale)
        if changes is None:
            return point
        return searched.point_of(weights + changes, constant - float(changes @ centres))

    def checked_by_leverage(
        self, searched: Linearized, found: Found, point: Array, tolerance: float
    ) -> tuple[Array, float] | None:
        """Return the strict last step and its scale; None if nothing pulled the usual one away.

        If rows with large leverage did, both the filter of the search and the strict step from
        there show much less noise. This is for linear networks, with enough rows.
        """
        if len(searched) < max(JUDGES, JUDGES_PER_WEIGHT * searched.size):
            return None
        most = QUIETER * self._noise(searched, point)
        noise = self._noise(searched, found.point)
        if noise > most:
            return None
        rows = self.linear_rows(searched)
        start = self._with_rare_columns(searched, found.point, noise)
        strict = held_finish(rows, start, noise, strictly, settled=tolerance)
        if self._noise(searched, strict) > most:
            return None
        return strict, noise_of(*rows.seen(strict), searched.size, around_level=False)

    def widened(
        self, searched: Linearized, point: Array, scale: float, tolerance: float
    ) -> Array | None:
        """Return the last step with Hampel's weights, if no attack is named; else None.

        These are closer to least squares where a linear model does not fit honest rows well.
        """
        residuals = searched.residuals(point)
        far = np.count_nonzero(np.abs(residuals) > FAR * scale) >= LEAST_FAR
        if far and explain(residuals, scale, searched.counts).share is not None:
            return None
        return held_finish(self.linear_rows(searched), point, scale, hampel, settled=tolerance)

    def _noise(self, searched: Linearized, point: Array) -> float:
        """Return the noise of the rows that are searched, whatever the intercept of the point.

        Where noise is skewed, the search and the last step find different intercepts.
        """
        residuals = searched.residuals(point)
        return noise_of(residuals, searched.counts, searched.size, around_level=True)

    def _explained(self, searched: Linearized, point: Array, scale: float) -> float:
        """Return how many rows are close enough not to be rejected."""
        if not np.isfinite(point).all():
            return -1.0
        weights, constant = searched.weights(point)
        near = np.abs(self.labels - self.inputs @ weights - constant) <= BISQUARE * scale
        return float(near.sum() if self.counts is None else self.counts @ near)

    def _all_rows(self, searched: Linearized) -> AllRows:
        if searched.linear:
            return self.linear_rows(searched)
        places = [*blocks_of(self.network, len(self.labels))]
        if len(searched) == len(self.labels):
            return RowsInBlocks(lambda: [searched], one_block=True)
        if len(places) == 1:
            rows = self._linearized(places[0], searched.coordinates)
            return RowsInBlocks(lambda: [rows], one_block=True)
        return RowsInBlocks(
            lambda: (self._linearized(here, searched.coordinates) for here in places),
            one_block=False,
        )

    def linear_rows(self, searched: Linearized) -> LinearRows:
        """Return all rows of a linear network."""
        return LinearRows(
            self.network, self.inputs, self.labels, self.counts, searched.coordinates,
            intercept=self.intercept,
        )  # fmt: skip

    def _linearized(self, rows: slice | npt.NDArray[np.intp], coordinates: Array) -> Linearized:
        return Linearized(
            self.network, self.inputs[rows], self.labels[rows],
            None if self.counts is None else self.counts[rows], self.calm[rows], coordinates,
            intercept=self.intercept,
        )  # fmt: skip

    def in_units(self, rows: Linearized, point: Array) -> tuple[Array, float]:
        """Return the weights and the intercept in the units of the data."""
        weights, intercept = rows.weights(point)
        return (
            weights * (self.label_unit / self.input_unit),
            self.level + intercept * self.label_unit if self.intercept else 0.0,
        )

    def in_coordinates(self, rows: Linearized, weights: npt.ArrayLike, intercept: float) -> Array:
        """Return the point of given weights and intercept in the units of the data."""
        size = (self.network.filter_size,)
        start = _check.array("start[0]", weights, size) * (self.input_unit / self.label_unit)
        constant = _check.number("start[1]", intercept, "(-inf, inf)") - self.level
        return rows.point_of(start, constant / self.label_unit)


def _core(rows: Linearized, draw: np.random.Generator) -> Linearized:
    """Return some of the rows of a linear network that show all of its weights, or all rows."""
    few = max(CORE, CORE_PER_WEIGHT * rows.size)
    if not rows.linear or len(rows) <= few:
        return rows
    core = rows.part(draw.choice(len(rows), few, replace=False))
    gradient = core.projected[0] * np.sqrt(core.calm)[:, None]
    least = np.linalg.eigvalsh(gradient.T @ gradient)[0] / few
    return core if least >= SEEN else rows


def _in_units(network: FilterNetwork, unit: float) -> FilterNetwork:
    """Return the network whose outputs are in this unit, and 0 if its weights are."""
    if network.activation is None:
        return network
    return replace(network, activation=network.activation.in_units(unit))


def _unit(sizes: Array) -> float:
    """Return the median of the sizes that are not zero."""
    return float(np.median(sizes[sizes > 0.0])) if sizes.any() else 1.0
