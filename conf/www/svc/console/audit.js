// The audit log, with all that an entry says; and incidents, with what to do about them.

import { may, ours } from "../ui/call.js";
import { Code } from "../ui/copy.js";
import { Dialog, show } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { change, go, Link, usePlace } from "../ui/place.js";
import { queryOf } from "../ui/query.js";
import { List, Tools } from "../ui/table.js";
import { text } from "../ui/text.js";
import { exact } from "../ui/time.js";
import { fill, shown } from "../ui/words.js";
import { causeOf, outcomeOf } from "./cause.js";
import { Live } from "./live.js";
import "./names.js";
import { at } from "./nav.js";
import { Acts, Facts, Head, SheetView } from "./sheet.js";


// --- the log -------------------------

// A file has what the list shows, by the same filters.

const exportOf = (query, format) => `/v1/admin/audit/export${queryOf({ ...query, format })}`;

function AuditList({ sheet, words }) {
  const { query } = usePlace();
  const live = query.live === "on";
  const given = Object.fromEntries([sheet.find, ...Object.keys(sheet.filters)]
    .map(name => [name, query[name]]));

  const details = row => h("button", {
    type: "button", class: "plain", onclick: () => show(Entry, { one: row, sheet, words }),
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
    live ? h("div", {},
             h(Tools, { sheet, words, query }),
             h(Live, { key: JSON.stringify(given), sheet, words, given, draws,
                       acts: details }))
         : h(List, { sheet, words, draws, acts: details }));
}

// All that is known of it, whole.

function factsOf({ one, sheet, words }) {
  const { createdAt, action, outcome, ...facts } = sheet.facts;
  const cause = causeOf(one);

  return {
    sheet: { ...sheet, facts: { createdAt: "node", action, outcome, ...cause && { why: "node" },
                                ...facts, actorId: "copy", targetId: "copy" } },
    words: { ...words, columns: { ...words.columns, ...words.filters, why: cause?.label } },
    one: { ...one, actorId: one.actor.id, targetId: one.target?.id,
           createdAt: `${exact(one.createdAt)} · ${one.createdAt}`,
           why: cause && [cause.said, " ", h("code", {}, cause.code)] },
  };
}

// Signs that nobody sees are written as JSON can: what is copied is the same.

const jsonOf = details => JSON.stringify(details, null, 2).replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu,
  sign => Array.from({ length: sign.length }, (_, n) =>
    `\\u${sign.charCodeAt(n).toString(16).padStart(4, "0")}`).join(""));

const Told = ({ details }) =>
  Object.keys(details).length > 0 ? h(Code, { value: jsonOf(details) }) : null;

const Entry = ({ one, sheet, words, done }) => h(Dialog, {
  title: shown(one.action), done, wide: true,
},
  h(Facts, factsOf({ one, sheet, words })),
  h(Told, one),
  h(Around, { one, words, done },
    h("button", {
      type: "button",
      onclick() {
        done();
        go(at("audit", one.id));
      },
    }, words.alone),
    h("button", { type: "button", onclick: () => done() }, text.close)));

// The same at an address of its own.

const EntryView = props => h(SheetView, {
  ...props, sheet: { ...props.sheet, facts: undefined },
  top: one => h("div", {},
    h(Facts, factsOf({ one, sheet: props.sheet, words: props.words })),
    h(Told, one), h(Around, { one, words: props.words })),
});

// What else is of the same.

const Around = ({ one, words, done = () => {}, kids }) =>
  h("div", { class: "actions" },
    one.actor.id && h(Same, { label: words.sameActor, query: { actorId: one.actor.id }, done }),
    one.target?.id
      && h(Same, { label: words.sameTarget, query: { targetId: one.target.id }, done }),
    one.requestId
      && h(Same, { label: words.sameRequest, query: { requestId: one.requestId }, done }),
    kids);

const Same = ({ label, query, done }) => h("button", {
  type: "button",
  onclick() {
    done();
    go(at("audit") + queryOf(query));
  },
}, label);


// --- incidents -----------------------

// What helps depends on what it is.

const BlockLink = ({ one: { details: { ip } }, words }) => ip && may("tenant:manage")
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

const IncidentView = props => h(SheetView, {
  ...props,
  top: one => h("div", { class: "panel" },
    h("p", {}, props.words.todo[one.type] ?? ""), h(Told, one),
    h(BlockLink, { one, words: props.words })),
});


export default {
  audit: { List: AuditList, View: EntryView },
  incidents: { List: IncidentList, View: IncidentView },
};
