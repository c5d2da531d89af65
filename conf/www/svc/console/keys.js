// The keyboard: short ways for whoever comes here every day.  None of them counts while
// somebody types, and they can be off.

import { show } from "../ui/dialog.js";
import { go } from "../ui/place.js";
import { at } from "./nav.js";

export const OFF = "svc-keys";

// after "g"

export const PLACES = {
  u: "users", g: "groups", r: "roles", i: "invitations", a: "applications", k: "agents",
  l: "audit", p: "access", w: "webhooks", o: "overview",
};

const TYPING = "input, select, textarea, [contenteditable], dialog";

const lazily = (name, component, words) => async () =>
  show((await import(`./${name}.js`))[component], { words });

const press = selector => () => document.querySelector(selector)?.click();

const focus = selector => () => document.querySelector(selector)?.focus();


// What the keys do, and some buttons, too.

export const keysOf = words => ({
  "/": lazily("palette", "Palette", words),
  "?": lazily("help", "Help", words),
  "`": lazily("drawer", "Drawer", words),
  c: press("main .head .primary"),
  e: focus("main form input:not(:disabled), main form textarea, main form select"),
});


// Listens for all keys of the page.  "known" says whether there is such a view for whoever
// is here.

export function listen(words, known) {
  const keys = keysOf(words);
  let before = null;

  addEventListener("keydown", event => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();

      return document.querySelector("dialog") ? null : keys["/"]();
    }

    const typed = before;

    before = null;

    if (event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem(OFF) === "off"
        || event.target.closest?.(TYPING) || document.querySelector("dialog"))
    {
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
