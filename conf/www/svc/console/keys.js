// The keyboard: short ways for whoever comes here every day.  None of them counts while
// somebody types, and they can be off.

import { show } from "../ui/dialog.js";
import { go } from "../ui/place.js";
import { at } from "./nav.js";

// after "g"

export const PLACES = {
  u: "users", g: "groups", r: "roles", i: "invitations", a: "applications", k: "agents",
  l: "audit", p: "access", w: "webhooks", o: "overview",
};

const TYPING = "input, select, textarea, [contenteditable], dialog";

const lazily = (name, component, words) => async () =>
  show((await import(`./${name}.js`))[component], { words });


// What the keys do, and some buttons, too.

export const keysOf = words => ({
  "/": lazily("palette", "Palette", words),
  "?": lazily("help", "Help", words),
  "`": lazily("drawer", "Drawer", words),
  c: () => document.querySelector("main .head .primary")?.click(),
  e: () => document.querySelector("main form :is(input, textarea, select):enabled")?.focus(),
});


// What counts as a key, and after "g" the next one is a place.

let before = null;

const counts = event =>
  !event.ctrlKey && !event.metaKey && !event.altKey && localStorage.getItem("svc-keys") !== "off"
  && !event.target.closest?.(TYPING) && !document.querySelector("dialog");

export const isKey = (event, letter) =>
  event.key.toLowerCase() === letter && !event.repeat && before === null && counts(event);


// Listens for all keys of the page.  "known" says whether there is such a view for whoever
// is here.

export function listen(words, known) {
  const keys = keysOf(words);

  addEventListener("keydown", event => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();

      return document.querySelector("dialog") ? null : keys["/"]();
    }

    const typed = before;

    before = null;

    if (!counts(event)) {
      return;
    }

    if (typed === "g") {
      return known(PLACES[event.key]) && go(at(PLACES[event.key]));
    }

    if (event.key === "g") {
      before = "g";

    } else if (Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key]();
    }
  });
}
