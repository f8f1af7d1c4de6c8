const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const watched = new WeakMap();

// Where one row would be drawn too small to read, the stages stand in two.
function draw(content, frame, pick) {
  const box = frame.querySelector(".box");
  const one = watched.get(box) ?? {};
  one.show = () => {
    const narrow = content.narrow && box.clientWidth > 0 && box.clientWidth < 0.8 * content.width;
    if (one.content === content && one.narrow === narrow) return;
    one.content = content;
    one.narrow = narrow;
    box.classList.toggle("narrow", Boolean(narrow));
    paint(narrow ? { ...content, ...content.narrow } : content, box, pick);
  };
  if (!watched.has(box)) {
    watched.set(box, one);
    new ResizeObserver(() => one.show()).observe(box);
  }
  one.show();
}

function paint(content, box, pick) {
  const svg = shape("svg", {
    viewBox: `0 0 ${content.width} ${content.height}`,
    role: "img",
    "aria-label": content.alt,
    preserveAspectRatio: "xMidYMid meet",
  });
  const tips = shape("defs", {});
  for (const kind of ["", " taken"]) {
    const marker = shape("marker", {
      id: kind ? "tip-taken" : "tip", viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse",
    });
    marker.append(shape("path", { d: "M0 0 L8 4 L0 8 z", class: "tip" + kind }));
    tips.append(marker);
  }
  svg.append(tips);
  for (const edge of content.edges) {
    svg.append(shape("path", {
      d: edge.d,
      class: edge.taken ? "edge taken" : "edge",
      "marker-end": edge.taken ? "url(#tip-taken)" : "url(#tip)",
    }));
  }
  for (const stage of content.nodes) {
    const names = ["node", stage.now ? "now" : "", stage.visits ? "" : "never"];
    const group = shape("g", { class: names.filter(Boolean).join(" ") });
    const left = stage.x - content.node_width / 2, top = stage.y - content.node_height / 2;
    group.append(
      shape("title", {}, stage.summary),
      shape("rect", { x: left, y: top, width: content.node_width, height: content.node_height, rx: 7 }),
      shape("text", { x: stage.x, y: stage.y - 1 }, stage.title),
      shape("text", { x: stage.x, y: stage.y + 14, class: "visits" }, stage.note),
    );
    if (stage.seq !== null) {
      group.dataset.seq = stage.seq;
      group.onclick = () => pick(stage.seq);
    }
    svg.append(group);
  }
  box.replaceChildren(svg);
}
