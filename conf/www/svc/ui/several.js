// Fields of what is found by its name, and of several values: some of many, and rows that
// have fields of their own.  They are kinds of fields.js for whoever imports this.

import { h } from "./draw.js";
import { kinds } from "./fields.js";
import { Pick } from "./pick.js";
import { styled } from "./style.js";
import { text } from "./text.js";
import { fill, shown } from "./words.js";

await styled("/svc/ui/pick.css");


// --- some of many --------------------

// What is typed and is not an option stays, and is sent as it is: the server says what
// is wrong with it.

const labelOf = (words, name, value) => words.options?.[name]?.[value] ?? value;

const known = (typed, { name, field, words }) => {
  const wanted = typed.trim().toLowerCase();

  return field.options.find(value => value.toLowerCase() === wanted
    || labelOf(words, name, value).toLowerCase() === wanted);
};

// all of what somebody has pasted, or none

const knownAll = (typed, about) => {
  const one = known(typed, about);
  const all = one ? [one] : typed.split(/[\s,;]+/).filter(Boolean).map(t => known(t, about));

  return all.length > 0 && all.every(Boolean) ? all : null;
};

// how the browser calls what somebody has chosen of the list, and not typed

const CHOSEN = ["insertReplacementText", undefined];

const some = {
  of: value => ({ values: value ?? [], text: "" }),
  to: ({ values, text }) => text.trim() ? [...values, text.trim()] : values,
  empty: ({ values, text }) => values.length === 0 && text.trim() === "",

  draw({ id, name, field, typed, set, words, attributes }) {
    const about = { name, field, words };

    const add = all => all.length > 0
      && set({ values: [...new Set([...typed.values, ...all])], text: "" });

    return h("div", { class: "some" },
      typed.values.length > 0 && h("ul", { class: "chips" }, typed.values.map(value =>
        h("li", { key: value }, shown(labelOf(words, name, value)), " ",
          h("button", {
            type: "button", class: "plain", disabled: attributes.disabled,
            "aria-label": fill(text.removeOne, { name: labelOf(words, name, value) }),
            onclick: event => {
              event.target.closest(".some").querySelector("input").focus();
              set({ ...typed, values: typed.values.filter(one => one !== value) });
            },
          }, "×")))),
      h("input", {
        ...attributes, id, name, value: typed.text, list: `${id}-options`, autocomplete: "off",
        oninput(event) {
          const one = CHOSEN.includes(event.inputType) && known(event.target.value, about);

          return one ? add([one]) : set({ ...typed, text: event.target.value });
        },
        onchange() {
          const all = knownAll(typed.text, about);

          all && add(all);
        },
        onkeydown(event) {
          if (event.key === "Enter") {
            event.preventDefault();
            add(knownAll(typed.text, about) ?? []);
          }
        },
      }),
      h("datalist", { id: `${id}-options` },
        field.options.filter(value => !typed.values.includes(value)).map(value =>
          h("option", { key: value, value: labelOf(words, name, value) }))));
  },
};


// --- what has an id ------------------

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


// They are found by their names: "type" and "find" are those of pick.js.

const picks = {
  of: value => value ?? [],
  to: typed => typed.map(one => one.id),
  empty: typed => typed.length === 0,
  draw: ({ id, field, typed, set, words, name, attributes }) => attributes.disabled
    ? h("p", { class: "muted" }, "–") : h("div", {},
      typed.length > 0 && h("ul", { class: "picked" }, typed.map(one => h("li", { key: one.id },
        shown(one.name), " ",
        h("button", {
          type: "button", class: "plain", "aria-label": `${text.remove}: ${shown(one.name)}`,
          onclick: () => set(typed.filter(other => other !== one)),
        }, "×")))),
      h(Pick, {
        id, label: words.fields[name], type: field.type, find: field.find, bare: true,
        onpick: one => set([...typed.filter(other => other.id !== one.id), one]),
      })),
};


// --- rows ----------------------------

// Each row has the field's "fields", of the other kinds; "fresh" makes what a new one has,
// and "note" says something of what is typed in a row.  The words are words.rows[name].

const rows = {
  of: value => (value ?? []).map(typedOf),
  to: (typed, field) => typed.map(row => valueOf(row, field)),
  empty: typed => typed.length === 0,
  group: true,

  draw({ id, name, field, typed, set, words, attributes }) {
    const said = words.rows[name];
    const put = (n, row) => set(typed.map((one, at) => at === n ? row : one));

    return h("div", { class: "rows" },
      typed.map((row, n) => h("fieldset", { key: row.id, class: "row" },
        h("legend", {}, fill(said.one, { n: n + 1 })),
        Object.entries(field.fields).map(([member, f]) => {
          const { draw, group } = kinds[f.kind];
          const here = `${id}-${n}-${member}`;

          return h(group ? "fieldset" : "div", { key: member, class: "field" },
            group ? h("legend", {}, said.fields[member])
                  : h("label", { for: here }, said.fields[member]),
            draw({
              id: here, name: here, field: f, words: {
                ...said, fields: { ...said.fields, [here]: said.fields[member] },
                options: { ...said.options, [here]: said.options?.[member] } },
              typed: partOf(row, member, f), attributes,
              set: next => put(n, { ...row, typed: { ...row.typed, [member]: next } }),
            }));
        }),
        field.note && h("p", { class: "muted" }, field.note(valueOf(row, field))),
        h("button", {
          type: "button", disabled: attributes.disabled,
          onclick: () => set(typed.filter((one, at) => at !== n)),
        }, fill(text.removeOne, { name: fill(said.one, { n: n + 1 }) })))),
      h("button", { type: "button", disabled: attributes.disabled,
                    onclick: () => set([...typed, typedOf(field.fresh())]) },
        said.add));
  },
};

// What is typed is beside what it was.

const typedOf = value => ({ id: crypto.randomUUID(), value, typed: {} });

const partOf = ({ typed, value }, name, field) =>
  typed[name] ?? kinds[field.kind].of(value[name], field);

const valueOf = (row, { fields }) => Object.fromEntries(Object.entries(fields)
  .map(([name, field]) => [name, kinds[field.kind].to(partOf(row, name, field), field)]));


Object.assign(kinds, { pick, picks, rows, some });
