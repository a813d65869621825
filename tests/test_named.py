"""Correlated inputs, rows of a file and the paper's matrices by name, in studies and commands."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

import neurotron as nt
from neurotron.cli import options
from neurotron.lab.training import building
from neurotron.lab.training.spec import Setting
from neurotron.networks import sensing

LAW = nt.data.BY_NAME.build
ROWS = np.random.default_rng(3).standard_normal((40, 3))


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, ROWS, delimiter=",", header="a,b,c", comments="")
    return path


def setting_with(law: str, **keys) -> Setting:
    changes = {"law": law, "n_inputs": 3, "filter_size": 3, "network": "relu-gate"} | keys
    return Setting.model_validate_json(json.dumps(nt.lab.read("smoke").settings[0] | changes))


@pytest.mark.parametrize(
    ("text", "correlation"),
    [("autoregressive:rho=0.5", 0.25), ("autoregressive:rho=0.5,law=laplace", 0.25),
     ("equicorrelated:rho=0.3", 0.3), ("equicorrelated:rho=0.3,law=student-t:dof=5;scale=2", 0.3)],
)  # fmt: skip
def test_correlated_laws_of_any_base_have_a_name(text, correlation):
    law = LAW(text, n_inputs=4)
    assert law.covariance(4)[0, 2] == pytest.approx(correlation)
    np.testing.assert_allclose(np.diag(law.covariance(4)), 1.0)
    inner = text.partition("law=")[2].replace(";", ",") or "normal"
    assert type(law.base) is type(LAW(inner))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("equicorrelated:rho=-0.5", "rho.*above -0.333"),
        ("equicorrelated:rho=1", "rho"),
        ("autoregressive:rho=0.5,law=autoregressive:rho=0.1;n_inputs=4", "independent coordinates"),
        ("autoregressive:rho=0.5,law=student-t:dof=1", "no finite variance"),
        ("corrupted:scale=1,law=norml", "did you mean 'normal'"),
    ],
)
def test_a_law_that_cannot_be_is_refused_in_one_sentence(text, words):
    with pytest.raises(nt.InputError, match=words):
        LAW(text, n_inputs=4)


def test_inputs_that_are_corrupted_may_be_correlated():
    law = LAW("corrupted:scale=1,law=autoregressive:rho=0.5", n_inputs=4).law
    assert law.covariance(4)[0, 1] == pytest.approx(0.5)
    assert law.covariance(4)[0, 0] == pytest.approx(2.0)


def test_rows_are_read_from_a_csv_file_or_an_array(csv, tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    np.savetxt(tmp_path / "bare.csv", ROWS, delimiter=",")
    for path in (csv, tmp_path / "rows.npy", tmp_path / "bare.csv"):
        law = LAW(f"empirical:rows={path}", n_inputs=3)
        np.testing.assert_allclose(law.rows, ROWS)
        assert not law.symmetric
    assert LAW(f"empirical:rows={csv},symmetrized=true").symmetric


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,x\n", "cannot be read as rows of numbers"),
        (b"", "cannot be read|must"),
        (b"1,2\n3\n", "cannot be read as rows"),
        (b"1,nan\n", "rows"),
        (b"\x93NUMPY\x01\x00nonsense", "cannot be read as rows"),
        (b"\xff\xfe\x00", "cannot be read as rows"),
    ],
    ids=["words", "nothing", "ragged", "nan", "damaged", "bytes"],
)
def test_a_file_without_rows_of_numbers_is_refused_in_one_sentence(content, words, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(nt.InputError, match=words):
        LAW(f"empirical:rows={path}")


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([{"a": 1}], dtype=object))
    with pytest.raises(nt.InputError, match="cannot be read as rows"):
        LAW(f"empirical:rows={tmp_path / 'rows.npy'}")
    with pytest.raises(nt.InputError, match="cannot be read: No such file"):
        LAW(f"empirical:rows={tmp_path / 'missing.csv'}")


def test_a_study_says_which_file_it_means(csv):
    digest = hashlib.sha256(csv.read_bytes()).hexdigest()
    text = f"empirical:rows={csv},symmetrized=true"
    with pytest.raises(nt.InputError, match=f"write .*,sha256={digest}"):
        building.check_setting(setting_with(text))
    with pytest.raises(nt.InputError, match="sha256="):
        building.check_setting(setting_with(f"corrupted:scale=1,law={text.replace(',', ';')}"))
    building.check_setting(setting_with(f"{text},sha256={digest}"))
    csv.write_text(csv.read_text() + "1,2,3\n")
    with pytest.raises(nt.InputError, match="not the file that was meant"):
        building.check_setting(setting_with(f"{text},sha256={digest}"))


def test_the_papers_wishart_matrix_is_the_center_of_a_network_and_the_sensing_matrix():
    drawn = nt.networks.BY_NAME.build(
        "symmetric:width=4,center=wishart,degrees=5", n_inputs=6, filter_size=2, seed=7
    )
    matrix = sensing.wishart(2, 6, degrees=5, seed=7)
    np.testing.assert_allclose(sensing.center(drawn), matrix)
    assert np.linalg.eigvalsh(matrix[:, :2])[0] > 0.0  # the block is a Wishart matrix
    setting = setting_with("normal", network="symmetric:width=4,center=wishart", filter_size=2)
    problem = building.build_problem(setting, 0)
    trainer = nt.trainers.build("neuro-tron:sensing=center", step_size=0.1)
    assert nt.theory.lambda1(problem, trainer.completed(problem).sensing) > 0.0


def test_the_gaussian_center_is_the_one_that_networks_have_always_had():
    named = nt.networks.BY_NAME.build("symmetric:width=4", n_inputs=6, filter_size=2, seed=7)
    np.testing.assert_array_equal(named.gates, nt.networks.symmetric(6, 2, 4, seed=7).gates)


@pytest.mark.parametrize(
    ("text", "words"),
    [("symmetric:center=uniform", "center.*gaussian.*wishart"),
     ("symmetric:degrees=5", "degrees.*center=wishart"),
     ("symmetric:center=wishart,degrees=1", "degrees.*at least")],
)  # fmt: skip
def test_a_center_that_cannot_be_is_refused_in_one_sentence(text, words):
    with pytest.raises(nt.InputError, match=words):
        nt.networks.BY_NAME.build(text, n_inputs=6, filter_size=2, seed=7)


def test_a_command_takes_the_number_of_inputs_from_the_file(csv):
    law = f"empirical:rows={csv},symmetrized=true"
    setup = options.ProblemOptions(network="symmetric:width=2", law=law, filter_size=2)
    assert setup.build().network.n_inputs == 3
    with pytest.raises(nt.InputError, match="3"):
        options.ProblemOptions(network="linear", law=f"empirical:rows={csv}", n_inputs=4).build()
