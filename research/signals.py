"""Filters of signals, images and cells whose labels are poisoned, for docs/signals.md.

The network is right here: labels are the mean of one rectified filter over all places. A part of
the labels comes from another filter, or is shifted to one side.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from research import pages
from research.pages import markdown

import neurotron as nt
from neurotron._types import Array, Mask
from neurotron.solvers import rivals

ROWS, REPLICATES = 1_000, 20
CORRELATION = 0.5
"""Of neighbouring inputs; it falls by this factor with every further place, along each axis."""
NOISE = 0.1
"""Standard deviation of the honest noise, in those of the honest labels."""
SHIFT = 2.0
"""By how many standard deviations of the honest labels an attack shifts."""
MIDDLE = 5, 14
"""Which of 20 sorted values, from 0, are the ends of a 95 % interval of the median (95.9 %)."""

# ---- the rows ------------------------------------------------------------------------------------


class SignalKind(NamedTuple):
    """A kind of data: the inputs are a signal (one axis) or an image (two)."""

    shape: tuple[int, ...]
    filter_shape: tuple[int, ...]
    draw: Callable[[np.random.Generator, tuple[int, ...]], Array]
    """Draws a filter."""

    @property
    def network(self) -> nt.FilterNetwork:
        """The network: one filter at every second place, rectified and averaged."""
        if len(self.shape) == 1:
            return nt.networks.convolution(self.shape[0], self.filter_shape[0], 2)
        return nt.networks.convolution2d(self.shape, self.filter_shape, 2)  # type: ignore[arg-type]


def _places(shape: tuple[int, ...]) -> list[Array]:
    """Return the coordinates of all places of a filter, around its middle, as flat arrays."""
    axes = (np.arange(size) - 0.5 * (size - 1) for size in shape)
    return [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]


def _wave(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return a wave of random direction, length and phase that fades towards the ends."""
    places = np.array(_places(shape))
    towards = draw.standard_normal(len(shape))
    along = towards @ places / np.linalg.norm(towards)
    faded = np.exp(-0.5 * (places**2).sum(axis=0) / (0.3 * shape[0]) ** 2)
    return faded * np.cos(2.0 * np.pi * along / draw.uniform(3.0, 6.0) + draw.uniform(0.0, 6.28))


def _centre_surround(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return a receptive field: a bright spot at a random place with a dark ring around it."""
    middle = draw.uniform(-1.0, 1.0, len(shape))
    square = sum((axis - at) ** 2 for axis, at in zip(_places(shape), middle, strict=True))
    width = draw.uniform(0.8, 1.3)
    spots = [np.exp(-0.5 * square / each**2) for each in (width, 1.8 * width)]
    return np.asarray(spots[0] - 0.4 * spots[1]) * draw.choice([-1.0, 1.0])


KINDS = {
    "signal": SignalKind((60,), (12,), _wave),
    "image": SignalKind((12, 12), (5, 5), _wave),
    "cell": SignalKind((16, 16), (6, 6), _centre_surround),
}
INPUTS = ("white", "correlated")


class SignalCase(NamedTuple):
    """Which labels are attacked, and the noise of the honest ones."""

    attack: str
    share: float
    noise: float


CASES = (
    SignalCase("none", 0.0, NOISE),
    SignalCase("other filter", 0.25, NOISE),
    SignalCase("one side", 0.25, NOISE),
    SignalCase("other filter", 0.4, 0.0),
    SignalCase("one side", 0.4, 0.0),
)


class SignalRows(NamedTuple):
    """Inputs, labels, the filter that made the honest ones, and which ones are attacked."""

    X: Array
    y: Array
    weights: Array
    attacked: Mask


@cache
def _mixing(shape: tuple[int, ...]) -> Array:
    """Return the matrix that gives white inputs the correlations of a signal or an image."""
    mixing = np.ones((1, 1))
    for size in shape:
        apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        mixing = np.kron(mixing, np.linalg.cholesky(CORRELATION**apart))
    return mixing


def rows_of(kind: str, inputs: str, case: SignalCase, replicate: int) -> SignalRows:
    """Return the rows of a case."""
    shape, filter_shape, draw_filter = KINDS[kind]
    network = KINDS[kind].network
    number = (*KINDS,).index(kind), INPUTS.index(inputs), CASES.index(case)
    draw = np.random.default_rng([replicate, *number])
    weights, other = (
        each / np.linalg.norm(each)
        for each in (draw_filter(draw, filter_shape), draw_filter(draw, filter_shape))
    )
    X = draw.standard_normal((ROWS, network.n_inputs))
    if inputs == "correlated":
        X = X @ _mixing(shape).T
    y = network(weights, X)
    spread = y.std()
    attacked: Mask = draw.permutation(ROWS) < round(case.share * ROWS)
    if case.attack == "other filter":
        y[attacked] = network(other, X[attacked])
    elif case.attack == "one side":
        y[attacked] += SHIFT * spread
    return SignalRows(X, y + case.noise * spread * draw.standard_normal(ROWS), weights, attacked)


# ---- the methods ---------------------------------------------------------------------------------


def spike_triggered_average(network: nt.FilterNetwork, X: Array, y: Array) -> Array:
    r"""Return the filter by the mean of the inputs, each as often as its label says.

    For white inputs this mean is ½ Āᵀw, because the odd part of a rectified value is half of it.
    The mean gate Ā says how the places of the filter overlap, which is undone here.
    """
    mean = (y - y.mean()) @ X / len(X) / X.var()
    return 2.0 * np.linalg.lstsq(network.mean_gate.T, mean, rcond=None)[0]


def linear_part(network: nt.FilterNetwork, X: Array, y: Array) -> Array:
    """Return the filter by least squares of the labels on Āx, whose coefficients are ½ w."""
    columns = np.column_stack([X @ network.mean_gate.T, np.ones(len(X))])
    found = np.linalg.lstsq(columns, y, rcond=None)[0]
    return np.asarray(2.0 * found[:-1], np.float64)


OURS, AVERAGE, SQUARES = "NeuroTronRegressor", "spike-triggered average", "least squares"
METHODS = (OURS, AVERAGE, "linear part", SQUARES, "Huber", "TRIM, told β", "TRIM, half")


def fitted(network: nt.FilterNetwork, rows: SignalRows) -> nt.NeuroTronRegressor:
    """Return the regressor, fitted to rows."""
    with warnings.catch_warnings(action="ignore"):
        return nt.NeuroTronRegressor(network=network).fit(rows.X, rows.y)


def filters(network: nt.FilterNetwork, rows: SignalRows, share: float) -> dict[str, Array]:
    """Return the filter of every method except ours."""
    X, y = rows.X, rows.y
    return {
        AVERAGE: spike_triggered_average(network, X, y),
        "linear part": linear_part(network, X, y),
        SQUARES: rivals.least_squares(network, X, y, intercept=True).weights,
        "Huber": rivals.huber(network, X, y, intercept=True).weights,
        "TRIM, told β": rivals.trim(network, X, y, intercept=True, tampered=share).weights,
        "TRIM, half": rivals.trim(network, X, y, intercept=True).weights,
    }


def measure(kind: str, inputs: str, case: SignalCase, replicate: int) -> list[dict[str, Any]]:
    """Return the error of every method, and how often our suspects are right."""
    network, rows = KINDS[kind].network, rows_of(kind, inputs, case, replicate)
    model = fitted(network, rows)
    suspects, attacked = model.suspects_, rows.attacked
    named = {
        "found": float(suspects[attacked].mean()) if attacked.any() else None,
        "right": float(attacked[suspects].mean()) if suspects.any() else None,
        "false alarms": int((suspects & ~attacked).sum()),
    }
    every = {OURS: model.weights_} | filters(network, rows, case.share)
    size = np.linalg.norm(rows.weights)
    return [
        {
            **case._asdict(),
            "method": method,
            "error": float(np.linalg.norm(weights - rows.weights) / size),
            **(named if method == OURS else dict.fromkeys(named)),
        }
        for method, weights in every.items()
    ]


# ---- all replicates ------------------------------------------------------------------------------


def errors(
    setting: dict[str, str], replicate: int, seed: int, progress: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """Return the errors of all cases on one replicate of a kind of data."""
    del seed
    rows = []
    for step, case in enumerate(CASES):
        rows += measure(setting["kind"], setting["inputs"], case, replicate)
        progress(step + 1, len(CASES))
    return rows


STUDY = nt.Study(
    "signals",
    [{"name": f"{kind}-{one}", "kind": kind, "inputs": one} for kind in KINDS for one in INPUTS],
    errors,
    {"attack": str, "share": float, "noise": float, "method": str, "error": float, "found": float,
     "right": float, "false alarms": int},
    replicates=REPLICATES,
)  # fmt: skip


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the medians over replicates, with their 95 % intervals, and the largest error."""
    error = pl.col("error").sort()
    numbers = ("median", "low", "high", "largest", "found", "right")
    return (
        rows.group_by("setting", *SignalCase._fields, "method", maintain_order=True)
        .agg(
            replicates=pl.len(), median=error.median(), low=error.get(MIDDLE[0]),
            high=error.get(MIDDLE[1]), largest=error.max(), found=pl.col("found").mean(),
            right=pl.col("right").mean(), alarms=(pl.col("false alarms") > 0).sum(),
        )
        .with_columns(
            pl.col(numbers).map_elements(lambda x: float(f"{x:.3g}"), return_dtype=pl.Float64)
        )
        .with_columns(alarms=pl.when(method=OURS).then("alarms"))
    )  # fmt: skip


# ---- the pages -----------------------------------------------------------------------------------


def page(table: pl.DataFrame) -> str:
    """Return the Markdown page of a summary."""
    lines = [
        "# Filters of signals, images and cells from poisoned labels",
        f"The relative error ‖w − w\\*‖ / ‖w\\*‖ of the filter: medians of {REPLICATES} replicates "
        f"with {ROWS:,} rows each. Noise is in standard deviations of the honest labels. The "
        "intervals of the medians and the largest errors are in [signals.csv](signals.csv), and "
        "what it all means in [signals.md](../signals.md).",
        error_table(table),
        "The suspects of the regressor: the share of attacked rows that are found, the share of "
        "suspects that are attacked, and on how many replicates an honest row is a suspect.",
        suspect_table(table),
    ]
    return "\n\n".join(lines)


def error_table(
    table: pl.DataFrame, methods: tuple[str, ...] = METHODS, *, intervals: bool = False
) -> str:
    """Return the median errors of some methods as a Markdown table, with intervals if wanted."""
    lines: list[tuple[str, ...]] = [("data", "attack", "β", "noise", *methods)]
    for key, group in table.group_by("setting", *SignalCase._fields, maintain_order=True):
        shown = {
            row["method"]: f"{row['median']:.2g}"
            + f" ({row['low']:.2g} … {row['high']:.2g})" * intervals
            for row in group.to_dicts()
        }
        lines.append((*_case(key), *(shown[method] for method in methods)))
    return markdown(lines)


def blocks() -> dict[str, str]:
    """Return the table of docs/signals.md: without an attack, and with another filter."""
    chosen = pages.table("signals").filter(pl.col("attack") != "one side")
    methods = OURS, AVERAGE, SQUARES, "Huber", "TRIM, told β"
    return {"errors": error_table(chosen, methods, intervals=True)}


def suspect_table(table: pl.DataFrame) -> str:
    """Return how often the suspects are right, as a Markdown table."""
    lines: list[tuple[str, ...]] = [
        ("data", "attack", "β", "noise", "found", "right", "with a false alarm")
    ]
    for row in table.filter(method=OURS).to_dicts():
        shares = [
            "" if row[name] is None else f"{100.0 * row[name]:.3g} %" for name in ("found", "right")
        ]
        alarms = f"{row['alarms']} of {row['replicates']}"
        lines.append(
            (*_case([row[name] for name in ("setting", *SignalCase._fields)]), *shares, alarms)
        )
    return markdown(lines)


def _case(key: Any) -> tuple[str, str, str, str]:
    setting, attack, share, noise = key
    return setting.replace("-", ", "), attack, f"{share:g}", f"{noise:g}"


SHOWN = "cell", "white", SignalCase("other filter", 0.25, NOISE), 0
"""What the picture shows."""


def picture_filters() -> dict[str, Array]:
    """Return the filters of the picture: the true one, and those that methods find."""
    kind, inputs, case, replicate = SHOWN
    network, rows = KINDS[kind].network, rows_of(kind, inputs, case, replicate)
    found = filters(network, rows, case.share)
    return {
        "true filter": rows.weights,
        OURS: fitted(network, rows).weights_,
        AVERAGE: found[AVERAGE],
        SQUARES: found[SQUARES],
    }


def draw(shown: dict[str, Array]) -> Figure:
    """Return the picture: each filter as an image, with its relative error."""
    shape = KINDS[SHOWN[0]].filter_shape
    true = next(iter(shown.values()))
    limit = np.abs(true).max()
    figure = Figure(figsize=(10.0, 2.9), layout="constrained")
    for axes, (name, weights) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
        image = axes.imshow(weights.reshape(shape), cmap="RdBu_r", vmin=-limit, vmax=limit)
        error = np.linalg.norm(weights - true) / np.linalg.norm(true)
        axes.set_title(name, fontsize="medium")
        axes.set(
            xlabel="" if weights is true else f"error {100.0 * error:.2g} %", xticks=[], yticks=[]
        )
    figure.colorbar(image, ax=figure.axes, label="weight", extend="both", shrink=0.9)
    return figure
