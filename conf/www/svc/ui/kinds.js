// Durations and values of JSON.  They are kinds of fields.js for whoever imports this.

import { h } from "./draw.js";
import { DURATIONS, inUnits } from "./duration.js";
import { kinds, none } from "./fields.js";
import { text } from "./text.js";


// seconds, in the largest unit in which there is no part of one

const duration = {
  of: value => value === null || value === undefined ? { n: "", unit: "minute" }
                                                     : inUnits(value),
  to: ({ n, unit }) => none(n) ? null : Number(n) * DURATIONS[unit],
  empty: ({ n }) => none(n),
  draw: ({ id, name, typed, set, attributes }) => h("span", { class: "number" },
    h("input", {
      ...attributes, id, name, type: "number", min: 0, value: String(typed.n),
      oninput: event => set({ ...typed, n: event.target.value }),
    }),
    " ",
    h("select", {
      value: typed.unit, "aria-label": text.unit, disabled: attributes.disabled,
      onchange: event => set({ ...typed, unit: event.target.value }),
    }, Object.keys(DURATIONS).map(unit => h("option", { key: unit, value: unit },
                                        text.units[unit])))),
};


const json = {
  of: value => value ? JSON.stringify(value, null, 2) : "",
  to: typed => none(typed) ? null : parsed(typed) ?? typed,
  empty: none,
  wrong: typed => none(typed) || parsed(typed) ? null : text.notJson,
  draw: ({ id, name, field, typed, set, attributes }) => h("textarea", {
    ...attributes, id, name, class: "json", value: typed, rows: field.rows ?? 6,
    spellcheck: "false", oninput: event => set(event.target.value),
  }),
};

function parsed(typed) {
  try {
    return JSON.parse(typed);

  } catch {
    return null;
  }
}


Object.assign(kinds, { duration, json });
