"""The faults that can be chosen for a run: their names, where they strike, who can meet them.

A fault is written ``NAME[@stage]``; without a stage it strikes at every call that it can. Of
``malformed-output``, single forms are written ``malformed-output:FORM+FORM[@stage]``. How a fault
strikes is in ``injection``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core import malformed
from core.errors import BadInput
from core.events import FaultInjected, Step
from core.settings import unknown_name
from core.systems.definition import System

MALFORMED, EXHAUSTED = "malformed-output", "budget-exhausted"
REGION_CALL = "retriever.region"
"""The port task that a system with a retrieval region declares in its stages' ``calls``."""

FAULTS: dict[str, str] = {
    "retriever-timeout": "every search or read times out",
    "retriever-error": "every search or read fails",
    "empty-shard": "every search finds nothing",
    "corrupt-metadata": "retrieved passages carry a wrong digest, span and metadata",
    "evidence-outside-region": "a passage from outside the committed region is returned",
    "stale-index": "the index names a document that is gone",
    "verifier-error": "the verifier fails",
    "always-irrelevant": "the verifier finds every passage irrelevant",
    "repeated-rewrite": "every written query repeats the last one",
    "malformed-output": "replies are malformed, in turn in each of the known forms",
    "model-refusal": "the model declines",
    "model-timeout": "the model does not answer in time",
    "rate-limit": "the provider limits the rate of calls",
    "auth-error": "the provider refuses the key",
    "context-too-long": "the prompt does not fit the model's context",
    "budget-exhausted": "the budget is found exhausted",
    "disk-full": "the disk is full when steps are to be kept, once",
}
"""Every fault by name, and what it does."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault and the stage it strikes in; None is every stage.

    ``forms`` restricts ``malformed-output`` to some of ``malformed.FORMS``.
    """

    name: str
    stage: str | None = None
    forms: tuple[str, ...] = malformed.FORMS

    @classmethod
    def parse(cls, text: str) -> Fault:
        """A fault as it is written.

        Raises:
            BadInput: there is no such fault or no such form; all are listed.
        """
        named, at, stage = text.strip().partition("@")
        name, colon, forms = named.partition(":")
        if name not in FAULTS or (colon and name != MALFORMED):
            raise BadInput(unknown_name("fault", named, FAULTS))
        if at and not stage:
            raise BadInput(f"The fault {name!r} names no stage after '@'; leave '@' out for all.")
        chosen = tuple(forms.split("+")) if colon else malformed.FORMS
        for form in chosen:
            if form not in malformed.FORMS:
                raise BadInput(unknown_name("form of malformed output", form, malformed.FORMS))
        return cls(name, stage or None, chosen)

    @property
    def text(self) -> str:
        """The fault as ``parse`` reads it."""
        forms = "" if self.forms == malformed.FORMS else f":{'+'.join(self.forms)}"
        return f"{self.name}{forms}" + ("" if self.stage is None else f"@{self.stage}")

    def check(self, system: System) -> None:
        """Refuse a fault that the system cannot meet.

        Raises:
            BadInput: the system has no such stage (its stages are listed), or no region.
        """
        stages = [node.name for node in system.stages]
        if self.stage is not None and self.stage not in stages:
            raise BadInput(unknown_name(f"stage of {system.name}", self.stage, stages))
        if self.name == "evidence-outside-region" and not any(
            REGION_CALL in node.calls for node in system.stages
        ):
            raise BadInput(
                f"{system.title} has no retrieval region, so no evidence can lie outside one; "
                "choose another fault or system."
            )

    def strikes_silently(self, system: System) -> bool:
        """Whether it strikes inside the controller, in a stage that calls no port that faults are
        injected in."""
        struck = ("retriever.", "reasoner.")
        silent = {
            node.name
            for node in system.stages
            if not any(call.startswith(struck) for call in node.calls)
        }
        return self.name == EXHAUSTED and self.stage in silent

    def strikes(self, stage: str) -> bool:
        """Whether it strikes in this stage."""
        return self.stage is None or self.stage == stage

    def injected(self, where: str) -> FaultInjected:
        """The notice of a strike at ``where``."""
        return FaultInjected(fault=self.name, where=where, effect=FAULTS[self.name])


def unstruck(steps: Sequence[Step], chosen: Sequence[Fault]) -> tuple[Fault, ...]:
    """Those of the chosen faults that never struck in the run."""
    return tuple(
        fault
        for fault in chosen
        if not any(
            isinstance(s.event, FaultInjected)
            and s.event.fault == fault.name
            and fault.strikes(s.event.where.partition(":")[0])
            for s in steps
        )
    )
