// Forms: fields from a table, a Save that exists while something differs, and what was
// typed is kept whatever comes.
//
//     h(Form, { fields: { name: { kind: "text", max: 100, must: true } },
//               words: { fields: { name: "Name" }, help: { name: "..." } },
//               value: group, verb: text.save, onsave: changed => call(...) })

import { effect, h, state } from "./draw.js";
import { Problem } from "./fail.js";
import { kinds } from "./fields.js";
import { guard } from "./place.js";
import { styled } from "./style.js";
import { text } from "./text.js";
import { shown } from "./words.js";

await styled("/svc/ui/form.css");

// A form begins anew when one of its members is another one, and for nothing else: what is
// typed stays while something else of the same thing changes.

export const keyOf = (fields, one) => JSON.stringify(Object.keys(fields).map(name => one[name]));

const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);


// "onsave" gets the members that differ, and all of them; what it throws is said, at
// the field that the server names if there is one.  A form for something new has no
// "value": it can be sent as it is, and its onsave gets all that is not empty.
// "about" draws what is to be seen of what is typed, beneath the fields.
// "id" is what the ids of its fields begin with, where there are several forms.  "draft"
// is typed already.  Fields that have a "part" stand in one that opens, and those that have
// a "set" stand together: words.parts and words.sets name them.  "beside" draws what else is
// to be known of a field, by its name.  A field's own "wrong" returns what is wrong with it,
// of all that is typed.  What a "loose" one asks for changes nothing, and may be lost.

export function Form({ words, verb, oncancel, about, beside, kids, id = "field", ...given }) {
  const { value, typed, set, wrong, failure, busy, there, all, differs, submit, discard }
    = useForm(given);
  const [asks, setAsks] = state(false);

  effect(element => setAsks(element.closest("dialog") !== null), []);

  const parts = [...new Set(there.map(([, f]) => f.part))].filter(Boolean);

  const one = ([name, field]) => h(Field, {
    key: name, id: `${id}-${name}`, name, field, words, typed: typed[name], wrong: wrong[name],
    set: next => set(name, next), more: beside?.(name),
  });

  const draw = part => {
    const own = there.filter(([, f]) => f.part === part);

    return [...new Set(own.map(([, f]) => f.set))].map(name => {
      const fields = own.filter(([, f]) => f.set === name).map(one);

      return name === undefined ? fields
        : h("fieldset", { key: `set ${name}`, class: "set" },
            h("legend", {}, words.sets[name]), h("div", { class: "form" }, fields));
    });
  };

  // while it is sent nothing can be typed that would be lost

  return h("form", { class: "form", novalidate: true, "aria-busy": busy ? "true" : null,
                     inert: busy, "data-differs": differs || null, onsubmit: submit },
    failure && h(Problem, { failure }),
    draw(undefined),
    parts.map(part => h("details", {
      key: part, class: "fold",
      open: there.some(([name, f]) => f.part === part && wrong[name]),
    },
      h("summary", {}, words.parts[part]), h("div", { class: "form" }, draw(part)))),
    about?.(all),
    kids,
    (differs || !value || oncancel)
      && h(Buttons, { sends: differs || !value, verb, busy, oncancel, last: asks,
                      discard: value && differs && !oncancel ? discard : null }));
}

// What sends it is the first one, and in a dialog the last, as in all dialogs.

function Buttons({ sends, verb, busy, oncancel, discard, last }) {
  const all = [
    sends && h("button", { key: "send", class: "primary", disabled: busy }, verb),
    oncancel && h("button", { key: "cancel", type: "button", onclick: oncancel }, text.cancel),
    discard && h("button", { key: "discard", type: "button", onclick: discard }, text.discard),
  ];

  return h("div", { class: "actions" }, last ? all.reverse() : all);
}


// What is typed, what of it differs, what is wrong, and what sends it.

function useForm({ fields, value, draft, onsave, loose }) {
  const before = value ?? {};
  const [typed, setTyped] = state(() => typedOf(fields, { ...before, ...draft }));
  const [wrong, setWrong] = state({});
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);

  const { there, all, changed } = saysOf(fields, typed, before);
  const differs = Object.keys(changed).length > 0;

  effect(() => differs && !loose ? guard() : null, [differs]);

  const told = failed => {
    setWrong(failed.wrong ?? {});
    setFailure(failed.failure ?? null);
  };

  const discard = () => {
    setTyped(typedOf(fields, before));
    told({});
  };

  const submit = sender({ fields, value, typed, setTyped, there, all, changed, differs, busy,
                          setBusy, told, onsave });

  const set = (name, next) => setTyped(now => ({ ...now, [name]: next }));

  return { value, typed, set, wrong, failure, busy, there, all, differs, submit, discard };
}

// Returns the listener that sends what differs, once nothing is missing.

function sender({ fields, value, typed, setTyped, there, all, changed, differs, busy, setBusy,
                  told, onsave }) {
  return async event => {
    const form = event.target;
    const missing = wrongOf(there, typed);
    const active = document.activeElement;
    let wanted = Object.keys(missing)[0];

    event.preventDefault();

    if (busy || value && !differs) {
      return;
    }

    told({ wrong: missing });

    if (wanted) {
      return focus(form, wanted);
    }

    setBusy(true);

    try {
      await onsave(value ? changed : given(all), all);
      value && setTyped(now => ({ ...now, ...typedOf(secretsOf(fields), {}) }));

    } catch (e) {
      const failed = failureOf(e, there);

      wanted = Object.keys(failed.wrong ?? {})[0];
      told(failed);

    } finally {
      setBusy(false);
      setTimeout(() => wanted ? focus(form, wanted) : back(active), 0);
    }
  };
}

// What was refused is wrong of a field, where the server names one.

function failureOf(e, there) {
  const wanted = e.code === "invalid_request" && memberOf(e, there);

  return wanted ? { wrong: { [wanted]: e.message } }
                : { failure: e.code === "cancelled" ? null : e };
}

// The fields that are there, with what is typed as a body has it: all of them that may be
// changed, and those that differ from what was before.

function saysOf(fields, typed, before) {
  const there = Object.entries(fields).filter(([, f]) => !f.when || f.when(typed));
  const all = Object.fromEntries(there.filter(([, f]) => !f.fixed).map(([name, f]) =>
    [name, kinds[f.kind].to(typed[name], f)]));
  const changed = Object.fromEntries(Object.entries(all).filter(([name, v]) =>
    !same(v, unchanged(fields[name], before[name]))));

  return { there, all, changed };
}

// Once the part that it is in has opened.

const focus = (form, name) => queueMicrotask(() =>
  form.querySelector(`[name="${CSS.escape(name)}"], [data-field="${CSS.escape(name)}"] input`)
      ?.focus());

// What could not be used for a while has lost the focus.

function back(active) {
  if (document.activeElement === document.body && active.isConnected) {
    active.focus();
  }
}

const typedOf = (fields, value) => Object.fromEntries(Object.entries(fields)
  .map(([name, f]) => [name, kinds[f.kind].of(value[name] ?? f.first, f)]));

// The server does not say what they are: what was sent is not typed any more.

const secretsOf = fields => Object.fromEntries(Object.entries(fields)
  .filter(([, { kind, secret }]) => secret || kind === "password"));

// What a member is where nothing was typed: a time, for example, has no seconds then.

const unchanged = (field, value) => kinds[field.kind].to(
  kinds[field.kind].of(value ?? field.first, field), field);

const given = all => Object.fromEntries(Object.entries(all)
  .filter(([, v]) => v !== null && v !== ""));


// The server judges; this is for what everybody can see is missing.

const wrongOf = (there, typed) => Object.fromEntries(there
  .filter(([, f]) => !f.fixed)
  .map(([name, { must, kind, wrong }]) => [name, must && kinds[kind].empty(typed[name])
    ? text.missing : kinds[kind].wrong?.(typed[name]) ?? wrong?.(typed)])
  .filter(([, wrong]) => wrong));

// The field that the server names, if it is one that is shown.

function memberOf(e, there) {
  const member = e.member ?? e.message?.match(/"([^"]+)"/)?.[1];

  return [member, member?.match(/^\w+/)?.[0]]
    .find(wanted => there.some(([name]) => name === wanted));
}


function Field({ id, name, field, words, typed, wrong, set, more }) {
  const { draw, group } = kinds[field.kind];
  const help = typeof field.fixed === "string" ? field.fixed : words.help?.[name];
  const label = words.fields[name];
  const described = [help && `${id}-help`, more && `${id}-more`, wrong && `${id}-wrong`]
    .filter(Boolean).join(" ");

  const control = draw({
    id, name, field, typed, set, words,
    attributes: {
      "aria-describedby": described || null, "aria-invalid": wrong ? "true" : null,
      disabled: Boolean(field.fixed),
    },
  });

  return h(group ? "fieldset" : "div", {
    class: "field", "data-field": name, "aria-describedby": group ? described || null : null,
  },
    group ? h("legend", {}, label)
          : field.kind !== "switch" && h("label", { for: id }, label),
    field.kind === "switch" ? h("label", { class: "switch" }, control, " ", label) : control,
    help && h("p", { id: `${id}-help`, class: "muted" }, help),
    more && h("div", { id: `${id}-more` }, more),
    wrong && h("p", { id: `${id}-wrong`, class: "wrong", role: "alert" }, shown(wrong)));
}
