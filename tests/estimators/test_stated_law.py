"""A law that is stated is refused if the rows plainly have another one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.messages import refused

import neurotron as nt
from neurotron.estimators.verifying import refuse_another_law

CAUCHY = nt.StudentT(dof=1.0)
MIXED = nt.Correlated(nt.Normal(), np.array([[1.0, 0.0, 0.0], [0.99, 0.1, 0.0], [0.0, 0.0, 40.0]]))
LAWS = [nt.Normal(scale=3.0), nt.Laplace(), nt.StudentT(dof=4.0), CAUCHY, nt.Uniform(),
        nt.Rademacher(), MIXED]  # fmt: skip


def rows(law: nt.Law, count: int, seed: int, columns: int = 3) -> np.ndarray:
    draw = np.random.default_rng(seed)
    pairs = law.pairs(count, columns)
    return law.inputs(1.0 - draw.random(pairs), draw.random(pairs), count, columns)


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("shifted", [False, True])
def test_rows_of_the_law_are_accepted(law, shifted):
    for seed in range(1, 201):
        refuse_another_law(law, rows(law, 30, seed) + 7.0 * shifted, shifted=shifted)


@pytest.mark.parametrize(
    "law", [nt.Normal(), nt.Laplace(), nt.StudentT(dof=4.0), nt.Uniform()], ids=repr
)
def test_many_columns_of_the_law_are_accepted(law):
    for seed in range(1, 6):
        refuse_another_law(law, rows(law, 1000, seed, 100), shifted=True)


@pytest.mark.parametrize("factor", [0.02, 0.2, 10.0, 1000.0])
@pytest.mark.parametrize("law", [law for law in LAWS if law is not CAUCHY], ids=repr)
def test_a_column_in_other_units_is_refused(law, factor):
    scaled = rows(law, 100, 1) * [1.0, 1.0, factor]
    with refused("`X`", repr(law), "times as far", "leave out `law`"):
        refuse_another_law(law, scaled, shifted=True)


def test_columns_that_nearly_agree_are_no_independent_ones():
    one, other = rows(nt.Normal(), 200, 1, 2).T
    twins = np.column_stack([one, one + 0.1 * other])
    with pytest.raises(nt.InputError, match=r"only 0\.\d+ times as far"):
        refuse_another_law(nt.Normal(), twins, shifted=True)


def test_a_shift_matters_unless_it_is_allowed():
    with pytest.raises(nt.InputError, match=r"median of column \d"):
        refuse_another_law(nt.Normal(), rows(nt.Normal(), 100, 1) + 5.0, shifted=False)


def test_too_few_rows_or_too_many_columns_are_not_checked():
    refuse_another_law(nt.Normal(), np.full((29, 1), 9.0), shifted=False)
    refuse_another_law(nt.Normal(), np.full((29, 3), 9.0), shifted=False)
    refuse_another_law(nt.Normal(), np.full((2010, 201), 9.0), shifted=False)
