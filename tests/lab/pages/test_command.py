"""`neurotron report`, and the end of `neurotron run`, as a user meets them."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.messages import says
from tests.support.results import made
from tests.support.studies import SMALL, flat, like_the_paper
from typer.testing import CliRunner

import neurotron as nt
from neurotron.cli.app import app
from neurotron.lab.claims import CLAIMS
from neurotron.lab.figures import render_matplotlib

COMMAND = Path(sys.executable).parent / "neurotron"


def command(*words, **settings):
    settings = {"capture_output": True, "text": True, "timeout": 120} | settings
    return subprocess.run([COMMAND, *words], **settings)


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "results", SMALL, flat, 2).folder.path


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


@pytest.mark.parametrize("options", [[], ["--verdicts"]])
def test_a_command_judges_every_claim_once(tmp_path, monkeypatch, options):
    results = like_the_paper(tmp_path / "paper")
    judged = Counter()
    for name, claim in CLAIMS.items():

        def counted(results, claim=claim):
            judged[claim.name] += 1
            return claim.check(results)

        monkeypatch.setitem(CLAIMS, name, replace(claim, check=counted))
    done = CliRunner().invoke(app, ["report", str(results.folder.path), *options])
    assert done.exit_code == 0, done.output
    assert judged == dict.fromkeys(results.spec["claims"], 1)


@pytest.fixture
def drawn(monkeypatch):
    """The names of the charts that are drawn for print, by this process."""
    names = []
    monkeypatch.setattr(render_matplotlib, "draw", lambda chart: names.append(chart.name))
    monkeypatch.setattr(render_matplotlib, "encode", lambda _, end: end.encode())
    return names


def test_figures_for_print_are_drawn_only_if_they_are_wanted(folder, drawn):
    CliRunner().invoke(app, ["report", str(folder)])
    assert (drawn, (folder / "figures").exists()) == ([], False)
    done = CliRunner().invoke(app, ["report", str(folder), "--figures"])
    assert done.output.endswith(f"Figures: {folder / 'figures'}\n")
    assert drawn == [chart.name for chart in nt.lab.charts(nt.load_results(folder))]


def test_a_run_draws_figures_for_print_if_they_are_wanted(tmp_path, drawn):
    (tmp_path / "small.toml").write_bytes(SMALL)
    words = ["run", tmp_path / "small.toml", "--out", tmp_path / "out", "--replicates", 1]
    CliRunner().invoke(app, [*map(str, words), "--figures"])
    names = {file.stem for file in (tmp_path / "out/figures").glob("*.pdf")}
    assert names == set(drawn) != set()


def test_figures_of_an_earlier_report_are_said_to_be_that(folder, drawn):
    CliRunner().invoke(app, ["report", str(folder), "--figures"])
    again = CliRunner().invoke(app, ["report", str(folder)])
    assert says(" ".join(again.stderr.split()), "earlier report", "--figures")


def test_the_page_is_written_before_the_figures(folder, monkeypatch):
    def cannot(_):
        raise ValueError("no ink")

    monkeypatch.setattr(render_matplotlib, "draw", cannot)
    done = CliRunner().invoke(app, ["report", str(folder), "--figures"])
    assert says(done.exception, "figure 'levels", "no ink")
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    assert not (folder / "figures").exists()


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_report_that_is_stopped_leaves_nothing_behind_and_is_made_again(folder, how):
    process = subprocess.Popen(
        [COMMAND, "report", folder, "--figures"], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while not (folder / "report.html").exists():
        assert process.poll() is None
        time.sleep(0.01)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does
    else:
        process.send_signal(how)
    _, errors = process.communicate(timeout=60)  # the other processes have ended, too
    assert (process.returncode, errors) == (130 if how == signal.SIGINT else -how, "")
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    assert not (folder / "figures").exists()
    assert command("report", folder, "--figures").returncode == 0
    names = {file.stem for file in (folder / "figures").iterdir() if file.suffix == ".pdf"}
    assert names == {chart.name for chart in nt.lab.charts(nt.load_results(folder))}
