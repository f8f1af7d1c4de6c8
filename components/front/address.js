// The host adds an entry to the history for every parameter that changes, each step of a run among
// them. Where page and run stay the same, the entry is replaced instead, so that Back leaves.
function draw(content) {
  if (history.pushState.placed) return;
  const push = history.pushState;
  const kept = (url) => [url.pathname, ...content.keep.map((name) => url.searchParams.get(name))];
  history.pushState = function (state, title, url) {
    const to = kept(new URL(url ?? location.href, location.href)), here = kept(new URL(location.href));
    const same = JSON.stringify(to) === JSON.stringify(here);
    return (same ? history.replaceState : push).call(this, state, title, url);
  };
  history.pushState.placed = true;
}
