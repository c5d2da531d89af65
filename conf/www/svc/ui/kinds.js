// Durations, values of JSON, and what is found by its name.  They are kinds of fields.js
// for whoever imports this.

import { h } from "./draw.js";
import { DURATIONS, inUnits } from "./duration.js";
import { kinds, none } from "./fields.js";
import { Pick } from "./pick.js";
import { text } from "./text.js";
import { shown } from "./words.js";


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


// one that is found by its name: "type" is that of GET /v1/admin/names, and "name" the one
// of what is there already, or "names" those of all that may be there, by their ids

const pick = {
  of: (value, field) => value ? { id: value, name: field.names?.[value] ?? field.name ?? value }
                              : null,
  to: typed => typed?.id ?? null,
  empty: typed => typed === null,
  draw: ({ id, name, field, typed, set, words, attributes }) => typed
    ? h("span", { class: "picked" },
        h("output", { id }, shown(typed.name)), " ",
        !attributes.disabled && h("button", {
          type: "button", class: "plain", name, onclick: () => set(null),
        }, text.other))
    : h(Pick, { ...attributes, id, name, type: field.type, label: words.fields[name],
                bare: true, onpick: set }),
};


Object.assign(kinds, { duration, json, pick });
