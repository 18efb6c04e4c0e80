"""Keys are planted wherever one could leak from; no file of the study and nothing that it prints holds any of them."""

import base64
import html
import json
import os
import signal
import subprocess
from collections import Counter
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest
from fault_server import FaultServer, Reply, error_body

SIGNATURE = "plantedsignature0042"
KEYS = {
    "crow": "sk-planted+Crow/0123456789abcdef",
    "jay": "planted-jay+key/9876543210fedcba",
    "owl": "planted-owl_token/5566778899aabbcc",
    "finch": "AIzaPlantedFinch-00112233445566",
}
UNRELATED = {"GITHUB_TOKEN": "planted_token+of/another0", "WIKI_SECRET": "planted words, and several"}
PASSWORD = "planted-word"
PLANTED = [*KEYS.values(), *UNRELATED.values(), PASSWORD, SIGNATURE]
FRUIT = ("dates", "figs", "grapes", "kiwis", "limes", "pears", "plums")


def escaped(secret):
    """As JSON may hold it."""
    return "".join(char if char.isalnum() else f"\\u{ord(char):04x}" for char in secret)


def in_base64(secret):
    return [base64.b64encode(f"{before}{secret}".encode()).decode() for before in ("", "a", "me:")]


def forms(secret):
    """Ways to write a secret so that anybody can read it."""
    return [
        secret,
        quote(secret, safe=""),
        escaped(secret),
        escaped(secret).replace("\\", "\\\\"),
        secret.replace("/", "\\/"),
        html.escape(secret).replace("+", "&#43;"),
        secret.encode().hex(),
        *in_base64(secret),
        f"{secret[:9]}\x00{secret[9:]}",
        f"{secret[:9]}\u200b{secret[9:]}",
    ]


def echoes(secret):
    """What a server, or a library on the way to it, may say of a request."""
    request = {"headers": {"Authorization": f"Bearer {secret}", "api-key": secret, "x-api-key": secret}}
    return [
        f"Incorrect API key provided: {secret}.",
        json.dumps(request),
        json.dumps(json.dumps(request)),
        str([(b"authorization", f"Bearer {secret}".encode())]),
        f"POST https://me:{secret}@host/v1?key={quote(secret)}&sig={SIGNATURE} failed",
        f"see /v1/next?sig={SIGNATURE}&x=1 or https%3A%2F%2Fhost%3Fsig%3D{SIGNATURE}",
        f"Authorization: Basic {in_base64(secret)[2]}",
        *(f"got {form}" for form in forms(secret)),
    ]


def failures(secret, status=503):
    """Errors that pass at once, each with another echo; as JSON and as text."""
    at_once = {"Retry-After": "0"}
    said = echoes(secret)
    bodies = [body for text in said for body in (error_body(text), f"<html>{text}</html>")]
    return [Reply(status=status, headers=at_once, body=body) for body in bodies[: 2 * len(said)]]


def talkative(secret, verdict):
    """An answer that repeats the key in every way, and whose other fields do, too."""
    said = " ".join(forms(secret))
    return Reply(f"{said}\n{verdict}", reasoning=said, model=f"model-{secret}")


class Answers:
    """What comes to each model's first requests of one kind, and what later; a kind is a fruit, or `judge`.

    lasting : what comes until it is emptied.
    """

    def __init__(self):
        self.seen = Counter()
        crow = KEYS["crow"]
        filtered = error_body(echoes(crow)[1], "content_filter", innererror={"code": "ResponsibleAIPolicyViolation"})
        moved = {"Location": f"http://127.0.0.1:9/x?sig={SIGNATURE}", "Retry-After": "0"}
        self.first = {
            ("crow", "dates"): [Reply(status=400, body=filtered)],
            ("crow", "figs"): failures(crow),
            ("crow", "kiwis"): failures(crow, 429),
            ("crow", "limes"): [Reply(status=307, headers=moved), Reply(body={"choices": crow, "id": crow})],
            ("owl", "judge"): failures(KEYS["owl"])[:4],
            ("finch", "figs"): failures(KEYS["finch"])[:4],
        }
        self.lasting = {
            ("crow", "grapes"): Reply(status=400, body=error_body(echoes(crow)[0])),
            ("jay", "dates"): Reply(status=401, body={"error": {"message": echoes(KEYS["jay"])[1]}}),
        }

    def __call__(self, model, prompt):
        verdict = "VERDICT: correct" if "incorrect" in prompt else "#### 4"
        kind = "judge" if "incorrect" in prompt else next(fruit for fruit in FRUIT if fruit in prompt)
        if (model, kind) in self.lasting:
            return self.lasting[model, kind]
        number = self.seen[model, kind]
        self.seen[model, kind] += 1
        script = self.first.get((model, kind), [])
        return script[number] if number < len(script) else talkative(KEYS[model], verdict)


@pytest.fixture
def answers():
    return Answers()


@pytest.fixture
def server(answers):
    with FaultServer(by_model=answers) as running:
        yield running


@pytest.fixture
def study(checkout, server, tmp_path):
    """Two models answer and one judges, each with a key from elsewhere; two more may answer."""
    made = checkout(
        benchmarks={"gsm8k": {"source": "path", "path": "fruit.jsonl"}},
        examinees=["crow", "jay"],
        judges=["owl"],
        ablations={},
        templates=["default"],
    )
    lines = [
        json.dumps({"item_id": fruit, "question": f"How many are 2 and 2 {fruit}?", "answer": "#### 4"})
        for fruit in FRUIT
    ]
    (made.folder / "fruit.jsonl").write_text("\n".join(lines))
    endpoints = {
        "crow": ("openai/crow", {"api_base": server.url, "api_key_env": "CROW_KEY"}),
        "jay": ("anthropic/jay", {}),
        "owl": ("azure/owl", {"api_version": "2024-10-21"}),
        "finch": ("gemini/finch", {"api_base": f"{server.root}/v1beta"}),
        "heron": ("openai/heron", {"api_base": "https://models.invalid/v1", "api_key_env": "CROW_KEY"}),
    }
    for name, (model, endpoint) in endpoints.items():
        made.config["models"][name] = {
            "model": model,
            "family": name,
            "parameters": {"max_tokens": 50},
            "endpoint": endpoint,
            "limits": {"max_attempts": 60 if name == "crow" else 6},
        }
    made.config["models"]["finch"]["endpoint"]["api_key_env"] = "FINCH_KEY"
    made.config["models"]["heron"]["limits"] = {"max_attempts": 1}
    (made.folder / ".env").write_text(f"ANTHROPIC_API_KEY='{KEYS['jay']}'\nFINCH_KEY={KEYS['finch']}\n")
    # What HOME and TMPDIR mean may be remembered at import.
    made.forks = None
    home = tmp_path / "home"
    home.mkdir()
    made.environment |= UNRELATED | {
        "CROW_KEY": KEYS["crow"],
        "ANTHROPIC_API_BASE": server.root,
        "AZURE_AD_TOKEN": KEYS["owl"],
        "AZURE_API_BASE": server.root,
        "HTTPS_PROXY": f"http://me:{quote(PASSWORD)}@127.0.0.1:{server.port}",
        "HOME": str(home),
        "TMPDIR": str(home),
    }
    return made


def killed(study, server):
    """Run the study and kill all of it, with answers half way."""
    server.hold_after = server.answered + 3
    with (study.folder / "printed.txt").open("wb") as printed:
        run = study.start(
            "generate_all", "--rerun-incomplete", stdout=printed, stderr=subprocess.STDOUT, start_new_session=True
        )
        server.wait_until(lambda server: server.answered >= server.hold_after and server.in_flight > 0, timeout_s=60)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    server.release()
    study.snakemake("--unlock")
    return (study.folder / "printed.txt").read_text()


def written(folder):
    """Every file and what is in it; of tables, every cell."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name != ".env":
            yield path, path.read_bytes().decode("utf-8", "replace")
            if path.suffix == ".parquet":
                table = pq.read_table(path)
                yield path, json.dumps(table.to_pylist(), ensure_ascii=False, default=str) + str(table.schema.metadata)


def found_in(text):
    """The planted secrets that a text holds, in any form. Of Base64 it is enough to find the middle."""
    for secret in PLANTED:
        cores = [code.rstrip("=")[4:-4] for code in in_base64(secret)]
        for form in (*forms(secret), *cores, escaped(secret).lower(), secret[:14]):
            for needle in {form, json.dumps(form)[1:-1]}:
                if needle in text:
                    yield needle


def test_no_key_is_written_or_printed_whatever_becomes_of_the_calls(study, server, answers):
    printed = [killed(study, server)]
    study.config["examinees"] += ["finch", "heron"]
    printed.append(study.snakemake("generate_all", "--keep-going", "--rerun-incomplete", check=False).stdout)
    for said in ("grapes", "API key is refused", "heron: 7 of 7 calls failed"):
        assert said in printed[-1]
    study.config["examinees"] = ["crow", "jay"]
    answers.lasting.clear()
    printed.append(study.snakemake("estimate").stdout)
    printed.append(study.snakemake("all").stdout)

    leaks = [(str(path), needle) for path, text in written(study.folder.parent) for needle in found_in(text)]
    assert leaks == []
    assert [needle for text in printed for needle in found_in(text)] == []
