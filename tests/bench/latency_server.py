"""An OpenAI-compatible server that answers after a fixed time and does nothing else.

The first part of a path says how long: /200/v1/chat/completions answers after 200 ms. Prints its port, serves until it
is stopped.
"""

import asyncio
import json

from aiohttp import web

ANSWER = "The examinee multiplies 6 by 7 and gets 42, as it should. " * 15 + "VERDICT: correct"


async def _serve() -> None:
    # Not a router and an application: the server is to take as little of the processor as it can.
    runner = web.ServerRunner(web.Server(_answer, access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def _answer(request: web.BaseRequest) -> web.Response:
    await request.read()
    if latency_ms := int(request.path.split("/")[1]):
        await asyncio.sleep(latency_ms / 1000)
    return web.Response(body=_BODY, content_type="application/json")


_BODY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4.1-mini-2025-04-14",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}},
        ],
        "usage": {"prompt_tokens": 250, "completion_tokens": 230, "total_tokens": 480},
    }
).encode()

if __name__ == "__main__":
    asyncio.run(_serve())
