// The audit log; and incidents, with what to do about them.

import { useAct } from "../ui/act.js";
import { late, may, ours, queryOf } from "../ui/call.js";
import { h } from "../ui/draw.js";
import { later, Problem } from "../ui/fail.js";
import { change, Link, usePlace } from "../ui/place.js";
import { styled } from "../ui/style.js";
import { List, Tools } from "../ui/table.js";
import { text } from "../ui/text.js";
import { fill, shown } from "../ui/words.js";
import { Acts } from "./acts.js";
import { outcomeOf } from "./cause.js";
import "./names.js";
import { at } from "./nav.js";
import { Head } from "./sheet.js";

await styled("/svc/console/views.css");

const Live = later(async () => (await import("./live.js")).Live);

const entry = () => late(import("./entry.js"));


// A file has what the list shows, by the same filters.

const exportOf = (query, format) => `/v1/admin/audit/export${queryOf({ ...query, format })}`;

function AuditList({ sheet, words }) {
  const { query } = usePlace();
  const live = query.live === "on";
  const given = Object.fromEntries([sheet.find, ...Object.keys(sheet.filters)]
    .map(name => [name, query[name]]));

  const { failure, run } = useAct(null, entry);

  const details = row => h("button", {
    type: "button", class: "plain", onclick: run(({ open }) => open({ one: row, sheet, words })),
  }, words.details);

  const link = format =>
    ({ class: "button", href: exportOf(given, format), download: "", onclick: ours });

  const draws = { outcome: outcomeOf(sheet, words) };

  return h("div", {},
    h(Head, { title: words.title },
      h("label", { class: "switch" }, h("input", {
        type: "checkbox", role: "switch", checked: live,
        onchange: event => change({ live: event.target.checked ? "on" : null, offset: null }),
      }), " ", words.live.title),
      h("a", link("csv"), words.csv),
      h("a", link("json"), words.json)),
    h("p", { class: "muted" }, words.note),
    failure && h(Problem, { failure }),
    live ? h("div", {},
             h(Tools, { sheet, words, query }),
             h(Live, { key: JSON.stringify(given), sheet, words, given, draws,
                       acts: details }))
         : h(List, { sheet, words, draws, acts: details }));
}


// --- incidents -----------------------

// What helps depends on what it is.

export const BlockLink = ({ one: { details: { ip } }, words }) => ip && may("tenant:manage")
  ? h(Link, { to: at("blocks", "new") + queryOf({ ip }) }, words.block) : null;

function IncidentList({ sheet, words }) {
  const acts = (row, again) => h("div", { class: "actions" },
    h(Acts, { sheet, words, one: row, small: true, done: again }),
    h(BlockLink, { one: row, words }));

  return h("div", {},
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    !may("tenant:manage")
      && h("p", { class: "muted" }, fill(text.readOnly, { permission: "tenant:manage" })),
    h(List, {
      sheet, words, acts,
      draws: {
        title: row => h("span", {},
          h(Link, { to: at("incidents", row.id) }, shown(row.title)), h("br"),
          h("span", { class: "muted todo" }, words.todo[row.type] ?? "")),
      },
    }));
}

export default { audit: { List: AuditList }, incidents: { List: IncidentList } };
