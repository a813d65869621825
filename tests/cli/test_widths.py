"""What is printed fits the terminal, and no word of it is cut."""

from __future__ import annotations

import polars as pl
import pytest
from rich.table import Table
from tests.support.cli import in_this_process

import neurotron as nt
from neurotron.cli import options

WIDTHS = [40, 60, 80, 120]
TINY = ["--n-inputs", "12", "--filter-size", "4"]
PLAN = ["plan", *TINY, "--bound", "0.5", "--probability", "0.3", "--radius", "2"]
TABLE = ["data.csv", "--label", "price"]
COMMANDS = {
    "simulate": [
        "simulate", *TINY, "--steps", "20", "--attack", "sign-flip", "--verify", "500",
        "--trainer", "neuro-tron", "--trainer", "sgd:step_size=0.01",
    ],
    "plan": PLAN,
    "certify": ["certify", *TINY, "--steps", "500"],
    "no guarantee": ["certify", *TINY, "--law", "student-t:dof=4"],
    "theorem1": ["certify", *TINY, "--method", "theorem1"],
    "list": ["list"],
    "studies": ["list", "studies"],
    "clean": ["clean", *TABLE, "--out", "suspects.csv", "--overwrite"],
    "verify": ["verify", "model.safetensors", *TABLE, "--probability", "0.1"],
    "audit": [
        "audit", *TABLE, "--estimator", "ridge", "--bound", "2", "--probability", "0.1",
        "--no-remedies", "--splits", "3", "--attack", "worst-error", "--out", "here",
    ],
}  # fmt: skip


def at(width: int, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setenv("COLUMNS", str(width))
    done = in_this_process(*arguments)
    return done.stdout, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit_the_terminal_and_no_word_is_cut(name, data, monkeypatch):
    if name == "verify":
        rows = pl.read_csv(data)
        nt.NeuroTronRegressor().fit(rows.drop("price"), rows["price"]).save("model.safetensors")
        rows.with_columns(pl.col("size") + 1.0).write_csv(data)
    whole = set(at(400, COMMANDS[name], monkeypatch)[0].split())
    for width in WIDTHS:
        printed, _ = at(width, COMMANDS[name], monkeypatch)
        for line in printed.splitlines():
            assert len(line.rstrip()) <= width or len(line.split()) <= 2, (width, line)
        cut = set(printed.split()) - whole
        assert not cut or name == "audit", (width, cut)  # an audit shortens headings of columns


@pytest.mark.parametrize(
    "name", ["attacks", "laws", "networks", "trainers", "estimators", "studies", "claims"]
)
@pytest.mark.parametrize("width", WIDTHS)
def test_tables_fit_the_terminal(name, width, monkeypatch):
    printed, _ = at(width, ["list", name], monkeypatch)
    assert len(printed.splitlines()) > 3
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_errors_wrap_in_a_terminal_and_are_one_line_in_a_log(width, monkeypatch):
    wrong = [*PLAN[:-1], "0.01"]
    _, log = at(width, wrong, monkeypatch)
    assert log.count("\n") == 1
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, shown = at(width, wrong, monkeypatch)
    assert shown.split() == log.split()
    assert max(map(len, shown.splitlines())) <= width


def test_a_path_is_left_whole_however_long_it_is(tmp_path, monkeypatch):
    picture = tmp_path / f"{'long' * 20}.svg"
    printed, _ = at(40, [*COMMANDS["simulate"], "--plot", str(picture)], monkeypatch)
    assert f"Picture: {picture}" in printed.splitlines()


def test_a_narrow_terminal_shows_every_cell_of_a_table_whole():
    table = Table("trainer", "error", "")
    table.add_row("Neuro-Tron", "1.375e+01", "near w*")
    table.add_row("  SGD", "", "−w*")
    assert options.in_blocks(table).splitlines() == [
        "Neuro-Tron", "  error 1.375e+01", "  near w*", "  SGD", "    −w*"
    ]  # fmt: skip
