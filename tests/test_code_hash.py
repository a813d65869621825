"""The hash of compiled code changes with what the code does, and with nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from neurotron import _formula, _jit, _philox
from neurotron._code_hash import code_hash
from neurotron.engine.compiled import formulas, loops, products, program, respond
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

def helper(x, *, scale=6.0):
    return x + LIMIT

compiled = njit(helper, fastmath=False)

def maker(factor):
    def inner(x):
        return factor * x
    return inner

scaled = maker(5.0)

class Base:
    def inherited(self):
        return 10.0

class Kind(Base):
    CONSTANT = 9.0

    def method(self):
        return 11.0

    @property
    def attribute(self):
        return 12.0

    @staticmethod
    def static():
        return 13.0

    @classmethod
    def of_class(cls):
        return 14.0

def formula(x, more=1.0):
    """Return a number."""
    total = compiled(x) + NUMBERS[1] * ROW[0] + scaled(x)
    return total + other.inner.function(x) + np.sqrt(more) + Kind().method()
'''


def formula(source, factor=7.0):
    """Return a function from a module with this source, which uses a module `other`."""
    inner = type(sys)("other.inner")
    exec(f"def function(x):\n    return {factor} * x\n", vars(inner))
    names = {"other": type(sys)("other"), "__name__": "made"}
    names["other"].inner = inner
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
        ("return 13.0", "return 13.5"),
        ("return 14.0", "return 14.5"),
        ("return 10.0", "return 10.5"),
        ("CONSTANT = 9.0", "CONSTANT = 9.5"),
        ("scale=6.0", "scale=6.5"),
        ("fastmath=False", "fastmath=True"),
    ],
)
def test_it_changes_with_everything_that_the_code_uses(old, new):
    assert SOURCE.count(old) == 1
    assert code_hash(formula(SOURCE)) != code_hash(formula(SOURCE.replace(old, new)))


def test_it_changes_with_a_function_of_another_module():
    assert code_hash(formula(SOURCE)) != code_hash(formula(SOURCE, factor=8.0))


def test_it_changes_with_the_fields_of_a_tuple():
    class First(NamedTuple):
        a: float
        b: float

    class Second(NamedTuple):
        b: float
        a: float

    class Third(NamedTuple):
        a: float
        b: float = 1.0

    def using(kind):
        return lambda x: kind(x, x)

    assert len({code_hash(using(kind)) for kind in (First, Second, Third)}) == 3


def test_it_does_not_change_with_comments_or_other_functions():
    more = "# a comment\n\ndef unused(x):\n    return x\n" + SOURCE
    more = more.replace("Return a number.", "Return another description.")
    assert code_hash(formula(SOURCE)) == code_hash(formula(more))


def test_it_changes_with_the_code_that_a_function_is_compiled_from():
    """Python and the compiler may compute a logarithm differently: the compiler's code counts."""

    def using(x):
        return _formula.log(x)

    assert _formula.log in _jit._implementations
    before = code_hash(using, _jit._implementations)
    assert before != code_hash(using)
    assert before != code_hash(using, {_formula.log: lambda u: lambda u: 0.0})


def test_what_has_no_code_hash_is_refused():
    class Thing:
        pass

    thing = Thing()
    with pytest.raises(TypeError, match="unknown"):
        code_hash(lambda x: thing)


def all_loops():
    """Return every loop of a built-in law, attack or trainer, and those of the engine."""
    rules = [rule_of(kind) for kind in formulas.TRAINERS]
    return [
        *map(attack_loop, formulas.ATTACKS),
        *(law_loop(formula) for law in formulas.LAWS for formula in law.formulas()),
        *map(weigh_loop, rules),
        *(adapt_loop(rule) for rule in rules if rule.size),
        *(getattr(loops, name) for name in loops.__all__),
        products.product, products.add_transposed_product,
        respond._plain, respond._mixed, respond._symmetric_output, respond._symmetric_slopes,
        program._run.function, _philox.fill_from_python.function,
    ]  # fmt: skip


def all_hashes():
    return [code_hash(loop, _jit._implementations) for loop in all_loops()]


def test_it_is_the_same_in_every_process():
    """Otherwise code would be compiled anew every time."""
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_code_hash\n"
        "print(test_code_hash.all_hashes())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(all_hashes())


def test_different_formulas_are_kept_under_different_names_and_hashes():
    """Loops of trainers with the same formula are the same."""
    names = {loop.__module__ + loop.py_func.__qualname__ for loop in all_loops()}
    assert len(names) == len(set(all_hashes())) == len(set(all_loops()))


def test_arguments_that_are_not_laid_out_as_expected_are_refused():
    values = np.zeros((4, 4))[:, 0]
    with pytest.raises(TypeError, match="C order"):
        Program([(loops.fill, values, 1.0)], [], np.zeros(1, dtype=int), np.empty((0, 16)))
