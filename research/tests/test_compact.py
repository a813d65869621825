"""The small table of a study: as fine as fits, with three digits."""

from __future__ import annotations

import csv
import io

import pytest
from tests.support.results import ending_at, made

import neurotron as nt
from neurotron.lab.results.compact import compact_csv

TEXT = b"""
name = "s"
[trainers]
A = "neuro-tron"
B = "sgd"
[[settings]]
name = "a"
sweeps = [{ attack = "constant", bound = [1, 2], probability = 0.5 },
          { attack = "multiplicative:factor=3", bound = 4, probability = 0.25 }]
[[settings]]
name = "b"
like = "a"
"""
ERRORS = (1e-14, 5e-7, 1.23456)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    def outcome(setting, replicate, arm):
        error = ERRORS[replicate] * (1.0 if arm["trainer"] == "A" else 10.0)
        return {"errors": ending_at(error), "radius": 2.0 if arm["trainer"] == "A" else None}

    study = nt.lab.studies.parse(TEXT, "s")
    return made(tmp_path_factory.mktemp("compact") / "r", study, outcome, 3)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_arm_has_a_row_with_its_attack_as_the_study_has_it(results):
    found = rows(compact_csv(results))
    assert len(found) == 2 * 2 * 3
    assert {row["attack"] for row in found} == {"constant", "multiplicative:factor=3"}
    first = found[0]
    assert (first["setting"], first["trainer"], first["bound"], first["probability"]) == (
        "a", "A", "1", "0.5",
    )  # fmt: skip
    assert (first["runs"], first["exact"], first["close"]) == ("3", "0.333", "0.667")
    assert (first["median"], first["least"], first["largest"]) == ("5e-07", "1e-14", "1.23")
    assert (first["radius"], first["steps"]) == ("2", "")  # most runs never reach 1e-10
    assert {row["radius"] for row in found if row["trainer"] == "B"} == {""}


def test_what_does_not_fit_is_pooled(results):
    whole = compact_csv(results)
    pooled = rows(compact_csv(results, most_bytes=len(whole) - 1))
    assert [row["runs"] for row in pooled] == ["6"] * 6
    assert "setting" not in pooled[0]
    least = rows(compact_csv(results, most_bytes=1))
    assert {(row["setting"], row["trainer"]) for row in least} == {
        (setting, trainer) for setting in "ab" for trainer in "AB"
    }
