// The connection with a directory, of which a tenant has one at most.

import { useAct } from "../ui/act.js";
import { call } from "../ui/call.js";
import { h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { none } from "../ui/fields.js";
import { Form, keyOf } from "../ui/form.js";
import { go } from "../ui/place.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill } from "../ui/words.js";
import {
  choosing, Covers, differs, flat, keepLinks, mayChange, Page, putOver, Remove, useConnection,
  Waiting,
} from "./connectionform.js";
import { titleOf } from "./connectionlist.js";
import { Import } from "./connectionimport.js";
import { pathTo } from "./connections.sheet.js";
import { Steps } from "./connectiontest.js";
import { at } from "./nav.js";
import { hasNone } from "./pem.js";
import { Head, withLock } from "./sheet.js";
import { FEDERATION } from "./tenant.sheet.js";

const IDENTITY = ["url", "baseDn", "uniqueIdAttribute"];
const SECRET = ["url", "bindDn"];

export const New = props => h(View, { ...props, id: "ldap", tab: undefined });

export function View(props) {
  const { view, sheets, words } = props;
  const { data, failure, again } = useConnection("ldap");
  const above = { view, title: words.title };

  if (!data) {
    return h(Waiting, { title: words.options.kind.ldap, above, failure, again });
  }

  const { one, domains } = data;
  const sheet = sheets.ldap;
  const fields = fieldsFor(sheet, data, words);

  if (!one.configured) {
    return h("div", {},
      h(Head, { title: words.options.kind.ldap, above }),
      failure && h(Problem, { failure, again }),
      h("p", { class: "muted" }, words.first),
      h("div", { class: "panel" }, h(Make, { view, data, fields, words, again })));
  }

  const title = titleOf(one, "ldap", words);

  const put = async changed => {
    const sent = await putOver({ path: pathTo("ldap"), data, changed, fields, words,
                                 kept: sheet.kept });

    again();

    return sent;
  };

  return h(Page, {
    ...props, sheet, one, title, failure, again,
    actions: h(Remove, { view, one, title, domains, words, sensitive: true }),
    tabs: {
      test: () => h(Test, { sheet, words }),
      import: () => h(Import, { one, sheets, words }),
    },
  },
    h(Covers, { one, words, vouch: () => put({ vouch: true }) }),
    h("div", { class: "panel" },
      h(Change, { key: keyOf(fields, flat(one)), data, fields, words, put })));
}


function Make({ view, data, fields, words, again }) {
  const save = async given => {
    await putOver({ path: pathTo("ldap"), data, changed: given, fields, words })
      && toast(fill(words.made, { name: words.options.kind.ldap }));
    await go(at(view, "ldap"), { sure: true });
    again();
  };

  return h(Form, { fields, words, verb: withLock(text.create), onsave: save,
                   oncancel: () => go(at(view, "new")) });
}

function Change({ data, fields, words, put }) {
  const { one } = data;

  const save = async changed => {
    await mayChange(IDENTITY, changed, data, words);
    await put(changed) && toast(text.saved);
  };

  return h(Form, {
    value: flat(one), fields, verb: withLock(text.save), onsave: save,
    words: { ...words, help: {
      ...words.help, ...one.bindPasswordSet && { bindPassword: words.passwordSet },
    } },
  });
}


// A password is sent nowhere but to the server that it was given for.

function fieldsFor(sheet, { one, domains, names }, words) {
  const { label, url, bindDn, bindPassword, baseDn, userFilter, ...fields }
    = choosing(sheet.form, { domains, names }, words);

  const wrong = typed => none(typed.bindDn) || !none(typed.bindPassword) ? null
    : !one.bindPasswordSet ? text.missing
    : differs(SECRET, typed, one) ? words.passwordAgain : null;

  return {
    label, url, bindDn,
    bindPassword: { ...bindPassword, wrong, when: typed => !none(typed.bindDn) },
    baseDn,
    ...one.configured && { keepLinks: keepLinks(IDENTITY, one, words) },
    userFilter, ...fields,
    domains: { ...fields.domains, part: undefined, must: true },
    caCertificates: {
      ...fields.caCertificates, kind: "pem", rows: 8,
      wrong: typed => hasNone(typed.caCertificates) ? words.pem.unknown : null,
    },
  };
}


// --- its test ------------------------

function Test({ sheet, words }) {
  const { busy, failure, run } = useAct();
  const [steps, setSteps] = state(null);
  const said = words.test;

  const test = body => run(async () => {
    setSteps(null);

    const { data } = await call({ method: "POST", path: sheet.test.path, body });

    setSteps(data.steps);
  });

  const off = failure?.status === 404;

  return h("div", { class: "panel" },
    h("p", {}, said.directory),
    h(Form, {
      fields: { email: sheet.test.form.email,
                password: { ...sheet.test.form.password,
                            when: typed => !none(typed.email) } },
      words: { fields: said.fields, help: said.help }, verb: said.verb, id: "test",
      loose: true, onsave: given => test(given)(),
    }),
    busy && h("p", { class: "muted", role: "status" }, said.waits),
    off ? h("p", { class: "problem" }, fill(text.isOff, { directive: FEDERATION }))
        : failure && h(Problem, { failure }),
    steps && h("div", { class: "end", role: "status" },
      h(Steps, { steps, words: { step: said.step, good: said.good, wrong: said.wrong } })));
}
