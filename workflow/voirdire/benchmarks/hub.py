"""Files from the Hugging Face Hub, at a pinned revision only."""

import re
from dataclasses import replace
from pathlib import Path

from voirdire.benchmarks.source import Source
from voirdire.errors import Faults, UserError

_COMMIT = re.compile(r"[0-9a-f]{40}")


def resolve(task: str, source: Source, default: Source) -> Source:
    """The source with repo, files and revision filled in from the benchmark's default where it is the same repo.

    Raises UserError naming what is missing, or a revision that is no commit: a branch may be other data tomorrow.
    """
    repo = source.repo or default.repo
    known = default if repo == default.repo else Source(kind="hub")
    resolved = replace(source, repo=repo, files=source.files or known.files, revision=source.revision or known.revision)
    faults = Faults()
    where = f"benchmarks: {task}"
    if not resolved.files:
        faults.add(f"{where}: files: none known for {repo}; name its .parquet or .jsonl files")
    if resolved.revision is None:
        faults.add(f"{where}: revision: none known for {repo}; give the commit (40 hex digits) from its page's history")
    elif not _COMMIT.fullmatch(resolved.revision):
        faults.add(
            f"{where}: revision: {resolved.revision!r} is not a full commit (40 hex digits); a branch or tag can "
            f"change under a study, so give the commit from the history of {repo}"
        )
    faults.raise_if_any()
    return resolved


def download(source: Source, faults: Faults) -> dict[str, Path]:
    """Each file's name in the repo and its local copy, from the Hub's cache or the network; failures go to `faults`."""
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise UserError("source: hub: needs huggingface_hub; pip install 'voirdire[study]'") from error
    paths = {}
    for name in source.files:
        try:
            local = hf_hub_download(
                repo_id=str(source.repo), filename=name, repo_type="dataset", revision=source.revision
            )
        # Whatever the HTTP library raises; its text may hold signed addresses, so only its kind is shown.
        except Exception as error:
            faults.add(
                f"{source.repo}@{source.revision}: {name}: not downloaded ({type(error).__name__}); check repo, file, "
                "revision and network, or download it yourself and use `source: path`"
            )
        else:
            paths[f"{source.repo}/{name}"] = Path(local)
    return paths
