// The audit log, with all that an entry says; and incidents, with what to do about them.

import { may } from "../ui/call.js";
import { Code } from "../ui/copy.js";
import { Dialog, show } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { go, here, Link } from "../ui/place.js";
import { queryOf } from "../ui/query.js";
import { List } from "../ui/table.js";
import { text } from "../ui/text.js";
import { at } from "./nav.js";
import { Acts, Facts, Head } from "./sheet.js";


// --- the log -------------------------

// A file has what the list shows, by the same filters.

const exportOf = ({ offset, ...query }) => `/v1/admin/audit/export${queryOf(query)}`;

function AuditList({ sheet, words }) {
  const details = row => h("button", {
    type: "button", class: "plain", onclick: () => show(Entry, { one: row, sheet, words }),
  }, words.details);

  return h("div", {},
    h(Head, { title: words.title },
      h("a", { class: "button", href: exportOf(here().query), download: "" }, words.export)),
    h("p", { class: "muted" }, words.note),
    h(List, { sheet, words, acts: details }));
}

const Entry = ({ one, sheet, words, done }) => h(Dialog, { title: one.action, done, wide: true },
  h(Facts, { sheet, words, one }),
  Object.keys(one.details).length > 0
    && h(Code, { value: JSON.stringify(one.details, null, 2) }),
  h("div", { class: "actions" },
    one.actor.id && h(Same, { label: words.sameActor, query: { actorId: one.actor.id }, done }),
    one.target?.id && h(Same, { label: words.sameTarget, query: { q: one.target.id }, done }),
    h("button", { type: "button", onclick: () => done() }, text.close)));

const Same = ({ label, query, done }) => h("button", {
  type: "button",
  onclick() {
    done();
    go(at("audit") + queryOf(query));
  },
}, label);


// --- incidents -----------------------

// What helps depends on what it is.

function IncidentList({ sheet, words }) {
  const acts = (row, again) => h("div", { class: "actions" },
    h(Acts, { sheet, words, one: row, small: true, done: again }),
    row.details.ip && may("tenant:manage")
      && h(Link, { to: at("blocks", "new") + queryOf({ ip: row.details.ip }) }, words.block));

  return h("div", {},
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    h(List, { sheet, words, acts, draws: { title: row => h("span", {},
      row.title, h("br"), h("span", { class: "muted" }, words.todo[row.type] ?? "")) } }));
}


export default { audit: { List: AuditList }, incidents: { List: IncidentList } };
