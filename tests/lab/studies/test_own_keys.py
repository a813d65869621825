"""Settings with their own `steps`, `replicates` and `verify`, from the file to the page."""

from __future__ import annotations

import re
import shutil

import numpy as np
import polars as pl
import pytest
from tests.support.cli import in_this_process

import neurotron as nt
from neurotron.cli import options, study_commands
from neurotron.lab.claims.batch_size import batch_size_runs
from neurotron.lab.pages.page import _incomplete, _toml
from neurotron.lab.training.summary import steps_to
from neurotron.work import Progress

TEXT = """
name = "own"
steps = 60
replicates = 6
verify = 40
claims = ["certificate-holds", "verification-holds"]
trainers = { tron = "neuro-tron:step_size=fastest", sgd = "sgd:step_size=0.01" }

[[settings]]
name = "long"
n_inputs = 6
filter_size = 2
network = "symmetric:width=2"
sweeps = [{ bound = [0, 0.5] }]

[[settings]]
name = "short"
like = "long"
batch_size = 4
steps = 20
replicates = 5
verify = 0

[[settings]]
name = "shorter"
like = "short"
batch_size = 1
"""


def parsed(text: str = TEXT) -> nt.Study:
    return nt.lab.parse(text.encode(), "own.toml")


STUDY = parsed()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("own") / "out"
    assert nt.lab.run(STUDY, out).computed == 16
    return out


@pytest.fixture(scope="module")
def results(folder) -> nt.lab.Runs:
    return nt.load_results(folder)


def test_a_setting_runs_with_its_own_numbers_and_like_takes_them_over(results):
    assert results.replicates == {"long": 6, "short": 5, "shorter": 5}
    last = {name: int(steps[-1]) for name, steps in results.steps.items()}
    assert last == {"long": 60, "short": 20, "shorter": 20}
    verified = results.runs.filter(pl.col("verified_radius").is_not_null())
    assert set(verified["setting"]) == {"long"}
    assert len(verified) == 6 * 4


def test_its_runs_are_those_of_a_study_with_these_numbers(results, tmp_path):
    alone = TEXT.replace("steps = 20\n", "").replace("steps = 60", "steps = 20")
    nt.lab.run(parsed(alone), tmp_path / "out", replicates=2)
    ours, theirs = (
        one.trajectories.filter(pl.col("replicate") < 2, setting="short")
        for one in (results, nt.load_results(tmp_path / "out"))
    )
    assert len(ours)
    assert ours.equals(theirs)


def test_tables_have_the_steps_of_each_setting(results):
    lengths = results.trajectories.group_by("setting").agg(pl.col("step").max())
    assert dict(lengths.iter_rows()) == {"long": 60, "short": 20, "shorter": 20}
    for setting, errors in results.errors.items():
        runs = results.runs.filter(setting=setting)
        assert errors.shape == (len(runs), len(results.steps[setting]))
        assert np.array_equal(errors[:, -1], runs["error"])
    reached = steps_to(results, "2×")
    assert reached["steps"].to_list() == [0] * len(results.runs)
    some = results.trajectories.filter(pl.col("step").is_in([0, 20, 60]))
    assert sorted(set(some.select("setting", "step").iter_rows())) == [
        ("long", 0), ("long", 20), ("long", 60), ("short", 0), ("short", 20),
        ("shorter", 0), ("shorter", 20),
    ]  # fmt: skip


def test_a_run_resumes_and_replicates_of_the_study_do_not_raise_those_of_a_setting(
    folder, tmp_path
):
    out = shutil.copytree(folder, tmp_path / "out")
    (out / "shards" / "short" / "1.parquet").unlink()
    again = nt.lab.run(STUDY, out)
    assert (again.kept, again.computed, again.wanted) == (15, 1, 16)
    more = nt.lab.run(STUDY, out, replicates=7)
    assert (more.kept, more.computed) == (16, 1)
    assert nt.load_results(out).replicates == {"long": 7, "short": 5, "shorter": 5}
    fewer = nt.lab.run(STUDY, tmp_path / "few", replicates=1)
    assert fewer.computed == 3


def test_a_folder_is_not_continued_with_other_steps_of_a_setting(folder):
    other = parsed(TEXT.replace("steps = 20", "steps = 30"))
    with pytest.raises(nt.InputError, match=r"settings\.short\.steps"):
        nt.lab.run(other, folder)


def test_batch_sizes_are_compared_after_the_same_steps_only(results):
    compared = batch_size_runs(results).select("setting", "b").unique().sort("b")
    assert compared.rows() == [("shorter", 1), ("short", 4)]


def test_the_page_says_what_differs_and_its_file_is_the_same_study(results):
    nt.lab.report(results.folder.path)
    text = (results.folder.path / "report.html").read_text()
    assert "5 to 6 replicates" in text
    assert "on the next 40 rows of their stream" in text
    assert "fewer replicates than others" not in text
    assert _incomplete(results) == []
    assert parsed(_toml(results)).spec() == STUDY.spec()
    assert parsed(_toml(results)).replicates == 6


def test_a_setting_with_fewer_replicates_than_it_asks_for_is_named(folder, tmp_path):
    out = shutil.copytree(folder, tmp_path / "out")
    (out / "shards" / "short" / "1.parquet").unlink()
    assert _incomplete(nt.load_results(out)) == ["short: 4 of 5 replicates"]


def test_units_cost_by_their_steps_samples_and_verified_rows():
    costs = STUDY.costs
    assert costs["long"] > costs["short"] > costs["shorter"] > 0.0
    assert parsed(TEXT.replace("verify = 0", "verify = 40")).costs["short"] > costs["short"]


@pytest.mark.parametrize("in_a_terminal", [True, False])
def test_verdicts_end_what_a_terminal_shows_and_begin_what_a_log_has(
    folder, tmp_path, monkeypatch, in_a_terminal
):
    (tmp_path / "own.toml").write_text(TEXT)
    monkeypatch.setenv("COLUMNS", "80")
    if in_a_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    done = in_this_process("run", tmp_path / "own.toml", "--out", folder)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    parts = ("claims of this study", "2 of 2 claims hold.", "Where the runs ended", "Report: ")
    verdicts, tally, outcomes, page = map(text.index, parts)
    assert verdicts < tally
    assert (outcomes < page < verdicts) if in_a_terminal else (tally < outcomes < page)
    printed = [line for line in text.splitlines() if str(folder) not in line]
    assert max(len(line.rstrip()) for line in printed) <= 80


def test_a_table_longer_than_a_terminal_is_cut_and_the_page_has_it(results, monkeypatch, capsys):
    monkeypatch.setattr(study_commands, "MOST_LINES", 4)
    study_commands._print_tables(options.console(), results)
    assert re.search(r"^and \d more rows, on the page$", capsys.readouterr().out, re.M)


def test_a_log_tells_every_tenth_of_the_units_and_the_time_that_is_left(capsys):
    with study_commands.progress_bar() as show:
        for done in range(21):
            show(Progress(units=20, units_done=done, share=done / 20))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [f"{n} of 20 units" for n in range(2, 21, 2)]
    assert all(re.search(r", about \d:\d\d:\d\d left$", line) for line in lines[:-1])
    assert lines[-1] == "20 of 20 units"
