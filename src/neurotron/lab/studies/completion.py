"""Reads a study from JSON text, checks it and fills it in; every error is one sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from neurotron import _check
from neurotron.lab.studies.spec import BaseSetting, BaseStudy, Problems

__all__ = ["TOO_DEEP", "complete"]

TOO_DEEP = "lists, tables or `like` are nested too deeply"
NAME_RULE = (
    "must be 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or digit"
)


S = TypeVar("S", bound=BaseStudy)


def complete(text: str, model: type[S]) -> S:
    """Return the study in a JSON text, checked, with the keys that settings take over by `like`."""
    _check.text("study", text)
    try:
        study = _without_likes(model.model_validate_json(text))
    except ValidationError as error:
        raise _check.InputError(_sentence(error, model)) from None
    except RecursionError:
        raise _check.InputError(TOO_DEEP) from None
    _check_pairs(study)
    study.check_names()
    return study


def _without_likes(study: S) -> S:
    """Return the study with the keys filled in that a setting takes over from another."""
    by_name = {setting.name: setting for setting in study.settings}
    if len(by_name) < len(study.settings):
        names = [setting.name for setting in study.settings]
        twice = next(name for name in names if names.count(name) > 1)
        raise _check.InputError(f"two settings are called {twice!r}: give each its own name")
    whole: dict[str, BaseSetting] = {}

    def filled(setting: BaseSetting, path: tuple[str, ...]) -> BaseSetting:
        if setting.like is None:
            return setting
        if setting.like in path:
            circle = textwrap.shorten(" → ".join([*path, setting.like]), 200, placeholder=" …")
            raise _check.InputError(f"settings refer to each other by `like` in a circle: {circle}")
        if setting.like not in by_name:
            raise _check.unknown(f"setting in `like` of {setting.name!r}", setting.like, by_name)
        if setting.like not in whole:
            whole[setting.like] = filled(by_name[setting.like], (*path, setting.like))
        own = {name: getattr(setting, name) for name in setting.model_fields_set}
        kept = {"title", "paired_with"} & type(setting).model_fields.keys()
        own = dict.fromkeys(kept) | own  # these two are not taken over
        return whole[setting.like].model_copy(update=own | {"like": None})

    settings = tuple(filled(setting, (setting.name,)) for setting in study.settings)
    return study.model_copy(update={"settings": settings})


def _check_pairs(study: BaseStudy) -> None:
    """Refuse pairs with a setting that does not exist, or that is paired itself."""
    by_name = {one.name: one for one in study.settings if isinstance(one, Problems)}
    for setting in by_name.values():
        if setting.paired_with is None:
            continue
        if setting.paired_with not in by_name:
            where = f"setting in `paired_with` of {setting.name!r}"
            raise _check.unknown(where, setting.paired_with, by_name)
        if by_name[setting.paired_with].paired_with is not None:
            raise _check.InputError(
                f"`paired_with` of {setting.name!r} must name a setting that is not paired itself, "
                f"got {setting.paired_with!r}"
            )


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


def _sentence(error: ValidationError, model: type[BaseStudy]) -> str:
    """Return the first error that pydantic reports as one sentence in our words."""
    first, *others = error.errors()
    if first["type"] == "missing":  # perhaps because a key is misspelt
        first = next((each for each in others if each["type"] == "extra_forbidden"), first)
    if first["type"] == "json_invalid":  # the JSON is valid, but pydantic stops at 200 levels
        return TOO_DEEP if "recursion" in first["msg"] else f"not JSON: {first['msg']}"
    kinds = ("literal['log','all']", "constrained-int", "[key]")
    place = [part for part in first["loc"] if part not in kinds]
    if not place:  # the whole text is not a table
        return f"must be a table, got {_check.shown(first['input'])}"
    where = _place(place)
    if first["type"] == "extra_forbidden":
        *table, key = place
        keys = _keys(table, model)
        return str(_check.unknown(f"key in {_place(table) or 'the study'}", key, keys))
    if first["type"] == "missing":
        return f"`{where}` is missing"
    pattern = (
        "must not have control or other invisible characters, and no line breaks if it must be one "
        "line"
    )
    words = {"string_pattern_mismatch": pattern} | WORDS
    text = words.get(first["type"], first["msg"]).format(**first.get("ctx", {}))
    if first["type"] == "tuple_type" and place[-1] in ("settings", "sweeps"):
        text = f"must be a list: write [[{'.'.join(map(str, place[::2]))}]]"
    labelled = place[0] in ("trainers", "methods")  # whose keys are labels
    rule = text if labelled else WORDS_OF_KEYS.get(str(place[-1]), text)
    return f"`{where}` {rule}, got {_check.shorten(repr(first['input']))}"


def _place(parts: Sequence[int | str]) -> str:
    """Return the place of a value as text, such as ``settings[0].sweeps[1].bound``."""
    texts = (
        f"[{part}]" if isinstance(part, int) else f".{_check.shorten(repr(part)[1:-1])}"
        for part in parts
    )
    return "".join(texts).removeprefix(".")


def _keys(table: list[Any], model: type[BaseStudy]) -> list[str]:
    """Return the keys that the table at this place may have."""
    names = [part for part in table if isinstance(part, str)]
    return list(model.tables.get(names[-1] if names else "", model).model_fields)
