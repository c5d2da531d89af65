// The views that are made from a sheet alone: its list, one of it, and a new one.

import { call, may } from "../ui/call.js";
import { cell } from "../ui/cells.js";
import { confirm } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { Icon } from "../ui/icon.js";
import { go, Link } from "../ui/place.js";
import { List, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { at } from "./nav.js";

export const labelOf = (sheet, one) =>
  shown(sheet.label.map(name => one[name]).find(Boolean) ?? one[sheet.id]);

// the address of a request: {id} and others are members of what it is about

export const pathOf = (path, one) =>
  path.replace(/\{(\w+)\}/g, (all, name) => encodeURIComponent(one[name]));


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

export function SheetList({ view, sheet, words }) {
  return h("div", {},
    h(Head, { title: words.title },
      sheet.create && may(sheet.changes ?? sheet.needs)
        && h(Link, { class: "button primary", to: at(view, "new") }, words.new)),
    words.note && h("p", { class: "muted" }, words.note),
    h(List, { sheet, words, to: row => at(view, row[sheet.id]) }));
}


// --- a new one -----------------------

// The key of the request is made with the form: what is tried again is made once.

export function SheetNew({ view, sheet, words, fields = sheet.form }) {
  const [once] = state(() => crypto.randomUUID());
  const above = { view, title: words.title };

  const save = async given => {
    const { data } = await call({ method: sheet.create, path: sheet.path, body: given,
                                  key: once });

    toast(fill(words.made, { name: labelOf(sheet, data) }));
    await go(at(view, data[sheet.id]), { sure: true });
  };

  return h("div", {},
    h(Head, { title: words.new, above }),
    h("div", { class: "panel" },
      h(Form, { fields, words, verb: text.create, onsave: save,
                oncancel: () => go(at(view)) })));
}


// --- one of it -----------------------

// "tabs" are the components of the tabs, by name; "fields" changes those of the form, and
// "draw" adds what stands below it, for what is looked at.  What of a form is "kept" by
// somebody else cannot be changed: words.kept says by whom.

export function SheetView({ view, id, tab, sheet, sheets, words, all, tabs = {}, fields,
                            draw }) {
  const { data, etag, failure, again } = useAnswer(
    { path: `${sheet.path}/${encodeURIComponent(id)}` }, [id]);
  const above = { view, title: words.title };

  if (failure && !data) {
    return h("div", {}, h(Head, { title: words.one, above }), h(Problem, { failure, again }));
  }

  if (!data) {
    return h("p", { class: "muted loading", role: "status" }, text.loading);
  }

  const Tab = tab && tabs[tab];

  return h("div", {},
    h(Head, { title: labelOf(sheet, data), above },
      h(Acts, { sheet, words, one: data, done: again, gone: () => go(at(view)) })),
    h(Tabs, { view, id, tab, words, names: Object.keys(tabs) }),
    Tab ? h(Tab, { one: data, again, sheets, all })
      : h("div", { class: sheet.facts && "object" },
          h("div", {},
            sheet.form && h(Change, { sheet, words, one: data, etag, again,
                                      fields: fields?.(data) ?? sheet.form }),
            draw?.(data, again)),
          h(Facts, { sheet, words, one: data })));
}

function Tabs({ view, id, tab, words, names }) {
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
        tones: sheet.tones?.[name], words: words.options?.[name],
      })),
    ])));
}

function Change({ sheet, words, one, etag, fields, again }) {
  const mine = may(sheet.changes ?? sheet.needs);

  const save = async changed => {
    await call({ method: sheet.change, path: pathOf(`${sheet.path}/{${sheet.id}}`, one), etag,
                 body: changed });
    toast(text.saved);
    again();
  };

  const kept = Object.values(fields).some(field => field.fixed);

  return h("div", { class: "panel" },
    !mine ? h("p", { class: "muted" },
              fill(text.readOnly, { permission: sheet.changes ?? sheet.needs }))
          : kept && h("p", { class: "muted" }, words.kept),
    h(Form, {
      key: JSON.stringify(one), words, value: one, verb: text.save, onsave: save,
      fields: mine ? fields : Object.fromEntries(Object.entries(fields)
        .map(([name, field]) => [name, { ...field, fixed: true }])),
    }));
}


// --- acts ----------------------------

const fits = (where, one) => Object.entries(where ?? {})
  .every(([name, values]) => values.includes(one[name]));

export function Acts({ sheet, words, one, done, gone }) {
  const names = Object.keys(sheet.acts ?? {})
    .filter(name => fits(sheet.acts[name].where, one)
                    && may(sheet.acts[name].needs ?? sheet.changes ?? sheet.needs));

  return names.length === 0 ? null : h("div", { class: "actions" },
    names.map(name => h(ActButton, { key: name, sheet, words, name, one,
                                     done: name === "remove" ? gone : done })));
}

function ActButton({ sheet, words, name, one, done }) {
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);
  const act = sheet.acts[name];

  const run = async () => {
    setFailure(null);
    setBusy(true);

    try {
      if (await perform({ sheet, words, name, one, done })) {
        await done();
      }

    } catch (e) {
      if (e.code !== "cancelled") {
        setFailure(e);
      }

    } finally {
      setBusy(false);
    }
  };

  return h("span", {},
    h("button", {
      type: "button", class: act.kind === "type" || name === "remove" ? "danger" : null,
      disabled: busy, onclick: run, title: act.sensitive ? text.sensitive : null,
    }, words.acts[name].verb, act.sensitive && [" ", h(Icon, { name: "lock" })]),
    failure && h(Problem, { failure }));
}


// Asks first, if it has to be; returns whether it was done.

export async function perform({ sheet, words, name, one, done }) {
  const act = sheet.acts[name];
  const label = labelOf(sheet, one);
  const said = words.acts[name];

  const send = other => call({
    method: other.method, path: pathOf(other.path, one),
    body: other.body ? Object.fromEntries(Object.entries(other.body)
                                                .map(([to, from]) => [to, one[from]]))
                     : other.method === "POST" ? {} : undefined,
  });

  if (act.kind !== "undo" && !await confirm({
    title: fill(said.title, { name: label }), notes: said.notes, verb: said.verb,
    name: act.kind === "type" ? label : undefined,
  }))
  {
    return false;
  }

  await send(act);
  toast(fill(said.done, { name: label }), act.back && (async () => {
    await send(sheet.acts[act.back]);
    done();
  }));

  return true;
}
