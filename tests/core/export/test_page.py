"""The page of a run: alone, literal, complete, in order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from html.parser import HTMLParser

import pytest

from core import registry, trace
from core.events import Decided, ModelCalled, RunFinished, Step
from core.export import page, written
from core.literal import visible
from core.narration import narrate
from tests.core.export.runs import CASES, HOSTILE, asked_of_a_model, of, poisoned

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section"),
    *("article", "h1", "h2", "h3", "p", "a", "ol", "li", "q", "dl", "div", "dt", "dd", "span"),
    *("b", "bdi", "code", "pre", "mark", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"class", "id", "href", "dir", "scope", "open", "lang", "charset", "content", "name"}
ATTRIBUTES |= {"http-equiv"}
VOID = {"meta"}


class Read(HTMLParser):
    """What a reader of the page makes of it; refuses what could fetch or run something."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.policies: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.rows = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        given = dict(attrs)
        assert len(given) == len(attrs)
        assert set(given) <= ATTRIBUTES, given
        if tag == "meta" and "http-equiv" in given:
            assert given["http-equiv"] == "Content-Security-Policy"
            self.policies.append(given["content"] or "")
        if "href" in given:
            assert tag == "a"
            self.links.append(given["href"] or "")
        self.ids += [given["id"] or ""] if "id" in given else []
        self.rows += tag == "tr"
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in dict.fromkeys(self.open):
            self.texts[tag][-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_decl(self, decl: str) -> None:
        assert decl == "DOCTYPE html"


def alone(text: str) -> Read:
    """The page as it is read, after every check that it stands alone."""
    found = Read(text)
    assert found.policies == [page.POLICY]
    assert len(found.ids) == len(set(found.ids))
    assert {link for link in found.links if link.removeprefix("#") not in found.ids} == set()
    assert all(link.startswith("#") for link in found.links)
    (style,) = found.texts["style"]
    assert style == f"\n{page.STYLE.read_text(encoding='utf-8')}"
    assert not re.search(r"url\(|@import|expression|http", style)
    assert all(c == "\n" or c == "\t" or unicodedata.category(c) not in ("Cc", "Cf") for c in text)
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_run_makes_a_page_that_stands_alone_and_tells_every_step(name: str) -> None:
    steps = CASES[name]
    found = alone(page.dump(steps))
    titles = trace.titles(steps)
    whole = "".join(found.texts["body"])
    assert [s.seq for s in steps if visible(narrate(s, titles)) not in whole] == []
    assert found.texts["h1"] == [trace.start(steps).question]
    end = steps[-1].event
    outcome = end.terminal.replace("_", " ") if isinstance(end, RunFinished) else "not finished"
    assert outcome.capitalize() in "".join(found.texts["header"])
    decisions = [s.event for s in steps if isinstance(s.event, Decided)]
    gates = [g for d in decisions for g in d.gates]
    assert whole.count("⚡ fired") == sum(g.fired for g in gates)
    assert whole.count("not fired") == sum(not g.fired for g in gates)


@pytest.mark.parametrize("system", registry.systems())
def test_hostile_texts_stay_text_wherever_they_come_in(system: str) -> None:
    steps = poisoned(asked_of_a_model(of(system)))
    found = alone(page.dump(steps))
    whole = "".join(found.texts["body"])
    assert [text for text in HOSTILE if visible(text) not in whole] == []
    (title,) = found.texts["title"]
    assert visible(trace.start(steps).question) == title


@pytest.mark.parametrize("system", ["beliefrag", "ragx", "staterag"])
def test_cited_places_are_marked_in_their_passages(system: str) -> None:
    steps = of(system)
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert end.citations
    found = alone(page.dump(steps))
    assert set(found.texts["mark"]) == {c.quote for c in end.citations}
    assert found.texts["q"] == [c.quote for c in end.citations]


def test_every_passage_is_shown_or_listed() -> None:
    for system in registry.systems():
        steps = of(system)
        found = alone(page.dump(steps))
        whole = "".join(found.texts["body"])
        for passage in trace.passages(steps).values():
            assert passage.title in whole
        held = trace.evidence_at(steps, len(steps) - 1)
        assert [p.id for p in held if p.text not in whole] == []


def test_settings_that_were_changed_say_what_is_usual() -> None:
    from tests.core.world import run

    found = alone(page.dump(run("beliefrag", answer_threshold=0.9)))
    assert "default 0.5" in "".join(found.texts["section"])
    assert "default" not in "".join(alone(page.dump(of("beliefrag"))).texts["section"])


def test_prompts_are_shown_as_sent_beside_their_replies() -> None:
    steps = asked_of_a_model(of("beliefrag"))
    shown = alone(page.dump(steps)).texts["pre"]
    calls = [s.event for s in steps if isinstance(s.event, ModelCalled)]
    assert shown == [text for call in calls for text in (call.prompt, call.reply)]


def test_a_run_makes_a_page_after_each_of_its_steps() -> None:
    steps = of("staterag")
    for length in range(1, len(steps) + 1):
        assert alone(page.dump(steps[:length])).rows > length


def test_a_key_in_any_text_is_masked_and_its_quote_stays_marked() -> None:
    key = "sk-" + "a1B2" * 8
    steps = keyed(of("beliefrag"), key)
    text = written(steps, "html", lambda given: given.replace(key, "[secret]"))
    assert key not in text
    found = alone(text)
    assert all("[secret]" in quote for quote in found.texts["mark"])


def keyed(steps: Sequence[Step], key: str) -> list[Step]:
    """The run with a key before every passage's text, and in its quotes."""
    found = []
    for step in steps:
        event = step.event
        if event.kind == "PassagesShown":
            texts = [p.model_copy(update={"text": f"{key} {p.text}"}) for p in event.passages]
            event = event.model_copy(update={"passages": tuple(texts)})
        elif isinstance(event, RunFinished):
            cited = [
                c.model_copy(update={"start": 0, "end": 0, "quote": f"{key} {c.quote}"})
                for c in event.citations
                if c.start == 0
            ]
            event = event.model_copy(update={"citations": tuple(cited)})
        found.append(step.model_copy(update={"event": event}))
    return found
