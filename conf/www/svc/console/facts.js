// What stands around a form in the view of one of something: its tabs, and its facts.

import { cell } from "../ui/cells.js";
import { h } from "../ui/draw.js";
import { Link } from "../ui/place.js";
import { at } from "./nav.js";

export function Tabs({ view, id, tab, words, names }) {
  return names.length === 0 ? null
    : h("nav", { class: "tabs", "aria-label": words.one },
        [undefined, ...names].map(name => h(Link, {
          key: name ?? "", to: at(view, id, name),
          "aria-current": name === tab ? "page" : null,
        }, words.tabs[name ?? "one"])));
}

export function Facts({ sheet, words, one }) {
  return !sheet.facts ? null : h("div", { class: "panel" }, h("dl", {},
    Object.entries(sheet.facts).flatMap(([name, kind]) => [
      h("dt", { key: `t ${name}` }, words.columns[name]),
      h("dd", { key: `d ${name}` }, cell(kind, one[name], {
        row: one, tones: sheet.tones?.[name], words: words.options?.[name],
      })),
    ])));
}
