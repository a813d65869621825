"""A long test that has passed is skipped on demand, until something it computes with changes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.long import conftest
from tests.support import passed


@pytest.fixture
def item(tmp_path, monkeypatch) -> SimpleNamespace:
    """A test in a module that reads a document, and has passed."""
    monkeypatch.setattr(passed, "FOLDER", tmp_path / "long")
    monkeypatch.setattr(conftest, "RESUMES", True)
    module, document = tmp_path / "test_some.py", tmp_path / "some.md"
    module.write_text("def test(): pass")
    document.write_text("It is 7.")
    found = SimpleNamespace(
        nodeid="test_some.py::test", path=module, module=SimpleNamespace(READS=(document,))
    )
    passed.code_of.cache_clear()
    passed.remember(found)
    return found


def change(path: Path) -> None:
    path.write_text(path.read_text() + "\n")
    passed.code_of.cache_clear()


def test_what_has_passed_is_skipped_and_says_so(item):
    with pytest.raises(pytest.skip.Exception, match="passed with this code already"):
        conftest.pytest_runtest_setup(item)


def test_nothing_is_skipped_unless_asked_for(item, monkeypatch):
    monkeypatch.setattr(conftest, "RESUMES", False)
    conftest.pytest_runtest_setup(item)


def test_another_test_of_the_module_is_not_skipped(item):
    item.nodeid = "test_some.py::test_other"
    conftest.pytest_runtest_setup(item)


def test_what_has_passed_runs_again_if_its_module_changes(item):
    change(item.path)
    conftest.pytest_runtest_setup(item)


def test_what_has_passed_runs_again_if_a_document_it_reads_changes(item):
    change(item.module.READS[0])
    conftest.pytest_runtest_setup(item)


def test_a_damaged_record_does_not_count(item):
    (record,) = passed.FOLDER.iterdir()
    record.write_text(record.read_text()[:-9])
    conftest.pytest_runtest_setup(item)


def ended(item, *outcomes: tuple[str, bool]) -> bool:
    """Tell whether a new test is remembered whose phases end like this."""
    item.nodeid, item.stash = "test_some.py::test_new", pytest.Stash()
    for when, well in outcomes:
        hook = conftest.pytest_runtest_makereport(item, None)
        next(hook)
        with pytest.raises(StopIteration):
            hook.send(SimpleNamespace(when=when, passed=well))
    return passed.is_known(item)


@pytest.mark.parametrize("worst", ["setup", "call", "teardown", None])
def test_a_test_is_remembered_if_all_its_phases_passed(item, worst):
    phases = [(when, when != worst) for when in ("setup", "call", "teardown")]
    assert ended(item, *phases) is (worst is None)
