"""What has a right seal and is not ours gets one sentence, and harms nothing."""

from __future__ import annotations

import hashlib
import io
import json

import numpy as np
import polars
import pytest
from tests.support.commands import hashes
from tests.support.results import made
from tests.support.studies import STUDY, flat
from tests.support.units import study

import neurotron as nt
from neurotron._check import InputError
from neurotron.lab.store import manifest, shard
from neurotron.lab.store.folder import Folder
from neurotron.work.columns import plain_rows


@pytest.fixture
def folder(tmp_path):
    """Results of one setting of one arm, three replicates."""
    return made(tmp_path / "out", STUDY, flat, 3).folder


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
    "more words": lambda t, w: sealed(t, json.dumps(w | {"more": 1})),
    "words of other types": lambda t, w: sealed(t, json.dumps(w | {"setting": ["a"] * 99})),
    "a list of words": lambda t, w: sealed(t, "[]"),
    "no JSON": lambda t, w: sealed(t, "{"),
    "deep JSON": lambda t, w: sealed(t, "[" * 100_000),
    "a column less": lambda t, w: sealed(t.drop("errors"), json.dumps(w)),
    "a column more": lambda t, w: sealed(t.with_columns(x=1), json.dumps(w)),
    "a column of another type": lambda t, w: sealed(other(t, errors="x"), json.dumps(w)),
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


WORTHLESS = {
    "shorter errors": {"errors": np.ones(3)},
    "no errors": {"errors": None},
    "shorter trajectories": {"steps": np.arange(2), "errors": np.ones(2), "losses": np.ones(2)},
    "nothing recorded": {"steps": np.arange(0), "errors": np.ones(0), "losses": np.ones(0)},
}


@pytest.mark.parametrize("change", WORTHLESS.values(), ids=WORTHLESS)
def test_runs_whose_steps_are_not_those_of_the_others_are_left_out(folder, change):
    (row,) = folder.load("a", 1).to_dicts()
    folder.save("a", 1, plain_rows(row | change, folder.columns))
    results = nt.load_results(folder.path)
    assert results.replicates == {"a": 2}
    assert len(results.damaged) == 1
    assert results.errors["a"].shape == (2, 4)


def rewrite(folder, **parts: object) -> None:
    """Write a manifest that was changed and sealed again."""
    forged = json.loads(json.dumps(folder.manifest | parts))
    forged["seal"] = manifest._hash(forged)
    (folder.path / "manifest.json").write_text(json.dumps(forged))


def respecified(folder, **changes: object) -> None:
    """Change the study and everything that is computed from it."""
    spec = folder.manifest["spec"] | changes
    rewrite(folder, spec=spec, study=manifest.study_hash(spec))


PARTS = {
    "study": ["0" * 16, 3, None, ["x"]],
    "spec": [None, [], {}, {"name": "x"}, {"name": "x", "settings": {}}, {"settings": [3]}],
    "environment": [None, [], {"numpy": 3}, "text"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PARTS.items() for value in values]
)
def test_a_forged_part_of_a_manifest_is_one_sentence(folder, name, value):
    rewrite(folder, **{name: value})
    with pytest.raises(InputError, match=r"manifest\.json: .*restore the original"):
        nt.load_results(folder.path)


SETTING = {"name": "a", "title": None}
OTHERS = [
    *({"settings": [SETTING | {"name": name}]}
      for name in ("../../x", "/etc", "a\0b", "", "x" * 300, 3, None)),
    {"settings": [SETTING | {"title": 3}]}, {"settings": [SETTING, SETTING]},
    {"settings": [SETTING | {"replicates": "3"}]}, {"settings": [SETTING | {"paired_with": 3}]},
    {"columns": {}}, {"columns": {"x": "real"}}, {"columns": {"setting": "str"}},
    {"columns": ["x"]}, {"unit": None}, {"claims": "all"}, {"claims": [3]}, {"charts": None},
    {"seed": "0"}, {"data": []}, {"headline": 3}, {"title": None},
]  # fmt: skip


@pytest.mark.parametrize("changes", OTHERS, ids=lambda changes: str(changes)[:60])
def test_a_spec_that_no_study_has_is_one_sentence(folder, changes):
    respecified(folder, **changes)
    with pytest.raises(InputError, match=r"manifest\.json: `spec` is not"):
        nt.lab.load(folder.path)


def test_a_manifest_nested_deeply_is_one_sentence(folder):
    deep: list = []
    for _ in range(400):
        deep = [deep]
    spec = folder.manifest["spec"] | {"more": deep}
    text = json.dumps(folder.manifest | {"spec": spec})
    (folder.path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: "):
        nt.load_results(folder.path)


TRAINING = {
    "n_inputs": {"n_inputs": 10**300},
    "no steps": {"steps": None},
    "more keys": {"more": 1},
    "trainers": {"trainers": ["sgd"]},
    "a sweep": {"sweeps": [{"bound": "much"}]},
}


@pytest.mark.parametrize("change", TRAINING.values(), ids=TRAINING)
def test_a_setting_that_training_cannot_have_is_one_sentence(folder, change):
    (setting,) = folder.manifest["spec"]["settings"]
    respecified(folder, settings=[setting | change])
    with pytest.raises(InputError, match=r"manifest\.json: its settings are not those of training"):
        nt.load_results(folder.path)


def test_a_forged_manifest_does_not_set_good_shards_aside(tmp_path):
    nt.lab.run(study(), tmp_path)
    folder = Folder.read(tmp_path)
    before = hashes(tmp_path)
    rewrite(folder, study="0" * 16)
    with pytest.raises(InputError, match=r"manifest\.json: its parts do not match"):
        nt.lab.run(study(), tmp_path)
    respecified(folder, columns={"sum": "float"})
    with pytest.raises(InputError, match="another study"):
        nt.lab.run(study(), tmp_path)
    rewrite(folder)
    assert not (tmp_path / "set-aside").exists()
    assert nt.lab.run(study(), tmp_path).kept == 4
    assert hashes(tmp_path) == before
