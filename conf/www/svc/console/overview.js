// How things are: what needs somebody, what is to be done first, and what sign-ins and users
// come to.  Each part is asked for by itself, and fails by itself.

import { may, queryOf } from "../ui/call.js";
import { Chart } from "../ui/chart.js";
import { h, state } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Link, usePlace } from "../ui/place.js";
import { styled } from "../ui/style.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { Time } from "../ui/time.js";
import { fill, language, number, shown } from "../ui/words.js";
import { allowed, at } from "./nav.js";
import { server } from "./server.js";
import { Head } from "./sheet.js";
import { isHidden, Steps } from "./steps.js";

await styled("/svc/console/overview.css");

const PERIODS = [7, 30, 90];    // in days
const DAY = 86400000;
const TROUBLE = ["failing", "held"];
const MOST = 5;                 // of one kind, of what needs somebody


// What of the sheet is asked for; { data: null } where it is not, and { loading } at first.

function usePart({ path, needs, query }, more = {}, on = true) {
  const asked = on && may(needs);

  return useAnswer(asked ? { path, query: { ...query, ...more } } : nothing,
                   [asked, ...Object.values(more)]);
}

const nothing = async () => ({ data: null });

const isThere = ({ data }) => data !== null;


function Overview({ sheets, words }) {
  const { query } = usePlace();
  const [from] = state(() => new Date(Date.now() - DAY).toISOString());
  const [hidden, setHidden] = state(isHidden);
  const [moved, setMoved] = state(false);
  const days = PERIODS.find(n => String(n) === query.days) ?? 30;
  const { features } = server;

  const signIns = usePart(sheets.signIns, { days });
  const users = usePart(sheets.users, { days });
  const pending = usePart(sheets.pending);
  const trouble = {
    incidents: signIns,
    anomalies: usePart(sheets.anomalies, {}, features.oauth),
    targets: usePart(sheets.targets, {}, features.scimTargets),
    deliveries: usePart(sheets.deliveries, { from }, features.webhooks),
  };

  // once they are all there, the first steps may ask

  const [ready] = state({});

  ready.now ||= [users, pending, ...Object.values(trouble)]
    .every(({ data, failure }) => failure || data !== undefined);

  // the focus stays within the page when what was pressed goes away

  const hide = next => {
    setHidden(next);
    setMoved(true);

    if (next) {
      document.querySelector("main h1").focus();
    }
  };

  return h("div", { class: "overview" },
    h(Head, { title: words.title },
      hidden && h("button", { type: "button", onclick: () => hide(false) }, words.steps.show)),
    h(Trouble, { parts: trouble, words }),
    !hidden && h(Steps, { sheets, words: words.steps, moved, hide, ready: ready.now,
                          invited: pending.data?.total > 0 || users.data?.totalUsers > 1 }),
    (isThere(signIns) || isThere(users)) && h(Periods, { days, words }),
    h("div", { class: "beside" },
      isThere(signIns) && h(SignIns, { part: signIns, words }),
      (isThere(users) || isThere(pending)) && h(Users, { users, pending, days, words })));
}

const Periods = ({ days, words }) => h("nav", { class: "periods", "aria-label": words.period },
  PERIODS.map(n => h(Link, {
    key: n, to: at("overview") + queryOf({ days: n }), "aria-current": n === days ? "true" : null,
  }, fill(words.days, { n }))));


// What there is of a part, once it is there.

const Part = ({ part, draw }) => part.failure
  ? h(Problem, { failure: part.failure, again: part.again })
  : !part.data ? h(Loading)
  : draw(part.data);


// --- what needs somebody -------------

// Each makes of an answer what is to be said: [{ key, state, said, view, time }].

const open = (n, said, view) =>
  n > 0 ? [{ key: view, state: "open", said: fill(said, { n }), view: [view] }] : [];

const ROWS = {
  incidents: ({ openIncidents }, words) => open(openIncidents, words.incidents, "incidents"),
  anomalies: ({ total }, words) => open(total, words.anomalies, "anomalies"),

  targets: ({ scimTargets }, words) => scimTargets
    .filter(({ enabled, lastSyncStatus }) => enabled && TROUBLE.includes(lastSyncStatus))
    .map(({ id, name, lastSyncStatus: state, lastSyncAt: time }) => ({
      key: id, state, time, view: ["scim-targets", id],
      said: fill(words.targets[state], { name: shown(name) }),
    })),

  // the newest of each webhook

  deliveries: ({ events }, words) => events
    .filter(({ target }, n) => events.findIndex(one => one.target.id === target.id) === n)
    .map(({ target: { id, name }, createdAt: time }) => ({
      key: id, state: "failed", time, view: ["webhooks", id, "deliveries"],
      said: fill(words.deliveries, { name: shown(name ?? id) }),
    })),
};

const LISTS = { targets: ["scim-targets"], deliveries: ["webhooks"] };

function rowsOf(name, data, words) {
  const rows = ROWS[name](data, words);
  const more = rows.length - MOST;

  return more <= 0 ? rows
    : [...rows.slice(0, MOST),
       { key: name, said: fill(text.more, { n: more }), view: LISTS[name] }];
}

const TONES = { open: "bad", failing: "bad", held: "warn", failed: "bad" };

function Trouble({ parts, words }) {
  const said = words.trouble;
  const there = Object.entries(parts).filter(([, part]) => isThere(part));
  const failed = there.filter(([, part]) => part.failure);
  const rows = there.filter(([, part]) => part.data)
    .flatMap(([name, part]) => rowsOf(name, part.data, said));
  const loading = there.some(([, part]) => !part.data && !part.failure);

  return there.length === 0 ? null : h("section", { class: "panel" },
    h("h2", {}, said.title),
    rows.length > 0 && h("ul", { class: "trouble" },
      rows.map(row => h(Row, { key: row.key, row, words: said }))),
    failed.map(([name, part]) => h("div", { key: name },
      h("h3", {}, said.of[name]),
      h(Problem, { failure: part.failure, again: part.again }))),
    loading ? h(Loading)
      : rows.length === 0 && failed.length === 0
        && h("p", { class: "badge good" }, said.none));
}

const Row = ({ row: { state, said, view, time }, words }) => h("li", {},
  state ? h("span", { class: `badge ${TONES[state]}` }, words.states[state]) : h("span", {}),
  h("span", {}, allowed(view[0]) ? h(Link, { to: at(...view) }, said) : said),
  time && h("span", { class: "muted" }, h(Time, { value: time })));


// --- what it comes to ----------------

const auditOf = date => at("audit") + queryOf({
  from: new Date(date).toISOString(), to: new Date(Date.parse(date) + DAY).toISOString(),
});

// What was refused since a day, by the action, and by the reason that the details have.

const refused = (from, action, reason) => at("audit") + queryOf({
  outcome: "failure", action, q: reason && `"reason": "${reason}"`,
  from: new Date(from).toISOString(),
});

const LOGIN = "user.login_failed";
const FACTOR = "mfa.challenge_failed";
const DENIED = ["blocked", "policy", "risk"];

const Figures = ({ kids }) => h("dl", { class: "figures" }, kids);

const Figure = ({ label, value, to, note, parts = [] }) => h("div", {},
  h("dt", {}, label),
  h("dd", {}, to ? h(Link, { to }, value) : value, note && h("span", { class: "muted" }, note)),
  parts.length > 0 && h("dd", { class: "parts" }, parts.map(part =>
    h(Link, { key: part.label, to: part.to }, part.label))));

const shareOf = (some, all) => all === 0 ? "–"
  : new Intl.NumberFormat(language, { style: "percent" }).format(some / all);

const sum = (series, name) => series.reduce((all, day) => all + day[name], 0);


function SignIns({ part, words }) {
  const said = words.signIns;
  const series = ["success", "failure"].map(name => ({ name, label: said[name] }));

  const figures = ({ signIns, mfa, denied, lockouts, rateLimited, period }) =>
    h(Figures, {},
      h(Figure, { label: said.success, value: number(signIns.success) }),
      h(Figure, { label: said.failure, value: number(signIns.failure),
                  to: refused(period.from, LOGIN),
                  parts: [{ label: said.factor, to: refused(period.from, FACTOR) }] }),
      h(Figure, { label: said.denied, value: number(denied), to: refused(period.from, LOGIN),
                  parts: DENIED.map(reason => ({ label: said.by[reason],
                                                 to: refused(period.from, LOGIN, reason) })) }),
      h(Figure, { label: said.lockouts, value: number(lockouts) }),
      h(Figure, { label: said.rateLimited, value: number(rateLimited) }),
      h(Figure, { label: said.mfa, value: shareOf(mfa.enrolled, mfa.total),
                  note: fill(said.mfaOf, { n: mfa.enrolled, all: mfa.total }) }));

  const draw = data => h("div", {},
    figures(data),
    h(Chart, { key: data.series.length, label: said.title, days: data.series, series,
               to: auditOf, words: { ...words.chart, none: said.none } }));

  return h("section", { class: "panel" }, h("h2", {}, said.title), h(Part, { part, draw }));
}

function Users({ users, pending, days: n, words }) {
  const said = words.users;
  const to = may("audit:view") ? auditOf : null;
  const series = [{ name: "activeUsers", label: said.active }];
  const more = [{ name: "newUsers", label: said.fresh }];

  const draw = ({ totalUsers, activeUsers, series: days }) => h("div", {},
    h(Figures, {},
      h(Figure, { label: said.total, value: number(totalUsers), to: at("users") }),
      h(Figure, { label: said.fresh, value: number(sum(days, "newUsers")) }),
      h(Figure, { label: fill(said.activeIn, { n: Math.min(n, 30) }),
                  value: number(n === 7 ? activeUsers.weekly : activeUsers.monthly) })),
    h(Chart, { key: days.length, label: said.active, days, series, more, to,
               words: { ...words.chart, none: said.none } }));

  const waiting = ({ total }) => h("p", {}, total === 0 ? said.nobody
    : h(Link, { to: at("invitations") + queryOf({ status: "pending" }) },
        fill(said.pending, { n: total })));

  return h("section", { class: "panel" }, h("h2", {}, said.title),
    isThere(users) && h(Part, { part: users, draw }),
    isThere(pending) && h("div", { class: "end" }, h(Part, { part: pending, draw: waiting })));
}


export default { overview: { List: Overview } };
