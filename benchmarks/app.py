"""The app in a real browser, and fifty runs at once.

``python -m benchmarks.app [pages] [long] [live] [graph] [load]`` measures all or what is named. The
browser's figures are medians over several visits, with the slowest in brackets; whatever else
runs on the machine is in them, so the load of the machine is printed beside.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.long_run import lengthened
from benchmarks.serving import FLAGS, Served, chromium, served
from core import trace
from core.evaluation.report import Table, markdown
from core.events import RunFinished, Step
from core.journal import Journal
from core.live import RunPool
from core.registry import system
from core.runs import RunSpec
from core.wiring import Workbench
from tests.app.recorded import record
from tests.browser.pictures import DRAWN, large_drawing

VISITS, LONG, RUNS, CORPUS = 5, 30_000, 50, "film_night"
PATIENCE = 120.0
PARTS = ("pages", "long", "live", "graph", "load")
PAGES = (("", "Home"), ("Run", "Run"), ("Runs", "Runs"), ("Corpus", "Corpus"))
_SEEN = """() => {
  const seen = window.__seen = {};
  const look = (root) => {
    for (const row of root.querySelectorAll(".row[data-seq]")) seen[row.dataset.seq] ??= Date.now();
    for (const node of root.querySelectorAll("*")) if (node.shadowRoot) look(node.shadowRoot);
  };
  setInterval(() => look(document), 40);
}"""
"""Notes when each line of the timeline is first in the page."""


@dataclass
class Visitor:
    """A browser that looks at a served app and counts what would leave the machine."""

    app: Served
    browser: Any
    elsewhere: list[str]

    @contextmanager
    def tab(self, path: str = "") -> Iterator[Any]:
        """A new session on a page, as somebody who comes for the first time has it."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 800})
        context.on("request", self._asked)
        tab = context.new_page()
        tab.set_default_timeout(1e3 * PATIENCE)
        try:
            self.go(tab, path)
            yield tab
        finally:
            context.close()

    def until(self, path: str, *selectors: str) -> list[float]:
        """Seconds from going to a page, with nothing cached, until each of these is visible."""
        with self.tab("_stcore/health") as tab:
            return self.visit(tab, path, selectors)

    def again(self, path: str, *selectors: str) -> list[list[float]]:
        """The same for ``VISITS`` later visits of a browser that has been there."""
        with self.tab(path) as tab:
            tab.locator(selectors[0]).first.wait_for()
            return [self.visit(tab, path, selectors) for _ in range(VISITS)]

    def visit(self, tab: Any, path: str, selectors: Sequence[str]) -> list[float]:
        """Seconds from going to a page in this tab until each of these is visible."""
        tab.goto("about:blank")
        found, started = [], time.perf_counter()
        self.go(tab, path)
        for selector in selectors:
            tab.locator(selector).first.wait_for()
            found.append(time.perf_counter() - started)
        return found

    def go(self, tab: Any, path: str) -> None:
        """Go to a page, and do not wait for it."""
        tab.goto(f"{self.app.base}/{path}", wait_until="commit")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.app.base, "data:", "blob:")):
            self.elsewhere.append(request.url)


@contextmanager
def visiting(data: Path) -> Iterator[Visitor]:
    """The app over a data directory, and a browser."""
    from playwright.sync_api import sync_playwright

    with served(data) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield Visitor(app, browser, [])
        browser.close()


def middle(values: Sequence[float]) -> str:
    """The median, and the largest in brackets."""
    return f"{statistics.median(values):.2f} ({max(values):.2f})"


def row(what: str, values: Sequence[float], most: float) -> tuple[str, ...]:
    """A line of a table: the median is held against what is asked for."""
    holds = "yes" if statistics.median(values) <= most else "NO"
    return (what, str(len(values)), middle(values), f"at most {most:g}", holds)


def load() -> str:
    """How busy the machine is: runnable processes over the last minute, and its cores."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


HEAD = ("what", "n", "seconds: median (slowest)", "asked", "holds")


def pages_table(visitor: Visitor) -> Table:
    """First paint of every page on a warm server: its heading, and its body."""
    ready = {
        "": "button:has-text('Ask and watch')",
        "Run": "[role=combobox][aria-label*='Sample questions']",
        "Runs": ".ri-title",
        "Corpus": ".ri-outcome",
    }
    for path, _ in PAGES:
        visitor.until(path, "h1", ready[path])
    lines = []
    for path, title in PAGES:
        times = [visitor.until(path, "h1", ready[path]) for _ in range(VISITS)]
        lines.append(row(f"{title}: heading, first visit", [t[0] for t in times], 2.0))
        later = visitor.again(path, "h1", ready[path])
        lines.append(row(f"{title}: heading, later visits", [t[0] for t in later], 2.0))
        body = [t[1] for t in later]
        lines.append((f"{title}: body, later visits", str(len(body)), middle(body), "", ""))
    return Table(HEAD, lines)


def long_table(visitor: Visitor, data: Path) -> Table:
    """A run of ``LONG`` steps: opened for the first time, again, and one step of the cursor."""
    journal, ids = Journal(data), [f"long{n}" for n in range(VISITS)]
    steps_of_all = lengthened(record(answer_threshold=0.55), LONG, "long")
    for run_id in ids:
        journal.append([s.model_copy(update={"run_id": run_id}) for s in steps_of_all])
    stated = f"text=of {LONG:,} steps"
    wanted = ("h1", ".row[data-seq]", stated)
    with visitor.tab(f"Run?run={ids[0]}") as tab:  # a browser that has seen the app
        tab.locator(stated).first.wait_for()
        first = [visitor.visit(tab, f"Run?run={i}", wanted) for i in ids[1:]]
        again = [visitor.visit(tab, f"Run?run={i}", wanted) for i in ids]
    steps = []
    with visitor.tab(f"Run?run={ids[0]}") as tab:
        tab.locator(stated).first.wait_for()
        for n in range(VISITS):
            started = time.perf_counter()
            tab.get_by_role("button", name="Back").click()
            tab.locator(".ri-step b", has_not_text=f"Step {LONG - 1 - n}").first.wait_for()
            tab.wait_for_function(
                "n => Number(document.querySelector('.ri-step b').textContent.slice(5)) < n",
                arg=LONG - 1 - n,
            )
            steps.append(time.perf_counter() - started)
    return Table(
        HEAD,
        [
            row("heading", [t[0] for t in first], 2.0),
            row("first page, read for the first time", [t[2] for t in first], 3.0),
            row("first page, read before", [t[2] for t in again], 3.0),
            row("one step back", steps, 1.0),
        ],
    )


def live_table(visitor: Visitor, data: Path) -> Table:
    """From a step's own time to its line on the screen: steps that another process writes, one
    every 0.3 s; then a real run, asked on the page."""
    journal, beside = Journal(data), []
    steps = lengthened(record(answer_threshold=0.55), 62, "beside")
    journal.append([_now(steps[0])])
    with visitor.tab("Run?run=beside") as tab:
        tab.locator(".row[data-seq]").first.wait_for()
        tab.evaluate(_SEEN)
        written: dict[str, float] = {}
        for step in steps[1:]:
            now = _now(step)
            journal.append([now])
            written[str(step.seq)] = now.at.timestamp()
            tab.wait_for_timeout(300)
        tab.wait_for_function("n => window.__seen[n]", arg=steps[-1].seq)
        seen = tab.evaluate("window.__seen")
        beside = [seen[n] / 1e3 - at for n, at in written.items() if n in seen]
    asked, ended, every = [], [], []
    for _ in range(VISITS):
        with visitor.tab() as tab:
            tab.get_by_role("button", name="Ask and watch").wait_for()
            tab.evaluate(_SEEN)
            clicked = time.time()
            tab.get_by_role("button", name="Ask and watch").click()
            tab.get_by_role("button", name="Run again").wait_for()
            kept = journal.steps(tab.evaluate("new URL(location).searchParams.get('run')"))
            tab.wait_for_function("n => window.__seen[n]", arg=kept[-1].seq)
            seen = {n: at / 1e3 for n, at in tab.evaluate("window.__seen").items()}
        asked.append(min(seen.values()) - clicked)
        late = {s.seq: seen[str(s.seq)] - s.at.timestamp() for s in kept if str(s.seq) in seen}
        every += late.values()
        ended.append(late[kept[-1].seq])
    return Table(
        HEAD,
        [
            row("a step written beside, to its line", beside, 1.0),
            row("a step of a run on the page, to its line", every, 1.0),
            row("the last step of it, to its line", ended, 1.0),
            (
                "from Ask and watch to the first line",
                str(len(asked)),
                middle(asked),
                "",
                "",
            ),
        ],
    )


def graph_table(visitor: Visitor) -> Table:
    """3,000 nodes of an abstraction memory: laid out, written as a page, drawn by the browser."""
    from components import tam_graph

    laid, written, drawn = [], [], []
    for _ in range(VISITS):
        with visitor.tab("_stcore/health") as tab:
            started = time.perf_counter()
            drawing = large_drawing()
            laid.append(time.perf_counter() - started)
            page = tam_graph.page(drawing, dark=True, height=500)
            written.append(time.perf_counter() - started - laid[-1])
            started = time.perf_counter()
            tab.set_content(page)
            tab.evaluate(DRAWN)
            drawn.append(time.perf_counter() - started)
    whole = [sum(parts) for parts in zip(laid, written, drawn, strict=True)]
    return Table(
        HEAD,
        [
            ("laid out", str(len(laid)), middle(laid), "", ""),
            ("written as a page", str(len(written)), middle(written), "", ""),
            ("drawn by the browser", str(len(drawn)), middle(drawn), "", ""),
            row("all of it", whole, 5.0),
        ],
    )


def _now(step: Step) -> Step:
    return step.model_copy(update={"at": datetime.now(UTC)})


def load_table(folder: Path) -> Table:
    """Fifty runs at once in this process with the real extractive reasoner: each is the same as
    alone, each can be stopped, and what memory they take."""
    import psutil

    bench = Workbench(root=folder)
    bench.library.ensure(CORPUS)
    bench.embedder.load()
    known = system("beliefrag")
    from core.evaluation.questions import load_questions
    from core.retrieval.library import BUNDLED

    questions = load_questions(BUNDLED / CORPUS / "questions.jsonl").questions
    texts = [questions[n % len(questions)].question for n in range(RUNS)]
    pool, me = RunPool(), psutil.Process()

    def start(text: str) -> str:
        spec = RunSpec(known, text, known.settings())
        return pool.start(spec, bench.deps(CORPUS), bench.journal)

    def finish(ids: Sequence[str]) -> list[list[Step]]:
        assert all(pool.wait(i, 10 * PATIENCE) for i in ids)
        return [bench.journal.steps(i) for i in ids]

    distinct = list(dict.fromkeys(texts))
    begun = time.perf_counter()
    alone = dict(zip(distinct, (finish([start(t)])[0] for t in distinct), strict=True))
    each = (time.perf_counter() - begun) / len(distinct)
    before = me.memory_info().rss
    with _peak(me) as peak:
        begun = time.perf_counter()
        together = finish([start(text) for text in texts])
        took = time.perf_counter() - begun
    whole = sum(
        [s.seq for s in steps] == list(range(len(steps))) and _same(steps, alone[text])
        for text, steps in zip(texts, together, strict=True)
    )
    ids = [start(text) for text in texts]
    for run_id in ids:
        pool.cancel(run_id)
    ends = [steps[-1].event for steps in finish(ids)]
    stopped = sum(isinstance(e, RunFinished) and e.terminal == "cancelled" for e in ends)
    after = me.memory_info().rss
    mb = 1 / 1e6
    return Table(
        ("what", "found", "asked"),
        [
            ("runs at once", f"{RUNS}", "50"),
            ("as alone: every event, in order, once", f"{whole} of {RUNS}", f"{RUNS} of {RUNS}"),
            ("told to stop, ended as stopped", f"{stopped} of {RUNS}", "the rest had finished"),
            ("ended in a terminal", f"{len(ends)} of {RUNS}", f"{RUNS} of {RUNS}"),
            ("events in all", f"{sum(map(len, together)):,}", ""),
            ("seconds, all together", f"{took:.1f}", ""),
            ("seconds, one run alone", f"{each:.2f}", ""),
            ("RSS before, models loaded", f"{before * mb:,.0f} MB", ""),
            ("RSS at most, during the runs", f"{peak[0] * mb:,.0f} MB", ""),
            ("RSS after", f"{after * mb:,.0f} MB", ""),
        ],
    )


def _same(one: Sequence[Step], other: Sequence[Step]) -> bool:
    return trace.identical(list(one), list(other))


@contextmanager
def _peak(process: Any) -> Iterator[list[int]]:
    """The largest resident memory while the block runs, looked at every 50 ms."""
    most, over = [process.memory_info().rss], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            most[0] = max(most[0], process.memory_info().rss)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0 whatever came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=PARTS, help="what to measure")
    parts = parser.parse_args(arguments).parts or PARTS
    if "load" in parts:
        with tempfile.TemporaryDirectory() as folder:
            table = load_table(Path(folder))
        print(f"## {RUNS} runs at once ({load()})\n\n{markdown(table)}\n")
    if not set(parts) - {"load"}:
        return 0
    if chromium() is None:
        print("There is no Chromium here; the browser's part is left out.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        Workbench(root=data).library.ensure(CORPUS)
        for n in range(40):
            Journal(data).append(record("static", run_id=f"seeded{n}", question=f"Question {n}?"))
        with visiting(data) as visitor:
            measured: dict[str, tuple[str, Callable[[], Table]]] = {
                "pages": ("First paint, warm server", lambda: pages_table(visitor)),
                "live": ("A step on the screen", lambda: live_table(visitor, data)),
                "graph": ("3,000 nodes drawn", lambda: graph_table(visitor)),
                "long": (f"A run of {LONG:,} steps", lambda: long_table(visitor, data)),
            }
            for name, (title, measure) in measured.items():
                if name in parts:
                    table = measure()
                    print(f"## {title} ({load()})\n\n{markdown(table)}\n", flush=True)
            print(f"Requests that left the machine: {len(visitor.elsewhere)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
