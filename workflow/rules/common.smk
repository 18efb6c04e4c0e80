"""The study that the configuration describes, and what all rules share.

Needs: `config`. Leaves: `study` (the matrix of jobs and their paths), RESULTS, CONDA, `table`, `fingerprint`.
"""

import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(str(workflow.basedir))
LIBRARY = BASE / "workflow"
if LIBRARY.is_dir():
    sys.path.insert(0, str(LIBRARY))

from voirdire.errors import UserError
from voirdire.study import outputs
from voirdire.study.environment import use_this_library
from voirdire.study.fingerprint import fingerprint
from voirdire.study.inputs import check_inputs, expect_files
from voirdire.study.study import PROTOCOL, load_study
from voirdire.study.timing import time_per_stage

use_this_library()

try:
    study = load_study(config, workflow.configfiles, BASE)
    expect_files(study)
except UserError as error:
    raise WorkflowError(*error.faults) from None

RESULTS = study.paths.folder
LOGS = f"{RESULTS}/logs"
STARTED = time.time()
CONDA = "../../envs/voirdire.yaml"
VERDICTS = study.paths.verdicts
# The Parquet files of tidy tables, and the same as CSV.
table = study.paths.tables


wildcard_constraints:
    task="[a-z0-9_]+",
    examinee="[a-z0-9_]+",
    judge="[a-z0-9_]+",
    condition="[a-z0-9_-]+",


onstart:
    # Before any model is called, so that a malformed line in the last benchmark costs nothing.
    try:
        check_inputs(study, {job.rule.name for job in workflow.dag.needrun_jobs()})
    except UserError as error:
        raise WorkflowError(*error.faults) from None


onsuccess:
    print(time_per_stage(LOGS, since=STARTED))
    report = Path(study.paths.report)
    if report.exists() and report.stat().st_mtime >= STARTED:
        print(f"Report: {report}")
