// What all views have, and the list that is made from a sheet alone.

import { late, may } from "../ui/call.js";
import { Icon } from "../ui/cells.js";
import { effect, h, state } from "../ui/draw.js";
import { Link } from "../ui/place.js";
import { List } from "../ui/table.js";
import { shown } from "../ui/words.js";
import { at } from "./nav.js";

export const labelOf = (sheet, one) =>
  shown(sheet.label.map(name => one[name]).find(Boolean) ?? one[sheet.id]);

// the address of a request: {id} and others are members of what it is about

export const pathOf = (path, one) =>
  path.replace(/\{(\w+)\}/g, (all, name) => encodeURIComponent(one[name]));


// The words of a button that may ask for a second factor

export const withLock = verb => [verb, " ", h(Icon, { name: "lock" })];


// Where one is, which the browser's title and a screen reader say, too.

export function Head({ title, above, kids }) {
  effect(element => {
    document.title = `${title} – ${document.title.split(" – ").at(-1)}`;
    element.querySelector("h1").focus({ preventScroll: true });
  }, [title]);

  return h("div", { class: "head" },
    h("div", {},
      above && h("p", { class: "above" }, h(Link, { to: at(above.view) }, above.title)),
      h("h1", { tabindex: "-1" }, title)),
    h("div", { class: "actions" }, kids));
}


// --- the list ------------------------

export const mayAct = (sheet, act) => may(act.needs ?? sheet.changes ?? sheet.needs);

const buttons = () => late(import("./acts.js"));

// "rows" of a sheet are the names of the acts that each row has; "kids" stand beside the
// way to a new one.  Where rows may be picked, "picks" is what usePicks() returns, and "bar"
// draws what is done with them.

export function SheetList({ view, sheet, words, kids, picks, bar,
                            to = row => at(view, row[sheet.id]) }) {
  const [rounds, setRounds] = state(0);
  const [{ Acts, failure }, setActs] = state({});
  const again = () => setRounds(n => n + 1);

  effect(() => {
    if (sheet.rows) {
      buttons().then(setActs, failed => setActs({ failure: failed }));
    }
  }, []);

  if (failure) {
    throw failure;
  }

  return h("div", {},
    h(Head, { title: words.title },
      kids,
      sheet.create && may(sheet.changes ?? sheet.needs)
        && h(Link, { class: "button primary", to: at(view, "new") }, words.new)),
    words.note && h("p", { class: "muted" }, words.note),
    h(List, {
      sheet, words, to, rounds, picks,
      acts: sheet.rows && (row => Acts && h(Acts, { sheet, words, one: row, names: sheet.rows,
                                                    small: true, done: again, gone: again })),
    }),
    bar?.(again));
}
