"""litellm's files and batches work against the tests' server as they do against OpenAI's and Azure's."""

import json
from typing import Any

import pytest
from fault_server import FaultServer, Reply, error_body

from voirdire.models import engine
from voirdire.models.outcome import read_exception, read_response

KEY = "planted-key-0123456789abcdef"


class Client:
    """Batches through litellm.

    Its synchronous calls: the asynchronous ones leave connections open, and after a look at a finished batch fetch
    its output once more, to compute a cost.
    """

    def __init__(self, **route: Any) -> None:
        self.litellm = engine.load_litellm()
        # litellm makes a client of each call's own and never closes it.
        self.route = {
            "api_key": KEY,
            "timeout": 30,
            "max_retries": 0,
            "extra_headers": {"Connection": "close"},
            **route,
        }

    def submit(self, *prompts: str, **metadata: str) -> Any:
        content = "".join(json.dumps(line(prompt)) + "\n" for prompt in prompts).encode()
        file = self.litellm.create_file(file=("calls.jsonl", content), purpose="batch", **self.route)
        return self.litellm.create_batch(
            completion_window="24h",
            endpoint="/v1/chat/completions",
            input_file_id=file.id,
            metadata=metadata,
            **self.route,
        )

    def retrieve(self, name: str) -> Any:
        return self.litellm.retrieve_batch(batch_id=name, **self.route)

    def cancel(self, name: str) -> Any:
        return self.litellm.cancel_batch(batch_id=name, **self.route)

    def listed(self) -> Any:
        return self.litellm.list_batches(limit=100, **self.route).data

    def lines(self, file: str | None) -> dict[str, Any]:
        """The lines of a file by their calls' ids, in the file's order."""
        if file is None:
            return {}
        content = self.litellm.file_content(file_id=file, **self.route).content
        return {result["custom_id"]: result for result in map(json.loads, content.decode().splitlines())}


def line(prompt: str) -> dict[str, Any]:
    body = {"model": "tested", "messages": [{"role": "user", "content": prompt}], "temperature": 0}
    return {"custom_id": prompt, "method": "POST", "url": "/v1/chat/completions", "body": body}


@pytest.fixture
def client(server: FaultServer) -> Client:
    return Client(custom_llm_provider="openai", api_base=server.url)


ROUTES = {
    "openai": (lambda server: {"custom_llm_provider": "openai", "api_base": server.url}, "/v1/"),
    "vllm": (lambda server: {"custom_llm_provider": "hosted_vllm", "api_base": server.url}, "/v1/"),
    "azure": (
        lambda server: {"custom_llm_provider": "azure", "api_base": server.root, "api_version": "2024-10-21"},
        "/openai/",
    ),
    "azure v1": (
        lambda server: {"custom_llm_provider": "azure", "api_base": server.root, "api_version": "v1"},
        "/openai/v1/",
    ),
}


@pytest.mark.parametrize("route", ROUTES)
def test_a_batch_goes_out_and_comes_back_in_another_order(server, route):
    of_server, path = ROUTES[route]
    client = Client(**of_server(server))
    server.script("bad", Reply(status=400, body=error_body("flagged", "content_filter")))
    submitted = client.submit("a", "bad", "b")
    assert submitted.status == "in_progress"
    done = client.retrieve(submitted.id)
    assert (done.status, done.request_counts.completed, done.request_counts.failed) == ("completed", 2, 1)
    answers = client.lines(done.output_file_id)
    assert list(answers) == ["b", "a"]
    assert answers["a"]["response"]["body"]["choices"][0]["message"]["content"] == "answer to: a"
    (error,) = client.lines(done.error_file_id).values()
    assert (error["custom_id"], error["response"]["status_code"]) == ("bad", 400)
    assert server.batches.prompts() == ["a", "bad", "b"]
    assert [each.split()[1].startswith(path) for each in server.batches.paths] == [True] * 5


def test_a_line_of_a_batch_reads_as_a_live_response(server, client):
    server.script("p", Reply("<think>6 * 7</think>42", "length", model="tested-2026"))
    done = client.retrieve(client.submit("p").id)
    body = client.lines(done.output_file_id)["p"]["response"]["body"]
    litellm = engine.load_litellm()
    response = litellm.utils.convert_to_model_response_object(
        response_object=body, model_response_object=litellm.ModelResponse()
    )
    reading = read_response(response)
    assert (reading.status, reading.text, reading.finish_reason) == ("truncated", "42", "length")
    assert (response.model, response.usage.prompt_tokens, response.usage.completion_tokens) == ("tested-2026", 1, 3)


def test_a_batch_ends_when_the_test_says_so(server, client):
    server.batches.finish_at_poll = None
    submitted = client.submit("a")
    assert [client.retrieve(submitted.id).status for _ in range(3)] == ["in_progress"] * 3
    server.batches.finish()
    assert client.retrieve(submitted.id).status == "completed"


def test_an_expired_batch_keeps_what_it_answered(server, client):
    submitted = client.submit("a", "b", "c")
    server.batches.finish("expired", answered=1)
    done = client.retrieve(submitted.id)
    assert (done.status, list(client.lines(done.output_file_id))) == ("expired", ["a"])
    errors = client.lines(done.error_file_id)
    assert {name: error["error"]["code"] for name, error in errors.items()} == dict.fromkeys("cb", "batch_expired")


def test_a_batch_with_a_repeated_id_fails_as_a_whole(client):
    done = client.retrieve(client.submit("a", "a").id)
    assert (done.status, done.errors.data[0].code) == ("failed", "duplicate_custom_id")
    assert done.output_file_id is None


def test_a_cancelled_batch_ends_at_the_next_look(server, client):
    server.batches.finish_at_poll = None
    submitted = client.submit("a")
    assert client.cancel(submitted.id).status == "cancelling"
    assert client.retrieve(submitted.id).status == "cancelled"


def test_a_line_may_come_back_in_neither_file(server, client):
    server.script("lost", Reply(drop=True))
    done = client.retrieve(client.submit("a", "lost").id)
    assert (list(client.lines(done.output_file_id)), done.error_file_id) == (["a"], None)


def test_a_batch_whose_id_was_never_told_is_found_by_its_metadata(server, client):
    server.batches.forget_to_answer = 1
    with pytest.raises(Exception, match="Connection error") as caught:
        client.submit("a", voirdire="job 7")
    assert read_exception(caught.value).kind == "again"
    (found,) = client.listed()
    assert found.metadata == {"voirdire": "job 7"}
    assert client.retrieve(found.id).status == "completed"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Reply(status=429, headers={"Retry-After": "3"}, body=error_body("slow down")), "again"),
        (Reply(status=500, body=error_body("boom")), "again"),
        (Reply(drop=True), "again"),
        (Reply(status=401, body=error_body("bad key")), "key"),
        (Reply(status=404, body=error_body("no batches here")), "missing"),
    ],
)
def test_a_fault_is_told_once_and_read_as_that_of_a_call(server, client, fault, kind):
    server.batches.faults.append(fault)
    with pytest.raises(Exception, match=r"Error code|Connection error") as caught:
        client.submit("a")
    assert read_exception(caught.value).kind == kind
    assert len(server.batches.paths) == 1
