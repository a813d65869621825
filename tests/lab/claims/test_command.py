"""The record of verdicts, and how the command prints them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.results import made
from tests.support.studies import DIVERGED, LIKE_THE_PAPERS, as_claimed

import neurotron as nt
from neurotron.cli import options, report_command
from neurotron.lab.claims import VERDICTS, write
from neurotron.lab.claims.model import MARKS, tally

COMMAND = Path(sys.executable).parent / "neurotron"
HOLDS, *_, NOT_TESTED = VERDICTS


@pytest.fixture(scope="module")
def claimed(tmp_path_factory):
    """Results in which all is as claimed."""
    return made(tmp_path_factory.mktemp("claimed") / "r", LIKE_THE_PAPERS, as_claimed, 9)


def diverging(setting, replicate, arm):
    return DIVERGED if arm["bound"] == 4.0 else as_claimed(setting, replicate, arm)


def test_the_record_is_what_evaluate_says_and_always_the_same(tmp_path):
    texts = []
    for place in ("one", "two"):
        results = made(tmp_path / place, LIKE_THE_PAPERS, diverging, 5)
        claims = nt.lab.evaluate(results)
        write(results, claims)
        texts.append((tmp_path / place / "claims.json").read_text())
    assert texts[0] == texts[1]
    content = json.loads(texts[0], parse_constant=pytest.fail)  # no NaN, no Infinity
    assert content["claims"] == [claim.to_dict() for claim in claims]
    assert (content["study"], content["units"]) == ("like-the-papers", 10)
    assert [claim["name"] for claim in content["claims"]] == list(results.spec["claims"])
    assert content["note"] == (
        "These claims were written for other studies: this study is not in the catalog."
    )


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smoke") / "results"
    return made(folder, nt.lab.read("smoke"), as_claimed, 5)


def test_the_command_prints_the_verdicts_as_json(smoke):
    folder = smoke.folder.path
    done = subprocess.run(
        [COMMAND, "report", folder, "--json"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads(done.stdout)["claims"]
    assert printed == [judgement.to_dict() for judgement in nt.lab.evaluate(smoke)]
    assert printed == json.loads((folder / "claims.json").read_text())["claims"]
    verdicts = {claim["name"]: claim["verdict"] for claim in printed}
    assert verdicts == {"certificate-holds": HOLDS}


def test_the_command_prints_one_line_for_each_claim_and_a_count(claimed, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    report_command.report(claimed.folder.path, verdicts=True)
    _, _, *lines, empty, count, wrapped = capsys.readouterr().out.splitlines()
    judgements = nt.lab.evaluate(claimed)
    assert [line[0] for line in lines] == [MARKS[one.verdict] for one in judgements]
    for line, one in zip(lines, judgements, strict=True):
        assert re.split(r"\s{2,}", line.strip()) == [
            MARKS[one.verdict],
            one.claim.short,
            one.verdict,
        ]
    assert (empty, f"{count} {wrapped}") == ("", tally(judgements))


def words(text: str) -> set[str]:
    return {word.strip("().;:,") for word in text.split()}


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80])
def test_lines_break_at_words_and_fit(claimed, capsys, monkeypatch, width, details):
    monkeypatch.setenv("COLUMNS", str(width))
    report_command.report(claimed.folder.path, verdicts=True, details=details)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= width
    for one in nt.lab.evaluate(claimed):
        assert words(one.claim.short) <= words(printed)
        assert not details or words(one.effect) <= words(printed)


def test_the_command_prints_what_was_measured_and_every_comparison_if_asked(
    smoke, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "200")
    judgements = nt.lab.evaluate(smoke)
    report_command.report(smoke.folder.path, verdicts=True)
    short = capsys.readouterr().out
    report_command.report(smoke.folder.path, details=True)
    long = capsys.readouterr().out
    lines = [line for line in long.splitlines() if re.match("     [✓✗?] ", line)]
    assert len(lines) == sum(len(judgement.findings) for judgement in judgements) > 0
    for judgement in judgements:
        claim = judgement.claim
        for text in (claim.name, claim.statement, claim.source, judgement.effect):
            assert text in long
            assert text not in short
        assert judgement.verdict in short


SILENT = """
name = "silent"
claims = []
trainers = { Tron = "neuro-tron" }
settings = [{ name = "a", n_inputs = 8, filter_size = 2, network = "symmetric:width=2" }]
"""


@pytest.mark.parametrize(
    ("text", "replicates", "said"),
    [
        (LIKE_THE_PAPERS, 4, "No claim is tested: every comparison needs at least 5 replicates."),
        (SILENT.replace("[]", '["impersonation-wins"]'), 9,
         "These results do not test any claim of their study."),
        (SILENT, 9, "This study names no claims."),
    ],
)  # fmt: skip
def test_one_sentence_says_that_nothing_is_tested(text, replicates, said, tmp_path, capsys):
    results = made(tmp_path / "r", text, as_claimed, replicates)
    report_command.report(results.folder.path, verdicts=True)
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == said
    assert len(printed) <= 4  # and that the study is not in the catalog


def test_the_command_refuses_what_is_no_results(tmp_path):
    with pytest.raises(nt.InputError, match="none' does not exist"):
        report_command.report(tmp_path / "none", verdicts=True)


def test_a_run_with_too_few_replicates_says_that_its_claim_is_not_tested(smoke, capsys):
    judgements = nt.lab.evaluate(smoke)
    few = [
        replace(one, findings=tuple(replace(found, replicates=2) for found in one.findings))
        for one in judgements
    ]
    report_command.print_verdicts(options.console(), smoke, few)
    assert "at least 5 replicates" in " ".join(capsys.readouterr().out.split())
