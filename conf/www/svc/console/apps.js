// An application, a SAML application, a SCIM target and what the catalogue has: what their
// sheets do not say.

import { useAct } from "../ui/act.js";
import { call, may, queryOf } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { confirm } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { later, Problem } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { go, Link, link, usePlace } from "../ui/place.js";
import { List, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { Time } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { SmallAct } from "./acts.js";
import { fieldsOf, TYPES } from "./apps.sheet.js";
import { Credentials, Rotate } from "./credentials.js";
import { Acted } from "./delegated.js";
import { at } from "./nav.js";
import { Settings, SheetNew, SheetView } from "./object.js";
import { Head, pathOf, withLock } from "./sheet.js";

const HOUR = 3600;
const PUBLIC = ["spa", "native"];

// What an address fills in of a form.

const draftOf = (...names) => {
  const { query } = usePlace();

  return Object.fromEntries(names.map(name => [name, query[name]]));
};

const newOf = (type, name) => `${at("applications", "new")}${queryOf({ type, name })}`;


// --- applications --------------------

// Which type it is follows from what it is: people choose by an example, and what they
// have chosen is in the address.

function AppNew({ view, sheet, words }) {
  const { query: { type, name } } = usePlace();
  const [made, setMade] = state(null);
  const above = { view, title: words.title };

  if (made) {
    return h(Made, { made, sheet, words, above, view });
  }

  if (!TYPES.includes(type)) {
    return h("div", {},
      h(Head, { title: words.new, above }),
      h("p", {}, words.which),
      h("ul", { class: "cards" }, TYPES.map(one => h("li", { key: one },
        h(Link, { class: "card", to: newOf(one, name) },
          h("strong", {}, words.options.type[one]), h("span", {}, words.examples[one]))))));
  }

  return h("div", {},
    h(Head, { title: words.newOf[type], above },
      h(Link, { class: "button", to: newOf(null, name) }, words.otherType)),
    h("p", { class: "muted" }, words.examples[type]),
    h("div", { class: "panel" },
      h(AppForm, { key: type, type, name, sheet, words, onmade: setMade })));
}

function AppForm({ type, name, sheet, words, onmade }) {
  const [once] = state(() => crypto.randomUUID());

  const save = async given => {
    const { data, replayed } = await call({ method: sheet.create, path: sheet.path, key: once,
                                            body: { ...given, type } });

    onmade({ one: data, replayed });
  };

  return h(Form, { fields: fieldsOf(type, { made: false }), words, draft: { name },
                   verb: withLock(text.create), onsave: save,
                   oncancel: () => go(at("applications", "new")) });
}


// The secret is here, this once.  An answer that comes a second time does not have it.

function Made({ made: { one, replayed }, sheet, words, above, view }) {
  const lost = replayed && one.secretRotatedAt;

  return h("div", {},
    h(Head, { title: fill(words.made, { name: shown(one.name) }), above },
      one.type === "m2m" && h(Link, {
        class: "button",
        to: at("scim-targets", "new") + queryOf({ clientId: one.clientId, name: one.name }),
      }, words.target),
      h(Link, { class: "button primary", to: at(view, one.clientId) }, words.toIt)),
    lost && h("div", { class: "problem", role: "alert" }, h("p", {}, words.lost),
      h(Rotate, { act: sheet.rotate, one,
                  done: () => go(at(view, one.clientId)) })),
    h("div", { class: "panel" },
      h("h2", {}, words.connect), h(Credentials, { one, secret: one.clientSecret })));
}


function AppView(props) {
  const { view, id, sheet, words, all } = props;

  if (id === "settings") {
    return h(Settings, { sheet: props.sheets.settings, words: all.settings,
                         above: { view, title: words.title } });
  }

  return h(SheetView, {
    ...props,
    fields: one => fieldsOf(one.type, { made: true }),
    top: one => h(Warnings, { one, words }),
    draw: one => h("div", { class: "panel" },
      h("h2", {}, words.connect), h(Credentials, { one })),
    more: (one, again) => [
      one.type === "agent" && h(Link, { key: "agent", class: "button",
                                        to: at("agents", one.clientId) }, words.asAgent),
      one.secretRotatedAt && h(Rotate, { key: "rotate", act: sheet.rotate, one, done: again }),
    ],
    tabs: { groups: Groups, consents: Consents, usage: Usage, delegations: ({ one }) => h(Acted, { clientId: one.clientId }),
            ...activity("clientId") },
  });
}

// The chart comes when it is looked at.

const Chart = later(async () => (await import("./appusage.js")).Usage);

const Usage = ({ one, all }) => h(Chart, { one, words: all.applicationUsage });

const Consents = ({ one, sheets, all }) => h(List, {
  sheet: sheets.applicationConsents, words: all.applicationConsents,
  path: pathOf(sheets.applicationConsents.path, one),
  to: may("users:view") && (row => at("users", row.userId)) || undefined,
});

const Groups = ({ one, sheets, all }) => h(List, {
  sheet: sheets.applicationGroups, words: all.applicationGroups,
  path: pathOf(sheets.applicationGroups.path, one),
  to: may("groups:manage") && (row => at("groups", row.id)) || undefined,
});


// What somebody who looks after it should know.

function warningsOf(one) {
  const publicOne = PUBLIC.includes(one.type);
  const signsIn = one.grantTypes.includes("authorization_code");

  return [
    !one.enabled && "disabled",
    publicOne && one.accessTokenTtlSeconds > HOUR && "longTtl",
    publicOne && !one.requireDpop && "noDpop",
    signsIn && !one.requireConsent && "noConsent",
    one.redirectUris.some(uri => uri.startsWith("http:")) && "loopback",
    one.jwksStatus?.state === "failed" && "keys",
  ].filter(Boolean);
}

function Warnings({ one, words }) {
  const names = warningsOf(one);

  return names.length === 0 ? null : h("ul", { class: "panel warnings" }, names.map(name =>
    h("li", { key: name },
      h(Badge, { value: name, tone: name === "disabled" || name === "keys" ? "bad" : "warn",
                 words: words.warnings }),
      h("p", {}, fill(words.why[name], { error: one.jwksStatus?.error ?? "" })))));
}


// --- SAML applications ---------------

const SamlNew = props => h(SheetNew, {
  ...props, sheet: { ...props.sheet, ...props.sheet.add, create: props.sheet.add.method },
  draft: draftOf("name"), to: () => `${at(props.view)}?show=yes`,
});

const SamlView = props => h(SheetView, {
  ...props, sheet: { ...props.sheets.samlApp, path: props.sheet.add.path, one: true },
  tabs: activity(),
});


// --- SCIM targets --------------------

const TargetNew = props => h(SheetNew, { ...props, draft: draftOf("clientId", "name") });

function TargetView(props) {
  const { sheet } = props;
  const words = { ...props.words, help: { ...props.words.help, token: props.words.tokenKept } };

  return h(SheetView, {
    ...props, words,
    fields: () => Object.fromEntries(Object.entries(sheet.form)
      .filter(([name]) => name !== "clientId")
      .map(([name, field]) => [name, name === "token" ? { ...field, must: false } : field])),
    top: (one, again) => h(TargetState, { one, again, sheet, words }),
    tabs: {
      users: TargetUsers,
      ...activity(),
    },
  });
}


// Who is pushed at once is seen to be there some moments later.

const LOOKS = 5;

async function pushed(path) {
  for (let n = 1; ; n++) {
    await new Promise(next => setTimeout(next, 1000));

    const { data: { state } } = await call({ path });

    if (state !== "pending" || n === LOOKS) {
      return state;
    }
  }
}

function TargetUsers({ one, sheets, all }) {
  const sheet = sheets.scimTargetUsers;
  const words = all.scimTargetUsers;

  const sync = (row, again) => async () => {
    const user = { id: one.id, userId: row.userId };

    await call({ method: sheet.sync.method, path: pathOf(sheet.sync.path, user), body: {} });
    toast(fill(words.sync.done[await pushed(pathOf(sheet.user.path, user))],
               { name: shown(row.email ?? row.userId) }));
    again();
  };

  return h(List, {
    sheet, words, path: pathOf(sheet.path, one),
    to: may("users:view") && (row => at("users", row.userId)) || undefined,
    acts: one.enabled && ((row, again) => h(SmallAct, {
      label: `${words.sync.verb}: ${shown(row.email ?? row.userId)}`, verb: words.sync.verb,
      act: sync(row, again),
    })),
  });
}

function TargetState({ one, again, sheet, words }) {
  const status = !one.enabled ? "off" : one.lastSyncStatus ?? "never";
  const { busy, failure, run } = useAct();
  const [tested, setTested] = state(null);

  const sync = confirmed => run(async () => {
    await call({ method: "POST", path: pathOf(sheet.sync.path, one), body: {},
                 query: confirmed ? { confirm: "true" } : {} });
    toast(words.syncs);
    again();
  });

  const test = run(async () => {
    setTested(null);
    setTested((await call({ method: "POST", path: pathOf(sheet.test.path, one), body: {} }))
      .data);
  });

  return h("div", { class: "panel" },
    h("h2", {}, h(Badge, { value: status, words: words.states,
                           tone: sheet.tones.lastSyncStatus[status] })),
    h("p", {}, words.next[status]),
    one.lastError && h("p", { lang: "en" }, h("code", {}, shown(one.lastError))),
    h("p", { class: "muted" }, fill(words.stats, one.stats)),
    status === "held" && h(Held, { one, words, sync: sync(true) }),
    h("div", { class: "actions" },
      h("button", { type: "button", disabled: busy, onclick: test }, words.test),
      status !== "held" && h("button", {
        type: "button", disabled: busy || !one.enabled, onclick: sync(false),
        title: one.enabled ? null : words.next.off,
      }, words.sync),
      h("button", { type: "button", class: "plain", onclick: again }, words.look)),
    busy && h("p", { class: "muted", role: "status" }, words.waits),
    tested && h("p", { role: "status" },
      h(Badge, { value: tested.ok ? "ok" : "bad", tone: tested.ok ? "good" : "bad",
                 words: words.tested }),
      " ", fill(words.answered, { status: tested.status ?? "–" }),
      " ", tested.ok && words.patches[String(tested.patch)],
      tested.error && h("code", { lang: "en" }, shown(tested.error))),
    failure && h(Problem, { failure }));
}


// How many would go is in the audit log.  Who may not read that is told how many wait, of
// whom these are a part.

const Held = props => may("audit:view") ? h(HeldKnown, props) : h(HeldAsk, props);

function HeldKnown({ one, words, sync }) {
  const { data, failure } = useAnswer({
    path: "/admin/audit", query: { q: one.id, action: "scim.target_held", limit: 1 },
  }, [one.id]);

  return data || failure ? h(HeldAsk, { one, words, sync, told: data?.events[0] }) : null;
}

function HeldAsk({ one, words, sync, told }) {
  const n = told?.details.users ?? one.stats.pending;

  const ask = async () => {
    if (await confirm({
      title: fill(words.goes, { n }), notes: words.held, verb: words.goesVerb,
      name: String(n),
    }))
    {
      await sync();
    }
  };

  return h("div", {},
    h("p", {}, h("strong", {}, fill(told ? words.wouldGo : words.upTo,
                                    { n, all: told?.details.activeUsers ?? one.stats.users })),
      told && [" ", h(Time, { value: told.createdAt })]),
    h("p", {}, h("button", { type: "button", class: "danger", onclick: ask },
                 words.goesVerb)));
}


// --- the catalogue -------------------

const TYPE_OF = { oidc: "web", scim: "m2m" };

const IntegrationView = props => h(SheetView, {
  ...props,
  draw: one => h("div", { class: "panel" },
    h("p", {}, link(one.docsUrl, {}, props.words.docs)),
    h("ul", { class: "cards" }, one.protocols.map(protocol => h("li", { key: protocol },
      h(Start, { one, protocol, words: props.words }))))),
});

function Start({ one, protocol, words }) {
  const to = protocol === "saml" ? at("saml-apps", "new") + queryOf({ name: one.name })
    : TYPE_OF[protocol] && newOf(TYPE_OF[protocol], one.name);

  return to ? h(Link, { class: "card", to }, h("strong", {}, words.start[protocol]),
                h("span", {}, words.starts[protocol]))
            : h("div", { class: "card" }, h("strong", {}, words.start[protocol]),
                h("span", {}, words.starts[protocol]));
}


export default {
  applications: { New: AppNew, View: AppView },
  "saml-apps": { New: SamlNew, View: SamlView },
  "scim-targets": { New: TargetNew, View: TargetView },
  catalogue: { View: IntegrationView },
};
