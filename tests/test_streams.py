from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from tests.support.randomness import AXES, independence, uniformity

from neurotron._philox import fill_from_python, philox
from neurotron._streams import Purpose, Stream


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


@pytest.mark.parametrize("law", ["uniform", "normal", "laplace", "t4"])
def test_draws_have_their_law(law):
    """KS and χ² on 2·10⁵ draws; tests/long/test_streams.py has 60 times as many."""
    assert min(uniformity(law, draws=200_000, seed=11)) > 1e-4


@pytest.mark.parametrize("axis", AXES)
def test_neighbouring_draws_are_uncorrelated(axis):
    assert independence(axis, draws=200_000, seed=11) < 5.0
