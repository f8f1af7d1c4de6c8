"""Validated replies on disk, so that what was asked of a model once costs nothing again.

Off unless a folder is given. One JSON file per reply, named by the digest of model, prompt and
parameters; only replies that the reasoner accepted are written, so a malformed one never comes
back. The files hold prompts, so documents: the folder deserves the same care as the corpora.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from pydantic import ValidationError

from core.chat import ChatReply, ChatRequest, Gateway
from core.types import Frozen, JsonObject, digest


class _Entry(Frozen):
    model: str
    asked: JsonObject
    reply: ChatReply


class CachingGateway:
    """A gateway that answers from ``folder`` where it can; such replies are ``cached``, cost 0.

    A file that cannot be read counts as absent and is written anew. Failing to write (a full
    disk) loses the saving, never the reply.
    """

    def __init__(self, gateway: Gateway, folder: Path) -> None:
        self._gateway, self._folder = gateway, folder

    @property
    def model(self) -> str:
        """The model string of the gateway behind."""
        return self._gateway.model

    @property
    def context_tokens(self) -> int | None:
        """As the gateway behind says."""
        return self._gateway.context_tokens

    def worst_cost(self, tokens_in: int, tokens_out: int) -> float:
        """As the gateway behind says: a miss may still cost it."""
        return self._gateway.worst_cost(tokens_in, tokens_out)

    def complete(self, request: ChatRequest) -> ChatReply:
        """The kept reply, or else one request over the wire; raises what that raises."""
        entry = self._read(request)
        if entry is not None:
            return entry.reply.model_copy(update={"cached": True, "cost": 0.0})
        return self._gateway.complete(request)

    def accepted(self, request: ChatRequest, reply: ChatReply) -> None:
        """Keep a reply that validated."""
        self._gateway.accepted(request, reply)
        if reply.cached:
            return
        entry = _Entry(model=self.model, asked=request.asked(), reply=reply)
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, suffix=".tmp")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(entry.model_dump_json())
                os.replace(name, self._path(request))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def clear(self) -> int:
        """Remove every kept reply; how many there were."""
        kept = list(self._folder.glob("*.json"))
        for path in kept:
            path.unlink(missing_ok=True)
        return len(kept)

    def _path(self, request: ChatRequest) -> Path:
        return self._folder / f"{digest({'model': self.model, **request.asked()})}.json"

    def _read(self, request: ChatRequest) -> _Entry | None:
        try:
            text = self._path(request).read_text(encoding="utf-8")
            entry = _Entry.model_validate_json(text)
        except (OSError, ValidationError, UnicodeDecodeError):
            return None
        same = entry.model == self.model and entry.asked == request.asked()
        return entry if same else None
