"""The sentence on top of the page, from results and judgements in which the truth is known."""

from __future__ import annotations

import pytest
from tests.support.results import ending_at, made
from tests.support.studies import (
    DIVERGED,
    MIRROR,
    as_in_the_paper,
    flat,
    like_the_paper,
)

from neurotron.lab.pages.headline import headline, rivalry


def test_neuro_tron_and_sgd_are_compared_on_networks_and_the_exception_is_named(tmp_path):
    said = headline(like_the_paper(tmp_path / "r"))
    assert said.sentence == (
        "With up to 90 % of the labels attacked, Tron found the true filter on all 20 networks; "
        "SGD ended in the direction of its mirror image on 8; where both found it, SGD came "
        "closer on all 12."
    )
    assert said.figures[0] == "mirror-filter"
    assert "at every level of the attack" in said.meaning


TWO = """
name = "two"
[trainers]
Tron = "neuro-tron"
SGD = "sgd"
[[settings]]
name = "a"
[[settings.sweeps]]
bound = 1
probability = 0.5
"""


def of(folder, outcome, text=TWO, replicates=4):
    return made(folder / "made", text, outcome, replicates)


def test_a_network_that_neuro_tron_misses_is_not_counted_as_found(tmp_path):
    def some_lost(setting, replicate, arm):
        return MIRROR if replicate == 0 else flat(setting, replicate, arm)

    pair = rivalry(of(tmp_path, some_lost))
    assert (pair.found, pair.missed, pair.mirrored, pair.both) == (3, 1, 1, 3)
    assert "found the true filter on 3 of 4 networks" in headline(of(tmp_path, some_lost)).sentence


def test_replicates_that_share_a_network_are_not_called_networks(tmp_path):
    shared = TWO.replace('name = "a"', 'name = "a"\nsame_problem = true')
    results = of(
        tmp_path, lambda c, r, a: MIRROR if a["algorithm"] == "sgd" else flat(c, r, a), shared
    )
    assert "found the true filter in all 4 replicates" in headline(results).sentence


def test_where_nothing_ends_at_the_mirror_runs_are_counted(tmp_path):
    def lost(setting, replicate, arm):
        return DIVERGED if arm["algorithm"] == "sgd" and replicate < 3 else flat(setting, 0, arm)

    assert headline(of(tmp_path, lost)).sentence == (
        "With half of the labels attacked, Tron found the true filter in all 4 runs; SGD in 1 of 4 "
        "runs (diverged in 3)."
    )


def test_a_defence_is_told_by_how_often_it_is_exact(tmp_path):
    def as_hoped(setting, replicate, arm):
        return {"errors": ending_at(1e-15 if arm["algorithm"] == "refined-tron" else 0.1)}

    said = headline(of(tmp_path, as_hoped, TWO.replace('SGD = "sgd"', 'Refined = "refined-tron"')))
    assert said.sentence == (
        "With half of the labels attacked, Tron found the true filter in all 4 runs, exactly in "
        "none; Refined in all 4 runs, exactly in all."
    )
    assert said.figures[0] == "exact"
    assert "1e-12" in said.meaning


ONE = TWO.replace('SGD = "sgd"', 'Other = "neuro-tron:step_size=0.001"')


@pytest.mark.parametrize(("error", "inside"), [(0.5, "all 8"), (2.0, "4 of 8")])
def test_certified_runs_are_told_by_how_many_ended_within_their_radius(error, inside, tmp_path):
    def certified(setting, replicate, arm):
        return {"errors": ending_at(error if arm["trainer"] == "Tron" else 0.5), "radius": 1.0}

    said = headline(of(tmp_path, certified, ONE))
    assert f"{inside} certified runs ended within the radius" in said.sentence
    assert "95 %" in said.meaning


def test_runs_without_a_certificate_are_named_beside_those_with_one(tmp_path):
    def some(setting, replicate, arm):
        return (
            flat(setting, replicate, arm) | {"radius": 1.0}
            if arm["trainer"] == "Tron"
            else DIVERGED
        )

    said = headline(of(tmp_path, some, ONE)).sentence
    assert said.endswith(
        "without a certificate, none of 4 runs (diverged in 4) found the true filter."
    )


def test_without_an_attack_the_sentence_says_so(tmp_path):
    honest = TWO.partition("[[settings.sweeps]]")[0] + '[[settings.sweeps]]\nattack = "none"\n'
    assert headline(of(tmp_path, flat, honest)).sentence == (
        "Without an attack, Tron found the true filter in all 4 runs; SGD in all 4 runs."
    )


def test_before_anything_is_computed_there_is_a_sentence_too(tmp_path):
    assert headline(of(tmp_path, as_in_the_paper, replicates=0)).sentence.startswith("No runs")
