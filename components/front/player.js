const players = new WeakMap();
const PAUSES = { slow: 2400, normal: 1100, fast: 350 };
const TYPED = "input, textarea, select, [contenteditable], [role=textbox], [role=combobox], [role=dialog]";
const PRESSED = "a, button, summary, [role=button], [role=radio], [role=slider], [role=switch], [role=checkbox], [role=tab], [role=option], [role=listbox], .ri-scroll";

function show(frame, player) {
  const { step, next, first } = player.content;
  const button = frame.querySelector("button"), select = frame.querySelector("select");
  const from = next ?? first;
  const icon = document.createElement("span"), words = document.createElement("span"), key = document.createElement("kbd");
  icon.className = "icon";
  icon.textContent = player.playing ? "pause" : "play_arrow";
  icon.setAttribute("aria-hidden", "true");
  words.textContent = player.playing ? "Pause" : "Play";
  key.textContent = "P";
  key.setAttribute("aria-hidden", "true");
  button.replaceChildren(icon, words, key);
  button.title = player.playing
    ? `Pause at step ${step} (key P, or space)`
    : `Play on from step ${from} (key P, or space)`;
  button.setAttribute("aria-label", words.textContent);
  button.disabled = !player.playing && from === step;
  select.value = player.speed();
}

// The next step is asked for only when the one before has been drawn: nothing runs ahead of the
// page, and nothing is asked for while nothing plays.
function wait(frame, player) {
  clearTimeout(player.timer);
  if (player.content.next === null) player.playing = false;
  if (!player.playing) return;
  player.timer = setTimeout(() => {
    if (frame.isConnected) player.pick(player.content.next);
  }, PAUSES[player.speed()]);
}

function toggle(frame, player) {
  clearTimeout(player.timer);
  const { step, next, first } = player.content;
  const from = next ?? first;
  if (!player.playing && from === step) return;
  player.playing = !player.playing;
  show(frame, player);
  if (player.playing) player.pick(from);
}

function made(frame) {
  const page = document.documentElement.dataset;
  const player = { playing: false, timer: 0, speed: () => page.riSpeed ?? "normal" };
  frame.querySelector("button").onclick = () => toggle(frame, player);
  frame.querySelector("select").onchange = (event) => {
    page.riSpeed = event.target.value;
    wait(frame, player);
  };
  const press = (event) => {
    if (!frame.isConnected) {
      document.removeEventListener("keydown", press);
      return;
    }
    const space = event.key === " ", where = event.composedPath()[0];
    if (!space && event.key.toLowerCase() !== "p") return;
    if (event.defaultPrevented || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (!where.closest || where.closest(space ? `${TYPED}, ${PRESSED}` : TYPED)) return;
    event.preventDefault();
    toggle(frame, player);
  };
  document.addEventListener("keydown", press);
  players.set(frame, player);
  return player;
}

function draw(content, frame, pick) {
  const player = players.get(frame) ?? made(frame);
  player.content = content;
  player.pick = pick;
  if (content.play) player.playing = true;
  wait(frame, player);
  show(frame, player);
}
