from __future__ import annotations

import importlib
import sys

import pytest

from neurotron._extras import MissingExtra, require


def test_what_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingExtra, match=r"needs plotly: pip install 'neurotron\[lab\]'"):
        require("plotly")


@pytest.mark.parametrize(
    "error",
    [NameError("name 'PySeries' is not defined"), MemoryError(), ImportError("failed to map\nit")],
)
def test_what_cannot_be_loaded_gets_one_sentence(monkeypatch, error):
    """As the import of polars ends when there is too little memory."""

    def fail(name):
        raise error

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(MissingExtra, match=r"^polars is installed but cannot be loaded \(.*memory"):
        require("polars")
