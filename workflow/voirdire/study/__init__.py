"""Configuration into typed objects, the matrix of jobs and their paths; the paper's claims."""

from voirdire.study.environment import use_this_library
from voirdire.study.fingerprint import fingerprint
from voirdire.study.inputs import check_inputs, expect_files
from voirdire.study.matrix import Condition, Matrix, Paths, canonical
from voirdire.study.study import PROTOCOL, Study, load_study
from voirdire.study.timing import time_per_stage

__all__ = [
    "PROTOCOL",
    "Condition",
    "Matrix",
    "Paths",
    "Study",
    "canonical",
    "check_inputs",
    "expect_files",
    "fingerprint",
    "load_study",
    "time_per_stage",
    "use_this_library",
]
