// Connections: all of a tenant's in one list, what kinds there are, and one of them.  What
// its kind has comes when it is looked at.

import { call } from "../ui/call.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Link, usePlace } from "../ui/place.js";
import { queryOf } from "../ui/query.js";
import { Table, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { list, shown, wordOf, wordsOf } from "../ui/words.js";
import { domainsOf, listOf, Off, titleOf } from "./connectionform.js";
import { isSingle, kindOf, PROVIDERS } from "./connections.sheet.js";
import { at } from "./nav.js";
import { Head } from "./sheet.js";

const KINDS = [...PROVIDERS, "saml", "ldap"];

const FEW = 2;                  // domains that a row shows

const LATER = {
  oidc: () => import("./connectionoidc.js"),
  saml: () => import("./connectionsaml.js"),
  ldap: () => import("./connectionldap.js"),
};


// --- the list ------------------------

// SAML and a directory are there once they have been configured.

async function readAll() {
  const [social, saml, ldap, domains] = await Promise.all([
    listOf(), call({ path: "/admin/saml" }), call({ path: "/admin/ldap" }), domainsOf(),
  ]);
  const all = [...social, ...saml.data.updatedAt ? [saml.data] : [],
               ...ldap.data.configured ? [ldap.data] : []];

  return { data: all.map(one => ({
    ...one, forced: domains.filter(found => found.signIn === one.connection)
                           .map(found => found.domain),
  })) };
}

// Nobody signs in by SAML yet, and a directory gets no password before an owner has said so.

const statusOf = one => one.connection === "saml" ? "kept" : !one.enabled ? "off"
  : one.connection === "ldap" ? one.covers === "owners" ? "ready" : "waits" : one.status;

const rowOf = (one, words) => ({
  id: one.connection, label: titleOf(one, kindOf(one.connection), words),
  key: one.connection, kind: kindOf(one.connection), status: statusOf(one),
  domains: one.domains ?? [], forced: one.forced, covers: one.covers,
});

const SHEET = {
  id: "id",
  tones: { status: { ready: "good", pending: "info", failed: "bad", waits: "warn",
                     kept: "off", off: "off" } },
  columns: { label: "link", key: "code", status: "badge", domains: "tags", forced: "tags",
             covers: "word" },
};

const few = domains => domains.length <= FEW ? null
  : h("span", { class: "tags", title: list(domains) },
      domains.slice(0, FEW).map(one => h("code", { key: one }, shown(one))),
      ` +${domains.length - FEW}`);

const DRAWS = { domains: row => few(row.domains), forced: row => few(row.forced) };

function ConnectionList({ view, words }) {
  const { data, failure, loading, again } = useAnswer(readAll, []);
  const rows = data?.map(one => rowOf(one, words));

  return h("div", {},
    h(Head, { title: words.title },
      h(Link, { class: "button primary", to: at(view, "new") }, words.new)),
    h("p", { class: "muted" }, words.note),
    h(Off, {}),
    failure && h(Problem, { failure, again }),
    !data && !failure && h("p", { class: "muted loading", role: "status" }, text.loading),
    rows?.length === 0 && h("div", { class: "list empty" },
      words.empty.map(p => h("p", { key: p }, p))),
    rows?.length > 0 && h(Table, {
      sheet: SHEET, words, rows, loading, draws: DRAWS,
      to: row => at(view, row.id),
      acts: row => row.kind !== "saml" && h(Link, {
        class: "button plain", to: at(view, row.id, "test"),
        "aria-label": `${words.test.verb}: ${row.label}`,
      }, words.test.verb),
    }));
}


// --- a new one -----------------------

// Of most kinds there is one at most: that one is led to.

function ConnectionNew(props) {
  const { view, words } = props;
  const { query: { kind } } = usePlace();

  return KINDS.includes(kind) ? h(Later, { ...props, key: kind, kind, name: "New" })
                              : h(Choose, { view, words });
}

function Choose({ view, words }) {
  const { data, failure, again } = useAnswer(readAll, []);
  const there = data?.map(one => one.connection) ?? [];
  const made = kind => kind !== "oidc" && there.includes(kind);

  return h("div", {},
    h(Head, { title: words.new, above: { view, title: words.title } }),
    h("p", {}, words.which),
    failure && h(Problem, { failure, again }),
    data && h("ul", { class: "cards" }, KINDS.map(kind => h("li", { key: kind },
      h(Link, { class: "card", to: made(kind) ? at(view, kind)
                                              : at(view, "new") + queryOf({ kind }) },
        h("strong", {}, words.options.kind[kind]),
        h("span", {}, made(kind) ? words.there : words.about[kind]))))));
}


// --- what comes later ----------------

const ConnectionView = props => h(Later, { ...props, key: props.id, kind: kindOf(props.id),
                                           name: "View" });

const groupOf = kind => isSingle(kind) ? kind : "oidc";

const MORE = ["columns", "fields", "help", "none", "options", "parts", "tabs", "units", "urls"];

const merged = (words, more) => ({
  ...words, ...more,
  ...Object.fromEntries(MORE.map(name => [name, { ...words[name], ...wordOf(more, name) }])),
});

function Later({ kind, name, words, ...props }) {
  const [part, setPart] = state(null);
  const [failed, setFailed] = state(false);
  const group = groupOf(kind);

  effect(() => {
    Promise.all([LATER[group](), wordsOf(`console/connection${group}`)]).then(
      ([module, more]) => setPart({ draw: module[name], words: merged(words, more) }),
      () => setFailed(true));
  }, [group]);

  if (failed) {
    return h("div", { class: "problem" },
      h("p", {}, text.newer),
      h("button", { type: "button", onclick: () => location.reload() }, text.again));
  }

  return part ? h(part.draw, { ...props, kind, words: part.words })
              : h("p", { class: "muted loading", role: "status" }, text.loading);
}

export default {
  connections: { List: ConnectionList, New: ConnectionNew, View: ConnectionView },
};
