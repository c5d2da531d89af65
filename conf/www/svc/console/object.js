// One of what a list shows, and a form for a new one, as they are made from a sheet alone.

import { call, may } from "../ui/call.js";
import { sendOver } from "../ui/conflict.js";
import { h, state } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Form, keyOf } from "../ui/form.js";
import "../ui/kinds.js";
import { go, Link } from "../ui/place.js";
import "../ui/several.js";
import { styled } from "../ui/style.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill } from "../ui/words.js";
import { Acts } from "./acts.js";
import { Facts, Tabs } from "./facts.js";
import { at } from "./nav.js";
import { Once } from "./perform.js";
import { Head, labelOf, pathOf, withLock } from "./sheet.js";

await styled("/svc/console/views.css");

const verbOf = (sheet, verb, act) => sheet.sensitive?.includes(act) ? withLock(verb) : verb;


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
    return h(Loading);
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
      : !data ? h(Loading)
      : h(Change, { sheet, words, one: data, etag, fields: sheet.form, again }));
}
