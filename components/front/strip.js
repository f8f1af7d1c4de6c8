function draw(content, frame, pick) {
  const box = frame.querySelector(".strip");
  box.setAttribute("aria-label", content.label);
  const items = content.items.map((item) => {
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
    else node.onclick = () => pick(item.seq);
    return node;
  });
  box.replaceChildren(...items);
}
