from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
from tests.support.messages import says

import neurotron as nt
from neurotron._names import STUB, stub

SUBPACKAGES = [
    nt.attacks, nt.data, nt.guarantees, nt.lab, nt.laws, nt.networks, nt.simulation, nt.theory,
    nt.trainers,
]  # fmt: skip


def test_the_top_level_is_small_and_every_name_exists():
    assert len(nt.__all__) <= 64
    assert all(isinstance(name, str) for name in nt.__all__)
    for name in nt.__all__:
        assert getattr(nt, name) is not None
    assert set(nt.__all__) <= set(dir(nt))


def test_type_checkers_see_every_public_name():
    assert STUB.read_text() == stub(), "run: python -m neurotron._names"
    assert set(re.findall(r" as (\w+)", stub())) | {"__version__"} == set(nt.__all__)


def test_built_in_laws_and_trainers_stand_at_the_top():
    for kind in (*nt.laws.BUILT_IN, *nt.trainers.BUILT_IN):
        assert getattr(nt, kind.__name__) is kind
    for kind in nt.attacks.BUILT_IN:
        assert getattr(nt.attacks, kind.__name__) is kind


@pytest.mark.parametrize("name", ["nonsense", "_nonsense"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
        getattr(nt, name)


def test_a_module_is_not_searched_for_while_it_is_imported():
    loaded = modules_after(
        "from neurotron import _check; import neurotron as nt; hasattr(nt, 'cli')"
    )
    assert "neurotron.attacks" not in loaded


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Adaptive", "it is nt.attacks.Adaptive"),
        ("relu_gate", "it is nt.networks.relu_gate"),
        ("Rows", "it is nt.data.Rows"),
        ("Corrupted", "it is nt.data.Corrupted"),
        ("iterate", "it is nt.simulation.iterate"),
        ("adaptive", "did you mean nt.attacks.Adaptive?"),
        ("Neurotron", "did you mean nt.NeuroTron?"),
        ("simulat", "did you mean nt.simulate?"),
    ],
)
def test_a_name_that_stands_elsewhere_or_is_misspelt_gets_the_right_one(name, place):
    with pytest.raises(AttributeError) as caught:
        getattr(nt, name)
    assert says(caught.value, f"'{name}'", place)


@pytest.mark.parametrize("package", [nt.attacks, nt.data, nt.laws, nt.networks, nt.trainers])
def test_tab_completes_to_what_a_user_needs(package):
    offered = set(dir(package))
    assert offered == set(package.__all__)
    assert not offered & {"Registry", "BY_NAME", "BUILT_IN", "annotations", "base", "catalog"}
    for name in offered:
        value = getattr(package, name)
        assert not inspect.ismodule(value) or name == "sensing"
    for kind in getattr(package, "BUILT_IN", ()):
        assert kind.__name__ in offered


def public_objects() -> dict[str, object]:
    found = {f"nt.{name}": getattr(nt, name) for name in nt.__all__ if name != "__version__"}
    for package in SUBPACKAGES:
        short = package.__name__.removeprefix("neurotron.")
        found |= {f"nt.{short}.{name}": getattr(package, name) for name in package.__all__}
    return found


@pytest.mark.parametrize("name", public_objects())
def test_every_public_name_is_documented(name):
    thing = public_objects()[name]
    assert inspect.getdoc(thing), f"{name} has no docstring"
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (
                inspect.isfunction(value) or isinstance(value, property)
            ):
                assert inspect.getdoc(value), f"{name}.{member} has no docstring"


def modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(output.stdout.split())


def test_import_stays_light():
    heavy = {
        "numba", "scipy", "matplotlib", "plotly", "polars", "pydantic", "dask", "distributed",
        "sklearn", "typer", "rich",
    }  # fmt: skip
    assert not heavy & modules_after("import neurotron")
    building = "import neurotron as nt; nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal())"
    assert not heavy & modules_after(building)


def test_training_loads_the_compiler_but_no_plotting():
    training = (
        "import neurotron as nt; p = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal()); "
        "nt.simulate(p, [nt.Arm(nt.SGD(0.1))], steps=2, batch_size=2)"
    )
    loaded = modules_after(training)
    assert "numba" in loaded
    assert not {"matplotlib", "plotly", "polars", "pydantic", "typer", "rich", "sklearn"} & loaded


def test_simulate_stays_the_function_whatever_is_imported_first():
    modules_after("import neurotron.simulation, neurotron as nt; assert callable(nt.simulate)")
    modules_after("import neurotron.conformance, neurotron as nt; assert callable(nt.simulate)")
