"""The streams: their bits, their axes, and whether they are as random as we say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import stats

import neurotron as nt
from neurotron._philox import fill_from_python, philox
from neurotron._streams import Purpose, Stream
from neurotron._types import Array


@njit
def words_of(c0, c1, c2, c3, key):
    return philox(c0, c1, c2, c3, key)


def words(counter, key):
    return list(words_of(*map(np.uint64, counter), np.uint64(key)))


def test_known_answers_of_random123():
    """Philox4x32-10 vectors of the Random123 distribution (kat_vectors)."""
    ones = 0xFFFFFFFF
    assert words((0, 0, 0, 0), 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert words((ones,) * 4, (ones << 32) | ones) == [
        0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD,
    ]  # fmt: skip
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
    key = 0xA4093822 | (0x299F31D0 << 32)
    assert words(pi, key) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_a_pair_is_made_of_the_words_of_its_block():
    """u is made of 52 bits of the first two words, v of 52 bits of the others."""
    stream, step, count = Stream.of(3, 1), 2**33 + 5, 77
    blocks = [
        words((i, Purpose.NOISE, step & 0xFFFFFFFF, step >> 32), stream.key) for i in range(count)
    ]
    u, v = stream.pairs(Purpose.NOISE, step, count)
    for values, first in ((u, 0), (v, 2)):
        bits = [block[first] | block[first + 1] << 32 for block in blocks]
        assert values.tolist() == [((one >> 12) + 0.5) / 2.0**52 for one in bits]


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33])
def test_nothing_beyond_the_pairs_is_written(count):
    around = np.full((2, count + 40), 7.0)
    u, v = around[:, :count]
    fill_from_python(*map(np.uint64, (1, 2, 3)), u, v)
    assert ((around[:, :count] > 0.0) & (around[:, :count] < 1.0)).all()
    assert (around[:, count:] == 7.0).all()


def test_uniforms_are_strictly_inside_the_unit_interval():
    u, v = Stream.of(0, 0).pairs(Purpose.INPUTS, 0, 100_000)
    for values in (u, v):
        assert values.min() > 0.0
        assert values.max() < 1.0


def test_a_batch_can_be_drawn_again_and_is_a_prefix_of_a_longer_one():
    stream = Stream.of(7, 2)
    u, v = stream.pairs(Purpose.NOISE, 2**40 + 3, 10)
    longer = stream.pairs(Purpose.NOISE, 2**40 + 3, 25)
    np.testing.assert_array_equal(u, longer[0][:10])
    np.testing.assert_array_equal(v, longer[1][:10])


@pytest.mark.parametrize(
    ("seed", "replicate", "purpose", "step"),
    [(1, 0, Purpose.INPUTS, 0), (0, 1, Purpose.INPUTS, 0), (0, 0, Purpose.ATTACK, 0),
     (0, 0, Purpose.INPUTS, 1), (0, 0, Purpose.INPUTS, 2**32)],
)  # fmt: skip
def test_every_axis_changes_every_number(seed, replicate, purpose, step):
    u, v = Stream.of(0, 0).pairs(Purpose.INPUTS, 0, 1000)
    other = Stream.of(seed, replicate).pairs(purpose, step, 1000)
    assert not np.isin(other[0], u).any()
    assert not np.isin(other[1], v).any()


# ---- whether they are as random as we say --------------------------------------------------------

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


def long(test):
    return pytest.mark.long(pytest.mark.quick(test))


MANY = 12_000_000


@pytest.mark.parametrize("law", ["uniform", "normal", "laplace", "t4"])
def test_draws_have_their_law(law):
    """Kolmogorov–Smirnov, and χ² on 4096 cells."""
    assert min(uniformity(law, draws=200_000, seed=11)) > 1e-4


@pytest.mark.parametrize("axis", AXES)
def test_neighbouring_draws_are_uncorrelated(axis):
    assert independence(axis, draws=200_000, seed=11) < 5.0


@long
@pytest.mark.parametrize(("seed", "law"), list(enumerate(LAWS, 1)))
def test_many_draws_have_their_law(seed, law):
    assert min(uniformity(law, draws=MANY, seed=seed)) > 1e-4


@long
@pytest.mark.parametrize("axis", AXES)
def test_many_neighbouring_draws_are_uncorrelated(axis):
    assert independence(axis, draws=MANY, seed=1) < 5.0
