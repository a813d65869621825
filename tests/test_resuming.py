"""A long test that has passed is skipped on demand, until something it computes with changes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.support import passed


@pytest.fixture
def plugin(monkeypatch) -> passed.Resuming:
    monkeypatch.setenv("NEUROTRON_RESUME", "1")
    return passed.Resuming()


@pytest.fixture
def item(tmp_path, monkeypatch) -> SimpleNamespace:
    """A long test in a module that reads a document, and has passed."""
    monkeypatch.setattr(passed, "FOLDER", tmp_path / "long")
    module, document = tmp_path / "test_some.py", tmp_path / "some.md"
    module.write_text("def test(): pass")
    document.write_text("It is 7.")
    found = SimpleNamespace(
        nodeid="test_some.py::test", path=module, module=SimpleNamespace(READS=(document,)),
        get_closest_marker=lambda name: name == "long",
    )  # fmt: skip
    passed.code_of.cache_clear()
    passed.remember(found)
    return found


def test_what_has_passed_is_skipped_and_says_so(plugin, item):
    with pytest.raises(pytest.skip.Exception, match="passed with this code already"):
        plugin.pytest_runtest_setup(item)


def nobody_asks(item, plugin):
    plugin.resumes = False


def another_test(item, plugin):
    item.nodeid = "test_some.py::test_other"


def not_long(item, plugin):
    item.get_closest_marker = lambda name: None


def another_module(item, plugin):
    item.path.write_text("def test(): return")


def another_document(item, plugin):
    item.module.READS[0].write_text("It is 8.")


def a_damaged_record(item, plugin):
    (record,) = passed.FOLDER.iterdir()
    record.write_text(record.read_text()[:-9])


@pytest.mark.parametrize(
    "change",
    [nobody_asks, another_test, not_long, another_module, another_document, a_damaged_record],
)
def test_it_runs_again(plugin, item, change):
    change(item, plugin)
    passed.code_of.cache_clear()
    plugin.pytest_runtest_setup(item)


@pytest.mark.parametrize("worst", ["setup", "call", "teardown", None])
def test_a_test_is_remembered_if_all_its_phases_passed(plugin, item, worst):
    item.nodeid, item.stash = "test_some.py::test_new", pytest.Stash()
    for when in ("setup", "call", "teardown"):
        hook = plugin.pytest_runtest_makereport(item, None)
        next(hook)
        with pytest.raises(StopIteration):
            hook.send(SimpleNamespace(when=when, passed=when != worst))
    assert passed.is_known(item) is (worst is None)
