// The journal of who acted for whom: as a list, as the tab of an application, and all that
// came of one token.

import { Badge, cell } from "../ui/cells.js";
import { h } from "../ui/draw.js";
import { lasts } from "../ui/duration.js";
import { Loading, Problem } from "../ui/fail.js";
import { Link, usePlace } from "../ui/place.js";
import { styled } from "../ui/style.js";
import { List, Table, useAnswer } from "../ui/table.js";
import { Time } from "../ui/time.js";
import { fill, language, shown, wordsOf } from "../ui/words.js";
import sheets from "./delegated.sheet.js";
import { at } from "./nav.js";
import { Head } from "./sheet.js";

await styled("/svc/console/views.css");

const words = await wordsOf("console/delegated");

const MOST = 500;
const sheet = sheets.delegations;
const tones = sheet.tones.outcome;

const rootOf = row => row.rootTokenId
  && `${at("delegations", row.rootTokenId)}${row.tokenId ? `?token=${row.tokenId}` : ""}`;

const Actor = ({ clientId, name }) => clientId.startsWith("agt_")
  ? h(Link, { to: at("agents", clientId) }, shown(name)) : h("span", {}, shown(name));

const Subject = ({ of }) => h("span", {},
  !of ? h("span", { class: "muted" }, words.unknown)
    : of.email ? shown(of.email) : cell("copy", of.id));

const draws = {
  createdAt: row => rootOf(row) && h(Link, { to: rootOf(row) }, h(Time, { value: row.createdAt })),
  actor: row => h(Actor, row.actor),
  subject: row => h(Subject, { of: row.subject }),
  outcome: row => h("span", {},
    h(Badge, { value: row.outcome, tone: tones[row.outcome], words: words.options.outcome }),
    row.reason && h("span", { class: "muted why" }, words.reasons[row.reason])),
};


const Delegations = ({ view }) => h("div", {},
  h(Head, { title: words.title }),
  h("p", { class: "muted" }, words.note),
  h(List, { key: view, sheet, words, draws }));

// Without the filters of whoever acts: that is what it is of.

export const Acted = ({ clientId }) => h(List, {
  sheet: { ...sheet, query: { inChain: clientId }, filters: { outcome: sheet.filters.outcome } },
  words, draws,
});


// --- all that came of one token ------

// Down to the second: these stand below each other.

const precise = value => new Intl.DateTimeFormat(language, {
  dateStyle: "short", timeStyle: "medium",
}).format(new Date(value));


function Root({ view, id }) {
  const { query } = usePlace();
  const { data, failure, again } = useAnswer(
    { path: sheet.path, query: { rootTokenId: id, limit: MOST } }, [id]);
  const above = { view, title: words.title };

  if (!data) {
    return h("div", {}, h(Head, { title: words.one, above }),
      failure ? h(Problem, { failure, again })
              : h(Loading));
  }

  const rows = data.delegations.toSorted((a, b) => a.createdAt < b.createdAt ? -1 : 1);

  return h("div", {},
    h(Head, { title: words.one, above }),
    h("p", {}, words.root, " ", cell("copy", id)),
    rows.length === 0
      ? h("div", { class: "list empty" }, h("p", {}, words.noRows),
          h("p", {}, h(Link, { to: `${at(view)}?tokenId=${encodeURIComponent(id)}` },
                       words.asToken)))
      : h("div", {},
          data.total > rows.length && h("p", {}, fill(words.newest, { n: rows.length })),
          h("section", { class: "panel" },
            h("h2", {}, words.tree),
            h(Branch, { rows: tops(rows), all: rows, first: rows[0], token: query.token,
                        depth: 1 })),
          h("h2", { class: "below" }, words.order),
          h(Table, { sheet, words, rows, draws: { ...draws, createdAt: row =>
            h("time", { datetime: row.createdAt }, precise(row.createdAt)) } })));
}

// Those whose parent the journal does not have: it was nobody's but the user's own.

const tops = rows => rows.filter(({ parentTokenId: parent }) =>
  !parent || !rows.some(({ tokenId }) => tokenId === parent));

const DEEPEST = 5;

function Branch({ rows, all, first, token, depth, parent }) {
  return rows.length === 0 ? null
    : h("ol", { class: depth > DEEPEST ? "tree flat" : "tree" }, rows.map(row => h("li", {
        key: row.id, "aria-current": token && row.tokenId === token ? "true" : null,
      },
        h(Step, { row, first, parent }),
        row.tokenId && h(Branch, { rows: all.filter(one => one.parentTokenId === row.tokenId),
                                   all, first, token, depth: depth + 1, parent: row }))));
}


function Step({ row, first, parent }) {
  const after = Math.round((new Date(row.createdAt) - new Date(first.createdAt)) / 1000);
  const lost = parent?.scopes.filter(scope => !row.scopes.includes(scope)) ?? [];
  const refused = row.outcome === "refused";

  return h("div", { class: refused ? "step refused" : "step" },
    h("p", {},
      h("strong", {}, h(Actor, row.actor)), " ",
      refused ? words.wanted : words.acts, " ", h(Subject, { of: row.subject }), " ",
      h(Badge, { value: row.outcome, tone: tones[row.outcome], words: words.options.outcome })),
    refused && h("p", { class: "wrong" }, words.reasons[row.reason] ?? row.reason),
    h("dl", {},
      h("dt", {}, words.columns.audience),
      h("dd", {}, row.audience ? shown(row.audience) : words.anyAudience),
      h("dt", {}, refused ? words.asked : words.columns.scopes),
      h("dd", {}, cell("tags", row.scopes)),
      !refused && lost.length > 0 && h("dt", {}, words.lost),
      !refused && lost.length > 0 && h("dd", { class: "lost" }, cell("tags", lost)),
      h("dt", {}, words.columns.createdAt),
      h("dd", {}, h(Time, { value: row.createdAt }),
        after > 0 && h("span", { class: "muted" }, " ", fill(words.after, { time: lasts(after) }))),
      row.expiresAt && h("dt", {}, words.ends),
      row.expiresAt && h("dd", {}, h(Time, { value: row.expiresAt })),
      row.tokenId && h("dt", {}, words.token),
      row.tokenId && h("dd", {}, cell("copy", row.tokenId)),
      row.ip && h("dt", {}, words.from),
      row.ip && h("dd", {}, [row.ip, row.country].filter(Boolean).join(", "))));
}


export default { delegations: { List: Delegations, View: Root } };
