"""What happens before the first job of a run of Snakemake, and after its last."""

import time
from pathlib import Path
from typing import Any

from voirdire.study.inputs import check_inputs
from voirdire.study.live import LiveBars
from voirdire.study.study import Study
from voirdire.study.timing import time_per_stage

# A file's time comes from a clock that lags behind by some milliseconds.
_LAG_S = 0.05


class Run:
    """One run of Snakemake, which begins with this object."""

    def __init__(self, study: Study) -> None:
        self._study, self._began = study, time.time() - _LAG_S
        self._bars = LiveBars(study.paths.shared)

    def start(self, workflow: Any) -> None:
        """Check what the jobs need, leave the limits for them, and show from now on how far they are.

        workflow : Snakemake's, with the jobs to run.

        Raises UserError for inputs that can't be used.
        """
        # Before any model is called, so that a malformed line in the last benchmark costs nothing.
        check_inputs(self._study, {job.rule.name for job in workflow.dag.needrun_jobs()})
        self._study.write_limits()
        self._bars.start(workflow)

    def stop(self) -> None:
        """Show nothing more."""
        self._bars.stop()

    def finish(self) -> str:
        """Show nothing more, and say how long each stage took and where the report is, if this run made it."""
        self.stop()
        paths = self._study.paths
        took = time_per_stage(f"{paths.folder}/logs", since=self._began)
        report = Path(paths.report)
        is_new = report.exists() and report.stat().st_mtime >= self._began
        return f"{took}\nReport: {report}" if is_new else took
