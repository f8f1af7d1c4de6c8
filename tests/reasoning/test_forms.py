"""What is asked for bounds what may answer: amounts, commands, people, named things, sections."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reasoning.extractive.measures import measure_of, measures_asked
from core.reasoning.extractive.question import code_asked
from core.reasoning.extractive.reading import answer
from core.reasoning.extractive.structure import code_spans, heading_of, is_structure
from core.tasks import AnswerRequest
from tests.reasoning.bag_view import passage, view_of

MILL = passage(
    "Quern server",
    "## Limits\n\nThe Quern server needs 8 GB of memory and a disk of 500 GB. It closes an idle "
    "session after 40 minutes. A backup costs 12 euros. A request waits for 30 seconds at most.\n\n"
    "## Checks\n\nThe Quern server checks its disk every 15 minutes. A failed check is repeated "
    "after 20 seconds.",
)
TOOL = passage(
    "Quern tool",
    "# Quern tool\n\nAn import can be stopped with `quern halt`. The Quern tool reads its settings "
    "from `/etc/quern/main.toml` before an import. Set `retry_limit = 4` where an import fails "
    "often. The option `--quiet` hides the progress of an import.",
)
DUTY = passage(
    "Duty handbook",
    "# Duty handbook\n\nAn alarm that nobody answers goes to the harbour master. The Duty "
    "handbook is read by everybody.",
)
BAND = passage(
    "Lantern Choir",
    "Lantern Choir recorded the album Salt Meadows in Hull. Thistle Records is their label. "
    "The label printed few copies of the album. It came out in March 1974.",
)
EVERYTHING = (MILL, TOOL, DUTY, BAND)


def ask(question, *passages):
    return answer(AnswerRequest(question=question, passages=passages), view_of(*EVERYTHING)).answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much memory does the Quern server need?", "8 GB"),
        ("How big a disk does the Quern server need?", "GB"),
        ("How much does a backup cost?", "12 euros"),
        ("How long may a session of the Quern server be idle?", "40 minutes"),
        ("After what time is an idle session closed?", "40 minutes"),
        ("How often does the Quern server check its disk?", "15 minutes"),
        ("What is the longest time for which a request waits?", "30 seconds"),
    ],
)
def test_an_amount_has_a_unit_of_what_is_measured(question, expected):
    assert ask(question, MILL, TOOL).endswith(expected)


@pytest.mark.parametrize(
    ("question", "measures"),
    [
        ("How heavy is the bell?", {"mass"}),
        ("How far is the mill from the quay?", {"time", "length"}),
        ("How expensive is a seat?", {"money"}),
        ("How much do they charge for a seat?", {"money"}),
        ("How hot does the kiln get?", {"temperature"}),
        ("What is the price of a seat?", {"money", "share"}),
        ("How many seats are there?", set()),
        ("Who owns the mill?", set()),
    ],
)
def test_what_is_measured_is_read_off_the_question(question, measures):
    assert measures_asked(question) == measures


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [("mb", "gb"), ("ms", "seconds"), ("minutes", "hour"), ("metres", "km"), ("lbs", "tonnes")],
)
def test_units_of_a_measure_are_on_one_scale(smaller, larger):
    (measure, factor), (other, greater) = measure_of(smaller), measure_of(larger)
    assert measure == other != ""
    assert factor < greater


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which command stops an import?", "quern halt"),
        ("With what command do I stop an import?", "quern halt"),
        ("An import must be stopped. What should I run?", "quern halt"),
        ("Which file holds the settings of the Quern tool?", "/etc/quern/main.toml"),
        ("Which setting helps where an import fails often?", "retry_limit = 4"),
        ("Which option hides the progress of an import?", "--quiet"),
    ],
)
def test_what_is_typed_is_answered_as_it_is_typed(question, expected):
    assert ask(question, MILL, TOOL) == expected


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which commander led the fleet?", ""),
        ("What command starts it?", "command"),
        ("In which file is it?", "file"),
        ("What is the name of the option that hides it?", "flag"),
        ("Which switch hides it?", "flag"),
        ("Who wrote the file?", ""),
        ("What do I type first?", "command"),
        ("What did the company run?", "command"),
    ],
)
def test_the_form_of_code_is_read_off_the_question(question, form):
    assert code_asked(question) == form


def test_code_is_found_with_and_without_backticks():
    text = (
        "Open ~/notes/list.txt, set max_size = 3MB, pass --force, and run `tidy all now`; and/or."
    )
    assert {text[a:b] for a, b in code_spans(text)} == {
        "~/notes/list.txt",
        "max_size = 3MB",
        "--force",
        "tidy all now",
    }


def test_a_page_is_nobody():
    assert ask("Who is called when nobody answers an alarm?", DUTY, MILL) == "harbour master"


def test_a_person_with_a_small_word_in_the_name_is_somebody():
    man = passage("Piet van der Zee", "Piet van der Zee wrote the harbour song.")
    assert ask("Who wrote the harbour song?", man) == "Piet van der Zee"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which album did Lantern Choir record in Hull?", "Salt Meadows"),
        ("Which label printed few copies of the album?", "Thistle Records"),
    ],
)
def test_a_named_thing_is_answered_by_a_name(question, expected):
    assert ask(question, BAND) == expected


MARKED = (
    "---\ntitle: Note\ndate: 2020-01-01\n---\n\n# Big Note\n\nIt works.\n\nAccess\n\n"
    "Ask the desk.\n\n| A | B |\n|---|---|\n| x | y |\n\n***\n\n- Port 80\n"
)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("---\ntitle: Note\ndate: 2020-01-01\n---", True),
        ("# Big Note", True),
        ("Big Note", True),
        ("Access", True),
        ("|---|---|", True),
        ("***", True),
        ("It works.", False),
        ("Ask the desk.", False),
        ("| x | y |", False),
        ("- Port 80", False),
        ("# Big Note\n\nIt works.", False),
    ],
)
def test_lines_that_state_nothing_are_told_from_text(part, expected):
    start = MARKED.index(part)
    assert is_structure(MARKED, start, start + len(part)) is expected


def test_the_heading_of_a_section_is_the_last_one_above():
    assert heading_of(MARKED, MARKED.index("It works")) == "Big Note"
    assert heading_of(MARKED, MARKED.index("Ask")) == "Access"
    assert heading_of("Plain text.", 3) == ""


@settings(max_examples=60)
@given(text=st.text("#-=|*` \nAb1.:/_", max_size=80), start=st.integers(0, 80))
def test_structure_and_code_lie_in_any_text(text, start):
    is_structure(text, min(start, len(text)), len(text))
    for a, b in code_spans(text):
        assert 0 <= a < b <= len(text)
        assert "\n" not in text[a:b]


def test_a_rule_joins_no_names():
    joined = passage("", "The page Alder Note --- Birch Note was read by Ann Pell --- Tom Orr.")
    reply = ask("Who read the page?", joined)
    assert "---" not in reply
