"""`neurotron report`, and the end of `neurotron run`, as a user meets them."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.results import ending_at, made
from tests.support.studies import SMALL

import neurotron as nt

COMMAND = Path(sys.executable).parent / "neurotron"


def command(*words, **settings):
    settings = {"capture_output": True, "text": True, "timeout": 120} | settings
    return subprocess.run([COMMAND, *words], **settings)


@pytest.fixture
def folder(tmp_path):
    study = nt.studies.parse(SMALL, "small")
    results = made(tmp_path / "results", study, lambda c, r, a: {"errors": ending_at(0.1)}, 2)
    return results.folder.path


def test_a_run_ends_with_the_path_of_its_page(tmp_path):
    (tmp_path / "small.toml").write_bytes(SMALL)
    out = tmp_path / "out"
    done = command("run", tmp_path / "small.toml", "--out", out, "--replicates", "2")
    assert done.returncode == 0, done.stderr
    page = out / "report.html"
    assert done.stdout.rstrip().endswith(f"Report: {page}")
    assert page.read_text().startswith("<!doctype html>")
    before = page.read_bytes()
    page.unlink()
    again = command("report", out)
    assert (again.returncode, again.stdout) == (0, f"Report: {page}\n")
    assert page.read_bytes() == before


def test_a_folder_without_results_is_one_sentence(tmp_path):
    done = command("report", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "holds no results" in done.stderr


def test_a_full_disk_is_one_sentence_and_the_old_page_stays(folder):
    (folder / "report.html").write_text("old")

    def small_files_only():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    done = command("report", folder, preexec_fn=small_files_only)
    assert done.returncode == 2
    assert "cannot write into" in done.stderr
    assert done.stderr.count("\n") == 1
    assert (folder / "report.html").read_text() == "old"
    assert not [*folder.rglob("*.tmp")]


def test_two_reports_at_once_do_not_harm_each_other(folder):
    both = [
        subprocess.Popen([COMMAND, "report", folder], stderr=subprocess.PIPE, text=True,
                         stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]  # fmt: skip
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    assert not [*folder.rglob("*.tmp")]


@pytest.mark.long
def test_a_report_that_is_killed_is_made_again(folder):
    process = subprocess.Popen(
        [COMMAND, "report", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not (folder / "report.html").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    assert command("report", folder).returncode == 0
    names = {file.stem for file in (folder / "figures").iterdir() if file.suffix == ".pdf"}
    assert names == {chart.name for chart in nt.figures.charts(nt.load_results(folder))}
