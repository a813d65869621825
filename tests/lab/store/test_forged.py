"""What has a right seal and is not ours gets one sentence, and harms nothing."""

from __future__ import annotations

import hashlib
import io
import json
import math

import numpy as np
import polars
import pytest
from tests.support.results import ending_at, made
from tests.support.studies import STUDY

import neurotron as nt
from neurotron._check import InputError
from neurotron.lab.results import manifest, shard
from neurotron.lab.studies.origin import study_of


@pytest.fixture
def folder(tmp_path):
    """Results of one setting of one arm, three replicates."""
    study = nt.lab.studies.parse(STUDY, "small")
    made(tmp_path / "out", study, lambda *_: {"errors": ending_at(0.1)}, 3)
    return nt.lab.results.Folder.read(tmp_path / "out")


def sealed(table: polars.DataFrame, words: str) -> bytes:
    """Return a Parquet file with a right seal."""
    file = io.BytesIO()
    seal = shard.SEAL.decode() + "0" * shard.DIGITS
    table.write_parquet(file, metadata={"neurotron": words, "seal": seal})
    return resealed(file.getvalue())


def resealed(data: bytes) -> bytes:
    place = data.rfind(shard.SEAL) + len(shard.SEAL)
    blank = data[:place] + b"0" * shard.DIGITS + data[place + shard.DIGITS :]
    digest = hashlib.sha256(blank).hexdigest().encode()
    return data[:place] + digest + data[place + shard.DIGITS :]


def forge(folder, change) -> None:
    """Put a forged shard into the place of replicate 1."""
    path = folder.shard_path("a", 1)
    table = folder.load("a", 1)
    words = polars.read_parquet_metadata(io.BytesIO(path.read_bytes()))["neurotron"]
    path.write_bytes(change(table, json.loads(words)))


def other(table, **values):
    return table.with_columns(**{name: polars.lit(value) for name, value in values.items()})


SHARDS = {
    "no content": lambda t, w: sealed(t, json.dumps({k: w[k] for k in w if k != "content"})),
    "other content": lambda t, w: sealed(t, json.dumps(w | {"content": "0" * 64})),
    "content of another type": lambda t, w: sealed(t, json.dumps(w | {"content": [1]})),
    "more words": lambda t, w: sealed(t, json.dumps(w | {"more": 1})),
    "words of other types": lambda t, w: sealed(t, json.dumps(w | {"setting": ["a"] * 99})),
    "a list of words": lambda t, w: sealed(t, "[]"),
    "no JSON": lambda t, w: sealed(t, "{"),
    "deep JSON": lambda t, w: sealed(t, "[" * 100_000),
    "a column less": lambda t, w: sealed(t.drop("errors"), json.dumps(w)),
    "a column more": lambda t, w: sealed(t.with_columns(x=1), json.dumps(w)),
    "a column of another type": lambda t, w: sealed(other(t, errors="x"), json.dumps(w)),
    "other values": lambda t, w: sealed(other(t, radius=1.0), json.dumps(w)),
    "no rows": lambda t, w: sealed(t.clear(), json.dumps(w)),
    "junk": lambda t, w: resealed(b"PAR1" + shard.SEAL + b"0" * 64 + b"\xff" * 99 + b"PAR1"),
    "no Parquet": lambda t, w: resealed(shard.SEAL + b"0" * 64),
}


@pytest.mark.parametrize("change", SHARDS.values(), ids=SHARDS)
def test_a_forged_shard_is_left_out_and_named(folder, change):
    forge(folder, change)
    results = nt.load_results(folder.path)
    assert results.replicates == {"a": 2}
    (line,) = results.damaged
    assert line.startswith(f"{folder.shard_path('a', 1)}: ")
    assert len(line) < 400


ROWS = {
    "NaN radius": {"radius": math.nan},
    "NaN error": {"errors": np.array([1.0, math.nan, 1.0, 1.0])},
    "a negative error": {"errors": np.array([1.0, 1.0, 1.0, -3.57])},
    "a negative loss": {"losses": np.array([1.0, 1.0, 1.0, -1.0])},
    "a negative radius": {"radius": -1.0},
    "a negative root mean square": {"root_mean_square": -1.0},
    "a negative radius of Theorem 1": {"theorem1_radius": -1.0},
    "a negative verified radius": {"verified_radius": -1.0},
    "a negative prediction error": {"prediction_error": -1.0},
    "NaN true weights": {"true_weights": np.array([3.0, math.nan])},
    "an infinite attack vector": {"attack_vector": np.array([3.0, math.inf])},
    "shorter errors": {"errors": np.ones(3)},
    "no errors": {"errors": None},
    "shorter trajectories": {"steps": np.arange(2), "errors": np.ones(2), "losses": np.ones(2)},
    "nothing recorded": {"steps": np.arange(0), "errors": np.ones(0), "losses": np.ones(0)},
    "shorter weights": {"weights": np.ones(1)},
    "a longer attack vector": {"attack_vector": np.ones(3)},
    "another arm": {"arm": "somebody"},
    "another status": {"status": "done"},
}


@pytest.mark.parametrize("change", ROWS.values(), ids=ROWS)
def test_a_shard_with_right_hashes_and_impossible_values_is_left_out(folder, change):
    (row,) = shard.rows_of(folder.load("a", 1))
    folder.save("a", 1, [row | change])
    results = nt.load_results(folder.path)
    assert results.replicates == {"a": 2}
    assert len(results.damaged) == 1
    assert results.errors["a"].shape == (2, 4)


def test_a_run_that_diverged_has_infinite_errors(folder):
    (row,) = shard.rows_of(folder.load("a", 1))
    lost = np.array([1.0, 1.0, math.inf, math.inf])
    change = {"status": "diverged", "stopped_at": 50, "errors": lost, "losses": lost}
    folder.save("a", 1, [row | change | {"weights": np.array([3.0, math.inf])}])
    assert nt.load_results(folder.path).damaged == ()


def rewrite(folder, **parts: object) -> None:
    """Write a manifest that was changed and sealed again."""
    forged = json.loads(json.dumps(folder.manifest | parts))
    forged["seal"] = manifest._hash(forged)
    (folder.path / "manifest.json").write_text(json.dumps(forged))


def respecified(folder, change) -> None:
    """Change the study and everything that is computed from it."""
    spec = json.loads(json.dumps(folder.manifest["spec"]))
    change(spec)
    rewrite(folder, spec=spec, study=manifest.study_hash(spec))


PARTS = {
    "unit": [None, 3, "", "train", "mine:one", "a:b\n", "a" * 300 + ":b"],
    "study": ["0" * 16, 3, None, ["x"]],
    "spec": [None, [], {}, {"name": "x"}, {"name": "x", "settings": {}}, {"settings": [3]}],
    "arms": [None, [], {}, {"a": []}, {"a": [{}]}, {"a": [3]}, {"b": []}, {"a": {"arm": 1}}],
    "environment": [None, [], {"numpy": 3}, "text"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PARTS.items() for value in values]
)
def test_a_forged_part_of_a_manifest_is_one_sentence(folder, name, value):
    rewrite(folder, **{name: value})
    with pytest.raises(InputError, match=r"manifest\.json: .*restore the original"):
        nt.load_results(folder.path)


@pytest.mark.parametrize("value", [math.nan, math.inf, "1.0", 10**400, None, [1.0]])
def test_an_arm_of_other_types_is_one_sentence(folder, value):
    (arm,) = folder.manifest["arms"]["a"]
    rewrite(folder, arms={"a": [arm | {"bound": value}]})
    with pytest.raises(InputError, match=r"manifest\.json: "):
        nt.load_results(folder.path)


@pytest.mark.parametrize("name", ["../../x", "/etc", "a\0b", "", "x" * 300, 3, None])
def test_a_setting_that_names_no_folder_is_one_sentence(folder, name):
    respecified(folder, lambda spec: spec["settings"][0].update(name=name))
    with pytest.raises(InputError, match=r"manifest\.json: `spec` is not"):
        nt.load_results(folder.path)


def test_a_manifest_nested_deeply_is_one_sentence(folder):
    deep: list = []
    for _ in range(400):
        deep = [deep]
    spec = folder.manifest["spec"] | {"more": deep}
    text = json.dumps(folder.manifest | {"spec": spec})
    (folder.path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: "):
        nt.load_results(folder.path)


IMPOSSIBLE = {
    "n_inputs": lambda spec: spec["settings"][0].update(n_inputs=10**400),
    "no steps": lambda spec: spec.pop("steps"),
    "more keys": lambda spec: spec.update(more=1),
    "trainers": lambda spec: spec.update(trainers=["sgd"]),
    "an unknown trainer": lambda spec: spec["settings"][0].update(trainers=["somebody"]),
    "another arm": lambda spec: spec["settings"][0]["sweeps"][0].update(bound=[7.0]),
    "a network": lambda spec: spec["settings"][0].update(network="symmetric:outer_weights=x"),
}


@pytest.mark.parametrize("change", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_study_that_cannot_be_is_one_sentence_before_anything_is_drawn(folder, change):
    respecified(folder, change)
    results = nt.load_results(folder.path)
    for use in (study_of, nt.lab.figures.charts):
        with pytest.raises(InputError, match=r"manifest\.json: it"):
            use(results)


def test_a_forged_manifest_does_not_set_good_shards_aside(tmp_path):
    study = nt.lab.studies.read("smoke").model_copy(update={"steps": 10})
    nt.lab.studies.run(study, tmp_path, replicates=1)
    folder = nt.lab.results.Folder.read(tmp_path)
    before = folder.content_hashes()
    other = folder.manifest["arms"] | {"normal": folder.manifest["arms"]["normal"][:2]}
    for parts in ({"study": "0" * 16}, {"arms": other}):
        rewrite(folder, **parts)
        with pytest.raises(InputError, match=r"manifest\.json: its (parts|arms)"):
            nt.lab.studies.run(study, tmp_path, replicates=1)
    rewrite(folder)
    assert not (tmp_path / "set-aside").exists()
    assert nt.lab.studies.run(study, tmp_path, replicates=1).kept == 2
    assert folder.content_hashes() == before


def test_a_shard_that_recorded_other_steps_is_computed_again(tmp_path):
    study = nt.lab.studies.read("smoke").model_copy(update={"steps": 10})
    nt.lab.studies.run(study, tmp_path, replicates=1)
    folder = nt.lab.results.Folder.read(tmp_path)
    before = folder.content_hashes()
    rows = [
        row | {name: row[name][:-1] for name in ("steps", "errors", "losses")}
        for row in shard.rows_of(folder.load("normal", 0))
    ]
    folder.save("normal", 0, rows)
    report = nt.lab.studies.run(study, tmp_path, replicates=1)
    assert (report.computed, len(report.set_aside)) == (1, 1)
    assert folder.content_hashes() == before
