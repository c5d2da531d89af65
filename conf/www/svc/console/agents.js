// Agents: who answers for them, what they may do, what they have done, and how to stop one
// at once; and what is unusual of them.

import { useFocus } from "../ui/act.js";
import { call } from "../ui/call.js";
import { Badge, cell } from "../ui/cells.js";
import { sendOver } from "../ui/conflict.js";
import { confirm } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { lasts } from "../ui/duration.js";
import { Problem, sentence } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { forEach } from "../ui/many.js";
import { change, Link, usePlace } from "../ui/place.js";
import { Filter, List, nextRow, Table, useAnswer, usePicks } from "../ui/table.js";
import { text } from "../ui/text.js";
import { exact, Time } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { fill, number, shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { Ceilings } from "./ceilings.js";
import { Rotate } from "./credentials.js";
import { Acted, Delegations, Root } from "./delegated.js";
import { isKey } from "./keys.js";
import { at } from "./nav.js";
import { Acts, Facts, Head, pathOf, Settings, Tabs, withLock } from "./sheet.js";


// --- the list ------------------------

// The key that kills does nothing else: an agent that is off stays off.  Where it could not
// be done the question stays, and Enter tries again.

async function kill({ one, sheet, words, done }) {
  if (one.policy?.enabled === false) {
    return toast(fill(words.killed, { name: shown(one.name) }));
  }

  const { method, path, give } = sheet.acts.kill;
  const said = words.acts.kill;
  const name = shown(one.name);
  let problem = [];

  while (await confirm({ title: fill(said.title, { name }), notes: [...problem, ...said.notes],
                         verb: said.verb, sure: true }))
  {
    try {
      await call({ method, path: pathOf(path, one), body: give });
      toast(fill(said.done, { name }));

      return done();

    } catch (e) {
      problem = [`${sentence(e)} ${shown(e.message)}`];
    }
  }
}

// What it may not do: null is no ceiling.

function ceilingsOf({ policy }, words) {
  const said = [
    policy.maxTokenTtlSeconds !== null && lasts(policy.maxTokenTtlSeconds),
    policy.allowedScopes !== null && fill(words.scopes, { n: policy.allowedScopes.length }),
    policy.allowedAudiences !== null
      && fill(words.audiences, { n: policy.allowedAudiences.length }),
  ].filter(Boolean);

  return said.length > 0 ? said.join(" · ")
                         : h("span", { class: "muted" }, words.none.maxTokenTtlSeconds);
}

function AgentList({ view, sheet, words, all }) {
  const key = (event, one, again) =>
    isKey(event, "k") && kill({ one, sheet, words, done: again });

  return h("div", {},
    h(Head, { title: words.title },
      h(Link, { class: "button", to: at(view, "settings") }, all.settings.title),
      h(Link, { class: "button primary", to: `${at("applications", "new")}?type=agent` },
        words.new)),
    h("p", { class: "muted keyed" }, words.note),
    h(List, {
      sheet, words, to: one => at(view, one.clientId), onkey: key,
      draws: { policy: one => ceilingsOf(one, words) },
      acts: (one, again) => one.policy.enabled && h("button", {
        type: "button", class: "danger", "aria-keyshortcuts": "K",
        "aria-label": fill(words.killOne, { name: shown(one.name) }),
        onclick: () => kill({ one, sheet, words, done: again }),
      }, words.acts.kill.verb),
    }));
}


// --- one agent -----------------------

// There is no way to one agent but the list; what a change is based on is the ETag of the
// application that it is.

const agentOf = (data, id) => data?.agents.find(one => one.clientId === id);

const readAgent = async id =>
  agentOf((await call({ path: "/admin/agents", query: { q: id } })).data, id);

function AgentView({ view, id, tab, sheet, sheets, words, all }) {
  const above = { view, title: words.title };
  const agents = useAnswer({ path: sheet.path, query: { q: id } }, [id]);
  const app = useAnswer({ path: `/applications/${encodeURIComponent(id)}` }, [id]);
  const one = agentOf(agents.data, id);
  const failure = agents.failure ?? app.failure;

  const again = () => {
    agents.again();
    app.again();
  };

  if (!one || !app.data) {
    return h("div", {}, h(Head, { title: words.one, above }),
      failure ? h(Problem, { failure, again })
        : h("p", { class: agents.data && !one ? "muted" : "muted loading", role: "status" },
            agents.data && !one ? words.gone : text.loading));
  }

  const about = { one, app: app.data, etag: app.etag, sheet, sheets, words, again };
  const Tab = TABS[tab];

  return h("div", {},
    h(Head, { title: shown(one.name), above }, h(AgentActs, about)),
    h(Tabs, { view, id, tab, words,
              names: Object.keys(TABS) }),
    Tab ? h(Tab, about) : h(Overview, about));
}

const TABS = {
  delegations: ({ one }) => h(Acted, { clientId: one.clientId }),
  ...activity("clientId"),
};

function AgentActs({ one, app, sheet, words, again }) {
  const done = again;

  effect(() => {
    const hear = event => isKey(event, "k") && kill({ one, sheet, words, done });

    document.addEventListener("keydown", hear);

    return () => document.removeEventListener("keydown", hear);
  }, [one]);

  const acts = ({ revive, reset }) => ({ revive, ...one.policy.isDefault ? {} : { reset } });

  return h("div", { class: "actions" },
    h(Link, { class: "button", to: at("applications", one.clientId) }, words.application),
    app.secretRotatedAt && h(Rotate, { act: sheet.rotate, one: app, done }),
    h(Acts, { sheet: { ...sheet, acts: acts(sheet.acts) }, words, one, done }),
    one.policy.enabled && h("button", {
      type: "button", class: "danger", "aria-keyshortcuts": "K",
      onclick: () => kill({ one, sheet, words, done }),
    }, words.acts.kill.verb, " ", h("kbd", {}, "K")));
}


function Overview(about) {
  const { one, sheet, words } = about;

  return h("div", { class: "object" },
    h("div", {},
      h("div", { class: "panel" },
        h("p", {}, h(Badge, { value: one.status, tone: sheet.tones.status[one.status],
                              words: words.options.status })),
        h("p", {}, words.statuses[one.status]),
        one.anomalies > 0 && h("p", {},
          h(Link, { to: `${at("anomalies")}?agent=${one.clientId}` },
            fill(words.unusual, { n: one.anomalies })))),
      h(Ceilings, { ...about, read: readAgent }),
      h(Identity, about),
      h(Reviewed, about)),
    h(Facts, { sheet, words, one }));
}


// --- who answers for it --------------

function Identity({ one, etag, sheet, words, again }) {
  const { owner, ownerId, expiresAt } = one.identity;
  const name = owner ? owner.displayName ?? owner.email : undefined;
  const { form, method, path } = sheet.identity;
  const fields = { ...form, ownerId: { ...form.ownerId, name } };

  const save = async changed => {
    const sent = await sendOver({
      etag, path: `/applications/${one.clientId}`, fields, words, was: one.identity, changed,
      of: async () => (await readAgent(one.clientId)).identity,
      send: etag => call({ method, path: pathOf(path, one), etag, body: changed }),
    });

    sent && toast(text.saved);
    again();
  };

  return h("div", { class: "panel" },
    h("h2", {}, words.identity),
    h(Form, { key: `${ownerId} ${expiresAt}`, fields, words, value: { ownerId, expiresAt },
              verb: withLock(text.save), onsave: save }));
}


function Reviewed({ one, sheet, words, again }) {
  const { status, lastReviewedAt, reviewedBy, dueAt } = one.review;

  const save = async ({ note }) => {
    await call({ method: "POST", path: pathOf(sheet.review.path, one),
                 body: note ? { note } : {} });
    toast(fill(words.attested, { name: shown(one.name) }));
    again();
  };

  return h("div", { class: "panel" },
    h("h2", {}, words.review),
    h("p", {}, h(Badge, { value: status, tone: sheet.tones["review.status"][status],
                          words: words.options["review.status"] }), " ",
      lastReviewedAt && [h(Time, { value: lastReviewedAt }), " ",
                         reviewedBy && shown(reviewedBy.email)]),
    dueAt && h("p", { class: "muted" }, fill(words.due, { time: exact(dueAt) })),
    h(Form, { key: lastReviewedAt, fields: sheet.review.form, words, verb: words.attest,
              onsave: save }));
}

const AgentOrSettings = props => props.id === "settings"
  ? h(Settings, { sheet: props.sheets.settings, words: props.all.settings,
                  above: { view: props.view, title: props.words.title } })
  : h(AgentView, props);


// --- what is unusual -----------------

// The server has no filters for these: what there is, up to 500, is sorted and filtered
// here.

const MOST = 500;
const WORST = ["high", "medium", "low"];

// What is done about some of them, and what of that has failed.

function useAcknowledge({ sheet, words, picks, again }) {
  const [failed, setFailed] = state([]);

  const acknowledge = async all => {
    const left = new Map();

    await forEach(all, one =>
      call({ method: sheet.ack.method, path: pathOf(sheet.ack.path, one), body: {} })
        .then(() => { left.delete(one); }, why => {
          left.set(one, why);

          return why;
        }));

    setFailed([...left]);
    picks.clear();
    toast(fill(words.acked, { n: all.length - left.size }));
    again();
  };

  return { failed, acknowledge };
}

const shownOf = (anomalies, { severity, agent }) => anomalies
  .filter(one => (!severity || one.severity === severity) && (!agent || one.clientId === agent))
  .sort((a, b) => WORST.indexOf(a.severity) - WORST.indexOf(b.severity));

function AnomalyList({ sheet, sheets, words, all }) {
  const { query } = usePlace();
  const picks = usePicks("id");
  const { data, failure, loading, again } = useAnswer(
    { path: sheet.path, query: { limit: MOST, all: query.all || null } }, [query.all]);
  const { failed, acknowledge } = useAcknowledge({ sheet, words, picks, again });
  const focused = useFocus(nextRow);
  const rows = shownOf(data?.anomalies ?? [], query);

  const stop = ({ clientId, agentName: name }) => kill({
    one: { clientId, name }, sheet: sheets.agents, words: all.agents, done: again,
  });

  return h("div", { onfocusin: focused },
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    h(Filters, { query, words, anomalies: data?.anomalies ?? [] }),
    picks.picked.size > 0 && h("div", { class: "actions picks", role: "status" },
      h("span", {}, fill(text.picked, { n: picks.picked.size })),
      h("button", { type: "button", class: "primary",
                    onclick: () => acknowledge([...picks.picked.values()]) }, words.ack),
      h("button", { type: "button", class: "plain", onclick: picks.clear }, text.clear)),
    failed.map(([one, why]) => h("p", { key: one.id, class: "wrong", role: "alert" },
      `${shown(one.agentName)}: ${sentence(why)}`)),
    failure ? h(Problem, { failure, again })
      : !data ? h("p", { class: "empty muted loading", role: "status" }, text.loading)
      : rows.length === 0 ? h(NoAnomaly, { query, words })
      : h(Table, {
          sheet, words, rows, picks, loading, to: one => at("agents", one.clientId),
          draws: { description: one => h(Known, { one, words }) },
          onkey: (event, one) => isKey(event, "k") && stop(one),
          acts: one => h("div", { class: "actions" },
            !one.acknowledged && h("button", {
              type: "button", class: "plain", onclick: () => acknowledge([one]),
            }, words.ack),
            h("button", {
              type: "button", class: "danger", "aria-keyshortcuts": "K",
              "aria-label": fill(all.agents.killOne, { name: shown(one.agentName) }),
              onclick: () => stop(one),
            }, all.agents.acts.kill.verb)),
        }),
    data?.total > MOST && h("p", { class: "muted" },
                            fill(words.newest, { n: MOST, total: data.total })));
}

const NoAnomaly = ({ query, words }) => h("div", { class: "list empty" },
  query.severity || query.agent
    ? [h("p", { key: "none" }, text.none),
       h("p", { key: "all" }, h(Link, { to: location.pathname }, text.showAll))]
    : words.empty.map(p => h("p", { key: p }, p)));

function Filters({ query, words, anomalies }) {
  const agents = [...new Map(anomalies.map(one => [one.clientId, one.agentName]))];
  const names = Object.fromEntries(agents.map(([id, name]) => [id,
    `${shown(name)} (${number(anomalies.filter(one => one.clientId === id).length)})`]));
  const some = Object.fromEntries(WORST.map(value => [value,
    `${words.options.severity[value]} (${
      number(anomalies.filter(one => one.severity === value).length)})`]));

  return h("search", { class: "tools" },
    h("label", {}, words.filters.severity, " ",
      h(Filter, { name: "severity", kind: WORST, value: query.severity ?? "", words: some })),
    h("label", {}, words.filters.agent, " ",
      h(Filter, { name: "agent", kind: agents.map(([id]) => id), value: query.agent ?? "",
                  words: names })),
    h("label", { class: "check" },
      h("input", { type: "checkbox", checked: query.all === "true",
                   onchange: event => change({ all: event.target.checked ? "true" : null }) }),
      words.filters.all));
}


// What the server knows of it besides, each as it is.

const TOLD = ["occurrences", "lastSeenAt"];

function Known({ one, words }) {
  const more = Object.entries(one.details).filter(([name, value]) =>
    !TOLD.includes(name) && value !== null);

  return h("div", {},
    h("span", { lang: "en" }, shown(one.description)),
    h("p", { class: "muted" },
      h(Link, { to: `${at("delegations")}?inChain=${one.clientId}` }, words.delegations)),
    more.length > 0 && h("details", {},
      h("summary", {}, words.details),
      h("dl", {}, more.flatMap(([name, value]) => [
        h("dt", { key: `t ${name}` }, h("code", {}, name)),
        h("dd", { key: `d ${name}` }, name === "tokenId"
          ? h(Link, { to: `${at("delegations")}?tokenId=${encodeURIComponent(value)}` },
              shown(value))
          : cell("text", typeof value === "object" ? JSON.stringify(value) : String(value))),
      ]))),
    one.acknowledged && h("p", { class: "muted" }, words.seen, " ",
      h(Time, { value: one.acknowledgedAt }), " ",
      one.acknowledgedBy && shown(one.acknowledgedBy.email)));
}


export default {
  agents: { List: AgentList, View: AgentOrSettings },
  anomalies: { List: AnomalyList },
  delegations: { List: Delegations, View: Root },
};
