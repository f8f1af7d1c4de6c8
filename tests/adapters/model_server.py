"""An OpenAI-compatible server on loopback that misbehaves on demand, for the real litellm path.

The model's name says how: ``openai/429`` is limited, ``openai/ok`` says ``server.text``.
"""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdefghij"

ERRORS: dict[str, tuple[int, dict[str, Any]]] = {
    "401": (401, {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}),
    "403": (403, {"message": f"{KEY} may not"}),
    "404": (404, {"message": "The model does not exist", "code": "model_not_found"}),
    "429": (429, {"message": "Slow down", "type": "rate_limit"}),
    "context": (
        400,
        {
            "message": "This model's maximum context length is 4096 tokens",
            "code": "context_length_exceeded",
        },
    ),
    "llama-context": (
        400,
        {
            "message": "the request exceeds the available context size",
            "type": "exceed_context_size_error",
        },
    ),
    "no-schema": (400, {"message": "response_format of type json_schema is not supported"}),
    "400": (400, {"message": f"Bad request {KEY}"}),
    "500": (500, {"message": "Out of order"}),
    "503": (503, {"message": "Loading model"}),
    "filtered": (400, {"message": "Your prompt was flagged", "code": "content_policy_violation"}),
}


@dataclass
class ModelServer:
    """What it says and what it was asked. ``models`` is its list of models."""

    text: str = "{}"
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "ok"}])
    listing_status: int = 200
    posts: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> ModelServer:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                owner.keys.append(self.headers.get("authorization"))
                name = self.path.rpartition("/models/")[2] if "/models/" in self.path else None
                if owner.listing_status != 200:
                    self.send(owner.listing_status, {"error": "no"})
                elif name is not None:
                    known = any(m["id"] == name for m in owner.models)
                    self.send(200 if known else 404, {"id": name})
                else:
                    self.send(200, {"object": "list", "data": owner.models})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                owner.posts.append(body)
                owner.keys.append(self.headers.get("authorization"))
                status, answer = owner.answer(body)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.send(status, answer)

            def send(self, status: int, answer: Any) -> None:
                html = isinstance(answer, str)
                data = answer.encode() if html else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "text/html" if html else "application/json")
                self.send_header("content-length", str(len(data)))
                if status == 429:
                    self.send_header("retry-after", "7")
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        model = body["model"]
        if model == "no-schema" and "response_format" not in body:
            model = "ok"
        if model in ERRORS:
            status, error = ERRORS[model]
            return status, {"error": error}
        if model == "html":
            return 200, "<html>not a model</html>"
        if model == "slow":
            self.release.wait(10)
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        finish = "stop"
        if model == "refuses":
            message = {"role": "assistant", "content": None, "refusal": "I must decline"}
        if model == "stopped":
            finish = "content_filter"
        if model == "cut":
            finish = "length"
        choices = (
            []
            if model == "nothing"
            else [{"index": 0, "finish_reason": finish, "message": message}]
        )
        return 200, {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": choices,
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
