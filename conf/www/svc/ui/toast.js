// What has just been done, said at the edge, with the way back if there is one.

import { effect, h, mount, state } from "./draw.js";
import { sentence } from "./fail.js";
import { usePlace } from "./place.js";
import { styled } from "./style.js";
import { text } from "./text.js";
import { shown } from "./words.js";

const LONG = 10000;             // ms that something is said, unless it can be undone

await styled("/svc/ui/form.css");

let add = null;


// Says it until it is closed, for a while where there is nothing to undo, or until another
// thing is looked at where there is.
//
//   undo   does the contrary, and returns what is to be said of that, if something is: what
//          it throws is said, and stays

export function toast(words, undo) {
  add ??= begin();
  add({ words, undo, id: crypto.randomUUID(), place: placeOf(location.pathname) });
}

// Tabs are of one thing: /console/{view}/{id}.

const placeOf = path => path.split("/").slice(0, 4).join("/");

function begin() {
  let push;
  const place = document.createElement("div");

  document.body.append(place);
  mount(place, h(Toasts, { take: action => { push = action; } }));

  return entry => push(entry);
}

function Toasts({ take }) {
  const [entries, setEntries] = state([]);
  const place = placeOf(usePlace().path);
  const close = id => setEntries(all => all.filter(entry => entry.id !== id));

  const put = entry => {
    setEntries(all => [...all.filter(({ id }) => id !== entry.id).slice(-2), entry]);

    if (!entry.undo && !entry.failure) {
      setTimeout(close, LONG, entry.id);
    }
  };

  take(put);

  effect(() => setEntries(all => all.filter(entry => !entry.undo || entry.place === place)),
         [place]);

  return h("div", { class: "toasts", role: "status" },
    entries.map(entry => h(Toast, { key: entry.id, entry, close, put })));
}

function Toast({ entry: { id, words, undo, failure }, close, put }) {
  const [busy, setBusy] = state(false);

  const back = async () => {
    setBusy(true);

    try {
      const said = await undo();

      said ? put({ id, words: said }) : close(id);

    } catch (e) {
      e.code === "cancelled" ? setBusy(false) : put({ id, failure: e });
    }
  };

  return h("div", { class: "toast" },
    failure ? h("p", {}, `${text.notUndone} ${sentence(failure)} `,
                h("span", { lang: "en" }, shown(failure.message)))
            : h("p", {}, words),
    undo && h("button", { type: "button", disabled: busy, onclick: back }, text.undo),
    h("button", { type: "button", class: "plain", "aria-label": text.close,
                  onclick: () => close(id) }, "×"));
}
