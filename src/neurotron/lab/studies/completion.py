"""Makes a study of the keys of a file: checks them and fills them in."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from neurotron import _check
from neurotron._references import resolve
from neurotron.lab.claims.catalog import CLAIMS, OF_ANY_STUDY, require_known
from neurotron.lab.figures.collection import training_charts
from neurotron.lab.pages.headline import headline
from neurotron.lab.pages.training_tables import TABLES
from neurotron.lab.training.building import Preparation
from neurotron.lab.training.columns import COLUMNS
from neurotron.lab.training.spec import (
    ONE_LINE,
    SOME_LINES,
    Keys,
    Name,
    Setting,
    Sweep,
    Text,
)
from neurotron.lab.training.unit import train
from neurotron.work.study import NAME, NAME_RULE, Study

TOO_DEEP = "lists, tables or `like` are nested too deeply"


class StudyKeys(Keys):
    """The keys that every study has; all others are defaults for its settings."""

    name: Name
    title: Text = Field("", pattern=ONE_LINE, description="The title of the study, in one line.")
    description: Text = Field("", pattern=SOME_LINES, description="What the study is for.")
    unit: str | None = Field(
        None, max_length=200, pattern=ONE_LINE,
        description="The function that computes a unit, as module:function; training runs if left "
        "out.",
    )  # fmt: skip
    columns: dict[str, str] = Field(
        {}, description="The columns that the function returns, with their types."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of all random draws.")
    replicates: int = Field(
        20, ge=1, le=1_000_000,
        description="Number of replicates of every setting that does not ask for fewer.",
    )  # fmt: skip
    claims: tuple[str, ...] | None = Field(
        None, strict=False, max_length=100,
        description="The claims to judge by the results, as in `neurotron list claims`, or "
        "functions of your own, as module:function.",
    )  # fmt: skip
    charts: tuple[str, ...] = Field(
        (), strict=False, max_length=100,
        description="Functions that return charts of the results, as module:function.",
    )  # fmt: skip
    tables: tuple[str, ...] = Field(
        (), strict=False, max_length=100,
        description="Functions that return tables for readers, as module:function.",
    )  # fmt: skip
    headline: str | None = Field(
        None, max_length=200, description="A function that returns the headline of the page."
    )
    settings: tuple[dict[str, Any], ...] = Field(
        strict=False, min_length=1, max_length=1000,
        description="The settings, each with a name of its own.",
    )  # fmt: skip


def completed(
    raw: dict[str, Any], catalogued: dict[str, Any] | None = None, code: str | None = None
) -> Study:
    """Return the study of the keys of a file.

    `catalogued` are those of the study of the same name in the catalog, if there is one. Code that
    the keys name is imported from the folder `code`, if that is given.
    """
    own = StudyKeys.model_fields
    if "unit" not in raw:
        known = {*own, *Setting.model_fields} - {"paired_with"}
        for key in raw:
            if key not in known:
                raise _check.unknown("key in the study", key, known)
    head = _validated(StudyKeys, {key: raw[key] for key in raw if key in own}, [], raw)
    words: dict[str, Any] = {
        "name": head.name, "title": head.title, "description": head.description.strip("\n"),
        "replicates": head.replicates, "seed": head.seed, "code": code,
    }  # fmt: skip
    others = (*head.charts, *head.tables, *filter(None, [head.headline]))
    require_known(head.claims or (), others, of_training=head.unit is None)
    if head.unit is not None:
        function: Any = resolve(head.unit)
        defaults = {key: value for key, value in raw.items() if key not in own}
        settings = _without_likes(head.settings)
        return Study(
            settings=[defaults | setting for setting in settings], unit=function,
            columns=head.columns, claims=head.claims or (), charts=head.charts, tables=head.tables,
            headline=head.headline, **words,
        )  # fmt: skip
    if head.columns:
        raise _check.InputError("`columns` are for studies with a `unit` of their own")
    claims = OF_ANY_STUDY if head.claims is None else head.claims
    tasks = _tasks(raw)
    made = Preparation(head.name, tasks)
    return Study(
        settings=[task.model_dump(mode="json") for task in tasks], unit=train, columns=COLUMNS,
        claims=claims, charts=(training_charts, *head.charts), tables=(*TABLES, *head.tables),
        headline=head.headline or headline, note=_note(head.name, tasks, catalogued, claims),
        costs=made.costs(), validate=made.validate, prepare=made.compile, **words,
    )  # fmt: skip


def schema_of_studies() -> dict[str, Any]:
    """Return the JSON schema of studies of training runs; own studies may have any other keys."""
    schema, setting = StudyKeys.model_json_schema(), Setting.model_json_schema()
    keys = setting.pop("properties")
    schema["$defs"] = setting.pop("$defs", {})
    labels = {"anyOf": [keys["trainers"], {"type": "array", "items": {"type": "string"}}]}
    like = {"like": {"type": "string", "description": "The setting whose keys it takes over."}}
    schema["properties"]["settings"]["items"] = {
        "type": "object", "properties": {**like, **keys, "trainers": labels}, "required": ["name"],
    }  # fmt: skip
    shared = {key: value for key, value in keys.items() if key not in schema["properties"]}
    schema["properties"] |= {key: value for key, value in shared.items() if key != "paired_with"}
    return schema


def _note(
    name: str, tasks: list[Setting], catalogued: dict[str, Any] | None, claims: Sequence[str]
) -> str:
    """Return a caveat if claims are judged by a study other than the catalog's, else "".

    The words, the seed and the number of replicates may differ. Claims about certificates and
    verification, and your own, are for any study.
    """
    special = {name for name in claims if name in CLAIMS and CLAIMS[name].study}
    if not special:
        return ""
    if catalogued is None:
        return "These claims were written for other studies: this study is not in the catalog."
    if special <= {*catalogued["claims"]} and _asked(tasks) == _asked(_tasks(catalogued)):
        return ""
    return (
        "These claims were written for other studies: this study differs from the catalog's study "
        f"{name!r}."
    )


def _asked(tasks: list[Setting]) -> list[dict[str, Any]]:
    """Return what settings compute, without words, seeds and numbers of replicates."""
    return [task.model_dump(exclude={"title", "seed", "replicates"}) for task in tasks]


def _without_likes(settings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return settings with the keys filled in that one takes over from another by `like`."""
    names = [setting.get("name") for setting in settings]
    for i, (name, setting) in enumerate(zip(names, settings, strict=True)):
        if name is None:
            raise _check.InputError(f"`settings[{i}].name` is missing")
        for key in ("name", "like"):
            given = setting.get(key, name)
            if not isinstance(given, str) or not NAME.fullmatch(given):
                got = _check.shorten(repr(given))
                raise _check.InputError(f"`settings[{i}].{key}` {NAME_RULE}, got {got}")
        if names.count(name) > 1:
            raise _check.InputError(f"two settings are called {name!r}: give each its own name")
    by_name = {str(setting["name"]): setting for setting in settings}
    whole: dict[str, dict[str, Any]] = {}

    def filled(setting: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        if "like" not in setting:
            return setting
        like = setting["like"]
        if like in path:
            circle = textwrap.shorten(" → ".join([*path, like]), 200, placeholder=" …")
            raise _check.InputError(f"settings refer to each other by `like` in a circle: {circle}")
        if like not in by_name:
            raise _check.unknown(f"setting in `like` of {setting['name']!r}", like, by_name)
        if like not in whole:
            whole[like] = filled(by_name[like], (*path, like))
        taken = {k: v for k, v in whole[like].items() if k not in ("title", "paired_with")}
        return taken | {key: value for key, value in setting.items() if key != "like"}

    return [filled(setting, (setting["name"],)) for setting in settings]


def _tasks(raw: dict[str, Any]) -> list[Setting]:
    """Return the settings of training runs, each with all its keys."""
    defaults = {key: value for key, value in raw.items() if key not in StudyKeys.model_fields}
    tasks = []
    for i, setting in enumerate(_without_likes(raw["settings"])):
        whole = {"seed": raw.get("seed", 0), **defaults, **setting}
        _choose_trainers(whole, defaults.get("trainers"))
        tasks.append(_validated(Setting, whole, ["settings", i], raw))
    for task in tasks:
        for sweep in task.sweeps:
            for label in sweep.trainers or ():
                if label not in task.trainers:
                    raise _unknown_trainer(task.name, label, task.trainers)
    return tasks


def _are(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _choose_trainers(setting: dict[str, Any], known: Any) -> None:
    """Replace the labels of trainers in a setting by those trainers of the study."""
    given, sweeps = setting.get("trainers", {}), setting.get("sweeps", [{}])
    if not (isinstance(known, dict) and given and _are(str, given)):
        return
    lists = [sweep.get("trainers") for sweep in sweeps] if _are(dict, sweeps) else []
    asked = [label for labels in lists if _are(str, labels) for label in labels]
    more = [label for label in dict.fromkeys(asked) if label not in given]
    for label in (*given, *more):
        if label not in known:
            raise _unknown_trainer(setting["name"], label, known)
    if more:
        setting["sweeps"] = [{"trainers": given, **sweep} for sweep in sweeps]
    setting["trainers"] = {label: known[label] for label in (*given, *more)}


def _unknown_trainer(setting: str, label: str, known: Mapping[str, Any]) -> _check.InputError:
    return _check.unknown(f"trainer of setting {setting!r}", label, known)


M = TypeVar("M", bound=BaseModel)


def _validated(
    model: type[M], keys: dict[str, Any], place: list[int | str], raw: dict[str, Any]
) -> M:
    """Return the keys of a table as a model; the place of an error is where the file has it."""
    try:
        return model.model_validate_json(json.dumps(keys))
    except ValidationError as error:
        raise _check.InputError(_sentence(error, model, place, raw)) from None


WORDS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "greater_than": "must be above {gt:,.15g}",
    "greater_than_equal": "must be at least {ge:,.15g}",
    "less_than": "must be below {lt:,.15g}",
    "less_than_equal": "must be at most {le:,.15g}",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length:,} entries",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length:,} characters",
}
"""Our messages for the errors that pydantic reports."""

WORDS_OF_KEYS = {
    "record": 'must be "log", "all" or a whole number from 1 to 1,000,000,000,000',
    "name": NAME_RULE,
    "like": NAME_RULE,
    "paired_with": NAME_RULE,
}
"""What a key must be, for keys with one message for all errors."""


def _sentence(
    error: ValidationError, model: type[BaseModel], within: list[int | str], raw: dict[str, Any]
) -> str:
    """Return the first error that pydantic reports as one sentence in our words."""
    first, *others = error.errors()
    if first["type"] == "missing":  # perhaps because a key is misspelt
        first = next((each for each in others if each["type"] == "extra_forbidden"), first)
    if first["type"] == "json_invalid":  # the JSON is valid, but pydantic stops at 200 levels
        return TOO_DEEP if "recursion" in first["msg"] else f"not JSON: {first['msg']}"
    kinds = ("literal['log','all']", "constrained-int", "[key]")
    inside = [part for part in first["loc"] if part not in kinds]
    if within and inside[0] in raw and inside[0] not in raw["settings"][within[1]]:
        within = []  # the study has the key
    place = [*within, *inside]
    where = _place(place)
    if first["type"] == "extra_forbidden":
        *table, key = place
        keys = Sweep.model_fields if "sweeps" in table else model.model_fields
        more = [] if "sweeps" in table else ["like"]
        return str(_check.unknown(f"key in {_place(table)}", key, [*keys, *more]))
    if first["type"] == "missing":
        return f"`{_place(inside) if inside == ['trainers'] else where}` is missing"
    pattern = (
        "must not have control or other invisible characters, and no line breaks if it must be one "
        "line"
    )
    words = {"string_pattern_mismatch": pattern} | WORDS
    text = words.get(first["type"], first["msg"]).format(**first.get("ctx", {}))
    if first["type"] == "tuple_type" and place[-1] in ("settings", "sweeps"):
        text = f"must be a list: write [[{'.'.join(map(str, place[::2]))}]]"
    labelled = inside[0] == "trainers"  # whose keys are labels
    rule = text if labelled else WORDS_OF_KEYS.get(str(place[-1]), text)
    return f"`{where}` {rule}, got {_check.shorten(repr(first['input']))}"


def _place(parts: Sequence[int | str]) -> str:
    """Return the place of a value as text, such as ``settings[0].sweeps[1].bound``."""
    texts = (
        f"[{part}]" if isinstance(part, int) else f".{_check.shorten(repr(part)[1:-1])}"
        for part in parts
    )
    return "".join(texts).removeprefix(".")
