"""What is known of each language (``tables.toml``), and which language a question is in."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import regex

from core.retrieval.tokenizer import STOP_WORDS, fold

SEGMENTED = frozenset(["Latin", "Cyrillic", "Greek"])
"""Scripts whose words stand apart and whose names have capitals."""
_ENGLISH_ASKS = frozenset("who whom whose when where what which how why".split())
_ENGLISH_OPENS = frozenset(
    """is are was were do does did has have had can could will would shall should may might must
    name list tell give the a an in of on at by for from to with""".split()
)
_SHARED = frozenset("was in an do on a".split())
"""English words that may begin a question in another language."""
_GERMAN = frozenset(
    "ist sind wurde wurden macht machte hatte kostet bedeutet gibt tat schrieb".split()
)
"""What follows "was" in German, but not in English."""
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_QUOTED = regex.compile(r"[\"“„«「『《][^\"”“»」』》]{0,200}[\"”“»」』》]")
_SCRIPTS = {
    name: regex.compile(rf"[{classes}]")
    for name, classes in (
        ("kana", r"\p{Hiragana}\p{Katakana}"),
        ("Hangul", r"\p{Hangul}"),
        ("Han", r"\p{Han}"),
        ("Greek", r"\p{Greek}"),
        ("Cyrillic", r"\p{Cyrillic}"),
        ("Latin", r"\p{Latin}"),
    )
}


@dataclass(frozen=True)
class Tongue:
    """A language: its tables by name. Word lists come folded unless said otherwise."""

    code: str
    name: str
    script: str
    tables: tuple[tuple[str, str], ...]
    groups: tuple[tuple[str, ...], ...]

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return dict(self.tables)

    @property
    def segmented(self) -> bool:
        """Whether words stand apart and names have capitals."""
        return self.script in SEGMENTED

    def folded(self, text: str) -> str:
        """The form in which words are compared; the same length in scripts without letters'
        case, whose marks tell words apart."""
        return fold(text) if self.segmented else text

    @lru_cache(maxsize=512)  # noqa: B019 - tongues live as long as the process
    def phrases(self, table: str) -> tuple[str, ...]:
        """Entries of a table as written in lower case, the longest first; none where the
        language has no such table."""
        found = self._by_name.get(table, "").lower()
        parts = found.split("|") if "|" in found else found.split()
        return tuple(sorted({p.strip() for p in parts if p.strip()}, key=lambda p: (-len(p), p)))

    @lru_cache(maxsize=512)  # noqa: B019
    def words(self, table: str) -> frozenset[str]:
        """Entries of a table, folded."""
        return frozenset(self.folded(p) for p in self.phrases(table))

    def begins(self, table: str, word: str) -> bool:
        """Whether a folded word begins with an entry of the table."""
        return word.startswith(tuple(self.words(table)))

    @cached_property
    def accented(self) -> frozenset[str]:
        """Words that ask and have an accent, as written."""
        tables = ("who", "when", "where", "how_many", "how", "which", "what", "why")
        return frozenset(p for t in tables for p in self.phrases(t) if p != fold(p))

    @cached_property
    def asking(self) -> frozenset[str]:
        """Folded words that ask, and words that only bind others."""
        tables = ("who", "when", "where", "how_many", "how", "which", "what", "why")
        return frozenset(w for t in tables for w in self.words(t) if " " not in w)


@cache
def tongues() -> dict[str, Tongue]:
    """Every language with tables, by its code."""
    raw = tomllib.loads((Path(__file__).parent / "tables.toml").read_text(encoding="utf-8"))
    return {
        code: Tongue(
            code,
            told["name"],
            told["script"],
            tuple((k, " ".join(v.split())) for k, v in told.items() if isinstance(v, str)),
            tuple(tuple(fold(w) for w in g.split()) for g in told.get("related", ())),
        )
        for code, told in raw.items()
    }


@lru_cache(maxsize=1_024)
def tongue_of(question: str) -> Tongue | None:
    """The language of a question; None for English and for languages without tables.

    The script decides where it can; languages of Latin letters are told by their small words,
    and a question that could be English is.
    """
    bare = _QUOTED.sub(" ", question)
    counts = {name: len(p.findall(bare)) for name, p in _SCRIPTS.items()}
    known = tongues()
    if counts["kana"] and counts["kana"] + counts["Han"] > counts["Latin"]:
        return known["ja"]
    script = max(counts, key=lambda name: counts[name])
    if not counts[script]:
        return None
    if script == "Latin":
        return _latin(bare)
    return next((t for t in known.values() if t.script == script), None)


def _latin(question: str) -> Tongue | None:
    raw = [m.group().lower() for m in WORD.finditer(question)]
    if not raw or not _ENGLISH_ASKS.isdisjoint(set(raw) - {"was"}):
        return None
    folded = [fold(w) for w in raw]
    if folded[0] in _ENGLISH_OPENS - _SHARED:
        return None
    english = sum(w in STOP_WORDS or w in _ENGLISH_OPENS for w in folded)
    votes: Counter[str] = Counter()
    for code, tongue in tongues().items():
        if tongue.script != "Latin":
            continue
        asks = [w in tongue.asking for w in folded]
        small = tongue.words("function")
        votes[code] = 2 * any(asks) + any(w in tongue.accented for w in raw)
        votes[code] += sum(w in small and not a for w, a in zip(folded, asks, strict=True))
        votes[code] += 3 * (code == "es" and "¿" in question)
        if raw[0] == "was" and (code != "de" or not _GERMAN.issuperset(folded[1:2])):
            votes[code] = 0
    (best, most), (_, second) = votes.most_common(2)
    return tongues()[best] if most > max(second, english) else None
