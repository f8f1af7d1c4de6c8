"""Questions that a clause answers: why, how to, how, and what something means.

The sentence closest to the question is read, a cause or a remedy rather in a section headed so (of
the same document) or with a word that gives one; its answer is the clause that says so, else the
sentence whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import regex

from core.reasoning.extractive.features import Scene, SentenceFeatures
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.question import Analysis, code_asked
from core.reasoning.extractive.structure import code_spans, heading_of, is_structure
from core.retrieval.tokenizer import fold, tokenize

Asks = Literal["why", "how_to", "how", "meaning"]
MOST_WORDS, LEAST_WORDS = 30, 6
SECTION, CUE = 0.3, 0.15
"""What a heading and a word that says so are worth beside emb + .5 cov."""
SAYS, STATES, WHOLE = 0.4, 0.3, 0.2
"""Confidence of a clause that a word marks, of a sentence that tells what to do, and of any other:
there are no development questions of these kinds; a whole sentence claims what it does in other
languages."""

_WHY = regex.compile(
    r"\bwhat (?:is|was|are|were|s|'s|lies|stands) (?:the )?(?:root )?"
    r"(?:cause|causes|reason|reasons|at the root|behind (?:it|this|that))\b"
    r"|\bwhat (?:causes|caused|leads to|led to) (?:it|this|that|these|those)\b"
    r"|\bwhat (?:makes|made) .+ (?:so|that) \p{L}+|\bhow come\b|\bfor (?:what|which) reason\b",
    regex.IGNORECASE,
)
_HOW_TO = regex.compile(
    r"\bhow (?:to(?= (?-i:\p{Ll}))|(?:do|can|should|could|must|may|shall|would) "
    r"(?:i|we|you|one|somebody|someone|people|users?|our \p{L}+|my \p{L}+))\b"
    r"|\bwhat (?:do|can|should|must|shall) (?:i|we|you|one) (?:(?:have|need) to )?do\b",
    regex.IGNORECASE,
)
_HOW = regex.compile(
    r"\bhow (?:did|does|do|is|was|are|were|can|could|has|have)\b", regex.IGNORECASE
)
_OTHER = regex.compile(
    r"\b(?:in|at|on|of|from|by|to|for|with) (?:which|what|whom)\b", regex.IGNORECASE
)
"""Where this stands too it is what asks: "How to Eat, released in which year"."""
_MEANING = regex.compile(
    r"\bwhat (?:does|do|did) (?P<a>.+?) (?:mean|stand for)\b"
    r"|\bmeaning of (?:the )?"
    r"(?:(?:error |status |exit )?(?:code|message|term|word|abbreviation|acronym) )?"
    r"(?P<b>[^?]+?)\s*\?*$|\bmeant by (?P<c>[^?]+?)\s*\?*$",
    regex.IGNORECASE,
)
_BECAUSE = regex.compile(
    r"\b(?:because(?: of)?|due to|owing to|on account of|caused by|as a result of|so that)\s+"
    r"(?P<x>\S.*)",
    regex.IGNORECASE | regex.DOTALL,
)
_SINCE = regex.compile(
    rf"(?:\A|, )since (?!\p{{N}}|then\b|release\b|version\b|(?:the )?(?:early|late|mid|start|"
    rf"beginning|end)\b|(?:{'|'.join(sorted(words('time', 'months')))})\b)(?P<x>[^,]+\s[^,]+)",
    regex.IGNORECASE,
)
_SO = regex.compile(r"(?P<x>\S.+?)(?:, so |, which (?:is|was) why |; this is why )(?!that\b|as\b)")
_PURPOSE = regex.compile(
    r"(?:\A|, )(?P<x>(?:in order )?to \p{Ll}+ [^,;]+)", regex.IGNORECASE | regex.DOTALL
)
_BY_DOING = regex.compile(r"\b(?P<x>by \p{Ll}+ing\b.*)", regex.DOTALL)
_MEANS = regex.compile(
    r"\b(?:is|are|was|were|be|been)(?: \p{L}+ly)? "
    r"(?:\p{Ll}+(?:ed|en|own|ound|ent|ilt|ut)|undone|done|made|set|run)"
    r"(?: \p{Ll}+){0,2}? (?:with|by|through|using|via) (?P<x>[^,;]*[^,;.\s])",
)
_TASK = regex.compile(r"\ATo \p{Ll}+ [^,]+, (?P<x>\S.*)", regex.DOTALL)
_MUST = regex.compile(
    r"\b(?:must|has to|have to|needs? to|should|can be|is done|are done)\b", regex.IGNORECASE
)
_CUT = regex.compile(r"[,;:]\s|\s(?=(?:and|but|which|while|so|because|when|where|until)\s)")
_WORD = regex.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Statement:
    """The clause ``start:end`` of the text of passage ``passage``, and how sure it is."""

    passage: int
    start: int
    end: int
    confidence: float
    asks: Asks


def statement_asked(question: str, analysis: Analysis) -> Asks | None:
    """Which clause a question asks for; None where it asks for a name, a value or a verdict."""
    if analysis.form != "span" or code_asked(question):
        return None
    if analysis.wh == "why" or _WHY.search(question):
        return "why"
    if _OTHER.search(question):
        return None
    if _HOW_TO.search(question) and analysis.wh in ("how", "what"):
        return "how_to"
    if _MEANING.search(question):
        return "meaning"
    return "how" if analysis.wh == "how" and _HOW.search(question) else None


def read_statement(scene: Scene, asks: Asks) -> Statement | None:
    """The clause that answers; None where nothing states anything, and for a meaning that no
    sentence gives as one."""
    lines = [
        s
        for s in scene.sentences
        if not is_structure(scene.passages[s.passage].text, s.start, s.end)
    ]
    if asks == "meaning":
        return _meaning(scene, lines)
    if not lines:
        return None

    def order(s: SentenceFeatures) -> tuple[float, int]:
        return _score(scene, s, asks), -s.row

    best = max(lines, key=order)
    title = scene.passages[best.passage].passage.title
    headed = [
        s
        for s in lines
        if scene.passages[s.passage].passage.title == title and _headed(scene, s, asks)
    ]
    return _clause(scene, max(headed, key=order) if headed else best, asks)


def _headed(scene: Scene, s: SentenceFeatures, asks: Asks) -> bool:
    """Whether the sentence stands in a section under a heading that promises what is asked."""
    if asks not in ("why", "how_to"):
        return False
    heading = heading_of(scene.passages[s.passage].text, s.start)
    known = words("sections", "remedy" if asks == "how_to" else "cause")
    return any(t.surface in known for t in tokenize(heading))


def _score(scene: Scene, s: SentenceFeatures, asks: Asks) -> float:
    text = scene.passages[s.passage].text
    said = text[s.start : s.end]
    value = s.s + SECTION * _headed(scene, s, asks)
    if asks == "why" and any(p.search(said) for p in (_BECAUSE, _SINCE, _SO, _PURPOSE)):
        value += CUE
    if asks == "how_to":
        value += CUE * (_tells(said) + any(s.start <= a < s.end for a, _ in code_spans(text)))
    if asks == "how" and (_BY_DOING.search(said) or _MEANS.search(said)):
        value += CUE
    return value


def _tells(said: str) -> bool:
    """Whether a sentence tells to do something: an imperative, or what must be done."""
    for clause in (said.lstrip("-*+ 0123456789.)"), *regex.split(r", (?:then )?", said)[1:2]):
        first = regex.match(r"\p{L}+", clause)
        if first and fold(first.group()) in words("sections", "imperatives"):
            return True
    return _MUST.search(said) is not None


def _clause(scene: Scene, s: SentenceFeatures, asks: Asks) -> Statement:
    said = scene.passages[s.passage].text[s.start : s.end]
    patterns = {
        "why": (_BECAUSE, _SINCE, _SO, _PURPOSE),
        "how_to": (_MEANS, _TASK),
        "how": (_BY_DOING, _MEANS),
        "meaning": (),
    }[asks]
    for pattern in patterns:
        match = pattern.search(said)
        if match is None:
            continue
        a, b = match.span("x")
        if pattern is _BECAUSE and match.start() == 0 and ", " in said[a:b]:
            b = a + said[a:b].index(", ")
        return _statement(s, said, a, b, SAYS, asks)
    start = len(said) - len(said.lstrip("-*+ "))
    told = asks == "how_to" and _tells(said)
    return _statement(s, said, start, len(said), STATES if told else WHOLE, asks)


def _statement(
    s: SentenceFeatures, said: str, a: int, b: int, confidence: float, asks: Asks
) -> Statement:
    start, end = trimmed(said, a, b)
    return Statement(s.passage, s.start + start, s.start + end, confidence, asks)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without a final stop, cut at the last clause boundary that leaves at most
    ``MOST_WORDS`` words (at that many where there is none)."""
    cut = regex.search(r";\s", text[:end], pos=start)
    if cut and len(text[start : cut.start()].split()) >= LEAST_WORDS:
        end = cut.start()
    found = [m.span() for m in _WORD.finditer(text, start, end)]
    if len(found) > MOST_WORDS:
        low, high = found[LEAST_WORDS - 1][1], found[MOST_WORDS - 1][1]
        cuts = [m.start() for m in _CUT.finditer(text, low, high + 1)]
        end = cuts[-1] if cuts else high
    while end > start and (text[end - 1].isspace() or text[end - 1] in ".,;:!?"):
        end -= 1
    return start, end


def _meaning(scene: Scene, lines: list[SentenceFeatures]) -> Statement | None:
    match = _MEANING.search(scene.question)
    if match is None:
        return None
    term = next(g for g in match.groups() if g is not None).strip(" \"'`“”")
    term = regex.sub(r"\A(?:the|a|an|code|error|message)\s+", "", term, flags=regex.IGNORECASE)
    if not term:
        return None
    said_of = regex.compile(
        rf"(?<![\p{{L}}\p{{N}}]){regex.escape(term)}[\"'`”)]*(?:\s*:|\s+(?:means|stands for|"
        rf"is short for|signifies))\s+(?P<x>\S.*)",
        regex.IGNORECASE | regex.DOTALL,
    )
    for s in sorted(lines, key=lambda s: (-s.s, s.row)):
        said = scene.passages[s.passage].text[s.start : s.end]
        found = said_of.search(said)
        if found:
            a, b = found.span("x")
            return _statement(s, said, a, b, SAYS, "meaning")
    return None
