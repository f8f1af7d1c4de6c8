import pytest

from core.systems.ragx.hint import answer_type, hint

TABLE = [
    ("Who is the spouse of the actor who plays Jarvis in Iron Man?", "person"),
    ("Which actor plays Jarvis?", "person"),
    ("To whom was it given?", "person"),
    ("What American actress played her?", "person"),
    ("Where was the director born?", "place"),
    ("In which city was she born?", "place"),
    ("What county shares a border with it?", "place"),
    ("The composer was born in which town?", "place"),
    ("When did the country leave the British Empire?", "date"),
    ("In what year was it founded?", "date"),
    ("Another sport that was started when?", "date"),
    ("On what date did it open?", "date"),
    ("How many Publix stores are in the state?", "number"),
    ("What is the population of the town?", "number"),
    ("How old was he?", "number"),
    ("Is the Ural longer than the Don?", "yes_no"),
    ("Were Scott Derrickson and Ed Wood of the same nationality?", "yes_no"),
    ("did it open in 1912", "yes_no"),
    ("Which river is longer, the Ural or the Don?", "option"),
    ("Who is older, Ann Lee or Bob Ray?", "option"),
    ("Was it red or blue?", "option"),
    ("What is the name of the waterfall?", None),
    ("Which band did he found?", None),
    ("Name the film whose score she wrote.", None),
    ("Was ist das?", None),
    ("東京はどこですか", None),
    ("", None),
]


@pytest.mark.parametrize(("question", "kind"), TABLE)
def test_the_expected_type_is_told_by_the_form(question, kind):
    assert answer_type(question) == kind


def test_a_hint_is_one_line_or_nothing():
    assert hint("Who?") == "The answer is the name of a person."
    assert hint("Was ist das?") == ""
    assert all("\n" not in hint(q) for q, _ in TABLE)
