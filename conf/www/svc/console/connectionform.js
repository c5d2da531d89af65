// What the views of all connections have in common: what is read of one, how its form
// becomes a body, whom it lets in, and what falls with it.

import { useAct } from "../ui/act.js";
import { call, Failure, may, session } from "../ui/call.js";
import { sendOver } from "../ui/conflict.js";
import { Id } from "../ui/copy.js";
import { confirm } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { go } from "../ui/place.js";
import "../ui/kinds.js";
import "../ui/several.js";
import { useAnswer } from "../ui/table.js";
import { toast } from "../ui/toast.js";
import { fill, list, shown } from "../ui/words.js";
import { domainsOf } from "./connectionlist.js";
import { pathTo } from "./connections.sheet.js";
import { Facts, Tabs } from "./facts.js";
import { at } from "./nav.js";
import { Head, withLock } from "./sheet.js";

const MAPPING = "attributeMapping.";
const FEW = 20;                 // ids that are looked up at once

// members that the server takes as null, and not as an empty list

const NULLABLE = ["domains", "mfaContexts", "allowedTenants"];

// what is typed to be sent, and never shown

const HIDDEN = ["clientSecret", "bindPassword", "keepLinks", "vouch"];


// --- what is read --------------------

async function namesOf(mapped) {
  const ids = [...new Set(mapped.map(one => one.groupId))];
  const parts = Array.from({ length: Math.ceil(ids.length / FEW) },
                           (_, n) => ids.slice(n * FEW, n * FEW + FEW));
  const found = await Promise.all(parts.map(some => call({
    path: "/admin/names", query: { type: "group", ids: some.join(",") },
  })));

  return Object.fromEntries(found.flatMap(({ data }) => data.names)
                                 .map(({ id, name }) => [id, name]));
}

// Returns what useAnswer() does: data is { one, etag, domains, names }, of the tenant's domains
// and of the groups that are mapped.

export const useConnection = id => useAnswer(async () => {
  const [{ data: one, etag }, domains]
    = await Promise.all([call({ path: pathTo(id) }), domainsOf()]);

  return { data: { one, etag, domains, names: await namesOf(one.groupMapping ?? []) } };
}, [id]);


// --- form and body -------------------

export const flat = one => ({
  ...one,
  ...Object.fromEntries(Object.entries(one.attributeMapping ?? {})
    .map(([name, value]) => [MAPPING + name, value])),
});

// The body of what was typed.  "all" has the fields that did not change, too: one attribute
// is sent with the others.

export function bodyOf(given, all = given) {
  const entries = Object.entries(given);
  const body = Object.fromEntries(entries
    .filter(([name]) => !name.startsWith(MAPPING))
    .map(([name, value]) =>
      [name, NULLABLE.includes(name) && value?.length === 0 ? null : value]));

  if (entries.length > Object.keys(body).length) {
    body.attributeMapping = Object.fromEntries(Object.entries(all)
      .filter(([name, value]) => name.startsWith(MAPPING) && value)
      .map(([name, value]) => [name.slice(MAPPING.length), value]));
  }

  return body;
}

// Fields that choose from what there is: domains that are verified, and groups.

export function choosing(fields, { domains, names = {} }, words) {
  const { groupMapping } = fields;
  const verified = domains.filter(one => one.verified).map(one => one.domain);

  return {
    ...fields,
    domains: { ...fields.domains, kind: "some", options: verified },
    groupMapping: {
      ...groupMapping,
      fixed: !may("groups:manage") && fill(words.groupsNeed, { permission: "groups:manage" }),
      fields: { ...groupMapping.fields, groupId: { ...groupMapping.fields.groupId, names } },
    },
  };
}

// Whether one of these members is another one than it was.

export const differs = (names, typed, one) =>
  names.some(name => (typed[name] ?? "") !== (one[name] ?? ""));

// Links may stay where the people are the same: an owner says so.

export const keepLinks = (identity, one, words) => ({
  kind: "switch", when: typed => differs(identity, typed, one),
  fixed: session.role !== "owner" && words.keepOwner,
});

// Asks before links go, unless they stay; and before people may come in otherwise who had
// to come in by this one.

export async function mayChange(identity, changed, { one, domains }, words) {
  const forced = forcedBy(one, domains);
  const lifts = changed.enabled === false || changed.linkByEmail === "never";

  const asks = [
    differs(identity, { ...one, ...changed }, one) && !changed.keepLinks && words.moves,
    forced.length > 0 && lifts && {
      ...words.lifts, notes: [fill(words.remove.forced, { domains: list(forced) })],
    },
  ];

  for (const asked of asks.filter(Boolean)) {
    if (!await confirm(asked)) {
      throw new Failure("cancelled", "");
    }
  }
}

const forcedBy = (one, domains) => domains.filter(found => found.signIn === one.connection)
                                          .map(found => shown(found.domain));


// Sends what was changed, if the connection is still what the form began with; else both are
// shown.  What somebody vouches for is what was seen.

function changeOver({ path, data: { one, etag }, changed, fields, words, send }) {
  const known = Object.fromEntries(Object.entries(fields)
    .filter(([name]) => !HIDDEN.includes(name)));

  return sendOver({
    path, of: flat, etag, was: flat(one), fields: known, words, send,
    changed: Object.fromEntries(Object.entries(changed).filter(([name]) => name in known)),
  });
}

// Of the mapping of attributes PATCH takes all.

export const patchOver = ({ path, data, changed, fields, words }) => changeOver({
  path, data, changed, fields, words,
  send: (etag, now = data.one) => call({
    method: "PATCH", path, etag, body: bodyOf(changed, { ...flat(now), ...changed }),
  }),
});

// All of what PUT replaces is sent.  "kept" is what no field is for.

export const putOver = ({ path, data, changed, fields, kept = [], words }) => changeOver({
  path, data, changed, fields, words,
  send(etag, now = data.one) {
    const all = Object.fromEntries(Object.entries({ ...flat(now), ...changed })
      .filter(([name]) => name in fields || name in changed || kept.includes(name)));

    return call({ method: "PUT", path, etag, body: whole(all) });
  },
});

// STARTTLS goes with the scheme.

function whole(all) {
  const body = bodyOf(all);

  return !("url" in body) ? body
    : { ...body, startTls: body.url.toLowerCase().startsWith("ldap:") };
}


// --- what is drawn -------------------

export const Waiting = ({ title, above, failure, again }) => h("div", {},
  h(Head, { title, above }),
  failure ? h(Problem, { failure, again })
          : h(Loading));

// The view of one: "tabs" are drawn by their names, and "kids" are what it is without one.

export function Page({ view, id, tab, title, sheet, words, one, tabs, actions, failure, again,
                       kids }) {
  return h("div", {},
    h(Head, { title, above: { view, title: words.title } }, actions),
    failure && h(Problem, { failure, again }),
    h(Tabs, { view, id, tab, words, names: Object.keys(tabs) }),
    tab && tabs[tab] ? tabs[tab]()
      : h("div", { class: "object" }, h("div", {}, kids), h(Facts, { sheet, words, one })));
}


// URLs that people take elsewhere: [name, value].

export const Urls = ({ urls, words }) => h("dl", {}, urls.flatMap(([name, value]) => [
  h("dt", { key: `t ${name}` }, words.urls[name]),
  h("dd", { key: `d ${name}` }, h(Id, { value })),
]));


// Whom it lets in, as far as that goes by who has configured it.  "vouch" sends that
// somebody vouches for all of it.

export function Covers({ one, words, vouch }) {
  const { busy, failure, run } = useAct();
  const said = words.vouch;
  const more = session.role === "owner" ? one.covers !== "owners"
                                        : session.role === "admin" && one.covers === "members";

  const ask = run(async () => {
    if (await confirm({ title: said.title, notes: said.notes, verb: said.verb })) {
      await vouch() !== false && toast(said.done);
    }
  });

  return one.covers === "owners" ? null : h("div", { class: "panel" },
    h("h2", {}, `${words.columns.covers}: ${words.options.covers[one.covers]}`),
    h("p", {}, said.why[one.covers]),
    one.connection === "ldap" && h("p", {}, said.directory),
    more ? h("p", {}, h("button", { type: "button", disabled: busy, onclick: ask },
                        withLock(said.verb)))
         : h("p", { class: "muted" }, said.owner),
    failure && h(Problem, { failure }));
}


// Deletes it, once somebody has read what falls with it.

export function Remove({ view, one, title, domains, words, sensitive }) {
  const { busy, failure, run } = useAct();
  const said = words.remove;
  const forced = forcedBy(one, domains);
  const named = one.domains ?? [];

  const remove = run(async () => {
    if (await confirm({
      title: fill(said.title, { name: title }), verb: said.verb,
      notes: [
        said.links,
        forced.length > 0 && fill(said.forced, { domains: list(forced) }),
        named.length > 0 && fill(said.domains, { domains: list(named.map(shown)) }),
        said.stays,
      ].filter(Boolean),
    }))
    {
      await call({ method: "DELETE", path: pathTo(one.connection) });
      toast(fill(said.done, { name: title }));
      await go(at(view), { sure: true });
    }
  });

  return h("span", {},
    h("button", { type: "button", class: "danger", disabled: busy, onclick: remove },
      sensitive ? withLock(said.verb) : said.verb),
    failure && h(Problem, { failure }));
}
