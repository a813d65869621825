"""Settings of training runs, from the text of a study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import neurotron as nt
from neurotron.lab.training.spec import Setting
from neurotron.lab.training.unit import train


def changed(text: str, old: str, new: str) -> str:
    """Return a text with a part replaced, which it must have."""
    assert old in text
    return text.replace(old, new)


def settings_of(study: nt.Study | str) -> list[Setting]:
    """Return the settings of a study, or of the text of its file."""
    if isinstance(study, str):
        study = nt.lab.parse(study.encode(), "s")
    return [Setting.model_validate(one, strict=False) for one in study.settings]


def rows_of(
    setting: Setting, replicate: int = 1, progress: Callable[[int, int], None] | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a unit."""
    return train(setting.model_dump(mode="json"), replicate, 0, progress)
