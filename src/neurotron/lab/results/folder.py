"""A folder of results, which holds complete files of one study.

    manifest.json                        what is computed, by which function, with which versions
    runs.jsonl                           log of events with time and machine, one per line
    shards/<setting>/<replicate>.parquet  results of a unit
    claims.json, report.html, figures/   verdicts and figures, which can be made again from shards
    set-aside/                           damaged shards
    lock                                 locked by the process that writes

Only one process writes, and a file gets its name only when it is complete and on disk. So a run
that is killed can always be resumed.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from neurotron import _check, _files
from neurotron.lab.results import events, files, shard
from neurotron.lab.results.files import StorageError, storing
from neurotron.lab.results.manifest import differences, manifest_of, reworded, without_words
from neurotron.lab.results.manifest import read as read_manifest
from neurotron.lab.results.rows import Row
from neurotron.lab.results.shard import Identity

__all__ = ["Folder", "StorageError", "manifest_of"]


@dataclass(frozen=True)
class Folder:
    """A folder of results and its manifest.

    Most users need `load_results` or `load_table` instead.
    """

    path: Path
    manifest: dict[str, Any]

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
    def written(cls, path: str | Path, manifest: dict[str, Any], mixed: bool) -> Iterator[Folder]:
        """Lock a folder for writing results of a study: a new folder, or one of the same study.

        Results of other versions or another kind of processor are refused unless `mixed`. If only
        titles, descriptions or claims have changed, the manifest is rewritten with the new ones.
        """
        path = Path(path)
        _require_ours(path)
        files.place(path, "shards/any")
        with storing(path):
            (path / "shards").mkdir(parents=True, exist_ok=True)
        with files.locked(path):
            if (path / "manifest.json").is_file():
                folder = cls.read(path)
                folder._require_same(manifest, mixed)
                folder = folder._with_words(manifest)
            else:
                folder = cls(path, manifest)
            folder.keep_manifest()
            settings = (f"shards/{setting}" for setting in folder.settings)
            with storing(path):
                files.remove_leftovers(path, ["", "figures", *settings])
            yield folder

    @property
    def settings(self) -> list[str]:
        """The names of the settings."""
        return [setting["name"] for setting in self.manifest["spec"]["settings"]]

    def shard_path(self, setting: str, replicate: int) -> Path:
        """Return the path of the shard of a unit."""
        return self.path / "shards" / setting / f"{replicate}.parquet"

    def units(self) -> Iterator[tuple[str, int]]:
        """Yield the units that have a shard, in order."""
        for setting in self.settings:
            names = (self.path / "shards" / setting).glob("*.parquet")
            numbers = sorted({int(n.stem) for n in names if re.fullmatch("[0-9]{1,9}", n.stem)})
            yield from ((setting, i) for i in numbers if self.shard_path(setting, i).is_file())

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
        folder = Folder(self.path, reworded(self.manifest, manifest["spec"]))
        folder._write_manifest()
        return folder

    def load(self, setting: str, replicate: int) -> pl.DataFrame:
        """Return the table of a shard; raise `Damaged` if it is not intact or not of this study."""
        data = _files.read(self.shard_path(setting, replicate))
        return shard.decode(data, self.identity(setting, replicate))

    def content_hashes(self) -> dict[tuple[str, int], str]:
        """Return the hash of the values of every unit."""
        return {
            unit: shard.verify(_files.read(self.shard_path(*unit)), self.identity(*unit))
            for unit in self.units()
        }

    def save(self, setting: str, replicate: int, rows: list[Row]) -> None:
        """Store the rows of a unit as a shard."""
        data = shard.encode(rows, self.identity(setting, replicate))
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

    def _require_same(self, manifest: dict[str, Any], mixed: bool) -> None:
        """Refuse another study, and another environment unless `mixed`."""
        changes = differences(_without_words(self.manifest), _without_words(manifest))
        if _asked(self.manifest) != _asked(manifest):
            changes = changes or ["its parts are in another order or of another type"]
            more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""
            raise _check.InputError(
                f"{str(self.path)!r} holds results of another study: {'; '.join(changes[:5])}"
                f"{more}; choose another folder"
            )
        self.require_environment(manifest["environment"], mixed)
        if self.manifest["arms"] != manifest["arms"] and not mixed:
            raise _check.InputError(
                f"{self.path / 'manifest.json'}: its arms are not those of its study, so it was "
                "changed after it was written: restore the original file, or choose another folder"
            )

    def require_environment(self, environment: dict[str, str], mixed: bool) -> None:
        """Refuse results of another environment unless `mixed`."""
        places = differences(self.manifest["environment"], environment)
        if places and not mixed:
            raise _check.InputError(
                f"{str(self.path)!r} was computed with other versions or on another machine "
                f"({'; '.join(places)}), so last digits can differ: choose another folder, or "
                "allow it with --mixed (in Python: mixed=True)"
            )


def _asked(manifest: dict[str, Any]) -> str:
    """Return the part of a manifest that may not change as text; the order of settings may."""
    kept = _without_words(manifest)
    ordered = sorted(kept["settings"], key=lambda setting: str(setting["name"]))
    return json.dumps(kept | {"settings": ordered}, sort_keys=True)


def _without_words(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a manifest that may not change: the function, and the spec.

    Titles, descriptions and claims are left out.
    """
    return {"the function": manifest["unit"], **without_words(manifest["spec"])}


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
        others = [name for name in names - {"lock", "shards"} if not files.is_temporary(name)]
        if others and "manifest.json" not in names:
            raise _check.InputError(
                f"{str(path)!r} holds other files and no results: choose another folder"
            )
    elif path.exists():
        raise _check.InputError(f"{str(path)!r} is a file, not a folder: choose another name")
