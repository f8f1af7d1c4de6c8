"""The packing as a pure function: its laws over drawn packings, and its re-decision."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.decisions import Decision, Undetermined
from core.systems.ragx.packing import PACK, PackInputs, decide, pack
from core.systems.ragx.settings import RagXSettings

POOL = [f"p{n}" for n in range(40)]
IDS = st.lists(st.sampled_from(POOL), max_size=12)
ORDER = {"read": 0, "hop": 1, "surfaced": 2, "backfill": 3}


@st.composite
def packings(draw):
    """Inputs and settings."""
    reads, hops, ranked = (
        draw(IDS),
        draw(IDS),
        draw(st.permutations(POOL))[: draw(st.integers(0, 40))],
    )
    surfaced = [*draw(IDS), *reads, *hops]
    known = {*reads, *hops, *surfaced, *ranked}
    inputs = PackInputs(
        reads=tuple(dict.fromkeys(reads)),
        hops=tuple(hops),
        surfaced=tuple(surfaced),
        ranked=tuple(ranked),
        depth=draw(st.sampled_from([40, 100])),
        tokens={i: draw(st.integers(1, 300)) for i in sorted(known)},
        overhead=draw(st.integers(0, 400)),
        spent=draw(st.integers(0, 5_000)),
    )
    chosen = RagXSettings(
        read_cap=draw(st.integers(0, 10)),
        extra_cap=draw(st.integers(0, 16)),
        backfill=draw(st.sampled_from([0, 3, 48])),
        context_window=draw(st.integers(100, 6_000)),
        token_budget=draw(st.integers(100, 10_000)),
        evidence_window=draw(st.integers(1, 60)),
    )
    return inputs, chosen


def limit(inputs, chosen):
    return max(0, min(chosen.context_window, chosen.token_budget - inputs.spent))


@settings(max_examples=200)
@given(packings())
def test_laws_of_packing(drawn):
    inputs, chosen = drawn
    packing = pack(inputs, chosen)
    ids = [p.id for p in packing.passages]
    routes = [p.route for p in packing.passages]
    # no duplicates, order, caps
    assert len(set(ids)) == len(ids)
    assert routes == sorted(routes, key=ORDER.__getitem__)
    assert routes.count("read") <= chosen.read_cap
    assert routes.count("hop") + routes.count("surfaced") <= chosen.extra_cap
    assert routes.count("backfill") <= chosen.backfill
    assert len(ids) <= chosen.evidence_window
    # every passage from where its route says, in that list's order
    reads = list(inputs.reads)
    assert [i for i, r in zip(ids, routes, strict=True) if r == "read"] == reads[
        : routes.count("read")
    ]
    for route, source in (("hop", inputs.hops), ("backfill", inputs.ranked)):
        mine = [i for i, r in zip(ids, routes, strict=True) if r == route]
        assert mine == [i for i in dict.fromkeys(source) if i in mine]
    place = {i: n for n, i in enumerate(inputs.ranked)}
    surfaced = [i for i, r in zip(ids, routes, strict=True) if r == "surfaced"]
    assert set(surfaced) <= {*inputs.surfaced, *inputs.reads}
    assert surfaced == sorted(surfaced, key=lambda i: place.get(i, len(place)))
    # budget kept, whole passages only: the tokens are those of the passages composed
    assert packing.tokens == inputs.overhead + sum(inputs.tokens[i] for i in ids)
    assert packing.tokens <= limit(inputs, chosen) or not ids
    # nothing is both in and cut; what was cut to fit comes after what stayed
    cut = [t for t in packing.trimmed if t.reason != "extra_cap"]
    assert not set(ids) & {t.id for t in packing.trimmed}
    assert not cut or ORDER[cut[0].route] >= max((ORDER[r] for r in routes), default=0)
    # backfill first: while any other passage was cut to fit, no backfill is left
    if any(t.route != "backfill" for t in cut):
        assert "backfill" not in routes
    # nothing is cut for nothing: the first one cut would not have fitted
    if cut:
        over = packing.tokens + inputs.tokens[cut[0].id] > limit(inputs, chosen)
        assert over or len(ids) + 1 > chosen.evidence_window


@settings(max_examples=100)
@given(packings())
def test_a_decision_says_what_was_packed(drawn):
    inputs, chosen = drawn
    decision = decide(inputs, chosen)
    if isinstance(decision, Undetermined):
        assert len(inputs.ranked) == inputs.depth
        assert chosen.backfill
        return
    packing = pack(inputs, chosen)
    assert PACK.declares(decision.outcome)
    assert decision == decide(PackInputs.model_validate(inputs.model_dump(mode="json")), chosen)
    if packing.passages:
        assert decision.outcome.startswith("compose ")
        assert f"{packing.count('backfill')} backfill" in decision.outcome
    else:
        assert decision.outcome in ("abstain", "exhausted")


def inputs_of(**changes):
    values = {
        "reads": ("a", "b"),
        "hops": ("b", "c"),
        "surfaced": ("x", "y", "a", "b", "c", "d"),
        "ranked": ("d", "y", "e", "f", "a"),
        "depth": 100,
        "tokens": dict.fromkeys("abcdefxy", 10),
        "overhead": 20,
        "spent": 0,
    }
    return PackInputs(**{**values, **changes})


def routes_of(inputs, **changes):
    return [f"{p.id}:{p.route}" for p in pack(inputs, RagXSettings(**changes)).passages]


def test_the_order_of_the_specification():
    assert routes_of(inputs_of()) == [
        "a:read",
        "b:read",
        "c:hop",
        "d:surfaced",
        "y:surfaced",
        "x:surfaced",
        "e:backfill",
        "f:backfill",
    ]


def test_a_read_passage_over_the_cap_is_an_extra_one():
    assert routes_of(inputs_of(), read_cap=1, extra_cap=2, backfill=0) == [
        "a:read",
        "b:hop",
        "c:hop",
    ]


def test_over_the_window_backfill_goes_first_and_says_why():
    packing = pack(inputs_of(), RagXSettings(context_window=100 - 20 + 20))
    assert [p.id for p in packing.passages] == ["a", "b", "c", "d", "y", "x", "e", "f"]
    packing = pack(inputs_of(overhead=60), RagXSettings(context_window=100))
    assert [p.id for p in packing.passages] == ["a", "b", "c", "d"]
    assert [(t.id, t.route, t.reason) for t in packing.trimmed] == [
        ("y", "surfaced", "context_window"),
        ("x", "surfaced", "context_window"),
        ("e", "backfill", "context_window"),
        ("f", "backfill", "context_window"),
    ]


def test_a_spent_budget_cuts_as_well():
    packing = pack(inputs_of(spent=950), RagXSettings(token_budget=1_000))
    assert len(packing.passages) == 3
    assert {t.reason for t in packing.trimmed} == {"token_budget"}


def test_a_cap_that_keeps_a_passage_out_is_said():
    packing = pack(inputs_of(), RagXSettings(extra_cap=1, backfill=0))
    assert [(t.id, t.reason) for t in packing.trimmed] == [
        ("d", "extra_cap"),
        ("y", "extra_cap"),
        ("x", "extra_cap"),
    ]


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        ({"read_cap": 1}, "compose 1 read + 2 hop + 3 surfaced + 2 backfill"),
        ({"extra_cap": 2}, "compose 2 read + 1 hop + 1 surfaced + 3 backfill"),
        ({"backfill": 1}, "compose 2 read + 1 hop + 3 surfaced + 1 backfill"),
        ({"evidence_window": 3}, "compose 2 read + 1 hop + 0 surfaced + 0 backfill"),
        ({"token_budget": 100, "context_window": 100}, "compose 2 read + 1 hop + 3 surfaced"),
    ],
)
def test_other_settings_re_decide_without_a_call(change, ends):
    decision = decide(inputs_of(), RagXSettings(**change))
    assert isinstance(decision, Decision)
    assert decision.outcome.startswith(ends)


def test_more_backfill_than_was_ranked_is_undetermined():
    shallow = inputs_of(depth=5)
    assert isinstance(decide(shallow, RagXSettings(backfill=3)), Undetermined)
    assert isinstance(decide(shallow, RagXSettings(backfill=2)), Decision)
    assert isinstance(decide(inputs_of(depth=6), RagXSettings(backfill=48)), Decision)


def test_nothing_found_and_nothing_that_fits_are_told_apart():
    empty = PackInputs(
        reads=(), hops=(), surfaced=(), ranked=(), depth=100, tokens={}, overhead=5, spent=0
    )
    assert decide(empty, RagXSettings()).outcome == "abstain"
    assert (
        decide(inputs_of(overhead=1_000), RagXSettings(context_window=1_005)).outcome == "exhausted"
    )
