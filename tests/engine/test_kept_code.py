"""Compiled code is kept on disk under the names of its functions."""

from __future__ import annotations

import numpy as np
import pytest

from neurotron import _philox
from neurotron.engine.compiled import formulas, loops, products, program, respond
from neurotron.engine.compiled.formulas import attack_loop, law_loop
from neurotron.engine.compiled.program import Program
from neurotron.engine.compiled.rules import adapt_loop, rule_of, weigh_loop


def test_no_two_loops_have_the_same_name():
    """The code of one would be loaded in place of the other."""
    rules = [rule_of(kind) for kind in formulas.TRAINERS]
    all_loops = {
        *map(attack_loop, formulas.ATTACKS),
        *(law_loop(formula) for law in formulas.LAWS for formula in law.formulas()),
        *map(weigh_loop, rules),
        *(adapt_loop(rule) for rule in rules if rule.size),
        *(part for part in vars(loops).values() if hasattr(part, "py_func")),
        products.product, products.add_transposed_product,
        respond._plain, respond._mixed, respond._symmetric_output, respond._symmetric_slopes,
        program._run.function, _philox.fill_from_python.function,
    }  # fmt: skip
    names = {f"{loop.__module__}.{loop.py_func.__qualname__}" for loop in all_loops}
    assert len(names) == len(all_loops)


def test_arguments_that_are_not_laid_out_as_expected_are_refused():
    values = np.zeros((4, 4))[:, 0]
    with pytest.raises(TypeError, match="C order"):
        Program([(loops.fill, values, 1.0)], [], np.zeros(1, dtype=int), np.empty((0, 16)))
