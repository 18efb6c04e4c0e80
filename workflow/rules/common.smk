"""The study that the configuration describes, and what all rules share.

Needs: `config`. Leaves: `study` (the matrix of jobs and their paths), RESULTS, CONDA, `table`, `fingerprint`,
`retried`.
"""

import sys
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
from voirdire.study.inputs import expect_files
from voirdire.study.retry import retried
from voirdire.study.run import Run
from voirdire.study.study import PROTOCOL, load_study

use_this_library()

try:
    study = load_study(config, workflow.configfiles, BASE)
    expect_files(study)
except UserError as error:
    raise WorkflowError(*error.faults) from None

RESULTS = study.paths.folder
LOGS = f"{RESULTS}/logs"
RUN = Run(study)
CONDA = "../../envs/voirdire.yaml"
VERDICTS = study.paths.verdicts
# The Parquet files of tidy tables, and the same as CSV.
table = study.paths.tables

# What an endpoint allows bounds how many of its jobs run at once; within them each call is counted.
for pool, slots in study.pools.items():
    workflow.register_resource(pool, slots)


wildcard_constraints:
    task="[a-z0-9_]+",
    examinee="[a-z0-9_]+",
    judge="[a-z0-9_]+",
    condition="[a-z0-9_-]+",


onstart:
    try:
        RUN.start(workflow)
    except UserError as error:
        raise WorkflowError(*error.faults) from None


onerror:
    RUN.stop()


onsuccess:
    print(RUN.finish())
