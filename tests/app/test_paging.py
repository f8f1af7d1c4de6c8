"""Long lists: every item on exactly one page, the count stated, nothing cut silently."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from benchmarks.long_run import lengthened
from components import belief_view, paging, prompts, session
from core.events import ModelCalled
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, Open, html
from tests.app.recorded import record


def _list(total: int, size: int) -> None:
    import streamlit as st

    from components import paging

    shown = paging.page(list(range(total)), size, key="here", noun="thing", order="first first")
    st.text(",".join(map(str, shown)))


def test_every_item_is_on_exactly_one_page() -> None:
    app = AppTest.from_function(_list, args=(47, 10)).run()
    seen: list[str] = []
    for number in range(1, 6):
        app.get_by_key("here").set_value(number).run()
        seen += app.text[0].value.split(",")
        assert " of 47 things, first first" in app.caption[0].value
    assert seen == [str(n) for n in range(47)]


def test_a_list_that_fits_has_no_buttons() -> None:
    app = AppTest.from_function(_list, args=(10, 10)).run()
    assert not app.caption
    assert app.text[0].value == "0,1,2,3,4,5,6,7,8,9"


@given(st.integers(0, 500), st.integers(1, 40), st.integers(-3, 99))
def test_the_open_page_is_one_that_there_is(total: int, size: int, wanted: int) -> None:
    found = min(max(1, wanted), max(1, -(-total // size)))
    session.put("there", wanted)
    assert paging.number("there", total, size) == found


def test_the_views_of_a_long_run_are_paged_and_say_so(page: Open, bench: FakeBench) -> None:
    bench.journal.append(lengthened(record(answer_threshold=0.55), 2_000, "long"))
    app = page(RUN, run="long")
    for view, words, most in (
        ("evidence", "passages, held ones first", 60),
        ("gates", "decisions, newest first", 30),
        ("story", "of 2,000 steps, lines", 10**9),
    ):
        app.get_by_key(session.VIEW).set_value(view).run()
        assert any(words in c.value for c in app.caption), view
        assert html(app).count("<table") + html(app).count("ri-details") <= 2 * most
    first = html(app)
    app.get_by_key(session.VIEW).set_value("evidence").run()
    app.get_by_key(session.EVIDENCE_PAGE).set_value(2).run()
    assert "51 to 100 of " in " ".join(c.value for c in app.caption)
    assert html(app) != first


def test_a_prompt_stands_beside_its_reply_and_what_was_parsed(page: Open, bench: FakeBench) -> None:
    steps = record(answer_threshold=0.55)
    at = next(
        n for n, s in enumerate(steps) if s.event.kind == "Called" and s.event.port == "reasoner"
    )
    came = steps[at].event
    call = ModelCalled(
        task=came.task, prompt="Judge it.", reply="yes", model="m", tokens_in=3, tokens_out=1
    )
    with_call = [*steps[:at], steps[at].model_copy(update={"event": call}), *steps[at:]]
    kept = [
        s.model_copy(update={"seq": n, "parent_seq": n - 1 if n else None})
        for n, s in enumerate(with_call)
    ]
    bench.journal.append(kept)
    app = page(RUN, run="recordedrun")
    app.get_by_key(session.VIEW).set_value("prompts").run()
    shown = [block.value for block in app.code]
    assert "Judge it." in shown
    assert "yes" in shown
    assert json.dumps(came.response, ensure_ascii=False, indent=1) in shown
    assert prompts.calls(kept)[0][2] == came


def test_the_history_of_a_long_run_is_bounded_and_says_so(page: Open, bench: FakeBench) -> None:
    steps = lengthened(record(answer_threshold=0.55), 2_400, "long")
    bench.journal.append(steps)
    updates = sum(s.event.kind == "BeliefUpdated" for s in steps)
    assert updates > belief_view.HISTORY
    app = page(RUN, run="long")
    shown = f"{updates - belief_view.HISTORY + 1} to {updates} of {updates} updates"
    assert any(shown in c.value for c in app.caption)
