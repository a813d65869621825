"""``python -m research.evidence [study …]``: run our studies and store the verdicts.

Every study runs into a folder of out/evidence, where an interrupted run continues. A change of the
study or of the code that computes it begins a new folder. Stored in docs/evidence are
``<study>.csv`` (one small table), one ``verdicts.json`` for all studies (the claims, and the code
and machine that computed them) and a page ``<study>.md``, which is written from verdicts.json. The
figures that pages of docs show are stored in docs/images. Without names, all studies are run.

``python -m research.evidence --computed FOLDER [study …]`` runs nothing: it judges the results in
FOLDER/<study> again, after a change of the claims or of their words.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import itertools
import json
import math
import os
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from research.evidence_page import page, restored
from research.tables import guide

import neurotron as nt
from neurotron._references import code_allowed, resolve
from neurotron.lab import Finding, Judgement, Results
from neurotron.lab.store import files
from neurotron.lab.store.manifest import study_hash
from neurotron.work.workers import fingerprint

ROOT = Path(__file__).parent.parent
STORE = ROOT / "docs" / "evidence"
VERDICTS = STORE / "verdicts.json"
IN_THE_WHEEL = ("paper", "batch-size")
STUDIES = (
    *IN_THE_WHEEL, "moved-inputs", "mirror", "recovery", "sharpness", "heavy-tails", "frontier",
    "defence", "constants", "networks", "correlated", "half-space", "limits", "verified",
    "activations", "rows", "tables",
)  # fmt: skip
OTHER_SEEDS = dict.fromkeys(("paper", "mirror", "activations"), (1, 2, 3, 4))
"""Studies whose verdicts are also kept with other seeds."""
TABLES = {"rows": "row_results:compact_csv", "tables": "table_results:compact_csv"}
"""The functions that write the small table of studies that are not about training runs."""

Entry = dict[str, Any]


def study_of(name: str) -> nt.Study:
    """Return a study of the catalog, or of this folder."""
    file = ROOT / "research" / name / "study.toml"
    return nt.lab.read(name) if name in IN_THE_WHEEL else nt.lab.read(file, allow_code=True)


def computed(name: str, seed: int = 0) -> Results:
    """Return the results of a study, and compute what is missing."""
    study = study_of(name)
    settings = [one | {"seed": seed} if "seed" in one else one for one in study.settings]
    study = replace(study, seed=seed, settings=settings)
    with code_allowed(study.code):
        what = json.dumps([study_hash(study.spec()), fingerprint(study.unit)], sort_keys=True)
    key = hashlib.sha256(what.encode()).hexdigest()[:16]
    folder = ROOT / "out" / "evidence" / f"{name}-seed-{seed}-{key}"
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        # fits are ordinary Python, which only one thread of a process runs at a time
        pool = processes if name in TABLES else None
        report = nt.lab.run(study, folder, executor=pool, workers=os.cpu_count() if pool else None)
    if report.interrupted:
        raise KeyboardInterrupt
    if report.failures:
        sys.exit(f"{name}: {len(report.failures)} units failed, see {folder / 'runs.jsonl'}")
    return nt.lab.load(folder)


def entry_of(results: Results) -> Entry:
    """Return what verdicts.json stores about a study."""
    manifest = results.folder.manifest
    return {
        "study": manifest["study"],
        "environment": manifest["environment"],
        "replicates": max(results.replicates.values()),
        "claims": {one.claim.name: _judged(one) for one in nt.lab.evaluate(results)},
    }


def _judged(one: Judgement) -> Entry:
    findings = [
        {"case": found.case, "measure": found.measure, "estimate": _short(found.estimate),
         "low": _short(found.low), "high": _short(found.high), "replicates": found.replicates,
         "holds": found.holds, **_extras(found)}
        for found in one.findings
    ]  # fmt: skip
    as_stored = Judgement(one.claim, tuple(map(restored, findings)))  # so that both agree
    return {"verdict": one.verdict, "effect": as_stored.effect, "findings": findings}


def _extras(found: Finding) -> Entry:
    """Return the fields of a finding that few have."""
    extras = {
        "as_published": None if found.as_published else False,
        "group": found.group or None,
        "worst": None if found.worst is None else _short(found.worst),
        "count": found.count,
        "total": found.total,
    }
    return {name: value for name, value in extras.items() if value is not None}


def _short(number: float) -> float | str:
    """Return three digits of a number; JSON has no infinity."""
    return float(f"{number:.3g}") if math.isfinite(number) else "∞"


def stored() -> dict[str, Entry]:
    """Return what verdicts.json stores about every study."""
    found: dict[str, Entry] = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    for findings in _findings(found):
        for before, after in itertools.pairwise(findings):
            after.setdefault("measure", before["measure"])
    return found


def _findings(verdicts: dict[str, Entry]) -> Iterator[list[dict[str, Any]]]:
    """Yield the findings of every claim."""
    for entry in verdicts.values():
        for claim in entry.get("claims", {}).values():
            yield claim["findings"]


def keep(name: str, entry: Entry, table: str) -> None:
    """Store the entry and the table of a study, and write its page."""
    every = stored() | {name: entry}
    ordered = {study: every[study] for study in STUDIES if study in every}
    verdicts = _with_a_line_for_each_finding(ordered) + "\n"
    written = page(name, study_of(name), entry)
    texts = {f"{name}.csv": table, VERDICTS.name: verdicts, f"{name}.md": written}
    for file, text in texts.items():
        files.write(STORE, file, text.encode())


def _with_a_line_for_each_finding(verdicts: dict[str, Entry]) -> str:
    """Return the verdicts as JSON that is easy to compare line by line, and not too long.

    A measure is left out if it is that of the finding before.
    """
    short = copy.deepcopy(verdicts)
    for findings in _findings(short):
        for before, after in reversed([*itertools.pairwise(findings)]):
            if before["measure"] == after["measure"]:
                del after["measure"]
    text = json.dumps(short, ensure_ascii=False, indent=1)
    return re.sub(
        r'{\s*"case"[^{}]*}',
        lambda found: json.dumps(json.loads(found[0]), ensure_ascii=False),
        text,
    )


def draw(name: str, results: Results) -> None:
    """Draw the figures of a study that pages of docs or the README show."""
    from neurotron.lab.figures.render_matplotlib import draw as drawn
    from neurotron.lab.figures.render_matplotlib import encode

    shown = "".join(page.read_text() for page in (ROOT / "README.md", *ROOT.glob("docs/*.md")))
    folder = ROOT / "docs" / "images" / name
    for chart in nt.lab.charts(results):
        if f"images/{name}/{chart.name}.png" in shown:
            folder.mkdir(exist_ok=True)
            (folder / f"{chart.name}.png").write_bytes(encode(drawn(chart), ".png", dpi=100))


def collect(name: str) -> None:
    """Run a study and store its verdicts."""
    results = computed(name)
    others = {str(seed): _verdicts(name, seed) for seed in OTHER_SEEDS.get(name, ())}
    _store(name, results, others)
    with code_allowed(results.spec["code"]):
        draw(name, results)


def _store(name: str, results: Results, others: Entry) -> None:
    with code_allowed(results.spec["code"]):
        write: Any = resolve(TABLES.get(name, "research.compact:compact_csv"))
        entry = entry_of(results) | ({"other_seeds": others} if others else {})
        keep(name, entry, write(results))
    if name == "tables":
        guide.main()


def judge_again(name: str, folder: Path) -> None:
    """Judge the results of a study in a folder again, without computing anything.

    Verdicts with other seeds stay as they are.
    """
    results = nt.lab.load(folder)
    if results.folder.manifest["study"] != study_hash(study_of(name).spec()):
        sys.exit(f"{folder} has the results of another study than {name!r}")
    _store(name, results, stored().get(name, {}).get("other_seeds", {}))


def _verdicts(name: str, seed: int) -> Entry:
    """Return the verdicts of a study with another seed."""
    results = computed(name, seed)
    with code_allowed(results.spec["code"]):
        verdicts = {one.claim.name: one.verdict for one in nt.lab.evaluate(results)}
    return {"code": results.folder.manifest["environment"]["code"], "verdicts": verdicts}


def main(arguments: list[str]) -> None:
    """Run the named studies, or all, and print how long that took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--computed", type=Path, metavar="FOLDER", help="judge these results again")
    options = parser.parse_args(arguments)
    names, computed_in = options.studies, options.computed
    unknown = set(names) - set(STUDIES)
    if unknown:
        sys.exit(f"no such study: {', '.join(sorted(unknown))}; there are {', '.join(STUDIES)}")
    began, used = time.perf_counter(), time.process_time()
    for name in names or STUDIES:
        start = time.perf_counter()
        collect(name) if computed_in is None else judge_again(name, computed_in / name)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"all studies: {wall / 60:.1f} minutes, {cpu / 60:.1f} minutes of CPU")


if __name__ == "__main__":
    main(sys.argv[1:])
