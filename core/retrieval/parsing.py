"""Time-limited parsing of pdf, docx and html files in a worker process."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Literal

from core.errors import BadInput
from core.retrieval.decoding import whole_characters
from core.types import Frozen

WORKER = Path(__file__).with_name("parser_worker.py")
SECONDS = 30.0
UNFINISHED = "parse_unfinished"
"""Reason code where the worker ran out of time or died: another try may end well."""


class Parsed(Frozen):
    """Title (may be empty), text and warnings of a parsed file."""

    title: str
    text: str
    warnings: tuple[str, ...] = ()


class Parser:
    """A worker process that is started at the first file and replaced when it hangs or dies.

    Use as a context manager; one thread at a time.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        """``seconds``: the time limit for one file."""
        self.seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.Queue[str] = queue.Queue()

    def __enter__(self) -> Parser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def parse(self, kind: Literal["pdf", "docx", "html"], source: str) -> Parsed:
        """The text of a file; ``source`` is its path, or the markup itself for html.

        Raises:
            BadInput: it has no usable text or took too long; the message is the reason.
        """
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps({"kind": kind, "source": source}) + "\n")
            process.stdin.flush()
            line = self._replies.get(timeout=self.seconds)
        except queue.Empty:
            self.close()
            raise BadInput(
                f"reading it took longer than {self.seconds:g} s", code=UNFINISHED
            ) from None
        except OSError:
            line = ""
        if not line:
            self.close()
            raise BadInput("the reader stopped on it; it is damaged or too large", code=UNFINISHED)
        reply = json.loads(line)
        if "refused" in reply:
            raise BadInput(whole_characters(reply["refused"]))
        return Parsed(
            title=whole_characters(reply["title"]),
            text=whole_characters(reply["text"].replace("\r\n", "\n").replace("\r", "\n")),
            warnings=tuple(reply["warnings"]),
        )

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was never sent to a dead worker
                    stream.close()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._replies = queue.Queue()
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
            assert self._process.stdout is not None
            threading.Thread(
                target=_forward, args=(self._process.stdout, self._replies), daemon=True
            ).start()
        return self._process


def _forward(stream: IO[str], replies: queue.Queue[str]) -> None:
    """Pass lines on; the empty string says that the worker is gone."""
    try:
        for line in stream:
            replies.put(line)
    except (OSError, ValueError):  # the stream was closed under it
        pass
    replies.put("")
