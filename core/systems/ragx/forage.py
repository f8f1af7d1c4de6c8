"""The forage loop: one action a turn, everything observed fenced (ragX, "Forage loop")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.errors import BudgetExhausted, RetrieverError
from core.events import Event, EvidenceChanged, ForageTurn
from core.fencing import fence
from core.observations import (
    ACTIONS,
    Listed,
    write_matches,
    write_passage,
    write_ranking,
)
from core.ports import Deps
from core.retrieval.tokenizer import content_terms, fold, terms
from core.steps import Stage, ask, emit, read, search, stage
from core.systems.ragx.grammar import Action, Refusal, parse
from core.systems.ragx.handles import NOTHING_LISTED, Handles
from core.systems.ragx.ranker import rank
from core.systems.ragx.settings import RagXSettings
from core.tasks import FORAGE_TURN, ForageEntry, ForageReply, ForageRequest, Task
from core.types import Passage, Scored

SEARCH_DEPTH = 100
"""The lines that SEARCH looks at are those of the best lexical hits, this many passages."""
MAX_MATCHES = 40
MAX_MATCH_LENGTH = 160
_ACTION_AS_WRITTEN = 400


@dataclass(frozen=True, slots=True)
class Foraged:
    """What the agent has done and found so far.

    ``asked`` maps a query, by action and terms, to the turn it was used in; ``read`` maps ids of
    passages that were read to the turn; ``draft`` ends the loop, and so does ``halted``.
    """

    question: str
    transcript: tuple[ForageEntry, ...] = ()
    handles: Handles = NOTHING_LISTED
    queries: tuple[str, ...] = ()
    asked: tuple[tuple[tuple[str, tuple[str, ...]], int], ...] = ()
    reads: tuple[tuple[Passage, int], ...] = ()
    draft: str = ""
    halted: bool = False

    @property
    def turns(self) -> int:
        """Turns taken, from 0."""
        return len(self.transcript)

    @property
    def surfaced(self) -> tuple[Passage, ...]:
        """Every passage listed, in order."""
        return tuple(e.passage for e in self.handles.entries)

    @property
    def read_passages(self) -> tuple[Passage, ...]:
        """Passages read, in order."""
        return tuple(p for p, _ in self.reads)

    def request(self, settings: RagXSettings) -> ForageRequest:
        """What the agent is given for its next turn."""
        return ForageRequest(
            question=self.question,
            transcript=self.transcript,
            tools=settings.words,
            turns_left=max(0, settings.steps - self.turns),
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an action led to: the new state, what is observed, and an error's code if it is one."""

    state: Foraged
    body: str
    error: str | None = None
    events: tuple[Event, ...] = ()


def forage_task(settings: RagXSettings) -> Task[ForageRequest, ForageReply]:
    """The task of a turn, with thinking where it is on."""
    return replace(FORAGE_TURN, thinking_tokens=settings.thinking_tokens)


@stage("forage")
def turn(deps: Deps, state: Foraged, settings: RagXSettings) -> Stage[Foraged]:
    """Take one turn.

    Raises:
        BudgetExhausted: the turn, or the search it wants, does not fit.
        ReasonerError: the agent failed.
    """
    deps.ledger.require(stage=deps.stage, actions=1)
    reply = yield from ask(deps, forage_task(settings), state.request(settings))
    deps.ledger.charge(actions=1)
    action = parse(reply.text, settings.words)
    if isinstance(action, Refusal):
        word, argument, written = action.word, action.argument, reply.text
        seen = _Seen(state, action.message, action.code)
    else:
        word, argument, written = action.word, action.argument, str(action)
        seen = yield from _act(deps, action, state, settings)
    observation = fence(seen.body, ACTIONS) if settings.fence else seen.body
    yield from emit(
        deps,
        *seen.events,
        ForageTurn(
            turn=state.turns + 1,
            action=word,
            argument=argument,
            observation=observation,
            error=seen.error,
        ),
    )
    entry = ForageEntry(action=written[:_ACTION_AS_WRITTEN], observation=observation)
    return replace(seen.state, transcript=(*state.transcript, entry))


def _act(deps: Deps, action: Action, state: Foraged, settings: RagXSettings) -> Stage[_Seen]:
    if action.word == "ANSWER":
        return _Seen(replace(state, draft=action.argument), "The draft is noted.")
    if action.word == "READ":
        return (yield from _read(deps, action.argument, state))
    key = (action.word, _same(action.argument))
    before = dict(state.asked).get(key)
    if before is not None:
        again = f"This was asked in turn {before}; nothing is listed again."
        return _Seen(state, again, "repeated_query")
    state = replace(state, asked=(*state.asked, (key, state.turns + 1)))
    if action.word == "RANK":
        return (yield from _rank(deps, action.argument, state, settings))
    return (yield from _search(deps, action.argument, state))


def _same(query: str) -> tuple[str, ...]:
    """Equal for queries of the same content terms, in any order and form."""
    found = content_terms(query) or terms(query) or [fold(query)]
    return tuple(sorted(set(found)))


def _rank(deps: Deps, query: str, state: Foraged, settings: RagXSettings) -> Stage[_Seen]:
    parent = state.queries[-1] if state.queries else state.question
    try:
        hits = yield from rank(
            deps,
            query,
            settings.rank_k,
            settings,
            parent=parent,
            transformation="forage",
            rationale="the agent's words",
        )
    except (RetrieverError, BudgetExhausted) as error:
        return _failed(state, error)
    state = replace(state, queries=(*state.queries, query))
    if not hits:
        return _Seen(state, "Nothing was found.")
    handles = state.handles.add(_passages(hits))
    rows = [Listed(handles.of(p.id), p.title) for p in _passages(hits)]
    return _Seen(replace(state, handles=handles), write_ranking(rows))


def _read(deps: Deps, name: str, state: Foraged) -> Stage[_Seen]:
    turns = {p.id: n for p, n in state.reads}
    found = state.handles.resolve(name, turns)
    if not found:
        return _Seen(state, "No listed passage has this name.", "unknown_passage")
    if len(found) > 1:
        rows = [Listed(e.handle, e.passage.title) for e in found]
        return _Seen(state, write_ranking(rows), "ambiguous_passage")
    entry = found[0]
    if entry.passage.id in turns:
        again = f"It was read in turn {turns[entry.passage.id]}; it is not printed again."
        return _Seen(state, again, "repeated_read")
    try:
        passage = yield from read(deps, entry.passage.id)
    except RetrieverError as error:
        return _failed(state, error)
    body = write_passage(entry.handle, passage.title, passage.text, passage.line_start)
    changed = EvidenceChanged(added=(passage.id,), reason="read")
    state = replace(state, reads=(*state.reads, (passage, state.turns + 1)))
    return _Seen(state, body, events=(changed,))


def _search(deps: Deps, words: str, state: Foraged) -> Stage[_Seen]:
    """Lines that hold every word, whatever their case and accents."""
    try:
        hits = yield from search(
            deps,
            words,
            k=SEARCH_DEPTH,
            channel="lexical",
            parent=state.queries[-1] if state.queries else state.question,
            transformation="line_search",
            rationale="the agent's words",
        )
    except (RetrieverError, BudgetExhausted) as error:
        return _failed(state, error)
    state = replace(state, queries=(*state.queries, words))
    wanted = fold(words).split()
    found = [
        (passage, number, line)
        for passage in _passages(hits)
        for number, line in enumerate(passage.text.split("\n"), passage.line_start)
        if all(word in fold(line) for word in wanted)
    ]
    if not found:
        return _Seen(state, "No line holds these words.")
    handles = state.handles.add(dict.fromkeys(passage for passage, _, _ in found[:MAX_MATCHES]))
    rows = [
        Listed(handles.of(passage.id), f"{number}: {_excerpt(line, wanted[0])}")
        for passage, number, line in found[:MAX_MATCHES]
    ]
    return _Seen(replace(state, handles=handles), write_matches(rows))


def _excerpt(line: str, word: str) -> str:
    """At most 160 characters of a line, around the word where it is longer."""
    at = max(0, fold(line).find(word))
    start = max(0, min(at - MAX_MATCH_LENGTH // 4, len(line) - MAX_MATCH_LENGTH))
    return line[start : start + MAX_MATCH_LENGTH].strip()


def _failed(state: Foraged, error: RetrieverError | BudgetExhausted) -> _Seen:
    """What the agent is told of a failure; where no search is left it may still read.

    Raises:
        BudgetExhausted: it is not rounds that ran out.
    """
    if isinstance(error, BudgetExhausted) and error.resource != "rounds":
        raise error
    return _Seen(state, f"It failed: {error.message}", error.reason_code)


def _passages(hits: Iterable[Scored]) -> list[Passage]:
    return [hit.passage for hit in hits]
