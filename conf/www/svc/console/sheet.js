// The views that are made from a sheet alone: its list, one of it, and a new one.

import { useAct } from "../ui/act.js";
import { call, may } from "../ui/call.js";
import { cell } from "../ui/cells.js";
import { sendOver } from "../ui/conflict.js";
import { Secret } from "../ui/copy.js";
import { confirm, Dialog, show } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem, sentence } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { Icon } from "../ui/icon.js";
import "../ui/kinds.js";
import { go, Link } from "../ui/place.js";
import "../ui/several.js";
import { List, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { about } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { fill, list, shown } from "../ui/words.js";
import { at } from "./nav.js";
import { server } from "./server.js";

export const labelOf = (sheet, one) =>
  shown(sheet.label.map(name => one[name]).find(Boolean) ?? one[sheet.id]);

// the address of a request: {id} and others are members of what it is about

export const pathOf = (path, one) =>
  path.replace(/\{(\w+)\}/g, (all, name) => encodeURIComponent(one[name]));


// The words of a button that may ask for a second factor

export const withLock = verb => [verb, " ", h(Icon, { name: "lock" })];

const verbOf = (sheet, verb, act) => sheet.sensitive?.includes(act) ? withLock(verb) : verb;


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

// "rows" of a sheet are the names of the acts that each row has; "kids" stand beside the
// way to a new one.  Where rows may be picked, "picks" is what usePicks() returns, and "bar"
// draws what is done with them.

export function SheetList({ view, sheet, words, kids, picks, bar,
                            to = row => at(view, row[sheet.id]) }) {
  const [rounds, setRounds] = state(0);
  const again = () => setRounds(n => n + 1);

  return h("div", {},
    h(Head, { title: words.title },
      kids,
      sheet.create && may(sheet.changes ?? sheet.needs)
        && h(Link, { class: "button primary", to: at(view, "new") }, words.new)),
    words.note && h("p", { class: "muted" }, words.note),
    h(List, {
      sheet, words, to, rounds, picks,
      acts: sheet.rows && (row => h(Acts, { sheet, words, one: row, names: sheet.rows,
                                            small: true, done: again, gone: again })),
    }),
    bar?.(again));
}


// --- a new one -----------------------

// The key of the request is made with the form: what is tried again is made once.  "bodyOf"
// makes the body of what was filled in.  Where the sheet has a "secret", the answer has it
// once, and "made" is a component of what is said beside it.  "to" is where it leads then.

export function SheetNew({ view, sheet, words, fields = sheet.form, draft,
                           bodyOf = given => given, made, kids,
                           to = data => at(view, data[sheet.id]) }) {
  const [once] = state(() => crypto.randomUUID());
  const [one, setOne] = state(null);
  const above = { view, title: words.title };

  const save = async given => {
    const { data } = await call({ method: sheet.create, path: sheet.path, key: once,
                                  body: bodyOf(given) });

    if (sheet.secret) {
      return setOne(data);
    }

    toast(fill(words.made, { name: labelOf(sheet, data) }));
    await go(to(data), { sure: true });
  };

  if (one) {
    return h("div", {},
      h(Head, { title: fill(words.made, { name: labelOf(sheet, one) }), above }),
      h("div", { class: "panel" },
        h(Once, { value: one[sheet.secret], label: words.secret }),
        made && h(made, { one, words }),
        h("p", { class: "end" },
          h(Link, { class: "button primary", to: at(view, sheet.one && one[sheet.id]) },
            text.kept))));
  }

  return h("div", {},
    h(Head, { title: words.new, above }),
    h("div", { class: "panel" },
      h(Form, { fields, words, draft, verb: verbOf(sheet, text.create, "create"), onsave: save,
                oncancel: () => go(at(view)) }),
      kids));
}

// A repeated answer does not have it.

const Once = ({ value, label }) => value
  ? h(Secret, { value, label }) : h("p", { class: "problem", role: "alert" }, text.secretLost);

const OnceDialog = ({ title, value, label, done }) => h(Dialog, { title, done },
  h(Once, { value, label }),
  h("div", { class: "actions" },
    h("button", { type: "button", class: "primary", onclick: () => done() }, text.kept)));


// --- one of it -----------------------

// "tabs" are the components of the tabs, by name; "fields" changes those of the form, "top"
// adds what stands above it, "draw" what stands below it, and "more" acts, for what is
// looked at.  What of a form is "kept" by somebody else cannot be changed: words.kept says
// by whom.

export function SheetView({ view, id, tab, sheet, sheets, words, all, tabs = {}, fields,
                            top, draw, more }) {
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

  const left = sheet.change || top || draw;

  return h("div", {},
    h(Head, { title: labelOf(sheet, data), above },
      more?.(data, again),
      h(Acts, { sheet, words, one: data, done: again, gone: () => go(at(view)) })),
    failure && h(Problem, { failure, again }),
    h(Tabs, { view, id, tab, words, names: Object.keys(tabs) }),
    Tab ? h(Tab, { one: data, again, sheets, all })
      : h("div", { class: sheet.facts && left && "object" },
          left && h("div", {},
            top?.(data, again),
            sheet.change && h(Change, { sheet, words, one: data, etag, again,
                                      fields: fields?.(data) ?? sheet.form }),
            draw?.(data, again, etag)),
          h(Facts, { sheet, words, one: data })));
}

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

// A form begins anew when one of its members is another one, and for nothing else: what is
// typed stays while something else of the same thing changes.

export const keyOf = (fields, one) => JSON.stringify(Object.keys(fields).map(name => one[name]));

function Change({ sheet, words, one, etag, fields, again }) {
  const mine = may(sheet.changes ?? sheet.needs);

  const save = async changed => {
    const path = sheet.id ? pathOf(`${sheet.path}/{${sheet.id}}`, one) : sheet.path;

    const sent = await sendOver({
      etag, path, was: one, changed, fields, words,
      send: tag => call({ method: sheet.change, path, etag: tag, body: changed }),
    });

    sent && toast(text.saved);
    again();
  };

  const kept = Object.values(fields).some(field => field.fixed);

  return h("div", { class: "panel" },
    !mine ? h("p", { class: "muted" },
              fill(text.readOnly, { permission: sheet.changes ?? sheet.needs }))
          : kept && h("p", { class: "muted" }, words.kept),
    h(Form, {
      key: keyOf(fields, one), words, value: one, onsave: save,
      verb: verbOf(sheet, text.save, "change"),
      fields: mine ? fields : Object.fromEntries(Object.entries(fields)
        .map(([name, field]) => [name, { ...field, fixed: true }])),
    }));
}


// --- what there is one of ------------

export function Settings({ sheet, words, above }) {
  const { data, etag, failure, again } = useAnswer({ path: sheet.path }, [sheet.path]);

  return h("div", {},
    h(Head, { title: words.title, above }),
    words.note && h("p", { class: "muted" }, words.note),
    failure ? h(Problem, { failure, again })
      : !data ? h("p", { class: "muted loading", role: "status" }, text.loading)
      : h(Change, { sheet, words, one: data, etag, fields: sheet.form, again }));
}


// --- acts ----------------------------

// Whether an act is for this one: "where" says which values its members must have, and
// "unless" which they must not.

export const fits = ({ where = {}, unless = {} }, one) =>
  Object.entries(where).every(([name, values]) => values.includes(one[name]))
  && !Object.entries(unless).some(([name, values]) => values.includes(one[name]));

export const mayAct = (sheet, act) => may(act.needs ?? sheet.changes ?? sheet.needs);

// An act that is "sensitive" asks for a second factor, and one that "asks" may.  One that
// needs a "feature" of the server says so where that is off.  "small" ones are those of a
// row.  What has no kind is but the way back of another one.

export function Acts({ sheet, words, one, done, gone, small,
                       names = Object.keys(sheet.acts ?? {}) }) {
  const fitting = names
    .filter(name => sheet.acts[name].kind && fits(sheet.acts[name], one)
                    && mayAct(sheet, sheet.acts[name]));

  return fitting.length === 0 ? null : h("div", { class: "actions" },
    fitting.map(name => h(ActButton, { key: name, sheet, words, name, one, small,
                                       done: name === "remove" ? gone : done })));
}

// The button of a row: a dialog says what has failed.

export function SmallAct({ label, verb, act }) {
  const { busy, run } = useAct(e => show(Refused, { failure: e }));

  return h("button", { type: "button", class: "plain", disabled: busy, "aria-label": label,
                       onclick: run(act) }, verb);
}

function ActButton({ sheet, words, name, one, small, done }) {
  const { busy, failure, run } = useAct(small && (e => show(Refused, { failure: e })));
  const act = sheet.acts[name];
  const { verb, off } = words.acts[name];
  const asks = act.sensitive || act.asks;

  if (act.feature && !server.features[act.feature]) {
    return h("button", { type: "button", "aria-disabled": "true", title: off,
                         onclick: () => toast(off) }, verb);
  }

  return h("span", {},
    h("button", {
      type: "button", disabled: busy, title: asks ? text.sensitive : null,
      onclick: run(async () => await perform({ sheet, words, name, one, done }) && await done()),
      class: small ? "plain" : act.kind === "type" || act.method === "DELETE" ? "danger" : null,
      "aria-label": small ? `${verb}: ${labelOf(sheet, one)}` : null,
    }, asks ? withLock(verb) : verb),
    failure && h(Problem, { failure }));
}


const Refused = ({ failure, done }) => h(Dialog, { title: sentence(failure), done },
  h(Problem, { failure }),
  h("div", { class: "actions" },
    h("button", { type: "button", autofocus: true, onclick: () => done() }, text.close)));


// What a text may say of what it is about: its members, times as people say them.

const valuesOf = (sheet, one) => ({
  ...Object.fromEntries(Object.entries({ ...sheet.columns, ...sheet.facts }).map(([name, kind]) =>
    [name, ["time", "used", "end"].includes(kind)
           ? one[name] ? about(one[name]) : kind === "end" ? text.endless : text.never
           : Array.isArray(one[name]) ? list(one[name].map(shown))
           : shown(one[name] ?? "–")])),
  name: labelOf(sheet, one),
});


// What an act sends is of what it is about, by its "body", or is what it has to "give".

export const sendAct = (act, one) => call({
  method: act.method, path: pathOf(act.path, one),
  body: act.give ?? (act.body ? Object.fromEntries(Object.entries(act.body)
                                                         .map(([to, from]) => [to, one[from]]))
                              : act.method === "POST" ? {} : undefined),
});

// Asks first, if it has to be; returns whether it was done.  People choose their names, and
// two may have one: where the sheet has "typed", that member is shown, and typed.

export async function perform({ sheet, words, name, one, done }) {
  const act = sheet.acts[name];
  const label = labelOf(sheet, one);
  const said = words.acts[name];
  const typed = one[sheet.typed] ?? label;

  if (act.kind !== "undo" && !await confirm({
    title: fill(said.title, { name: typed === label ? label : `${label} (${shown(typed)})` }),
    verb: said.verb,
    notes: said.notes.map(note => fill(note, valuesOf(sheet, one))),
    name: act.kind === "type" ? typed : undefined,
  }))
  {
    return false;
  }

  const { data } = await sendAct(act, one);

  if (act.secret) {
    await show(OnceDialog, { title: fill(said.done, { name: label }), label: said.secret,
                             value: data[act.secret] });

    return true;
  }

  toast(fill(said.done, { name: label }), act.back && (async () => {
    await sendAct(sheet.acts[act.back], one);
    done();
  }));

  return true;
}
