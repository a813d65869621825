"""The fingerprint of compiled code changes with what the code does, and with nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from neurotron import _formula, _jit
from neurotron._fingerprint import fingerprint
from neurotron.engine.compiled import formulas, loops
from neurotron.engine.compiled.formulas import attack_loop, law_loop
from neurotron.engine.compiled.program import Program
from neurotron.engine.compiled.rules import adapt_loop, rule_of, weigh_loop

SOURCE = '''
import numpy as np
from numba import njit
import other

LIMIT = 3.0
NUMBERS = (1.0, 2.0)
ROW = np.array([1.0, 2.0])

def helper(x):
    return x + LIMIT

compiled = njit(helper)

def maker(factor):
    def inner(x):
        return factor * x
    return inner

scaled = maker(5.0)

class Kind:
    def method(self):
        return 11.0

    @property
    def attribute(self):
        return 12.0

def formula(x, more=1.0):
    """Return a number."""
    total = compiled(x) + NUMBERS[1] * ROW[0] + scaled(x)
    return total + other.function(x) + np.sqrt(more) + Kind().method()
'''


def formula(source, factor=7.0):
    """Return a function from a module with this source, which uses a module `other`."""
    names = {"other": type(sys)("other"), "__name__": "made"}
    exec(f"def function(x):\n    return {factor} * x\n", vars(names["other"]))
    exec(compile(source.replace("import other", ""), "made.py", "exec"), names)
    return names["formula"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3.0", "LIMIT = 3.5"),
        ("(1.0, 2.0)\nROW", "(1.0, 2.5)\nROW"),
        ("[1.0, 2.0]", "[1.5, 2.0]"),
        ("return x + LIMIT", "return x - LIMIT"),
        ("return factor * x", "return factor / x"),
        ("maker(5.0)", "maker(5.5)"),
        ("more=1.0", "more=1.5"),
        ("np.sqrt", "np.cbrt"),
        ("return 11.0", "return 11.5"),
        ("return 12.0", "return 12.5"),
    ],
)
def test_it_changes_with_everything_that_the_code_uses(old, new):
    assert SOURCE.count(old) == 1
    assert fingerprint(formula(SOURCE)) != fingerprint(formula(SOURCE.replace(old, new)))


def test_it_changes_with_a_function_of_another_module():
    assert fingerprint(formula(SOURCE)) != fingerprint(formula(SOURCE, factor=8.0))


def test_it_changes_with_the_fields_of_a_tuple():
    class First(NamedTuple):
        a: float
        b: float

    class Second(NamedTuple):
        b: float
        a: float

    def using(kind):
        return lambda x: kind(x, x)

    assert fingerprint(using(First)) != fingerprint(using(Second))


def test_it_does_not_change_with_comments_or_other_functions():
    more = "# a comment\n\ndef unused(x):\n    return x\n" + SOURCE
    assert fingerprint(formula(SOURCE)) == fingerprint(formula(more))


def test_it_changes_with_the_code_that_a_function_is_compiled_from():
    """Python and the compiler may compute a logarithm differently: the compiler's code counts."""

    def using(x):
        return _formula.log(x)

    assert _formula.log in _jit._implementations
    before = fingerprint(using, _jit._implementations)
    assert before != fingerprint(using)
    assert before != fingerprint(using, {_formula.log: lambda u: lambda u: 0.0})


def test_what_has_no_fingerprint_is_refused():
    class Thing:
        pass

    thing = Thing()
    with pytest.raises(TypeError, match="no fingerprint"):
        fingerprint(lambda x: thing)


def all_loops():
    """Return every loop of a built-in law, attack or trainer, and those of the engine."""
    rules = [rule_of(kind) for kind in formulas.TRAINERS]
    return [
        *map(attack_loop, formulas.ATTACKS),
        *(law_loop(formula) for law in formulas.LAWS for formula in law.formulas()),
        *map(weigh_loop, rules),
        *(adapt_loop(rule) for rule in rules if rule.size),
        *(getattr(loops, name) for name in loops.__all__),
    ]


def all_fingerprints():
    return [fingerprint(loop, _jit._implementations) for loop in all_loops()]


def test_it_is_the_same_in_every_process():
    """Otherwise code would be compiled anew every time."""
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_fingerprint\n"
        "print(test_fingerprint.all_fingerprints())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(all_fingerprints())


def test_different_formulas_are_kept_under_different_names_and_hashes():
    """Loops of trainers with the same formula are the same."""
    names = {loop.__module__ + loop.__qualname__ for loop in all_loops()}
    assert len(names) == len(set(all_fingerprints())) == len(set(all_loops()))


def test_arguments_that_are_not_laid_out_as_expected_are_refused():
    values = np.zeros((4, 4))[:, 0]
    with pytest.raises(TypeError, match="C order"):
        Program([(loops.fill, values, 1.0)], [], np.zeros(1, dtype=int), np.empty((0, 16)))
