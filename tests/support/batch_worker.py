"""Runs the Python script given to it, with batches that are looked at all the time."""

import runpy
import sys

from voirdire.models import batch, batch_service

batch.POLL_FIRST_S = batch.POLL_LONGEST_S = 0.01
batch_service.SETTLED_S = 0.1

if __name__ == "__main__":
    _, _, *sys.argv = sys.argv  # this script, and the interpreter that was to run the other one
    runpy.run_path(sys.argv[0], run_name="__main__")
