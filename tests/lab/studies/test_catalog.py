"""The studies that come with the package: they can be run as they are."""

from __future__ import annotations

import numpy as np
import pytest
from neurotron.lab.studies.fitting import check_rows
from neurotron.lab.studies.table_work import check_tables
from tests.support.damages import need_packages

import neurotron as nt
from neurotron.lab.studies import building


@pytest.mark.parametrize("name", nt.lab.studies.catalog())
def test_a_study_of_the_catalog_can_be_run_as_it_is(name):
    study = nt.lab.studies.read(name)
    if isinstance(study, nt.lab.studies.RowsStudy):
        check_rows(study)
    elif isinstance(study, nt.lab.studies.TablesStudy):
        need_packages()
        check_tables(study)
    else:
        building.check(study)
    assert study.name == name
    assert study.title
    assert study.replicates * len(study.settings) <= 450


def test_replicates_of_the_same_problem_differ_in_nothing_but_their_data():
    study = nt.lab.studies.read("heavy-tails")
    setting = study.settings[0]
    one, other = (building.build_problem(study, setting, replicate) for replicate in (0, 1))
    assert np.array_equal(one.network.gates, other.network.gates)
    assert np.array_equal(one.true_weights, other.true_weights)
    drawn = setting.model_copy(update={"same_problem": False})
    third = building.build_problem(study, drawn, 1)
    assert not np.array_equal(one.true_weights, third.true_weights)


def test_text_names_correlated_inputs_and_square_images():
    study = nt.lab.studies.read("correlated")
    problem = building.build_problem(study, study.setting("rho-0.9"), 0)
    assert problem.covariance[3, 5] == pytest.approx(0.81)
    study = nt.lab.studies.read("networks")
    network = building.build_problem(study, study.setting("image-b4"), 0).network
    wanted = nt.networks.convolution2d((12, 12), (3, 3), 3)
    assert np.array_equal(network.gates, wanted.gates)


@pytest.mark.parametrize(
    ("text", "sizes", "words"),
    [
        ("convolution2d", (12, 4), "n_inputs.*square.*12"),
        ("convolution2d", (16, 5), "filter_size.*square.*5"),
    ],
)
def test_images_that_are_not_square_are_refused(text, sizes, words):
    n_inputs, filter_size = sizes
    with pytest.raises(nt.InputError, match=words):
        nt.networks.BY_NAME.build(text, n_inputs=n_inputs, filter_size=filter_size)


@pytest.mark.parametrize("rho", [1.0, -1.0, "x"])
def test_a_correlation_of_one_is_refused(rho):
    with pytest.raises(nt.InputError, match="rho"):
        nt.laws.BY_NAME.build(f"autoregressive:rho={rho}", n_inputs=4)


def test_the_number_of_inputs_of_correlated_ones_is_a_key_of_the_setting():
    study = nt.lab.studies.read("correlated")
    setting = study.settings[0].model_copy(update={"law": "autoregressive:rho=0.5,n_inputs=3"})
    with pytest.raises(nt.InputError, match=r"n_inputs.*key of the setting"):
        building.check(study.model_copy(update={"settings": (setting,)}))
