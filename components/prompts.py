"""Every request to a language model as it was sent, beside its reply and what was
parsed from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import zip_longest

import streamlit as st

from components import paging
from components.markup import chip, mono
from components.notices import empty
from components.palette import REFUSED
from components.safe import esc, visible
from core.events import Called, ModelCalled, Step

PAGE = 12


def calls(steps: Sequence[Step]) -> list[tuple[Step, ModelCalled, Called | None]]:
    """The requests to a model, newest first; the last attempt at a task with what came of it."""
    found: list[tuple[Step, ModelCalled, Called | None]] = []
    for step, after in zip_longest(steps, steps[1:]):
        if isinstance(step.event, ModelCalled):
            then = after.event if after else None
            came = then if isinstance(then, Called) and then.port == "reasoner" else None
            found.append((step, step.event, came))
    return found[::-1]


def draw(steps: Sequence[Step], *, key: str) -> None:
    """Show the model calls, newest first, a page at a time."""
    found = calls(steps)
    if not found:
        empty("forum", "No prompt yet", "Prompts and replies appear with the first model call.")
        return
    for step, call, came in paging.page(
        found, PAGE, key=key, noun="model call", order="newest first"
    ):
        _call(step, call, came)


def _call(step: Step, call: ModelCalled, came: Called | None) -> None:
    failed = f" {chip(REFUSED, 'failed')} {esc(call.error)}" if call.error else ""
    cached = " from the cache" if call.cached else ""
    tries = f", attempt {call.attempt}" if call.attempt > 1 else ""
    st.html(
        f'<div class="ri-decision"><b>Step {step.seq}: {esc(call.task)}</b> {mono(call.model)} '
        f'<span class="ri-dim ri-tabular">{call.tokens_in:,} tokens in, {call.tokens_out:,} '
        f"out, {call.ms / 1000:.2f} s{tries}{cached}</span>{failed}</div>"
    )
    sent, replied = st.columns(2)
    with sent:
        st.caption("Prompt as sent")
        st.code(visible(call.prompt), language=None, wrap_lines=True, height=260)
    with replied:
        st.caption("Reply")
        _code(visible(call.reply) or "(empty)", 260 if came is None else 115)
        if came is not None:
            st.caption("What was parsed from it" if came.error is None else "It was refused")
            parsed = came.error or json.dumps(came.response, ensure_ascii=False, indent=1)
            _code(visible(parsed), 105)


def _code(text: str, height: int) -> None:
    st.code(text, language=None, wrap_lines=True, height=height)
