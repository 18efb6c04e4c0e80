"""The tables that pass from one stage of the flow to the next."""

from voirdire.tables.schema import Column, Schema

# One enumeration for generations and verdicts alike; only `ok` ever enters a rate.
STATUSES = ("ok", "unparsed", "refused", "truncated", "empty", "error")

_CALL = (
    Column("prompt_tokens", "int", True, meaning="tokens sent, as the provider counted them"),
    Column("completion_tokens", "int", True, meaning="tokens received, as the provider counted them"),
    Column("cost_usd", "float", True, meaning="US dollars; missing when the price is unknown, never 0"),
    Column("latency_s", "float", True, meaning="seconds from request to answer"),
    Column("resolved_model", "string", True, meaning="the model that the provider says has answered"),
    Column("request_key", "string", True, meaning="SHA-256 of everything that can change the answer"),
)
_SIMULATED = Column("simulated", "bool", meaning="true where a simulated persona stands in for a model")

ITEMS = Schema(
    "items",
    (
        Column("task", "string"),
        Column("item_id", "string"),
        Column("question", "string", meaning="the question, or the programming task's text"),
        Column("answer", "string", True, meaning="the right answer; missing for code, whose tests decide"),
        Column("options", "strings", True, meaning="multiple choice: the options in order"),
        Column("article", "string", True, meaning="reading comprehension: the text"),
        Column("tests", "strings", True, meaning="code: one assert each"),
        Column("setup_code", "string", True, meaning="code: run before the tests"),
        Column("reference", "string", True, meaning="a reference solution, never shown to a model"),
    ),
    key=("task", "item_id"),
)

_SENT = (
    Column("finish_reason", "string", True, meaning="why the model stopped, in the provider's word"),
    Column("sent", "string", True, meaning="the model and parameters that were sent, as JSON"),
)

GENERATIONS = Schema(
    "generations",
    (
        Column("task", "string"),
        Column("item_id", "string"),
        Column("examinee", "string"),
        Column("status", "string", allowed=STATUSES),
        Column("response", "string", True),
        Column("response_chars", "int", True, meaning="characters of the response"),
        *_SENT,
        *_CALL,
        _SIMULATED,
    ),
    key=("task", "item_id", "examinee"),
)

GRADES = Schema(
    "grades",
    (
        Column("task", "string"),
        Column("item_id", "string"),
        Column("examinee", "string"),
        Column("truth", "bool", True, meaning="whether the response is right; missing where grading itself failed"),
        Column("answer", "string", True, meaning="what was read from the response: shortest form, or a program"),
        Column("how", "string", meaning="the rule that found the answer, or why there is none"),
        Column("sandbox", "string", True, meaning="code: the isolation it ran in"),
    ),
    key=("task", "item_id", "examinee"),
)

_VERDICT_KEY = (
    Column("condition", "string", meaning="one judge prompt: template and identity label"),
    Column("template", "string"),
    Column("label", "string", True, meaning="identity label shown to the judge: elite, author or none"),
    Column("trial", "int", meaning="repetition of the call, from 0"),
    Column("task", "string"),
    Column("item_id", "string"),
    Column("judge", "string"),
    Column("examinee", "string"),
    Column("generation_status", "string", allowed=STATUSES),
    Column(
        "status",
        "string",
        True,
        allowed=STATUSES,
        meaning="of the judge's call; missing where the response was not ok and so was not judged",
    ),
    Column("verdict", "bool", True, meaning="true: the judge says correct"),
)
_VERDICT_ID = ("condition", "trial", "task", "item_id", "judge", "examinee")

# What one judge job writes.
JUDGEMENTS = Schema(
    "judgements",
    (*_VERDICT_KEY, Column("text", "string", True, meaning="what the judge wrote"), *_SENT, *_CALL, _SIMULATED),
    key=_VERDICT_ID,
)

# verdicts.parquet: every verdict joined with its truth; the one table that all analysis reads.
VERDICTS = Schema(
    "verdicts",
    (
        *_VERDICT_KEY,
        Column("truth", "bool", True, meaning="whether the response is right"),
        Column("answer", "string", True, meaning="the answer read from the response; missing for code"),
        Column("response_chars", "int", True, meaning="characters of the response"),
        *_CALL,
        _SIMULATED,
    ),
    key=_VERDICT_ID,
)
