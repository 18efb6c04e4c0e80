"""The jobs of a small study that call a model, as the rules would start them, without Snakemake."""

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from voirdire.benchmarks.items import frame_from_items
from voirdire.benchmarks.loading import load
from voirdire.study.config import parse
from voirdire.study.study import Study
from voirdire.tables import ITEMS, write_table

PROMPTS = Path(__file__).resolve().parents[2] / "config" / "prompts"
CONDITION, TASK, MODEL = "blind", "gsm8k", "crow"


class StepJobs:
    """One model answers the first questions of a benchmark and judges its own answers.

    Parameters
    ----------
    folder : where the study's files lie.
    seen : the same folder, as this process sees it.
    n_items : questions.
    log : the file for what a worker's jobs say.
    entry : changes of the model's entry in the configuration.
    """

    def __init__(
        self, folder: Path, url: str, n_items: int, seen: Path | None = None, log: Path | None = None, **entry: Any
    ) -> None:
        self.folder, self.seen = folder, seen or folder
        self.log = log or self.seen / "log"
        crow = {"model": "openai/crow", "family": "birds", "endpoint": {"api_base": url}, **entry}
        config = {
            "study": "small",
            "benchmarks": {TASK: {"limit": n_items}},
            "models": {MODEL: crow},
            "examinees": [MODEL],
            "judges": [MODEL],
        }
        self.study = Study(parse(config), str(PROMPTS))
        self.items = load(TASK, self.study.source(TASK), self.study.config.seed).items
        # Written elsewhere, since paths within a worker's own file systems can't be a working directory here.
        with tempfile.TemporaryDirectory() as made:
            with contextlib.chdir(made):
                self.study.write_limits()
                write_table(frame_from_items(self.items), self.study.paths.items(TASK), ITEMS)
            shutil.copytree(made, self.seen, dirs_exist_ok=True)

    @property
    def generations(self) -> Path:
        return self.seen / self.study.paths.generation(TASK, MODEL)

    @property
    def judgements(self) -> Path:
        return self.seen / self.study.paths.judgement(CONDITION, TASK, MODEL, MODEL)

    @property
    def shared(self) -> Path:
        return self.seen / self.study.paths.shared

    def journal(self, step: str) -> Path:
        return self.seen / self._journal(step)

    def job(self, step: str) -> dict[str, Any]:
        """The generate job or the judge job, for a `Worker`."""
        study, paths = self.study, self.study.paths
        arguments = {
            "name": MODEL,
            "items": paths.items(TASK),
            "seed": study.config.seed,
            "accept-errors": study.config.accept_errors,
            "journal": self._journal(step),
            "limits": paths.limits,
        }
        if step == "generate":
            arguments |= {
                "source": study.generation_input(TASK, MODEL),
                "examinee": study.examinee_spec(TASK, MODEL),
                "output": paths.generation(TASK, MODEL),
            }
        else:
            arguments |= {
                "condition": CONDITION,
                "generations": paths.generation(TASK, MODEL),
                "prompt": study.judge_prompt(CONDITION, TASK),
                "judge": study.judge_spec(CONDITION, TASK, MODEL, MODEL),
                "output": paths.judgement(CONDITION, TASK, MODEL, MODEL),
            }
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        return {"step": step, "arguments": words, "folder": str(self.folder), "log": str(self.log)}

    def start(self, step: str) -> "subprocess.Popen[str]":
        """Start a job as a program of its own, which says all on standard output."""
        job = self.job(step)
        command = [sys.executable, "-m", f"voirdire.steps.{step}", *job["arguments"]]
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )

    def _journal(self, step: str) -> str:
        job = (TASK, MODEL) if step == "generate" else (CONDITION, TASK, MODEL, MODEL)
        return self.study.paths.journal(step, *job)
