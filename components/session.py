"""Every session key and every URL parameter, in one file.

The session keeps what a person is pointing at (a run id, a step, typed settings), never events:
those are read from the journal. What makes a page a lesson is in the URL as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from pydantic import JsonValue

from core.settings import SystemSettings, override, parse_assignments

# What to ask: widgets of the composer, kept across pages.
CORPUS, SYSTEM, QUESTION = "ask_corpus", "ask_system", "ask_question"
CORPUS_GONE = "ask_corpus_gone"
REASONER, MODEL, MODEL_KEY, MODEL_BASE = "ask_reasoner", "ask_model", "ask_key", "ask_base"
# Where one is in a run.
CURSOR, SLIDER, FOLLOW, FOLLOWING, VIEW, RAIL, DIMENSION = (
    "run_cursor",
    "run_slider",
    "run_follow",
    "run_following",
    "run_view",
    "run_rail",
    "run_dimension",
)
EVIDENCE_PAGE, GATES_PAGE, PROMPTS_PAGE = "page_evidence", "page_gates", "page_prompts"
TIMELINE, STAGES, HISTORY = "run_timeline", "run_stages", "run_history"
FORAGE, CYCLES = "run_forage", "run_cycles"
TAM_WHOLE, TAM_PAGE, MEMORY_PAGE = "run_tam_whole", "page_tam", "page_memory"
EVERY_STEP, ADVANCED, RUN_NOTICE = "run_every_step", "settings_advanced", "run_notice"
OPENED, PLAYER, PLAY = "run_opened", "run_player", "run_play"
DRAWS, DRAWN, WAITED = "draws", "run_drawn", "waited"
SETTINGS_OF, BASE = "settings_of", "settings_base"
# The list of runs.
RUNS_PAGE, RUNS_TEXT, RUNS_SYSTEM, RUNS_OUTCOME, RUNS_LABEL, RUNS_DELETED = (
    "runs_page",
    "runs_text",
    "runs_system",
    "runs_outcome",
    "runs_label",
    "runs_deleted",
)
RUNS_CHOSEN, RUNS_UNDO, RUNS_NOTICE, RUNS_UPLOAD = (
    "runs_chosen",
    "runs_undo",
    "runs_notice",
    "runs_upload",
)
RUN_EDITED, RUN_EDIT_NOTICE = "run_edited", "run_edit_notice"
# The corpora.
CORPUS_CHOSEN, CORPUS_VIEW, CORPUS_NAME, CORPUS_FILES, CORPUS_NOTICE, CORPUS_ASK = (
    "corpus_chosen",
    "corpus_view",
    "corpus_name",
    "corpus_files",
    "corpus_notice",
    "corpus_ask",
)
CORPUS_PAGE, CORPUS_DOCUMENT, CORPUS_FILTER, CORPUS_ROUND = (
    "corpus_page",
    "corpus_document",
    "corpus_filter",
    "corpus_round",
)
CORPUS_CHANNEL, CORPUS_HITS = "corpus_channel", "corpus_hits"
TAM_NODE, TAM_FIND, TAM_KIND, TAM_DEPTH, TAM_NODES, TAM_BELOW, TAM_ABOVE = (
    "tam_node",
    "tam_find",
    "tam_kind",
    "tam_depth",
    "page_tam_nodes",
    "page_tam_below",
    "page_tam_above",
)
POOL_PAGE, POOL_NOTICE = "page_pool", "pool_notice"
CORPUS_FILES_PAGE = "corpus_files_page"
_OVERRIDES = "settings_changed"

# URL parameters.
P_RUN, P_STEP, P_CORPUS, P_SYSTEM, P_QUESTION, P_SET, P_HIDE, P_WORKSPACE, P_VIEW = (
    "run",
    "step",
    "corpus",
    "system",
    "q",
    "set",
    "hide",
    "ws",
    "view",
)


def setting_key(system: str, name: str) -> str:
    """The widget of one setting."""
    return f"set:{system}:{name}"


def settings_error(system: str) -> str:
    """Why the newest change of a system's settings was refused."""
    return f"set:{system}::error"


def get(key: str, default: Any = None) -> Any:
    """A session value, or ``default``."""
    return st.session_state.get(key, default)


def put(key: str, value: Any) -> None:
    """Set a session value; a widget of that key must not have been drawn yet in this rerun."""
    st.session_state[key] = value


def agree(key: str, value: Any) -> None:
    """Set a widget that stands otherwise. One that is set at every rerun loses what is entered
    while the rerun is under way."""
    if key not in st.session_state or st.session_state[key] != value:
        put(key, value)


def take(key: str, default: Any = None) -> Any:
    """A session value that is forgotten by being read."""
    return st.session_state.pop(key, default)


def first(key: str, value: Any) -> None:
    """Set a session value where there is none."""
    st.session_state.setdefault(key, value)


def link(**params: Any) -> dict[str, Any]:
    """Query parameters for a link to another page: the workspace, and what is given."""
    kept = {k: v for k, v in params.items() if v not in (None, "", [])}
    workspace = st.query_params.get(P_WORKSPACE)
    return {P_WORKSPACE: workspace, **kept} if workspace else kept


def param(name: str, default: str = "") -> str:
    """One URL parameter; the last where it is given twice."""
    return str(st.query_params.get(name, default))


def show(**params: Any) -> None:
    """Write URL parameters, None removing one; untouched where nothing changes."""
    for name, value in params.items():
        given = st.query_params.get_all(name)
        wanted = [] if value is None else [str(v) for v in _list(value)]
        if given == wanted:
            continue
        if wanted:
            st.query_params[name] = wanted
        elif name in st.query_params:
            del st.query_params[name]


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


# --- settings ---------------------------------------------------------------------------------


def changed_settings(system: str) -> dict[str, JsonValue]:
    """The settings of a system that differ from its defaults."""
    found: dict[str, JsonValue] = get(_OVERRIDES, {}).get(system, {})
    return dict(found)


def defaults(kind: type[SystemSettings]) -> SystemSettings:
    """A system's defaults on these pages: its own, with the memory that questions share."""
    return override(kind(), {"memory": "shared"}) if "memory" in kind.model_fields else kind()


def settings_of(system: str, kind: type[SystemSettings]) -> SystemSettings:
    """A system's settings as they stand in this session, validated."""
    return override(defaults(kind), changed_settings(system))


def keep_settings(system: str, values: Mapping[str, JsonValue]) -> None:
    """Keep what differs from the defaults, and put it into the URL."""
    put(_OVERRIDES, {**get(_OVERRIDES, {}), system: dict(values)})


def settings_param(values: Mapping[str, JsonValue]) -> list[str]:
    """Changed settings as ``key=value``, the command line's form."""
    import json

    return [
        f"{k}={v if isinstance(v, str) else json.dumps(v, separators=(',', ':'))}"
        for k, v in sorted(values.items())
    ]


def settings_from_url(kind: type[SystemSettings]) -> dict[str, JsonValue] | None:
    """The changed settings that the URL gives, validated; None where it gives none.

    Raises:
        BadInput: an unknown setting, or a value out of its bounds.
    """
    given = st.query_params.get_all(P_SET)
    if not given:
        return None
    values = parse_assignments(given)
    override(kind(), values)
    return values


END = "end"
"""Among what the URL hides: how the run ends, until its last step is selected."""


def hidden() -> frozenset[str]:
    """What the URL hides: panels, as in ``?hide=settings&hide=prompts``, or the end."""
    return frozenset(st.query_params.get_all(P_HIDE))


def hide_end(hide: bool) -> None:
    """Have the URL hide the end of the run, or show it again."""
    others = [name for name in st.query_params.get_all(P_HIDE) if name != END]
    show(**{P_HIDE: [*others, END] if hide else others})
