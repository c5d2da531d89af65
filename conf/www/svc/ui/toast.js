// What has just been done, said at the edge, with the way back if there is one.

import { h, mount, state } from "./draw.js";
import { text } from "./text.js";

let add = null;


// Says it until it is closed, or for ten seconds where there is nothing to undo.
//
//   undo   does the contrary: what it throws is said, and stays

export function toast(words, undo) {
  add ??= begin();
  add({ words, undo, id: crypto.randomUUID() });
}

function begin() {
  let push;
  const place = document.createElement("div");

  document.body.append(place);
  mount(place, h(Toasts, { take: action => { push = action; } }));

  return entry => push(entry);
}

function Toasts({ take }) {
  const [entries, setEntries] = state([]);
  const close = id => setEntries(all => all.filter(entry => entry.id !== id));

  take(entry => {
    setEntries(all => [...all.slice(-2), entry]);

    if (!entry.undo) {
      setTimeout(close, 10000, entry.id);
    }
  });

  return h("div", { class: "toasts", role: "status" },
    entries.map(entry => h(Toast, { key: entry.id, ...entry, close })));
}

function Toast({ id, words, undo, close }) {
  const [failed, setFailed] = state(null);
  const [busy, setBusy] = state(false);

  const back = async () => {
    setBusy(true);

    try {
      await undo();
      close(id);

    } catch (e) {
      setFailed(e.message);
    }
  };

  return h("div", { class: "toast" },
    h("p", {}, failed ? `${text.notUndone} ` : words,
      failed && h("span", { lang: "en" }, failed)),
    undo && !failed && h("button", { disabled: busy, onclick: back }, text.undo),
    h("button", { class: "plain", "aria-label": text.close, onclick: () => close(id) }, "×"));
}
