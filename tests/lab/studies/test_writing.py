"""A study written as TOML reads back as the same study."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurotron.lab.studies import Study, parse, read
from neurotron.lab.studies.writing import to_toml

TURNS = "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NO_WIDTH = "\u061c\u200b\u200e\u200f\ufeff"
LETTERS = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=TURNS + NO_WIDTH)
LINE = st.text(LETTERS, max_size=40)
LINES = st.text(LETTERS | st.sampled_from("\n\t"), max_size=60)


@pytest.mark.parametrize("name", ["frontier", "paper", "smoke", "verified"])
def test_the_catalog_reads_back(name):
    study = read(name)
    assert parse(to_toml(study.model_dump(mode="json")).encode(), name) == study


@given(LINE, LINES, LINE.filter(len))
def test_any_words_read_back(title, description, label):
    smoke = read("smoke").model_dump(mode="json")
    words = {"title": title, "description": description, "trainers": {label: "neuro-tron"}}
    settings = [setting | {"trainers": None, "title": label} for setting in smoke["settings"]]
    for setting in settings:
        setting["sweeps"] = [sweep | {"trainers": None} for sweep in setting["sweeps"]]
    spec = smoke | words | {"settings": settings}
    assert parse(to_toml(spec).encode(), "x") == Study.model_validate(spec, strict=False)
