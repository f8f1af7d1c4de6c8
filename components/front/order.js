const shown = new WeakMap();

// The host imports a script anew for each draw, and two imports may end in the other order: what a
// frame shows follows the newest draw. One that says what is shown already leaves the nodes, and
// the focus in them, as they are.
export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.firstElementChild;
  if (!frame || !data) return;
  const [session, turn] = data.order;
  const before = shown.get(frame);
  if (before && before.session === session && turn < before.turn) return;
  const text = JSON.stringify(data.content);
  const now = { session, turn, text, picked: (seq) => setTriggerValue("picked", seq) };
  shown.set(frame, now);
  if (before && before.text === text) return;
  draw(data.content, frame, (seq) => {
    const last = shown.get(frame);
    last.text = "";
    last.picked(seq);
  });
}
