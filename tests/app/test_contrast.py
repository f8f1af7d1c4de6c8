"""Text is read at 4.5:1 or more, and icons, lines and marks are seen at 3:1, in both themes."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import belief_charts, event_signs, palette, tam_graph
from components.palette import Sign

ROOT = Path(__file__).resolve().parents[2]
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
STYLE = (ROOT / "components" / "style.css").read_text(encoding="utf-8")
TIMELINE = (ROOT / "components" / "front" / "timeline.css").read_text(encoding="utf-8")
TEXT, MARK = 4.5, 3.0
HEX = re.compile(r"#[0-9A-F]{6}")
THEMES = ("light", "dark")


def channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def mixed(colour: str, other: str, share: float) -> str:
    """CSS's mix in sRGB: ``share`` of a colour, the rest another."""
    pairs = zip(channels(colour), channels(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def luminance(colour: str) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (n / 255 for n in channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2: (lighter + 0.05) / (darker + 0.05) of relative luminances."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def share(pattern: str, css: str) -> float:
    """The percentage of the first mix that a rule holds."""
    found = re.search(pattern + r"[^}]*?color-mix\(in srgb, [^,]*? (\d+)%", css)
    assert found, pattern
    return int(found[1]) / 100


def grounds(theme: str) -> list[str]:
    page, panel = THEME[theme]["backgroundColor"], THEME[theme]["secondaryBackgroundColor"]
    soft = mixed(THEME[theme]["textColor"], page, share(r"--ri-soft:", STYLE))
    return [page, panel, soft]


def signs() -> Iterator[tuple[str, Sign]]:
    """Every sign that a component declares, alone or in a mapping."""
    for path in sorted((ROOT / "components").glob("*.py")):
        module: Any = importlib.import_module(f"components.{path.stem}")
        for name, value in vars(module).items():
            for one in value.values() if isinstance(value, dict) else [value]:
                if isinstance(one, Sign):
                    yield f"{path.stem}.{name} {one.word}", one


def under(found: dict[str, float], least: float) -> dict[str, float]:
    return {name: round(value, 2) for name, value in found.items() if value < least}


def test_black_on_white_is_21_to_1() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_text_is_read(theme: str) -> None:
    ink = THEME[theme]["textColor"]
    tones = {
        "text": 1.0,
        "dim": share(r"--ri-dim:", STYLE),
        "timeline": share(r"\.row \.meta \{", TIMELINE),
        "step number": share(r"\.row \.seq \{", TIMELINE),
    }
    found = {
        f"{name} on {ground}": contrast(mixed(ink, ground, tone), ground)
        for name, tone in tones.items()
        for ground in grounds(theme)
    }
    assert under(found, TEXT) == {}


@pytest.mark.parametrize("theme", THEMES)
def test_a_chip_is_read_and_its_icon_seen(theme: str) -> None:
    ink, tint = THEME[theme]["textColor"], share(r"background:", STYLE.partition(".ri-chip {")[2])
    every = dict(signs())
    assert len({sign.colour for sign in every.values()}) >= 5
    words, icons = {}, {}
    for name, sign in every.items():
        for page in grounds(theme):
            ground = mixed(sign.colour, page, tint)
            words[f"{name} on {page}"] = contrast(ink, ground)
            icons[f"{name} on {page}"] = contrast(mixed(sign.colour, ink, palette.SHARE), ground)
    assert under(words, TEXT) == {}
    assert under(icons, MARK) == {}


@pytest.mark.parametrize("theme", THEMES)
def test_an_icon_of_the_timeline_is_seen(theme: str) -> None:
    ink = THEME[theme]["textColor"]
    colours = {c for _, c in event_signs._KINDS.values()} | {
        sign.colour for sign in palette.TERMINALS.values()
    }
    found = {
        f"{colour} on {ground}": contrast(mixed(colour, ink, palette.SHARE), ground)
        for colour in colours - {event_signs.INK}
        for ground in grounds(theme)
    }
    assert found
    assert under(found, MARK) == {}


@pytest.mark.parametrize("theme", THEMES)
def test_the_chosen_one_of_several_stands_out_from_its_neighbours(theme: str) -> None:
    rule = STYLE.partition('[data-selected="true"] {')[2].partition("}")[0]
    pairs = re.findall(r"(\S+): light-dark\((#[0-9A-F]{6}), (#[0-9A-F]{6})\)", rule)
    colours = {name: shades[THEMES.index(theme)] for name, *shades in pairs}
    assert set(colours) == {"background", "border-color", "color"}
    assert contrast(colours["color"], colours["background"]) >= TEXT
    found = {ground: contrast(colours["background"], ground) for ground in grounds(theme)}
    assert under(found, MARK) == {}


@pytest.mark.parametrize("theme", THEMES)
def test_a_threshold_is_seen_on_every_arc_and_beside_it(theme: str) -> None:
    """Its core or its rim stands out, and the two from each other."""
    tick, rim = belief_charts.TICK, belief_charts.RIM
    assert contrast(tick, rim) >= MARK
    under_it = [look.colour for look in belief_charts.MEASURES.values()]
    for ground in (*under_it, belief_charts.FIRING, palette.GHOST, *grounds(theme)):
        assert max(contrast(tick, ground), contrast(rim, ground)) >= MARK, ground
    for place in range(11):
        limits = {"p_ans": [belief_charts.Threshold(place / 10, ">=", "answer", 0.33)]}
        values = dict.fromkeys(belief_charts.MEASURES, 0.9)
        dials = belief_charts.gauges(belief_charts.Reading(1, values), limits, {"p_ans": 0.7}).data
        drawn = [s.color for s in dials[belief_charts._PLACES.index("p_ans")].gauge.steps]
        bar = drawn.index(belief_charts.MEASURES["p_ans"].colour)
        assert min(drawn.index(c) for c in (tick, rim)) > bar, "drawn over the filled arc"


@pytest.mark.parametrize("theme", THEMES)
def test_lines_and_marks_of_pictures_are_seen(theme: str) -> None:
    """Charts and graphs draw colours as they are: no ink is mixed in."""
    page = THEME[theme]["backgroundColor"]
    drawn = {
        **{name: look.colour for name, look in belief_charts.MEASURES.items()},
        **{name: colour for name, (colour, _) in tam_graph.STATES.items()},
        **tam_graph.COLOURS,
        "ghost": palette.GHOST,
        "firing": belief_charts.FIRING,
        "neutral": belief_charts.NEUTRAL,
    }
    found = {f"{name} {colour}": contrast(colour, page) for name, colour in drawn.items()}
    assert all(HEX.fullmatch(colour) for colour in drawn.values())
    assert under(found, MARK) == {}
