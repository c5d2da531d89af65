// The list of connections: all of a tenant's in one.

import { call } from "../ui/call.js";
import { h } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Link } from "../ui/place.js";
import { Table, useAnswer } from "../ui/table.js";
import { list, shown } from "../ui/words.js";
import { kindOf } from "./connections.sheet.js";
import { at } from "./nav.js";
import { Head } from "./sheet.js";

const FEW = 2;                  // domains that a row shows

export const listOf = async () =>
  (await call({ path: "/admin/social/connections", query: { limit: 500 } })).data.connections;

export const domainsOf = async () =>
  (await call({ path: "/admin/domains", query: { limit: 500 } })).data.domains;

export const titleOf = (one, kind, words) => shown(one.label ?? words.options.kind[kind]);


// SAML and a directory are there once they have been configured.

export async function readAll() {
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
    failure && h(Problem, { failure, again }),
    !data && !failure && h(Loading),
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


export default { connections: { List: ConnectionList } };
