"""Whether the streams are as random as we say: right in law, independent along every axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import neurotron as nt
from neurotron._streams import Purpose, Stream
from neurotron._types import Array

CELLS = 4096
LAWS: dict[str, tuple[nt.ProductLaw, Any]] = {
    "uniform": (nt.Uniform(), stats.uniform(-1.0, 2.0)),
    "normal": (nt.Normal(scale=3.0), stats.norm(scale=3.0)),
    "laplace": (nt.Laplace(scale=2.0), stats.laplace(scale=2.0)),
    "t4": (nt.StudentT(4), stats.t(4)),
    "t1": (nt.StudentT(1), stats.cauchy()),
}
AXES = ("steps", "replicates", "purposes", "pair")
BLOCK = 20_000


def uniformity(law: str, *, draws: int, seed: int) -> tuple[float, float]:
    """Return Kolmogorov–Smirnov and χ² (4096 cells) p-values of at least `draws` coordinates."""
    ours, reference = LAWS[law]
    stream = Stream.of(seed, 0)
    levels: list[Array] = []
    while sum(map(len, levels)) < draws:
        pair = stream.pairs(Purpose.INPUTS, len(levels), BLOCK)
        levels.append(reference.cdf(np.concatenate(ours.coordinates(*pair))))
    sample = np.concatenate(levels)
    counts = np.bincount((sample * CELLS).astype(int).clip(0, CELLS - 1), minlength=CELLS)
    return (
        float(stats.kstest(sample, "uniform").pvalue), float(stats.chisquare(counts).pvalue),
    )  # fmt: skip


def independence(axis: str, *, draws: int, seed: int) -> float:
    """Return the largest |z| of correlations of g(u) and h(u') for neighbours along an axis.

    g and h run over 2u − 1, its square and cos 2πu (centred); u' sits at the same place one step,
    replicate or purpose further, or is the other member of the pair.
    """
    pairs: dict[str, Callable[[int], tuple[Array, Array]]] = {
        "steps": lambda t: (_u(seed, 0, 0, t), _u(seed, 0, 0, t + 1)),
        "replicates": lambda t: (_u(seed, t, 0, 0), _u(seed, t + 1, 0, 0)),
        "purposes": lambda t: (_u(seed, 0, 0, t), _u(seed, 0, 1 + t % 3, t)),
        "pair": lambda t: Stream.of(seed, 0).pairs(Purpose.INPUTS, t, BLOCK),
    }
    functions: list[Callable[[Array], Array]] = [
        lambda u: math.sqrt(3.0) * (2.0 * u - 1.0),
        lambda u: math.sqrt(5.0) * (1.5 * (2.0 * u - 1.0) ** 2 - 0.5),
        lambda u: math.sqrt(2.0) * np.cos(2.0 * np.pi * u),
    ]
    sums = np.zeros((3, 3))
    count = 0
    for t in range(draws // BLOCK):
        one, other = pairs[axis](t)
        left, right = (np.stack([f(u) for f in functions]) for u in (one, other))
        sums += left @ right.T
        count += len(one)
    z = sums / math.sqrt(count)  # every function has mean 0 and variance 1
    return float(np.abs(z).max())


def _u(seed: int, replicate: int, purpose: int, step: int) -> Array:
    return Stream.of(seed, replicate).pairs(Purpose(purpose), step, BLOCK)[0]
