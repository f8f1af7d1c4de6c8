export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const box = parentElement.querySelector(".strip");
  if (!box || !data) return;
  box.setAttribute("aria-label", data.label);
  const items = data.items.map((item) => {
    const node = document.createElement("button");
    node.type = "button";
    node.className = `chip ${item.state}`;
    node.title = item.tip;
    node.setAttribute("aria-label", item.tip);
    if (item.state === "now") node.setAttribute("aria-current", "step");
    const icon = document.createElement("span");
    icon.className = "icon";
    icon.textContent = item.icon;
    icon.style.color = item.colour;
    icon.setAttribute("aria-hidden", "true");
    const words = document.createElement("span");
    words.textContent = item.text;
    node.append(icon, words);
    if (item.seq === null) node.disabled = true;
    else node.onclick = () => setTriggerValue("picked", item.seq);
    return node;
  });
  box.replaceChildren(...items);
}
