"""Grade the responses of one examinee to one task."""

import pandas as pd

from voirdire.benchmarks.items import items_from_frame
from voirdire.grading import grade_many
from voirdire.steps._run import arguments, run
from voirdire.tables import GENERATIONS, GRADES, ITEMS, read_table, write_table


def main() -> None:
    args = arguments(__doc__, items=str, generations=str, sandbox=str, output=str)
    items = {item.item_id: item for item in items_from_frame(read_table(args.items, ITEMS))}
    generations = read_table(args.generations, GENERATIONS)
    answered = generations[generations["status"] == "ok"]
    asked = [items[item_id] for item_id in answered["item_id"]]
    task = next(iter(items.values())).task
    grades = grade_many(task, asked, answered["response"].tolist(), sandbox=args.sandbox)
    frame = pd.DataFrame(
        {
            "task": answered["task"].to_numpy(),
            "item_id": answered["item_id"].to_numpy(),
            "examinee": answered["examinee"].to_numpy(),
            "truth": pd.array([grade.truth for grade in grades], dtype="boolean"),
            "answer": pd.array([grade.answer for grade in grades], dtype="str"),
            "how": pd.array([grade.how for grade in grades], dtype="str"),
            "sandbox": pd.array([grade.sandbox for grade in grades], dtype="str"),
        }
    )
    write_table(frame, args.output, GRADES)
    for reason, items_at_fault in frame[frame["truth"].isna()].groupby("how")["item_id"]:
        print(f"{reason}: {', '.join(items_at_fault)}")


if __name__ == "__main__":
    run(main)
