const listed = new WeakMap();

function element(tag, name, text) {
  const node = document.createElement(tag);
  node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}

function row(item, cursor) {
  const node = element("div", item.unknown ? "row unknown" : "row");
  node.id = "step-" + item.seq;
  node.dataset.seq = item.seq;
  node.setAttribute("role", "option");
  node.setAttribute("aria-selected", String(item.seq === cursor));
  const icon = element("span", "icon", item.icon);
  icon.style.color = item.colour;
  icon.setAttribute("aria-hidden", "true");
  const meta = element("div", "meta");
  for (const part of item.meta) meta.append(element("span", "", part));
  node.append(icon, element("div", "text", item.text), element("div", "seq", String(item.seq)), meta);
  return node;
}

function select(list, seq) {
  for (const node of list.querySelectorAll('[aria-selected="true"]')) {
    node.setAttribute("aria-selected", "false");
  }
  const node = list.querySelector(`[data-seq="${seq}"]`);
  if (!node) return null;
  node.setAttribute("aria-selected", "true");
  list.setAttribute("aria-activedescendant", node.id);
  const top = node.offsetTop, bottom = top + node.offsetHeight;
  if (top < list.scrollTop + 4) list.scrollTop = Math.max(0, top - 40);
  else if (bottom > list.scrollTop + list.clientHeight - 4) {
    list.scrollTop = bottom - list.clientHeight + 40;
  }
  return node;
}

function draw(content, frame, pick) {
  const list = frame.querySelector(".list");
  const foot = frame.querySelector(".foot");

  const signature = JSON.stringify(content.items);
  if (listed.get(list) !== signature) {
    const at = list.scrollTop;
    list.replaceChildren();
    for (const item of content.items) {
      if (item.flag) list.append(element("div", "flag", item.flag));
      list.append(row(item, content.cursor));
    }
    list.scrollTop = at;
    listed.set(list, signature);
  }
  list.setAttribute("aria-label", content.label);
  select(list, content.cursor);
  foot.replaceChildren(element("span", "", content.count), element("span", "", content.hint));

  const choose = (seq) => {
    if (select(list, seq)) pick(seq);
  };
  list.onclick = (event) => {
    const node = event.target.closest(".row");
    if (node) choose(Number(node.dataset.seq));
  };
  list.onkeydown = (event) => {
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8, Home: -1e9, End: 1e9 };
    if (!(event.key in steps)) return;
    const rows = [...list.querySelectorAll(".row")];
    const now = rows.findIndex((node) => node.getAttribute("aria-selected") === "true");
    const next = Math.min(rows.length - 1, Math.max(0, now + steps[event.key]));
    event.preventDefault();
    event.stopPropagation();
    choose(Number(rows[next].dataset.seq));
  };
}
