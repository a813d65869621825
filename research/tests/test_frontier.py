"""The study past the paper, in the catalog."""

from __future__ import annotations

import neurotron as nt
from neurotron import _registry
from neurotron.lab.figures.maps import grid_of
from neurotron.lab.studies import building

STUDY = nt.lab.studies.read("frontier")
ATTACKS = {
    _registry.parse(sweep.attack)[0] for setting in STUDY.settings for sweep in setting.sweeps
}


def test_its_size_is_as_it_says():
    arms = sum(len(building.encounters(STUDY, setting)) for setting in STUDY.settings)
    assert "about 28,000 runs of 40,000 steps" in STUDY.description
    assert STUDY.steps == 40_000
    assert 27_500 < arms * STUDY.replicates < 29_000


def test_its_grids_are_grids_and_its_open_questions_are_asked():
    for setting in STUDY.settings[:4]:
        for sweep in setting.sweeps:
            if sweep.bound != (1e6,):
                assert grid_of(sweep.levels) == (list(sweep.bound), list(sweep.probability))
    laws = {setting.law for setting in STUDY.settings}
    assert {f"student-t:dof={dof}" for dof in ("5", "4", "3", "2.5")} <= laws
    assert {"multiplicative", "replacement", "sign-flip"} <= ATTACKS


def test_its_settings_are_the_papers():
    paper = {setting.name: setting for setting in nt.lab.studies.read("paper").settings}
    for setting in STUDY.settings[:4]:
        own, theirs = (
            {key: getattr(it, key) for key in ("law", "network", "n_inputs", "filter_size",
                                               "batch_size", "step_size", "noise", "title")}
            for it in (setting, paper[setting.name])
        )  # fmt: skip
        assert own == theirs


def test_everything_in_it_can_be_built():
    building.check(STUDY)
