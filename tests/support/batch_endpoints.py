"""Files and batches in OpenAI's and Azure's forms: what a provider keeps while its clients come and go.

Each line of a batch gets what `server.script` says of its prompt: a completion goes into the output file, a Reply
with an HTTP error's status into the error file, one with `drop` into neither. Lines come back in reverse.
"""

import asyncio
import itertools
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from wire_formats import OPENAI, Reply

_PREFIXES = ("/v1", "/openai", "/openai/v1")
_EXPIRED = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}


@dataclass
class Batch:
    """One batch, and what was asked in it."""

    id: str
    document: dict[str, Any]
    lines: list[dict[str, Any]]
    polls: int = 0

    @property
    def is_running(self) -> bool:
        return self.document["status"] in ("validating", "in_progress", "cancelling")

    def prompts(self) -> list[str]:
        return [OPENAI.prompt(line["body"]) for line in self.lines]


@dataclass
class Batches:
    """The batches of a server.

    `finish_at_poll`: the poll at which a batch is done; None where only `finish` ends it. `faults`: replies to the
    next requests here, before anything is done; None for none. `forget_to_answer`: so many of the next batches are
    created, but the connection closes before their id is told. `hold`: a point of time, as "before POST /batches" or
    "after GET /files/{id}/content", the latter also with an id, at which a request stops until this is changed;
    `held` tells that one does, `left` that its client went away. `listed`: whether batches can be listed.
    `pending`: so many looks at a file that went up say that it isn't ready.
    """

    reply: Callable[[str, str], Reply]
    finish_at_poll: int | None = 1
    faults: list[Reply | None] = field(default_factory=list)
    forget_to_answer: int = 0
    hold: str | None = None
    held: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    listed: bool = True
    pending: int = 0
    created: list[Batch] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)  # method and path of every request
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def reset(self) -> None:
        self.finish_at_poll, self.forget_to_answer, self.hold = 1, 0, None
        self.listed, self.pending, self._numbers = True, 0, itertools.count(1)
        self.held.clear()
        self.left.clear()
        for kept in (self.faults, self.created, self.files, self.paths):
            kept.clear()

    def finish(self, status: str = "completed", answered: int | None = None, batch: Batch | None = None) -> None:
        """End running batches as completed, expired, cancelled or failed; of their lines the first `answered` are."""
        for each in [batch] if batch else self.created:
            if each.is_running:
                self._end(each, status, len(each.lines) if answered is None else answered)

    def prompts(self) -> list[str]:
        """The prompts of all batches, in order, repeats included."""
        return [prompt for batch in self.created for prompt in batch.prompts()]

    def add_routes(self, router: web.UrlDispatcher) -> None:
        for prefix in _PREFIXES:
            for method, path, handler in (
                ("POST", "/files", self._upload),
                ("GET", "/files/{id}", self._file),
                ("GET", "/files/{id}/content", self._content),
                ("DELETE", "/files/{id}", self._delete),
                ("POST", "/batches", self._create),
                ("GET", "/batches", self._list),
                ("GET", "/batches/{id}", self._retrieve),
                ("POST", "/batches/{id}/cancel", self._cancel),
            ):
                router.add_route(method, prefix + path, self._guarded(path, handler))

    def _guarded(self, path: str, handler: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        async def guarded(request: web.Request) -> web.StreamResponse:
            self.paths.append(f"{request.method} {request.path_qs}")
            if self.faults and (fault := self.faults.pop(0)) is not None:
                if fault.drop:
                    return _hung_up(request)
                return web.json_response(fault.body, status=fault.status, headers=fault.headers)
            names = [
                f"{request.method} {form.format(**request.match_info)}"
                for form in (path, path.replace("{id}", "{{id}}"))
            ]
            await self._stop("before", names)
            response = await handler(request)
            await self._stop("after", names)
            return response

        return guarded

    async def _stop(self, when: str, names: list[str]) -> None:
        try:
            while self.hold in [f"{when} {name}" for name in names]:
                self.held.set()
                await asyncio.sleep(0.005)
        except asyncio.CancelledError:
            self.left.set()
            raise

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        with upload.file as file:
            return web.json_response(self._keep(file.read(), str(form["purpose"])))

    def _keep(self, content: bytes, purpose: str) -> dict[str, Any]:
        name = f"file-{next(self._numbers)}"
        self.files[name] = content
        return self._described(name, purpose)

    def _described(self, name: str, purpose: str = "batch") -> dict[str, Any]:
        size = len(self.files[name])
        described = {"id": name, "object": "file", "bytes": size, "created_at": 1, "filename": f"{name}.jsonl"}
        self.pending -= (is_pending := self.pending > 0)
        return {**described, "purpose": purpose, "status": "pending" if is_pending else "processed"}

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        return web.json_response(self._described(name)) if name in self.files else _missing("file", name)

    async def _content(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        return web.Response(body=self.files[name]) if name in self.files else _missing("file", name)

    async def _delete(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        self.files.pop(name, None)
        return web.json_response({"id": name, "object": "file", "deleted": True})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if asked["input_file_id"] not in self.files or self.pending:
            return _missing("file", asked["input_file_id"])
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].split(b"\n") if line.strip()]
        name = f"batch_{next(self._numbers)}"
        document = {
            "id": name,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": asked["completion_window"],
            "metadata": asked.get("metadata"),
            "status": "in_progress",
            "created_at": 1,
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }
        batch = Batch(name, document, lines)
        self.created.append(batch)
        if fault := _unusable(lines):
            self._end(batch, "failed", 0, fault)
        if self.forget_to_answer:
            self.forget_to_answer -= 1
            return _hung_up(request)
        return web.json_response(document)

    async def _list(self, request: web.Request) -> web.Response:
        if not self.listed:
            return web.json_response(OPENAI.error("Not Found"), status=404)
        # The newest first, as OpenAI does.
        documents = [batch.document for batch in reversed(self.created)]
        names = [document["id"] for document in documents]
        start = names.index(request.query["after"]) + 1 if "after" in request.query else 0
        end = start + int(request.query.get("limit", 20))
        return web.json_response({"object": "list", "data": documents[start:end], "has_more": end < len(documents)})

    def _found(self, request: web.Request) -> Batch | None:
        return next((batch for batch in self.created if batch.id == request.match_info["id"]), None)

    async def _retrieve(self, request: web.Request) -> web.Response:
        batch = self._found(request)
        if batch is None:
            return _missing("batch", request.match_info["id"])
        batch.polls += 1
        if batch.document["status"] == "cancelling":
            self.finish("cancelled", 0, batch)
        elif self.finish_at_poll is not None and batch.polls >= self.finish_at_poll:
            self.finish(batch=batch)
        return web.json_response(batch.document)

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self._found(request)
        if batch is None:
            return _missing("batch", request.match_info["id"])
        if batch.is_running:
            batch.document["status"] = "cancelling"
        return web.json_response(batch.document)

    def _end(self, batch: Batch, status: str, answered: int, fault: dict[str, Any] | None = None) -> None:
        batch.document["status"] = status
        batch.document[f"{status}_at"] = 2
        if status == "failed":
            fault = fault or {"code": "invalid_request", "message": "the batch was refused"}
            batch.document["errors"] = {"object": "list", "data": [fault]}
            return
        outputs, errors = [], []
        for line in reversed(batch.lines[:answered]):
            reply = self.reply(line["body"]["model"], OPENAI.prompt(line["body"]))
            if not reply.drop:
                (outputs if reply.status == 200 else errors).append(_result(line, reply))
        if status == "expired":
            rest = batch.lines[answered:]
            errors += [{**_named(line), "response": None, "error": _EXPIRED} for line in reversed(rest)]
        for kind, results in (("output_file_id", outputs), ("error_file_id", errors)):
            if results:
                content = "".join(json.dumps(result) + "\n" for result in results).encode()
                batch.document[kind] = self._keep(content, "batch_output")["id"]
        batch.document["request_counts"].update(completed=len(outputs), failed=len(errors))


def _named(line: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"batch_req_{line['custom_id']}", "custom_id": line["custom_id"]}


def _result(line: dict[str, Any], reply: Reply) -> dict[str, Any]:
    body = line["body"]
    document = OPENAI.completion(body["model"], OPENAI.prompt(body), reply) if reply.body is None else reply.body
    response = {"status_code": reply.status, "request_id": "req_1", "body": document}
    return {**_named(line), "response": response, "error": None}


def _unusable(lines: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the provider would refuse the whole batch for."""
    if not lines:
        return {"code": "empty_file", "message": "The input file is empty."}
    if len({line["custom_id"] for line in lines}) < len(lines):
        return {"code": "duplicate_custom_id", "message": "The custom_id of a request is not unique."}
    if len({line["body"]["model"] for line in lines}) > 1:
        return {"code": "mismatched_model", "message": "A batch is for one model."}
    return None


def _missing(kind: str, name: str) -> web.Response:
    return web.json_response(OPENAI.error(f"No such {kind}: {name}", "not_found"), status=404)


def _hung_up(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.close()
    return web.Response()
