"""How long each stage of a run took, read from the logs of its jobs."""

import re
from pathlib import Path

# The last line of every step's log.
_TOOK = re.compile(rb"^voirdire: took ([0-9.]+) s$", re.MULTILINE)


def time_per_stage(logs: str | Path, since: float = 0.0) -> str:
    """A small table: stage, jobs, seconds in all, seconds of the longest job.

    Parameters
    ----------
    logs : folder with a file STAGE.log or a folder STAGE of logs for each stage.
    since : only logs written after this time (seconds since the epoch).
    """
    seconds: dict[str, list[float]] = {}
    for path in sorted(Path(logs).rglob("*.log"), key=lambda path: path.stat().st_mtime):
        took = _TOOK.findall(path.read_bytes())
        if took and path.stat().st_mtime >= since:
            stage = path.relative_to(logs).parts[0].removesuffix(".log")
            seconds.setdefault(stage, []).append(float(took[-1]))
    if not seconds:
        return "Nothing had to be done."
    rows = [f"{'stage':<22}{'jobs':>6}{'seconds':>10}{'longest':>10}"]
    rows += [f"{stage:<22}{len(times):>6}{sum(times):>10.1f}{max(times):>10.1f}" for stage, times in seconds.items()]
    return "\n".join(rows)
