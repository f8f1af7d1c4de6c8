"""The action grammar of the forage loop: one action a turn, at the start of a line.

``WORD: argument``, the word in any case, with marks of bold, italics or code around it tolerated.
The first action of a reply counts. Prose that mentions an action, a quoted line ("> RANK: x") and
a word that merely ends in one ("Research: x") are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import regex

from core.observations import ACTIONS

Word = Literal["RANK", "READ", "SEARCH", "ANSWER"]
_THOUGHT = regex.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", regex.DOTALL | regex.IGNORECASE
)
_LINE = regex.compile(
    rf"[ \t]*(?P<open>[*_`~]*)[ \t]*(?P<word>{'|'.join(ACTIONS)})(?P<mid>[ \t]*[*_`~]*)[ \t]*[:：]"
    r"(?P<after>[*_`~]*)(?P<argument>.*)",
    regex.IGNORECASE,
)
MAX_ARGUMENT = 1_000


@dataclass(frozen=True, slots=True)
class Action:
    """An action that may be carried out."""

    word: Word
    argument: str

    def __str__(self) -> str:
        return f"{self.word}: {self.argument}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply that is no action, or one that is not allowed: a code, and what to tell the agent."""

    code: Literal["malformed", "empty_argument", "disallowed"]
    message: str
    word: str = ""
    argument: str = ""


def parse(reply: str, tools: tuple[str, ...]) -> Action | Refusal:
    """The first action of a reply; ``tools`` are the words allowed beside ANSWER.

    >>> parse("Let me look.\\n**RANK:** Paul Bettany spouse", ("RANK", "READ"))
    Action(word='RANK', argument='Paul Bettany spouse')
    """
    for line in _THOUGHT.sub("", reply).split("\n"):
        match = _LINE.fullmatch(line.rstrip("\r"))
        if match is None:
            continue
        word = match["word"].upper()
        argument = _argument(match)
        if word != "ANSWER" and word not in tools:
            allowed = _either((*tools, "ANSWER"))
            return Refusal(
                "disallowed", f"{word} is not available here; use {allowed}.", word, argument
            )
        if not argument:
            return Refusal("empty_argument", f"{word} needs an argument after its colon.", word)
        return Action(cast(Word, word), argument)
    return Refusal(
        "malformed",
        f"No action was found. Begin a line with {_either((*tools, 'ANSWER'))}, a colon, and "
        "what it should work on.",
    )


def _argument(match: regex.Match[str]) -> str:
    """The argument without the marks that wrap it or close what was opened before the word."""
    text = str(match["argument"]).strip()
    open_marks = match["open"] if not (match["mid"].strip() or match["after"]) else ""
    if open_marks:
        text = text.removesuffix(open_marks[::-1]).rstrip()
    wrapped = regex.fullmatch(r"(\*\*|__|\*|_|`+)(?P<inside>.+?)\1", text)
    if wrapped:
        text = str(wrapped["inside"]).strip()
    return text[:MAX_ARGUMENT].rstrip()


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
