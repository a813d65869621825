"""A class of one's own has a name wherever a built-in one has: "module:Class:parameter=value"."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support.cli import in_this_process

import neurotron as nt
from neurotron import work
from neurotron._references import code_allowed

MINE = """
from dataclasses import dataclass
import numpy as np
import neurotron as nt

@dataclass(frozen=True, eq=False)
class Towards(nt.Attack):
    target: float = 0.0
    query_fields = ("label",)
    def distort(self, bound, query):
        return np.clip(self.target - query.label, -bound, bound)

@dataclass(frozen=True, eq=False)
class Needy(Towards):
    size: float = None
    def __init__(self, size, bound, probability): pass

class Unfinished(nt.Attack):
    pass

@dataclass(frozen=True, eq=False)
class Clipped(nt.Trainer):
    level: float = 1.0
    direction = "gradient"
    def influence(self, residual, state):
        return np.clip(residual, -self.level, self.level)

class Triangular(nt.ProductLaw):
    symmetric, variance, kurtosis = True, 1 / 6, 2.4
    def __init__(self, width=1.0):
        self.width = width
    def coordinates(self, u, v):
        return (self.width * (u + v - 1.0),)

def flat(n_inputs):
    return nt.networks.linear(n_inputs)

def ridge(alpha=1.0):
    from sklearn.linear_model import Ridge
    return Ridge(alpha=alpha)

def nothing():
    return 0
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Make a folder with the module `mine_own` the current one."""
    (tmp_path / "mine_own.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("mine_own", None)


@pytest.fixture
def problem(small_problem) -> nt.Problem:
    return small_problem


def test_own_classes_get_their_parameters_and_what_built_in_ones_get(here, problem):
    from neurotron.estimators import catalog

    with code_allowed(here):
        attack = nt.attacks.build(
            "mine_own:Towards:target=0.5", problem, bound=2.0, probability=0.25, seed=0
        )
        trainer = nt.trainers.build("mine_own:Clipped:level=3", step_size=1e-3)
        own = nt.trainers.build("mine_own:Clipped:step_size=0.5", step_size=1e-3)
        law = nt.laws.BY_NAME.build("mine_own:Triangular:width=2", n_inputs=7)
        network = nt.networks.BY_NAME.build("mine_own:flat", n_inputs=7, filter_size=3, seed=0)
        model = catalog.BY_NAME.build(catalog.canonical("mine_own:ridge:alpha=4"))
        same = catalog.BY_NAME.build("sklearn.linear_model:Ridge:alpha=4")
    assert (attack.target, attack.bound, attack.probability) == (0.5, 2.0, 0.25)
    assert (trainer.level, trainer.step_size, own.step_size) == (3, 1e-3, 0.5)
    assert law.width == 2
    assert network.n_inputs == 7
    assert model.alpha == same.alpha == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mine_own:Unfinished", "the attack 'mine_own:Unfinished' must define distort"),
        ("mine_own:Clipped", "'mine_own:Clipped' must be a class that derives from Attack"),
        ("mine_own:ridge", "'mine_own:ridge' must be a class that derives from Attack"),
        ("mine_own:Towards:taget=1", "unknown parameter of mine_own:Towards 'taget': did you mean"),
        ("mine_own:Needy", "attack 'mine_own:Needy' needs size: write mine_own:Needy:size=…"),
        ("burst:fast", "'burst:fast': write parameters as burst:parameter=value,…"),
        ("mine_own.Towards", "unknown attack 'mine_own.Towards'"),
    ],
)
def test_what_is_no_attack_is_refused_in_one_sentence(here, problem, text, sentence):
    with code_allowed(here), pytest.raises(nt.InputError) as error:
        nt.attacks.build(text, problem, bound=1.0, probability=0.5, seed=0)
    assert sentence in str(error.value)


def test_what_a_function_returns_must_be_of_the_right_kind(here):
    with code_allowed(here):
        with pytest.raises(nt.InputError, match="`mine_own:nothing` must be a FilterNetwork"):
            nt.networks.BY_NAME.build("mine_own:nothing")
        with pytest.raises(nt.InputError, match=r"derives from Law, or a function that returns"):
            nt.laws.BY_NAME.build("mine_own:Clipped")


def test_text_calls_no_function_without_permission():
    """Not even one of this package, or of a module that is loaded."""
    from neurotron.estimators import catalog

    for text in (
        "os:system:command=true",
        "subprocess:Popen:args=true",
        "neurotron._files:read:path=x",
    ):
        with pytest.raises(nt.InputError, match=r"--allow-code|derives from BaseEstimator"):
            catalog.BY_NAME.build(text)


def inputs_of_law(setting, replicate, seed):
    return {"width": nt.laws.BY_NAME.build(setting["law"]).width}


def test_threads_may_import_what_the_program_may_that_starts_them(here):
    law = {"name": "one", "law": "mine_own:Triangular:width=2"}
    study = nt.Study("laws", [law], inputs_of_law, {"width": float}, replicates=1)
    refused = work.run(study, work.Memory())
    assert "names code of the module 'mine_own'" in refused.failures[0].error
    with code_allowed(here):
        assert work.run(study, memory := work.Memory()).failures == []
    assert memory.rows == {("one", 0): [{"width": 2.0}]}


TABLE = "a,b,y\n" + "".join(f"{i % 7},{i % 5},{i}\n" for i in range(40))
NAMED = [
    "simulate --steps 20 --n-inputs 6 --network mine_own:flat --law mine_own:Triangular --engine "
    "numpy --attack mine_own:Towards:target=1 --trainer mine_own:Clipped:level=2,step_size=0.1",
    "certify --n-inputs 6 --network relu-gate --law normal --attack mine_own:Towards --steps 99",
    "plan --n-inputs 6 --network relu-gate --law mine_own:Triangular --radius 0.5 --bound 0.01 "
    "--probability 0.1",
    "poison table.csv --label y --attack mine_own:Towards --bound 3 --out poisoned.csv",
    "audit table.csv --label y --estimator mine_own:ridge --attack mine_own:Towards --bound 3 "
    "--rows 2 --no-remedies --splits 1 --replicates 1 --threads 1",
]


@pytest.mark.parametrize("command", NAMED, ids=lambda command: command.split()[0])
def test_commands_take_own_names_with_permission_only(here, command):
    Path("table.csv").write_text(TABLE)
    refused = in_this_process(*command.split())
    assert refused.returncode == 2
    assert "names code of the module 'mine_own': allow it with --allow-code" in refused.stderr
    assert "mine_own" not in sys.modules
    done = in_this_process(*command.split(), "--allow-code")
    assert done.returncode in (0, 1), done.stderr
    assert "error" not in done.stderr
    with pytest.raises(nt.InputError, match="--allow-code"):  # only this command was allowed to
        nt.networks.BY_NAME.build("mine_own:flat", n_inputs=3)
