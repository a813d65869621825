"""Who follows "Add an attack" in CONTRIBUTING.md to the letter has a built-in attack."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import neurotron as nt

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"

IS_BUILT_IN = """
import functools, sys
import neurotron as nt
from neurotron import conformance
from neurotron.engine.compiled.cohort import obstacle

network = nt.networks.symmetric(9, 4, 6, seed=3)
problem = nt.Problem.draw(network, nt.Normal(), seed=2)
attack = nt.attacks.build("towards-zero", problem, bound=0.5, probability=0.4, seed=0)
assert type(attack) is nt.attacks.TowardsZero, type(attack)
assert "TowardsZero" in nt.attacks.__all__
assert type(attack) in nt.attacks.BUILT_IN
arm = nt.Arm(nt.SGD(0.05), attack)
assert obstacle(problem, arm) == ""
"""

CONFORMS = """
conformance.simulate = functools.partial(nt.simulate, engine="numpy")  # compiling takes long
nt.check_attack(attack)
from neurotron.cli import main
sys.argv = ["neurotron", "list", "attacks"]
main()
"""

BOTH_ENGINES = """
import numpy as np
arms = [nt.Arm(trainer, attack) for trainer in (nt.SGD(0.05), nt.NeuroTron(0.05))]
arms.append(nt.Arm(nt.SGD(0.05), name="honest"))
runs = [nt.simulate(problem, arms, steps=200, batch_size=5, engine=engine)
        for engine in ("compiled", "numpy")]
np.testing.assert_allclose(runs[0].weights, runs[1].weights, rtol=1e-11)
assert abs(runs[0].weights[0] - runs[0].weights[2]).max() > 1e-3
nt.check_attack(attack)
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the package to which the attack of the guide was added, as the guide says."""
    folder = tmp_path / "neurotron"
    shutil.copytree(
        Path(nt.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__")
    )  # fmt: skip
    section = re.search(r"## Add an attack\n(.*?)\n## ", GUIDE.read_text("utf-8"), re.DOTALL)[1]
    place = re.search(r"Write `src/neurotron/(\S+)`", section)[1]
    code = textwrap.dedent(re.search(r"\n   ```python\n(.*?)\n   ```\n", section, re.DOTALL)[1])
    (folder / place).write_text(code + "\n", "utf-8")
    catalog = folder / re.search(r"the one list, `src/neurotron/(\S+)`", section)[1]
    importing = re.search(r"`(from neurotron\S+ import \w+ as (\w+))`", section)
    text = catalog.read_text("utf-8")
    text = text.replace("\nBUILT_IN:", f"\n{importing[1]}\n\nBUILT_IN:", 1)
    before, after = text.split("\n)\n", 1)  # the end of the list
    catalog.write_text(f"{before}\n    {importing[2]},\n)\n{after}", "utf-8")
    return tmp_path


def run(source: Path, program: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(source / "kept")}
    done = subprocess.run(
        [sys.executable, "-c", f"{IS_BUILT_IN}{program}"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_attack_added_by_the_guide_is_listed_exported_and_conforms(source):
    assert "towards-zero" in run(source, CONFORMS)


@pytest.mark.long
def test_an_attack_added_by_the_guide_runs_compiled_like_on_the_numpy_engine(source):
    run(source, BOTH_ENGINES)
