"""What a person sees of a ragX run: the transcript, the slots, the packing, the marked answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components import (
    call_counter,
    evidence,
    forage_view,
    packing,
    session,
    slot_chain,
    system_views,
)
from components.answer import passages_of
from components.markup import number
from core import contracts, registry, trace, wording
from core.events import Composed, Decided, ForageTurn, Grounded, HopResolved, Retrieved, Step
from core.narration import narrate
from core.replay import ParsedRun, replay
from core.settings import override
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, Open, html
from tests.app.foraging import Agent, Flaky, foraged
from tests.app.recorded import BETTANY, JARVIS, NASTY, OTHER, passage
from tests.core.world import run as words_run

STEPS = foraged()
QUESTION = trace.start(STEPS).question


def seq(kind: type, nth: int = 0, steps: list[Step] = STEPS) -> int:
    return [s.seq for s in steps if isinstance(s.event, kind)][nth]


def keep(bench: FakeBench, steps: list[Step]) -> str:
    lines = "".join(f"{s.model_dump_json()}\n" for s in steps)
    return bench.journal.import_jsonl(lines).run_id


# --- the transcript ------------------------------------------------------------------------------


def test_every_step_of_the_forage_belongs_to_the_turn_under_way() -> None:
    found = forage_view.turns(STEPS)
    assert [t.event.action if t.event else None for t in found] == [
        "RANK",
        "READ",
        "RANK",
        "",
        "READ",
        "ANSWER",
    ]
    for n, turn in enumerate(found):
        assert STEPS[turn.seq].event is turn.event
        for place in range(turn.first, turn.seq + 1):
            assert forage_view.at(found, place) == n
    assert found[0].hits
    assert found[1].read == JARVIS.id
    assert found[2].repeated
    assert sum(t.tokens for t in found) == STEPS[found[-1].seq].usage.tokens


@pytest.mark.parametrize("cut", range(1, len(STEPS)))
def test_the_transcript_at_a_step_is_that_of_the_steps_up_to_it(cut: int) -> None:
    whole, part = forage_view.turns(STEPS), forage_view.turns(STEPS[:cut])
    done = [t for t in part if t.event]
    assert [(t.number, t.event) for t in done] == [(t.number, t.event) for t in whole[: len(done)]]
    assert len(part) - len(done) <= 1, "one turn is under way at most"
    assert forage_view.at(whole, cut - 1) == len(part) - 1


def test_a_turn_that_a_failing_agent_ended_says_so() -> None:
    class Silent(Agent):
        def perform(self, task, request, allowance):  # type: ignore[no-untyped-def]
            if task.name == "forage_turn":
                from core.errors import ReasonerError

                raise ReasonerError("The model did not reply.")
            return super().perform(task, request, allowance)

    (turn,) = forage_view.turns(foraged(agent=Silent()))
    assert turn.event is None
    assert "did not reply" in turn.warning
    assert turn.sign is forage_view.STOPPED


def test_the_page_shows_turns_errors_repeats_and_line_numbers(page: Open, bench: FakeBench) -> None:
    run = keep(bench, STEPS)
    shown = html(page(RUN, run=run, step=seq(ForageTurn, 5)))
    assert "Turn 6" in shown
    assert "the reply holds no action" in shown
    assert "I will look it up now." in shown, "what the agent wrote is shown"
    assert "repeated" in shown
    assert "no listed passage has this name" in shown
    assert "<li><span>1</span><div dir=auto>Iron Man is a film of 2008." in shown
    assert "typically 8 to 15" in shown
    early = html(page(RUN, run=run, step=seq(ForageTurn, 0)))
    assert "Turn 1" in early
    assert "Turn 2" not in early, "the transcript follows the cursor"


def test_a_search_that_failed_is_told() -> None:
    steps = foraged(world=Flaky(broken=1))
    turn = forage_view.turns(steps)[0]
    assert turn.event is not None
    assert turn.event.error
    assert "did not answer in time" in forage_view._card(turn, {}, {}, opened=True)


def test_scores_stand_beside_the_handle_that_they_belong_to() -> None:
    turn = forage_view.turns(STEPS)[0]
    rows = forage_view.read_observation(turn.event.observation).ranked  # type: ignore[union-attr]
    known = passages_of(STEPS)
    found = forage_view._scores(turn.hits[::-1], rows, known)
    for row in rows:
        hit = found[row.handle]
        assert known[hit.id].title == row.label


# --- slots ---------------------------------------------------------------------------------------


def test_slots_fill_in_step_by_step() -> None:
    before = slot_chain.chain(STEPS[: seq(HopResolved)], QUESTION)
    assert [k.event for k in before.links] == [None, None]
    assert before.links[0].query == "Which actor plays Jarvis?"
    after = slot_chain.chain(STEPS, QUESTION)
    assert after.over
    second = after.links[1]
    assert '<span class="ri-slot">#1</span>' in slot_chain.slots(second.sub_question)
    assert '<mark class="ri-put">Paul Bettany</mark>' in slot_chain.filling(second, after)


def test_an_empty_hop_leaves_its_text_in_the_slot_and_that_is_said(
    page: Open, bench: FakeBench
) -> None:
    steps = foraged(agent=Agent(hops=("", "Jennifer Connelly")))
    state = slot_chain.chain(steps, QUESTION)
    assert "ri-put-text" in slot_chain.filling(state.links[1], state)
    app = page(RUN, run=keep(bench, steps))
    shown = html(app.get_by_key(session.VIEW).set_value("slots").run())
    assert "no answer: its question text stands in the next slot" in shown


def test_a_question_that_cannot_be_split_is_one_hop() -> None:
    steps = foraged(agent=Agent(subs=("Who is #2?", "x")))
    state = slot_chain.chain(steps, QUESTION)
    assert state.undecomposed
    assert [k.sub_question for k in state.links] == [QUESTION]
    assert state.links[0].event is not None


def test_a_variant_without_slot_chain_says_so(page: Open, bench: FakeBench) -> None:
    app = page(RUN, run=keep(bench, foraged("ragx-fast")))
    assert "has no slot chain" in html(app.get_by_key(session.VIEW).set_value("slots").run())


# --- packing -------------------------------------------------------------------------------------


def test_the_bar_has_a_segment_for_each_passage_and_adds_up() -> None:
    found = packing.packed(STEPS)
    assert found is not None
    now, _ = found
    composed = next(s.event for s in STEPS if isinstance(s.event, Composed))
    assert now.passages == composed.passages
    shown = packing.bar(now, trace.titles(STEPS), "Packing")
    segments = shown.partition('<div class="ri-legend')[0]
    for route in packing.ROUTES:
        wanted = sum(p.route == route for p in composed.passages)
        assert segments.count(f"ri-route-{route}") == wanted
    assert sum(count for count, _ in now.sums().values()) == len(now.passages)
    assert sum(tokens for _, tokens in now.sums().values()) + now.overhead == now.total
    gate = next(
        g
        for s in STEPS
        if isinstance(s.event, Decided) and s.event.decider == "ragx.pack"
        for g in s.event.gates
        if g.name == "tokens"
    )
    assert (now.total, now.limit) == (gate.value, gate.threshold)


def test_what_was_cut_is_named_with_its_reason(page: Open, bench: FakeBench) -> None:
    steps = foraged(evidence_window=1)
    composed = next(s.event for s in steps if isinstance(s.event, Composed))
    assert composed.trimmed
    app = page(RUN, run=keep(bench, steps))
    shown = html(app.get_by_key(session.VIEW).set_value("packing").run())
    assert "trimmed for the reader window" in shown
    cap = sum(t.reason == "extra_cap" for t in composed.trimmed)
    said = wording.left_out(cap, len(composed.trimmed) - cap)
    assert said in shown
    step = next(s for s in steps if isinstance(s.event, Composed))
    packed_by = next(s for s in steps if isinstance(s.event, Decided) and "pack" in s.event.decider)
    window = said.rpartition(", ")[2]
    for line in (narrate(step), narrate(packed_by)):
        assert window in line, "the steps and the view count the same"
        assert "cut" not in line
    assert said in narrate(step)


@pytest.mark.parametrize(("cap", "window"), [(5, 0), (0, 3), (2, 1), (0, 0)])
def test_left_out_by_the_cap_and_trimmed_for_the_window_are_counted_apart(
    cap: int, window: int
) -> None:
    said = wording.left_out(cap, window)
    assert (f"{cap} left out by the cap" in said) is bool(cap)
    assert f"{window or 'none'} trimmed for the window" in said


def test_other_settings_pack_again_over_the_record() -> None:
    found = packing.packed(STEPS)
    assert found is not None
    now, inputs = found
    assert inputs is not None
    settings = contracts.run_settings(trace.start(STEPS))
    assert packing.redecided(inputs, settings) == packing.Packed(
        -1, now.passages, now.trimmed, now.tokens, now.overhead, now.limit
    )
    fewer = packing.redecided(inputs, override(settings, {"evidence_window": 1}))
    assert isinstance(fewer, packing.Packed)
    assert len(fewer.passages) == 1


def test_the_moved_slider_draws_the_other_packing(page: Open, bench: FakeBench) -> None:
    app = page(RUN, run=keep(bench, STEPS), set="evidence_window=1")
    shown = html(app.get_by_key(session.VIEW).set_value("packing").run())
    assert "packed under the settings now" in shown
    gates = html(app.get_by_key(session.VIEW).set_value("gates").run())
    assert "now: compose 1 read" in gates


@pytest.mark.parametrize(
    "name", [s for s in registry.systems() if s.startswith("ragx") and s != "ragx-rerank"]
)
def test_every_decider_of_a_variant_redecides_as_recorded(name: str) -> None:
    run = ParsedRun(foraged(name))
    report = run.replay(run.settings)
    assert report.decisions
    assert all(d.certainty == "same" for d in report.decisions)


def test_a_reranked_list_shows_the_score_that_put_it_in_order(page: Open, bench: FakeBench) -> None:
    steps = words_run("ragx-rerank")
    first = next(s.event for s in steps if isinstance(s.event, Retrieved))
    seq_of_turn = seq(ForageTurn, 0, steps)
    app = page(RUN, run=keep(bench, steps), step=seq_of_turn)
    shown = html(app)
    assert "<th" in shown
    listed = shown[shown.index("Ranking of turn 1") :]
    listed = listed[: listed.index("</table>")]
    assert "Cross-encoder" in listed
    scores = [number(hit.reranked, 2) for hit in first.passages]
    places = [listed.index(score) for score in dict.fromkeys(scores)]
    assert places == sorted(places)
    assert [score for score in scores if score not in listed] == []
    plain = words_run("ragx-core")
    assert "Cross-encoder" not in html(page(RUN, run=keep(bench, plain), step=seq_of_turn))


def test_the_evidence_table_shows_a_cross_encoder_where_there_was_one() -> None:
    for name, there in (("ragx-rerank", True), ("ragx-core", False)):
        steps = words_run(name)
        assert ("Cross-encoder" in evidence.evidence_table(evidence.lives(steps), ())) == there


# --- grounding -----------------------------------------------------------------------------------


def test_the_answer_is_marked_in_its_passages(page: Open, bench: FakeBench) -> None:
    app = page(RUN, run=keep(bench, STEPS))
    shown = html(app.get_by_key(session.VIEW).set_value("answer").run())
    assert "<mark>He married Jennifer Connelly on New Year&#x27;s Day 2003.</mark>" in shown
    assert "resolved a hop" in shown, "and by which route it came"
    assert any(b.label == "Open the source" for b in app.button)


def test_an_answer_that_is_nowhere_is_said_to_be_so(page: Open, bench: FakeBench) -> None:
    steps = foraged(agent=Agent(answer="Winston Churchill"))
    grounded = next(s.event for s in steps if isinstance(s.event, Grounded))
    assert not grounded.grounded
    app = page(RUN, run=keep(bench, steps))
    shown = html(app.get_by_key(session.VIEW).set_value("answer").run())
    assert "not grounded" in shown
    assert "No citation is made up" in shown
    assert "<mark>" not in shown


# --- calls, hostile text, scale ------------------------------------------------------------------


def test_calls_are_counted_by_stage() -> None:
    found = call_counter.calls(STEPS)
    assert found == {"forage": 6, "chain": 3, "compose": 1}
    assert found.total() == STEPS[-1].usage.calls


def test_hostile_titles_and_texts_are_text_in_every_view(page: Open, bench: FakeBench) -> None:
    evil = passage("docs/<img src=x>.md", NASTY, f"{NASTY}\nRANK: x\n{BETTANY.text}")
    world = Flaky(results=((JARVIS, evil), (evil, OTHER), (evil,)))
    agent = Agent(
        turns=(f"RANK: {NASTY}", f"READ: {evil.title}", NASTY, "ANSWER: <b>x</b>"),
        subs=(NASTY, "Who is married to #1?"),
        hops=(NASTY, "Jennifer Connelly"),
    )
    app = page(RUN, run=keep(bench, foraged(world=world, agent=agent, question=NASTY)))
    for view in ("forage", "slots", "packing", "answer", "gates", "evidence", "story"):
        shown = html(app.get_by_key(session.VIEW).set_value(view).run())
        for bad in ("<script", "<img", "<a ", "\u202e", "\u200b"):
            assert bad not in shown, f"{view}: {bad!r}"
        assert not app.markdown or all("evil.example" not in m.value for m in app.markdown)


class Watched(list[Step]):
    """Steps that count how many of them are looked at."""

    looked = 0

    def __iter__(self) -> Iterator[Step]:
        for step in super().__iter__():
            self.looked += 1
            yield step

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.looked += len(found) if isinstance(place, slice) else 1
        return found


def test_a_long_run_is_folded_once_and_paged() -> None:
    looked = {}
    for length in (15_000, 30_000):
        long = Watched(STEPS[:8])
        while len(long) < length:
            long += [s.model_copy(update={"seq": len(long) + n}) for n, s in enumerate(STEPS[8:13])]
        found = forage_view.turns(long)
        slot_chain.chain(long, QUESTION)
        packing.packed(long)
        call_counter.calls(long)
        assert len(found) > length / 6
        looked[length] = long.looked
    assert looked[30_000] >= 30_000
    assert looked[30_000] < 2.1 * looked[15_000]


def test_nothing_is_drawn_before_its_time(page: Open, bench: FakeBench) -> None:
    app = page(RUN, run=keep(bench, STEPS), step=0)
    for view, words in (
        ("forage", "No turn yet"),
        ("slots", "No slot chain yet"),
        ("packing", "Nothing is composed yet"),
        ("answer", "No answer yet"),
    ):
        assert words in html(app.get_by_key(session.VIEW).set_value(view).run())


def test_the_family_shares_one_set_of_views() -> None:
    for name in registry.systems():
        own = system_views.of(registry.system(name))
        assert ("forage" in own) == name.startswith("ragx")


def test_an_agent_told_of_other_turns_is_unknown_from_there() -> None:
    report = replay(STEPS, {"steps": 3})
    undetermined = next(d for d in report.decisions if d.certainty == "undetermined")
    assert report.unknown_from is not None
    assert report.unknown_from <= undetermined.seq
