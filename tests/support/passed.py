"""Which long tests have passed, and with which code: one empty file for each, in out/long.

The code of a test is its module, what tests and research are made with, the package, and the
documents that the module names in `READS`. Versions of Python, NumPy and the like count as well.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

import neurotron
from neurotron._environment import environment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "out" / "long"
FAILED = pytest.StashKey[bool]()


class Resuming:
    """A plugin of pytest: with NEUROTRON_RESUME=1, long tests that have passed are skipped."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        resumes = os.environ.get("NEUROTRON_RESUME") == "1"
        if resumes and item.get_closest_marker("long") and record_of(item).exists():
            pytest.skip("has passed with this code already (NEUROTRON_RESUME=1)")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Remember a test once it is torn down, because checks may be in what tears it down."""
        report = yield
        failed = item.stash.setdefault(FAILED, False) or not report.passed
        item.stash[FAILED] = failed
        if item.get_closest_marker("long") and report.when == "teardown" and not failed:
            FOLDER.mkdir(parents=True, exist_ok=True)
            record_of(item).touch()
        return report


def record_of(item: pytest.Item) -> Path:
    """Return the file that exists once a test has passed with this very code."""
    documents = tuple(item.module.__dict__.get("READS", ()))
    name = f"{item.nodeid} {code_of(item.path, documents)}"
    return FOLDER / hashlib.sha256(name.encode()).hexdigest()[:32]


@cache
def code_of(module: Path, documents: tuple[Path, ...]) -> str:
    """Return a hash of everything that a test of a module computes with."""
    places = ("tests/oracles", "tests/support", "research")
    folders = (Path(neurotron.__file__).parent, *(ROOT / place for place in places))
    files = [
        path for folder in folders for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]  # fmt: skip
    digest = hashlib.sha256(json.dumps(environment(), sort_keys=True).encode())
    for path in (*files, module, *documents):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
