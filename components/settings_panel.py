"""The settings panel, drawn from a system's ``model_fields``; nothing here names a setting."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from components import session
from components.notices import error
from components.palette import ORANGE, Sign
from core.errors import BadInput
from core.registry import System
from core.settings import Role, SystemSettings, extra, override, role_of

CHANGED = Sign(ORANGE, "edit", "changed")
_ROLES = {
    Role.DECISION: "Read by decisions only: a recorded run is re-decided at once.",
    Role.ACTION: "Changes what is fetched or asked: a recorded run is unknown from its first use.",
    Role.INDEX: "Changes the index: a recorded run is unknown from its first retrieval.",
}
MOST_SLIDER_STOPS = 400


def draw(system: System, recorded: SystemSettings | None = None) -> SystemSettings:
    """Show every knob of a system, grouped; the settings as they now stand.

    ``recorded`` are those of the run on the page: they are marked where the panel differs.
    """
    kind, name = system.settings, system.name
    settings = current(system)
    problem = session.take(session.settings_error(name))
    if problem:
        error(problem)
    changed = session.changed_settings(name)
    _buttons(system, settings, recorded, changed)
    advanced = st.toggle(
        "Show advanced settings",
        key=session.ADVANCED,
        persist_state="session",
        help=f"{_count(kind, True)} more knobs: priors, weights, limits.",
    )
    for group, fields in _groups(kind, advanced).items():
        moved = [f for f in fields if f in changed]
        label = f"{group} ({len(moved)} changed)" if moved else group
        with st.expander(label, expanded=not advanced or bool(moved), key=f"group:{name}:{group}"):
            for field in fields:
                _knob(system, field, settings, recorded)
    return current(system)


def current(system: System) -> SystemSettings:
    """The settings of a system as they stand in this session."""
    try:
        return session.settings_of(system.name, system.settings)
    except BadInput as problem:
        session.keep_settings(system.name, {})
        session.put(session.settings_error(system.name), problem.message)
        return session.defaults(system.settings)


def _count(kind: type[SystemSettings], advanced: bool) -> int:
    return sum(bool(extra(kind, n).get("advanced")) == advanced for n in kind.model_fields)


def _groups(kind: type[SystemSettings], advanced: bool) -> dict[str, list[str]]:
    """Field names by group; the system's own groups before the ones all systems share."""
    groups: dict[str, list[str]] = {}
    own = [n for n in kind.model_fields if n not in SystemSettings.model_fields]
    shared = [n for n in SystemSettings.model_fields if n in kind.model_fields]
    for name in [*own, *shared]:
        declared = extra(kind, name)
        if declared and (advanced or not declared.get("advanced")):
            groups.setdefault(str(declared["group"]), []).append(name)
    return groups


def _buttons(
    system: System,
    settings: SystemSettings,
    recorded: SystemSettings | None,
    changed: Mapping[str, JsonValue],
) -> None:
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Defaults",
            icon=":material/restart_alt:",
            key=f"reset:{system.name}",
            disabled=not changed,
            help="Every setting back to its default.",
            on_click=reset,
            args=(system, {}),
        )
        if recorded is not None:
            st.button(
                "As recorded",
                icon=":material/history:",
                key=f"recorded:{system.name}",
                disabled=recorded == settings,
                help="Every setting as this run was made.",
                on_click=reset,
                args=(system, differing(recorded)),
            )


def differing(settings: SystemSettings) -> dict[str, JsonValue]:
    """The settings that are not at their defaults, as JSON values."""
    plain = settings.model_dump(mode="json")
    default = session.defaults(type(settings)).model_dump(mode="json")
    return {k: v for k, v in plain.items() if v != default[k]}


def reset(system: System, values: Mapping[str, JsonValue]) -> None:
    """Set a system's changed settings, and say in the URL how they differ: from the run on the
    page where there is one, else from the defaults."""
    session.keep_settings(system.name, values)
    base: Mapping[str, JsonValue] = session.get(session.BASE, {}).get(system.name, {})
    default = session.defaults(system.settings).model_dump(mode="json")
    moved = {
        name: values.get(name, default[name])
        for name in {**values, **base}
        if values.get(name, default[name]) != base.get(name, default[name])
    }
    session.show(**{session.P_SET: session.settings_param(moved) or None})


def follow_run(system: System, run_id: str, recorded: SystemSettings) -> None:
    """Take over the settings of a run that is newly on the page; the URL's changes on top."""
    if session.get(session.SETTINGS_OF) == run_id:
        return
    session.put(session.SETTINGS_OF, run_id)
    base = differing(recorded)
    session.put(session.BASE, {system.name: base})
    values = base
    try:
        given = session.settings_from_url(system.settings)
        if given:
            values = differing(override(recorded, given))
    except BadInput as problem:
        session.put(session.settings_error(system.name), problem.message)
    session.keep_settings(system.name, values)


def carry(system: System) -> None:
    """Keep the settings as they stand when the run on the page is left for an empty box."""
    session.put(session.SETTINGS_OF, "")
    session.put(session.BASE, {})
    reset(system, session.changed_settings(system.name))


def follow_url(system: System) -> None:
    """Without a run on the page: defaults, or what the URL says, once for each page."""
    if session.get(session.SETTINGS_OF) == "":
        return
    session.put(session.SETTINGS_OF, "")
    session.put(session.BASE, {})
    session.keep_settings(system.name, {})
    try:
        given = session.settings_from_url(system.settings)
        if given:
            start = session.defaults(system.settings)
            session.keep_settings(system.name, differing(override(start, given)))
    except BadInput as problem:
        session.put(session.settings_error(system.name), problem.message)


def _change(system: System, name: str) -> None:
    """A widget moved: rebuild the validated settings, or keep the old ones and say why."""
    value = session.get(session.setting_key(system.name, name))
    if value is None and not _optional(system.settings.model_fields[name]):
        return
    try:
        if _nested(system.settings.model_fields[name]) is not None:
            value = json.loads(value) if value and value.strip() else None
        settings = override(session.settings_of(system.name, system.settings), {name: value})
    except (BadInput, ValueError) as problem:
        text = problem.message if isinstance(problem, BadInput) else f"This is no JSON: {problem}."
        session.put(session.settings_error(system.name), text)
        return
    reset(system, differing(settings))


def _knob(
    system: System, name: str, settings: SystemSettings, recorded: SystemSettings | None
) -> None:
    kind, field = system.settings, system.settings.model_fields[name]
    value, default = getattr(settings, name), getattr(session.defaults(kind), name)
    key, declared = session.setting_key(system.name, name), extra(kind, name)
    unit = _unit(str(field.title), str(declared.get("unit") or ""))
    common: dict[str, Any] = {
        "key": key,
        "help": _help(kind, name, field, declared),
        "on_change": _change,
        "args": (system, name),
    }
    label = f"{field.title}{unit}"
    nested = _nested(field)
    if nested is not None:
        session.agree(key, "" if value is None else value.model_dump_json(indent=1))
        shape = json.dumps({n: 0 for n in nested.model_fields})
        st.text_area(label, placeholder=shape, height=120, **common)
    elif typing.get_origin(field.annotation) is Literal:
        session.agree(key, value)
        st.selectbox(label, typing.get_args(field.annotation), **common)
    elif isinstance(value, bool):
        session.agree(key, value)
        st.toggle(label, **common)
    elif isinstance(value, str):
        session.agree(key, value)
        st.text_input(label, **common)
    else:
        _number(label, field, value, declared, common)
    notes = []
    if value != default:
        notes.append(f"default {_plain(default)}")
    if recorded is not None and value != getattr(recorded, name):
        notes.append(f"recorded {_plain(getattr(recorded, name))}")
    if notes:
        st.caption(f":material/edit: {' · '.join(notes)}")


def _unit(title: str, unit: str) -> str:
    """A unit behind a title that does not name it already."""
    said = unit.removesuffix("s")
    return "" if not unit or (len(said) > 1 and said in title.lower()) else f" ({unit})"


def _number(
    label: str, field: FieldInfo, value: Any, declared: dict[str, Any], common: dict[str, Any]
) -> None:
    low, high = _bounds(field)
    whole = isinstance(value, int)
    step = int(declared.get("step") or 1) if whole else float(declared.get("step") or 0.01)
    session.agree(common["key"], value)
    if None in (low, high) or (high - low) / step > MOST_SLIDER_STOPS:
        st.number_input(
            label,
            min_value=None if low is None else type(value)(low),
            max_value=None if high is None else type(value)(high),
            step=step,
            format="%d" if whole else "%.3g",
            **common,
        )
    else:
        places = len(f"{step:g}".partition(".")[2])
        st.slider(
            label,
            min_value=type(value)(low),
            max_value=type(value)(high),
            step=step,
            format="%d" if whole else f"%.{places}f",
            **common,
        )


def _bounds(field: FieldInfo) -> tuple[Any, Any]:
    """The lowest and highest value a widget offers; an open bound is left out by the validator."""
    low = high = None
    for rule in field.metadata:
        if isinstance(rule, (Ge, Gt)):
            low = rule.ge if isinstance(rule, Ge) else rule.gt
        elif isinstance(rule, (Le, Lt)):
            high = rule.le if isinstance(rule, Le) else rule.lt
    return low, high


def _nested(field: FieldInfo) -> type[BaseModel] | None:
    for part in _parts(field):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return part
    return None


def _optional(field: FieldInfo) -> bool:
    return type(None) in _parts(field)


def _parts(field: FieldInfo) -> tuple[Any, ...]:
    if typing.get_origin(field.annotation) in (typing.Union, types.UnionType):
        return typing.get_args(field.annotation)
    return (field.annotation,)


def _help(kind: type[SystemSettings], name: str, field: FieldInfo, declared: dict[str, Any]) -> str:
    low, high = _bounds(field)
    span = "" if low is None or high is None else f" Range {low:g} to {high:g}."
    return (
        f"{field.description} Default {_plain(getattr(session.defaults(kind), name))}.{span}\n\n"
        f"{_ROLES[role_of(kind, name)]}\n\n`{name}`"
    )


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)
