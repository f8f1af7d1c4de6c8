"""Where the named cases of the pages are tested: each of these tests exists and can run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CASES: dict[int, tuple[str, tuple[str, ...]]] = {
    26: (
        "a second upload shows the first one's index",
        (
            "retrieval/test_library_corpora.py::test_a_second_upload_never_shows_the_first_ones_index",
            "app/test_corpus_page.py::test_files_of_one_name_and_other_contents_have_their_own_preview",
            "browser/test_corpus_page.py::test_a_deleted_corpus_leaves_nothing_and_is_added_again_as_new",
        ),
    ),
    27: (
        "one global index serves every user",
        (
            "retrieval/test_library_corpora.py::test_workspaces_never_see_each_others_corpora",
            "app/test_workspaces.py::test_ten_sessions_share_neither_corpora_nor_runs_nor_keys",
            "browser/test_everywhere.py::test_two_browsers_with_two_links_see_nothing_of_each_other",
        ),
    ),
    28: (
        "a widget is touched during streaming",
        ("browser/test_live.py::test_touching_everything_while_it_runs_loses_and_doubles_nothing",),
    ),
    29: (
        "a reload orphans the task; the next run's steps mix in",
        (
            "browser/test_live.py::test_ask_watch_live_reload_in_mid_run_and_a_second_tab",
            "browser/test_live.py::test_two_runs_never_mix_and_the_one_left_behind_can_be_stopped",
            "core/test_live.py::test_fifty_runs_at_once_lose_and_mix_nothing_and_can_each_be_stopped",
        ),
    ),
    30: (
        "polling never stops",
        ("browser/test_live.py::test_the_page_asks_again_only_while_its_run_is_going",),
    ),
    31: (
        "a huge trace freezes the page, or is cut silently",
        (
            "app/test_paging.py::test_every_item_is_on_exactly_one_page",
            "app/test_paging.py::test_the_views_of_a_long_run_are_paged_and_say_so",
            "app/test_components.py::test_a_long_run_is_paged_with_a_stated_count",
        ),
    ),
    32: (
        "a graph of many nodes takes minutes to settle",
        (
            "app/test_tam_pictures.py::test_three_thousand_nodes_are_written_in_time_and_more_are_counted",
            "app/test_tam_pictures.py::test_the_same_graph_is_the_same_picture",
        ),
    ),
    33: (
        "labels of any script, or with markup, in the graph",
        (
            "app/test_tam_pictures.py::test_no_label_can_leave_its_place_in_the_picture",
            "app/test_components.py::test_hostile_titles_stay_text_on_the_timeline",
        ),
    ),
    34: (
        "file names that are not ASCII; two files of one name",
        (
            "retrieval/test_loading.py::test_odd_names_become_safe_distinct_ids",
            "retrieval/test_library_corpora.py::test_two_files_of_one_name_in_an_upload_are_told_apart",
            "app/test_corpus_page.py::test_every_given_file_is_judged_under_its_own_name_whatever_it_is_kept_as",
            "browser/test_corpus_page.py::test_fifty_uploads_with_nasty_names_and_contents",
        ),
    ),
    35: (
        "encodings: a late byte, UTF-16, Latin-1, a mark, NUL",
        (
            "retrieval/test_decoding.py::test_a_late_non_ascii_character_in_utf8",
            "retrieval/test_decoding.py::test_unicode_is_decoded_without_a_warning",
            "retrieval/test_decoding.py::test_western_legacy_text_wherever_its_first_accent_is",
            "retrieval/test_decoding.py::test_what_is_not_text_is_refused_with_the_reason",
        ),
    ),
    36: (
        "PDFs: scanned, empty, locked, looping",
        (
            "retrieval/test_loading.py::test_a_pdf_that_loops_ends_within_its_time_limit",
            "retrieval/test_loading.py::test_a_file_without_a_document_is_skipped_with_the_reason_and_the_rest_goes_on",
            "browser/test_corpus_page.py::test_fifty_uploads_with_nasty_names_and_contents",
        ),
    ),
    40: (
        "formulas, directives, images, tables in passages",
        (
            "app/test_pages.py::test_hostile_text_is_shown_as_text_on_every_view",
            "app/test_corpus_page.py::test_a_hostile_document_opens_as_text",
            "browser/test_run_page.py::test_hostile_text_in_a_run_is_text_on_every_view",
        ),
    ),
    41: (
        "a page is opened before anything was run",
        (
            "app/test_pages.py::test_a_page_with_nothing_in_it_says_what_it_is_for_and_what_to_do",
            "browser/test_everywhere.py::test_pages_with_nothing_in_them",
        ),
    ),
    42: (
        "two runs of one seed give different pictures",
        (
            "app/test_components.py::test_two_runs_of_one_seed_are_the_same_pictures",
            "app/test_tam_pictures.py::test_the_same_graph_is_the_same_picture",
        ),
    ),
}


def _skipped_always(node: ast.FunctionDef) -> bool:
    marks = [ast.unparse(d) for d in node.decorator_list]
    return any(mark.startswith(("pytest.mark.skip(", "pytest.mark.xfail")) for mark in marks)


@pytest.mark.parametrize(("case", "test"), [(c, t) for c, (_, ts) in CASES.items() for t in ts])
def test_the_test_of_a_case_is_there(case: int, test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    assert len(found) == 1, f"case {case}: there is no {test}"
    assert not _skipped_always(found[0])
    assert any(isinstance(n, ast.Assert | ast.Call) for n in ast.walk(found[0]))


def test_every_case_of_the_pages_is_here() -> None:
    assert set(CASES) == {*range(26, 37), 40, 41, 42}
