"""The prose around answers and verdicts, without any number or letter that a grader could take for an answer."""

from voirdire.simulated.draws import stream_key

# Length of a usual response in characters, and the standard deviation of its logarithm.
USUAL_CHARS = {"gsm8k": 420, "aime": 520, "mbpp": 420, "quality": 380}
LOG_LENGTH_SD = 0.35

_MATHEMATICS = (
    "Let me restate what is given before computing anything.",
    "I keep track of the units, since that is where such problems usually go astray.",
    "The quantities in the question depend on each other, so their order matters.",
    "First I work out the intermediate amount that everything else builds on.",
    "Next I carry that amount through the second condition.",
    "The remaining condition then fixes the last unknown.",
    "Putting these pieces together leaves a single expression to evaluate.",
    "I simplify it step by step instead of rounding along the way.",
    "A rough estimate beforehand tells me which size of result to expect.",
    "The result is of the size that the estimate suggests.",
    "Substituting it back satisfies the conditions as I read them.",
    "No information in the question is left unused.",
    "There is a shorter way, but this one is easier to verify.",
    "Had the conditions been met in another order, the same relation would follow.",
    "A small table of cases would lead to the same place, only more slowly.",
    "The one trap is to count something twice, which I avoid by treating each part once.",
    "I went over the arithmetic a second time before writing down the result.",
    "What is asked for is the final amount, not the change.",
)
_CODE = (
    "The function follows the description directly.",
    "It handles the inputs in the order in which they are given.",
    "I chose a plain loop over a clever expression, so that it is easy to follow.",
    "Nothing outside the standard library is needed.",
    "The examples in the task guided the choice of the returned type.",
    "Empty input needs no special treatment here.",
    "Its running time grows gently with the size of the input.",
    "The helper keeps the main function short.",
    "The arguments are not modified.",
    "If the description meant something narrower, the condition is the line to adjust.",
    "I traced the examples by hand to see that the control flow is as intended.",
    "Names are kept as the task gives them.",
)
_READING = (
    "The question asks about something that the passage says only indirectly.",
    "I went back to the scene in which this comes up.",
    "The narrator's choice of words there is telling.",
    "What the character says later agrees with this reading.",
    "The other options pick up details of the passage but turn them around.",
    "Some of them would need facts that the passage never gives.",
    "The order of events also speaks for it.",
    "Nothing in the closing part contradicts this.",
    "A quick reading might suggest something else, but the context settles it.",
    "The motive that the passage describes fits best with this choice.",
    "It is also the reading that explains the reaction of the others.",
    "The tone of the passage supports it as well.",
)
_SENTENCES = {"gsm8k": _MATHEMATICS, "aime": _MATHEMATICS, "mbpp": _CODE, "quality": _READING}

CORRECT = ("correct",) * 20 + ("Correct", "Correct.", "CORRECT", "**correct**")
INCORRECT = ("incorrect",) * 20 + ("Incorrect", "Incorrect.", "INCORRECT", "**incorrect**")
UNDECIDED = (
    "I cannot decide this from what is given.",
    "The response is hard to follow, so I give no verdict.",
    "I'm sorry, but I can't help with that.",
    "Partly.",
)


def prose(task: str, names: tuple[str, ...], chars: int) -> str:
    """Sentences of about `chars` characters, chosen by `names` alone; from one sentence to all that there are."""
    pool = _SENTENCES[task]
    drawn = sorted(range(len(pool)), key=lambda index: stream_key("sentence", *names, index))
    chosen = [drawn[0]]
    total = len(pool[drawn[0]])
    for index in drawn[1:]:
        # Stop where one more sentence would miss the wanted length by more than stopping does.
        if total + len(pool[index]) / 2 > chars:
            break
        chosen.append(index)
        total += len(pool[index]) + 1
    return " ".join(pool[index] for index in sorted(chosen))
