"""Records of csv, json and jsonl files as documents, and what the verdict says of their columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.types import Metadata
from tests.retrieval.test_loading import load_all, only, write


def test_csv_records(tmp_path: Path) -> None:
    rows = (
        'id,Title,text,source_tier\nx1,One,"First, with\na line",official\n,Two,Second,\n,Three,,\n'
    )
    documents, verdicts = load_all(write(tmp_path, {"r.csv": rows}))
    assert [d.title for d in documents.values()] == ["One", "Two"]
    assert documents["r.csv#x1"].text == "First, with\na line"
    assert documents["r.csv#x1"].metadata.source_tier == "official"
    assert documents["r.csv#2"].text == "Second"
    assert verdicts["r.csv"].status == "warning"
    assert "has no text" in verdicts["r.csv"].reason


def test_json_and_json_lines(tmp_path: Path) -> None:
    documents, verdicts = load_all(
        write(
            tmp_path,
            {
                "a.json": '[{"title": "One", "text": "First."}, {"id": 7, "text": "Second."}]',
                "b.json": '{"title": "Three", "text": "Third."}',
                "c.jsonl": '{"title": "Four", "text": "Fourth."}\nnot json\n{"text": 5}\n',
            },
        )
    )
    assert {i: d.title for i, d in documents.items()} == {
        "a.json#1": "One",
        "a.json#7": "a 7",
        "b.json#1": "Three",
        "c.jsonl#1": "Four",
    }
    assert verdicts["a.json"].status == "indexed"
    assert verdicts["c.jsonl"].reason == "line 2 is not valid JSON; line 3 has no text"


TOWNS = {
    "t.csv": "Name,Founded,Note\nBrill,1190,\nTiree,,An island.\n",
    "t.json": '[{"name": "Brill", "founded": 1190, "note": null},'
    ' {"name": "Tiree", "note": "An island."}]',
    "t.jsonl": '{"name": "Brill", "founded": 1190}\n{"name": "Tiree", "note": "An island."}\n',
}


@pytest.mark.parametrize("name", TOWNS)
def test_an_ordinary_table_becomes_documents_made_of_its_columns_and_says_so(
    tmp_path: Path, name: str
) -> None:
    documents, verdicts = load_all(write(tmp_path, {name: TOWNS[name]}))
    assert {i: (d.title, d.text) for i, d in documents.items()} == {
        f"{name}#1": ("Brill", "name: Brill\nfounded: 1190"),
        f"{name}#2": ("Tiree", "name: Tiree\nnote: An island."),
    }
    assert verdicts[name].status == "warning"
    assert verdicts[name].reason == (
        "it has no column 'text', so each text was made of the columns: name, founded, note"
    )


@pytest.mark.parametrize(
    ("record", "title", "text"),
    [
        ({"name": "N", "title": "T"}, "T", "name: N\ntitle: T"),
        ({"year": 1844, "name": "N"}, "N", "year: 1844\nname: N"),
        ({"year": 1844, "place": "Brill"}, "1844", "year: 1844\nplace: Brill"),
        ({"": "first", "place": "Brill"}, "first", "first\nplace: Brill"),
        ({"open": True, "keys": ["é", {"a": 1}]}, "true", 'open: true\nkeys: ["é", {"a": 1}]'),
    ],
)
def test_title_and_text_of_a_record_without_a_text(
    tmp_path: Path, record: dict[str, object], title: str, text: str
) -> None:
    document = only(write(tmp_path, {"r.jsonl": json.dumps(record)}))
    assert (document.title, document.text) == (title, text)


def test_metadata_of_a_record_without_a_text_is_read_as_of_any_other(tmp_path: Path) -> None:
    rows = "id,what,date,tenant\nk,Lamp,1951-02-03,aurora\n"
    documents, _ = load_all(write(tmp_path, {"r.csv": rows}))
    assert documents["r.csv#k"].metadata == Metadata(date="1951-02-03", tenant="aurora")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "id,title,Text,date,Colour,weight\na,One,First.,2024,red,5\n"),
        ("r.json", '[{"text": "First.", "colour": "red"}, {"text": "Second.", "weight": 5}]'),
        ("r.jsonl", '{"id": 1, "text": "First.", "colour": "red", "weight": [5]}'),
    ],
)
def test_columns_beside_the_text_that_are_not_read_are_named(
    tmp_path: Path, name: str, content: str
) -> None:
    documents, verdicts = load_all(write(tmp_path, {name: content}))
    assert documents
    assert all("red" not in d.text for d in documents.values())
    assert verdicts[name].status == "warning"
    assert verdicts[name].reason == "not indexed, beside 'text': colour, weight"


def test_of_very_many_columns_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    record = {"text": "First.", **{f"c{n}": n for n in range(13)}, "x\u202e" + "y" * 90: 1}
    _, verdicts = load_all(write(tmp_path, {"r.json": json.dumps(record)}))
    reason = verdicts["r.json"].reason
    assert reason.endswith("c8, c9 and 4 more")
    assert len(reason) < 200


def test_a_record_without_a_text_among_others_with_one_is_left_out(tmp_path: Path) -> None:
    lines = '{"text": "One."}\n{"name": "Brill"}\n'
    documents, verdicts = load_all(write(tmp_path, {"c.jsonl": lines}))
    assert list(documents) == ["c.jsonl#1"]
    assert verdicts["c.jsonl"].reason == "line 2 has no text; not indexed, beside 'text': name"


def test_records_that_repeat_an_id_are_both_kept(tmp_path: Path) -> None:
    lines = '{"id": "a", "text": "One."}\n{"id": "a", "text": "Two."}\n'
    documents, verdicts = load_all(write(tmp_path, {"c.jsonl": lines}))
    assert [d.text for d in documents.values()] == ["One.", "Two."]
    assert "repeats an id" in verdicts["c.jsonl"].reason
