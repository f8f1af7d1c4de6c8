const shown = new WeakMap();

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

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const list = parentElement.querySelector(".list");
  const foot = parentElement.querySelector(".foot");
  if (!list || !data) return;

  const signature = JSON.stringify(data.items);
  if (shown.get(list) !== signature) {
    const at = list.scrollTop;
    list.replaceChildren();
    for (const item of data.items) {
      if (item.flag) list.append(element("div", "flag", item.flag));
      list.append(row(item, data.cursor));
    }
    list.scrollTop = at;
    shown.set(list, signature);
  }
  list.setAttribute("aria-label", data.label);
  select(list, data.cursor);
  foot.replaceChildren(element("span", "", data.count), element("span", "", data.hint));

  const pick = (seq) => {
    if (select(list, seq)) setTriggerValue("picked", seq);
  };
  list.onclick = (event) => {
    const node = event.target.closest(".row");
    if (node) pick(Number(node.dataset.seq));
  };
  list.onkeydown = (event) => {
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8, Home: -1e9, End: 1e9 };
    if (!(event.key in steps)) return;
    const rows = [...list.querySelectorAll(".row")];
    const now = rows.findIndex((node) => node.getAttribute("aria-selected") === "true");
    const next = Math.min(rows.length - 1, Math.max(0, now + steps[event.key]));
    event.preventDefault();
    event.stopPropagation();
    pick(Number(rows[next].dataset.seq));
  };
}
