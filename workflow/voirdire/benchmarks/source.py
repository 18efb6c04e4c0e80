"""Where a benchmark's questions come from, and how many of them are taken."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voirdire.errors import Faults, UserError

KINDS = ("bundled", "path", "hub")
_KEYS = ("source", "path", "repo", "files", "revision", "limit", "sample", "shuffle_options")


@dataclass(frozen=True)
class Source:
    """Where questions come from: `bundled` with voirdire, a file (`path`), or the Hugging Face Hub (`hub`).

    For the Hub, `repo`, `files` and `revision` default to the benchmark's own. `limit` takes the first N items,
    `sample` N random ones by the study's seed; at most one of the two. `shuffle_options` puts each item's options into
    an order drawn from the study's seed and the item's id.
    """

    kind: str = "bundled"
    path: str | None = None
    repo: str | None = None
    files: tuple[str, ...] = ()
    revision: str | None = None
    limit: int | None = None
    sample: int | None = None
    shuffle_options: bool = False

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str = "benchmark") -> "Source":
        """Make a source from configuration: keys source, path, repo, files, revision, limit, sample, shuffle_options.

        Raises UserError naming all unknown keys and wrong values, each with `where`.
        """
        unknown = [key for key in values if key not in _KEYS]
        if unknown:
            raise UserError(f"{where}: unknown key '{key}'; known are {', '.join(_KEYS)}" for key in unknown)
        files = values.get("files") or ()
        source = cls(
            kind=values.get("source", "bundled"),
            shuffle_options=values.get("shuffle_options") or False,
            files=tuple(files) if isinstance(files, (list, tuple)) else (files,),
            **{key: values.get(key) for key in ("path", "repo", "revision", "limit", "sample")},
        )
        faults = Faults()
        for fault in source.faults():
            faults.add(f"{where}: {fault}")
        faults.raise_if_any()
        return source

    def faults(self) -> list[str]:
        """What is wrong with this source by itself, without looking at any file."""
        found = []
        if self.kind not in KINDS:
            found.append(f"source: must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.kind == "path" and not self.path:
            found.append("path: is missing; name the benchmark's file")
        if self.kind != "path" and self.path:
            found.append("path: is only used with `source: path`; set that, or remove path")
        if self.kind != "hub" and (self.repo or self.files or self.revision):
            found.append("repo, files, revision: are only used with `source: hub`; set that, or remove them")
        for name, value in (("path", self.path), ("repo", self.repo), ("revision", self.revision)):
            if value is not None and not isinstance(value, str):
                found.append(f"{name}: must be text, not {value!r}; put it in quotes")
        if not all(isinstance(name, str) for name in self.files):
            found.append("files: must be a list of file names")
        elif len(set(self.files)) < len(self.files):
            found.append("files: names a file twice; remove one of them")
        for name, number in (("limit", self.limit), ("sample", self.sample)):
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
                found.append(f"{name}: must be a whole number from 1, not {number!r}")
        if not isinstance(self.shuffle_options, bool):
            found.append(f"shuffle_options: must be true or false, not {self.shuffle_options!r}")
        if self.limit is not None and self.sample is not None:
            found.append("limit and sample: give one of them, not both")
        return found

    def to_dict(self) -> dict[str, Any]:
        """The canonical form: what `from_dict` reads, without what is not set; equal sources give equal forms."""
        values = {
            "source": self.kind,
            "path": self.path,
            "repo": self.repo,
            "files": list(self.files) or None,
            "revision": self.revision,
            "limit": self.limit,
            "sample": self.sample,
            "shuffle_options": self.shuffle_options or None,
        }
        return {key: value for key, value in values.items() if value is not None}
