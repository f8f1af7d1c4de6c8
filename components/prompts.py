"""Every request to a language model as it was sent, beside its reply."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.markup import chip, mono
from components.notices import empty
from components.palette import REFUSED
from components.safe import esc, visible
from core.events import ModelCalled, Step


def draw(steps: Sequence[Step]) -> None:
    """Show the model calls, newest first."""
    calls = [(s, s.event) for s in reversed(steps) if isinstance(s.event, ModelCalled)]
    if not calls:
        empty("forum", "No prompt yet", "Prompts and replies appear with the first model call.")
    for step, call in calls:
        failed = f" {chip(REFUSED, 'failed')} {esc(call.error)}" if call.error else ""
        cached = " from the cache" if call.cached else ""
        st.html(
            f'<div class="ri-decision"><b>Step {step.seq}: {esc(call.task)}</b> {mono(call.model)} '
            f'<span class="ri-dim ri-tabular">{call.tokens_in:,} tokens in, {call.tokens_out:,} '
            f"out, {call.ms / 1000:.2f} s{cached}</span>{failed}</div>"
        )
        sent, replied = st.columns(2)
        with sent:
            st.caption("Prompt as sent")
            st.code(visible(call.prompt), language=None, wrap_lines=True, height=260)
        with replied:
            st.caption("Reply")
            st.code(visible(call.reply) or "(empty)", language=None, wrap_lines=True, height=260)
