"""The prompt files: one per task, filled in by a renderer that refuses to guess.

Placeholders are ``$name``. A value is put in once and never looked at again, so a ``$name`` or a
brace inside a document stays text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template


class PromptError(ValueError):
    """A prompt file and the values given for it do not fit together; a programming error."""


@cache
def template(name: str) -> Template:
    """The prompt file of that name.

    Raises:
        PromptError: there is none, or it holds a ``$`` that is no placeholder.
    """
    source = files(__package__).joinpath("prompts", f"{name}.md")
    try:
        found = Template(source.read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        raise PromptError(f"there is no prompt file for {name!r}") from None
    if not found.is_valid():
        raise PromptError(f"the prompt {name!r} holds a $ that is no placeholder")
    return found


def render(name: str, values: Mapping[str, str]) -> str:
    """The prompt with its placeholders filled in.

    Raises:
        PromptError: a placeholder without a value, or a value without a placeholder.
    """
    prompt = template(name)
    wanted = set(prompt.get_identifiers())
    if wanted != values.keys():
        missing, extra = sorted(wanted - values.keys()), sorted(values.keys() - wanted)
        raise PromptError(f"the prompt {name!r} lacks values for {missing} and has none of {extra}")
    return prompt.substitute(values)
