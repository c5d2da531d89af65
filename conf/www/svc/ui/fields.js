// The kinds of fields: how a member of a body becomes what is typed, how that becomes
// the member again, and the control.
//
//   of     from the member's value
//   to     to it
//   empty  whether nothing is typed
//   wrong  what is wrong with what is typed, before it is sent
//   draw   the control; "group" says that it is several
//
// Those of several values are added by several.js, and others by kinds.js, for forms that
// have them.

import { h } from "./draw.js";
import { localOf } from "./time.js";

export const none = typed => typed === null || typed === undefined || String(typed).trim() === "";

const input = (type, more) => ({ id, name, field, typed, set, attributes }) => [
  h("input", {
    ...attributes, ...more, id, name, type, value: typed, maxlength: field.max,
    autocomplete: field.autocomplete ?? "off", inputmode: field.inputmode,
    autofocus: field.autofocus, required: Boolean(field.must),
    list: field.known && `${id}-known`, size: field.max <= 10 && field.max,
    oninput: event => set(event.target.value),
  }),
  field.known && h("datalist", { id: `${id}-known` },
    field.known.map(value => h("option", { key: value, value }))),
];

const textual = {
  of: value => value ?? "",
  to: (typed, field) => typed === "" && !field.must ? null : typed,
  empty: none,
};

const separate = typed => typed.split("\n").map(line => line.trim()).filter(Boolean);

export const kinds = {

  text: { ...textual, draw: input("text") },
  email: { ...textual, draw: input("email", { autocapitalize: "none", spellcheck: "false" }) },
  url: { ...textual, draw: input("url", { autocapitalize: "none", spellcheck: "false" }) },
  password: { ...textual, draw: input("password") },
  time: {
    of: value => value ? localOf(value) : "",
    to: typed => typed ? new Date(typed).toISOString() : null,
    empty: none,
    draw: input("datetime-local"),
  },

  lines: {
    ...textual,
    draw: ({ id, name, field, typed, set, attributes }) => h("textarea", {
      ...attributes, id, name, value: typed, rows: field.rows ?? 3, maxlength: field.max,
      oninput: event => set(event.target.value),
    }),
  },

  number: {
    of: value => value === null || value === undefined ? "" : String(value),
    to: typed => none(typed) ? null : Number(typed),
    empty: none,
    draw: ({ id, name, field, typed, set, words, attributes }) => h("span", { class: "number" },
      h("input", {
        ...attributes, id, name, type: "number", value: typed, min: field.min, max: field.max,
        step: field.step ?? 1, oninput: event => set(event.target.value),
      }),
      words.units?.[name] && h("span", {}, " ", words.units[name])),
  },

  switch: {
    of: Boolean, to: Boolean, empty: () => false,
    draw: ({ id, name, typed, set, attributes }) => h("input", {
      ...attributes, id, name, type: "checkbox", checked: typed,
      onchange: event => set(event.target.checked),
    }),
  },

  // one of "options", texts or numbers; with "none" it may be none of them

  choice: {
    of: value => String(value ?? ""),
    to: (typed, field) => typed === "" ? null
                          : field.options.find(value => String(value) === typed) ?? typed,
    empty: none,
    draw: ({ id, name, field, typed, set, words, attributes }) => h("select", {
      ...attributes, id, name, value: typed, onchange: event => set(event.target.value),
    },
      (field.none || typed === "") && h("option", { value: "" }, words.none?.[name] ?? "–"),
      field.options.map(value => h("option", { key: value, value, disabled: field.off?.(value) },
                                   words.options?.[name]?.[value] ?? value))),
  },

  // some of "options"; "off" says why one cannot be chosen

  checks: {
    of: value => value ?? [],
    to: typed => typed,
    empty: typed => typed.length === 0,
    group: true,
    draw: ({ name, field, typed, set, words, attributes }) => h("div", { class: "checks" },
      field.options.map(value => {
        const off = field.off?.(value);

        return h("label", { key: value, class: "check" },
          h("input", {
            type: "checkbox", name, value, checked: typed.includes(value),
            disabled: attributes.disabled || Boolean(off),
            onchange: event => set(event.target.checked
              ? field.options.filter(o => o === value || typed.includes(o))
              : typed.filter(o => o !== value)),
          }),
          " ", h("span", {}, words.options?.[name]?.[value] ?? value,
                 off && h("span", { class: "muted" }, " – ", off)));
      })),
  },

  // a text each line

  list: {
    of: value => (value ?? []).join("\n"),
    to: separate,
    empty: typed => separate(typed).length === 0,
    draw: ({ id, name, field, typed, set, attributes }) => h("textarea", {
      ...attributes, id, name, value: typed, rows: field.rows ?? 3, spellcheck: "false",
      oninput: event => set(event.target.value),
    }),
  },
};
