"""A folder of results, which holds complete files of one study.

    manifest.json                        what is computed, by which function, with which versions
    runs.jsonl                           log of events with time and machine, one per line
    data/<name>.npy                      arrays that the study works on
    shards/<setting>/<replicate>.parquet  results of a unit
    claims.json, report.html, figures/   verdicts and figures, which can be made again from shards
    set-aside/                           damaged shards
    lock                                 locked by the process that writes

Only one process writes, and a file gets its name only when it is complete and on disk. So a run
that is killed can always be resumed.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from neurotron import _check, _files
from neurotron.lab.store import events, files, shard
from neurotron.lab.store.files import storing
from neurotron.lab.store.manifest import differences, manifest_of, reworded
from neurotron.lab.store.manifest import read as read_manifest
from neurotron.lab.store.shard import Identity
from neurotron.work.columns import Row
from neurotron.work.study import Study, Unit, digest, without_words
from neurotron.work.workers import Computed


@dataclass(frozen=True)
class Folder:
    """A folder of results and its manifest: the sink of a run, and what `load` reads.

    Results of other versions or another kind of processor are kept only if `mixed`.
    """

    path: Path
    manifest: dict[str, Any]
    mixed: bool = False

    @classmethod
    def read(cls, path: str | Path) -> Folder:
        """Return an existing folder of results."""
        path = _check.path("path", path)
        file = path / "manifest.json"
        if not file.is_file():
            there = "holds no results (no manifest.json)" if path.is_dir() else "is not a folder"
            raise _check.InputError(f"{str(path)!r} {there if path.exists() else 'does not exist'}")
        return cls(path, read_manifest(file))

    @classmethod
    @contextlib.contextmanager
    def written(
        cls, path: str | Path, study: Study, environment: dict[str, str], mixed: bool = False
    ) -> Iterator[Folder]:
        """Lock a folder for writing results of a study: a new folder, or one of the same study.

        Results of other versions or another kind of processor are refused unless `mixed`. If only
        titles, claims or charts have changed, the manifest is rewritten with the new ones; if no
        unit is there yet, with another study, too.
        """
        manifest = manifest_of(study.spec(), environment)
        path = Path(path)
        _require_ours(path)
        files.place(path, "shards/any")
        with storing(path):
            (path / "shards").mkdir(parents=True, exist_ok=True)
        with files.locked(path):
            folder = cls(path, manifest, mixed)
            if (path / "manifest.json").is_file():
                there = replace(cls.read(path), mixed=mixed)
                if any(there.units()):
                    there._require_same(manifest)
                    folder = there._with_words(manifest)
                elif there.manifest != manifest:
                    folder._write_manifest()
            folder.keep_manifest()
            for name, array in study.data.items():
                folder._keep_array(name, array)
            settings = (f"shards/{setting}" for setting in folder.settings)
            with storing(path):
                files.remove_leftovers(path, ["", "data", "figures", *settings])
            yield folder
            folder.keep_manifest()

    @property
    def settings(self) -> list[str]:
        """The names of the settings."""
        return [setting["name"] for setting in self.manifest["spec"]["settings"]]

    def shard_path(self, setting: str, replicate: int) -> Path:
        """Return the path of the shard of a unit."""
        return self.path / "shards" / setting / f"{replicate}.parquet"

    def units(self) -> Iterator[Unit]:
        """Yield the units that have a shard, in order."""
        for setting in self.settings:
            names = (self.path / "shards" / setting).glob("*.parquet")
            numbers = sorted({int(n.stem) for n in names if re.fullmatch("[0-9]{1,9}", n.stem)})
            yield from (Unit(setting, i) for i in numbers if self.has(Unit(setting, i)))

    def has(self, unit: Unit) -> bool:
        """Return whether a unit has a shard."""
        return self.shard_path(*unit).is_file()

    def intact(self, unit: Unit) -> str | None:
        """Return None if a shard is intact; else set it aside and return what is wrong."""
        try:
            self.load(*unit)
            return None
        except shard.Damaged as reason:
            place = self.set_aside(*unit, str(reason))
            shown = self.shard_path(*unit).relative_to(self.path)
            return f"{shown}: {reason}; moved to {place}"

    def keep(self, computed: Computed) -> None:
        """Store the result of a unit."""
        self.require_environment(computed.environment)
        self.save(*computed.unit, computed.rows)

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """Return an array that the study works on; refuse one that was changed."""
        path = self.path / "data" / f"{name}.npy"
        with contextlib.suppress(Exception):  # whatever NumPy makes of a damaged file
            array: np.ndarray[Any, Any] = np.load(io.BytesIO(_files.read(path)))
            if digest(array) == self.manifest["spec"]["data"][name]:
                return array
        raise _check.InputError(
            f"{path}: it is damaged or missing: run the same command again to write it anew"
        )

    def _keep_array(self, name: str, array: np.ndarray[Any, Any]) -> None:
        """Write an array of the study, unless it is there."""
        try:
            self.array(name)
        except _check.InputError:
            file = io.BytesIO()
            np.save(file, array, allow_pickle=False)
            self.write(f"data/{name}.npy", file.getvalue())

    def keep_manifest(self) -> None:
        """Write the manifest if it does not exist, or no longer exists."""
        if not (self.path / "manifest.json").is_file():
            self._write_manifest()

    def _write_manifest(self) -> None:
        text = json.dumps(self.manifest, indent=1, ensure_ascii=False) + "\n"
        self.write("manifest.json", text.encode())

    def _with_words(self, manifest: dict[str, Any]) -> Folder:
        """Take over titles, descriptions and claims of the same study; return the folder.

        The environment is not changed, as it belongs to the stored results. If the settings of the
        study are in another order, its hash differs, and nothing is taken over.
        """
        same = self.manifest["spec"] == manifest["spec"]
        if same or self.manifest["study"] != manifest["study"]:
            return self
        folder = replace(self, manifest=reworded(self.manifest, manifest["spec"]))
        folder._write_manifest()
        return folder

    def load(self, setting: str, replicate: int) -> pl.DataFrame:
        """Return the table of a shard; raise `Damaged` if it is not intact or not of this study."""
        data = _files.read(self.shard_path(setting, replicate))
        return shard.decode(data, self.columns, self.identity(setting, replicate))

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the units, with their declared types."""
        columns: dict[str, str] = self.manifest["spec"]["columns"]
        return columns

    def save(self, setting: str, replicate: int, rows: list[Row]) -> None:
        """Store the rows of a unit as a shard."""
        data = shard.encode(rows, self.columns, self.identity(setting, replicate))
        self.write(str(self.shard_path(setting, replicate).relative_to(self.path)), data)

    def set_aside(self, setting: str, replicate: int, reason: str) -> Path:
        """Move a damaged shard to the folder set-aside; return its new path."""
        shown = self.shard_path(setting, replicate).relative_to(self.path)
        damaged = files.place(self.path, str(shown))
        folder = files.place(self.path, "set-aside/any").parent
        with storing(self.path):
            folder.mkdir(exist_ok=True)
            names = (folder / f"{setting}-{replicate}-{i}.parquet" for i in itertools.count())
            place = next(name for name in names if not name.exists())
            os.replace(damaged, place)
        self.record("set aside", setting=setting, replicate=replicate, reason=reason)
        return place

    def identity(self, setting: str, replicate: int) -> Identity:
        """Return the identity that a shard of this folder must have."""
        return Identity(self.manifest["study"], setting, replicate)

    def write(self, name: str, data: bytes) -> None:
        """Write a file completely or not at all."""
        files.write(self.path, name, data)

    def remove(self, name: str, digest: str) -> None:
        """Remove a file if its content still has this SHA-256."""
        files.remove(self.path, name, digest)

    def make_room(self, name: str, digests: Iterable[str]) -> Path | None:
        """Rename a file whose content has none of these SHA-256; return its new path."""
        return files.make_room(self.path, name, digests)

    def record(self, event: str, **details: Any) -> None:
        """Append an event to runs.jsonl."""
        files.append(self.path, "runs.jsonl", events.line_of(event, **details))

    def events(self) -> list[dict[str, Any]]:
        """Return the events in runs.jsonl, without damaged lines."""
        path = self.path / "runs.jsonl"
        return events.parse(_files.read(path).decode("utf-8", "replace")) if path.is_file() else []

    def _require_same(self, manifest: dict[str, Any]) -> None:
        """Refuse another study, and another environment unless they may be mixed."""
        old, new = (without_words(one["spec"]) for one in (self.manifest, manifest))
        if _asked(old) != _asked(new):
            changes = differences(old, new) or ["its parts are in another order or of another type"]
            more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""
            raise _check.InputError(
                f"{str(self.path)!r} holds results of another study: {'; '.join(changes[:5])}"
                f"{more}; choose another folder"
            )
        self.require_environment(manifest["environment"])

    def require_environment(self, environment: dict[str, str]) -> None:
        """Refuse results of another environment unless they may be mixed."""
        places = differences(self.manifest["environment"], environment)
        if places and not self.mixed:
            raise _check.InputError(
                f"{str(self.path)!r} was computed with other versions or on another machine "
                f"({'; '.join(places)}), so last digits can differ: choose another folder, or "
                "allow it with --mixed (in Python: mixed=True)"
            )


def _asked(spec: dict[str, Any]) -> str:
    """Return what may not change of a spec as text; the order of settings may."""
    ordered = sorted(spec["settings"], key=lambda setting: str(setting["name"]))
    return json.dumps(spec | {"settings": ordered}, sort_keys=True)


def _require_ours(path: Path) -> None:
    """Refuse a folder with other files, and a link to a folder that does not exist."""
    for place in (path, *path.parents):
        if place.is_symlink() and not place.exists():
            raise _check.InputError(
                f"{str(place)!r} is a link to {str(place.readlink())!r}, which does not exist: "
                "create that folder, or choose another one"
            )
    if path.is_dir():
        names = {entry.name for entry in path.iterdir()}
        others = [
            name for name in names - {"lock", "shards", "data"} if not files.is_temporary(name)
        ]
        if others and "manifest.json" not in names:
            raise _check.InputError(
                f"{str(path)!r} holds other files and no results: choose another folder"
            )
    elif path.exists():
        raise _check.InputError(f"{str(path)!r} is a file, not a folder: choose another name")
