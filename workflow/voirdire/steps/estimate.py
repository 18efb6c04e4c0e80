"""Print what a study will still ask of real models, and what that will cost at least and at most."""

import math

import pandas as pd

from voirdire.steps._run import arguments, run
from voirdire.study.estimate import estimate
from voirdire.study.study import Study

_COUNTS = ["calls", "to_do", "prompt_tokens", "prompt_tokens_high", "completion_tokens_high"]
_DOLLARS = ["cost_usd_low", "cost_usd_high"]


def main() -> None:
    args = arguments(__doc__, study=Study.from_json)
    frame = estimate(args.study)
    if frame.empty:
        print("Nothing to pay: no examinee and no judge of this study is a real model.")
        return
    total = {"role": "all", "model": "", **frame[_COUNTS + _DOLLARS].sum(skipna=False)}
    shown = pd.concat([frame, pd.DataFrame([total])])
    shown[_COUNTS] = shown[_COUNTS].map(lambda number: "unknown" if math.isnan(number) else f"{number:,.0f}")
    shown[_DOLLARS] = shown[_DOLLARS].map(lambda number: "unknown" if math.isnan(number) else f"{number:,.2f}")
    print(shown.to_string(index=False))
    print(
        "Tokens are estimated from the prompts' lengths (within about a fifth). low: the prompts alone; high: every "
        "answer as long as the model's max_tokens allows. unknown: no max_tokens is set, or the price is not known."
    )


if __name__ == "__main__":
    run(main)
