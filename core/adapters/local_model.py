"""A GGUF model served on loopback by xllamacpp (llama.cpp): OpenAI-compatible, no compiler, no key.

The wheels are in ``requirements-local-model.txt``, apart from what the product needs.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from core.adapters.model_check import served_models
from core.errors import BadInput

HOST = "127.0.0.1"
PORT = 8012
"""Where the app looks for a served model."""
CONTEXT = 16_384
"""Tokens of prompt and reply together; enough for the largest packing of the defaults."""
CACHE_MIB = 1_024
"""Memory for the states of earlier prompts, whose beginnings later ones share."""
_QUIET = -1


@dataclass(frozen=True, slots=True)
class Serving:
    """A running server: what to give as model and as address."""

    model: str
    api_base: str

    def advice(self) -> str:
        """How to use it."""
        return f"Serving {self.model}; use --model {self.model} --api-base {self.api_base}"


@contextmanager
def local_model(
    path: Path, port: int = PORT, *, context: int = CONTEXT, threads: int | None = None
) -> Iterator[Serving]:
    """Serve a GGUF file on loopback for as long as the block lasts; ``port`` 0 takes a free one.

    Raises:
        BadInput: no such file, not a GGUF file, the port is taken, or xllamacpp is not installed.
    """
    _check(path)
    if port:
        _check_port(port)
    library = _library()
    try:
        server = library.Server(_parameters(library, path, port, context, threads))
    except RuntimeError:
        raise BadInput(
            f"The model {path.name} cannot be served; check that the file is a whole chat model "
            "and that there is memory for it, or give a smaller --context."
        ) from None
    try:
        yield Serving(f"openai/{path.stem}", f"{server.listening_address}/v1")
    finally:
        del server


def running(port: int = PORT) -> tuple[Serving, ...]:
    """The models served on this machine at ``port``; empty when nothing answers within a second."""
    base = f"http://{HOST}:{port}/v1"
    return tuple(Serving(f"openai/{served.id}", base) for served in served_models(base))


def serve_model(
    path: Path,
    port: int = PORT,
    *,
    context: int = CONTEXT,
    threads: int | None = None,
    say: Callable[[str], None] = print,
    until: threading.Event | None = None,
) -> None:
    """Serve a GGUF file until interrupted (Ctrl-C), or until ``until`` is set; says how to use it.

    Raises:
        BadInput: as ``local_model``.
    """
    stop = until or threading.Event()
    with local_model(path, port, context=context, threads=threads) as serving:
        say(serving.advice())
        try:
            stop.wait()
        except KeyboardInterrupt:
            say("Stopped.")


def _library() -> Any:
    try:
        return import_module("xllamacpp")
    except ImportError:
        raise BadInput(
            "Serving a model needs xllamacpp; run pip install -r requirements-local-model.txt."
        ) from None


def _parameters(library: Any, path: Path, port: int, context: int, threads: int | None) -> Any:
    params = library.CommonParams()
    params.model.path = str(path)
    params.model_alias = {path.stem}
    params.hostnames = [HOST]
    params.port = port
    params.cors_origins = f"http://{HOST}"
    params.cors_credentials = False
    params.ui = False
    params.endpoint_slots = False
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_ram_mib = CACHE_MIB
    params.verbosity = _QUIET
    if threads is not None:
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
    return params


def _check(path: Path) -> None:
    if not path.is_file():
        raise BadInput(f"There is no file {path.name}; give the path of a GGUF model file.")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise BadInput(f"{path.name} is no GGUF file; give the path of a GGUF model file.")


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            raise BadInput(f"Port {port} cannot be used; choose another with --port.") from None
