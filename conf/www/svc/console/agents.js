// Agents: who answers for them, what they may do, what they have done, and how to stop one
// at once; and what is unusual of them.

import { call } from "../ui/call.js";
import { Badge, cell } from "../ui/cells.js";
import { sendOver } from "../ui/conflict.js";
import { confirm } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { lasts } from "../ui/duration.js";
import { Problem, sentence } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { forEach } from "../ui/many.js";
import { Link } from "../ui/place.js";
import { List, useAnswer, usePicks } from "../ui/table.js";
import { text } from "../ui/text.js";
import { exact, Time } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { Ceilings } from "./ceilings.js";
import { Rotate } from "./credentials.js";
import { Acted, Delegations, Root } from "./delegated.js";
import { isKey } from "./keys.js";
import { at } from "./nav.js";
import { Acts, Facts, Head, pathOf, Settings, SmallAct, Tabs, withLock } from "./sheet.js";


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

// What a change is based on is the ETag of the application that it is.

const addressOf = id => `/admin/agents/${encodeURIComponent(id)}`;

const readAgent = async id => (await call({ path: addressOf(id) })).data;

function AgentView({ view, id, tab, sheet, sheets, words, all }) {
  const above = { view, title: words.title };
  const agent = useAnswer({ path: addressOf(id) }, [id]);
  const app = useAnswer({ path: `/applications/${encodeURIComponent(id)}` }, [id]);
  const one = agent.data;
  const failure = agent.failure ?? app.failure;

  const again = () => {
    agent.again();
    app.again();
  };

  if (!one || !app.data) {
    return h("div", {}, h(Head, { title: words.one, above }),
      agent.failure?.status === 404 ? h("p", { class: "muted", role: "status" }, words.gone)
        : failure ? h(Problem, { failure, again })
        : h("p", { class: "muted loading", role: "status" }, text.loading));
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
          h(Link, { to: `${at("anomalies")}?q=${one.clientId}` },
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

const acknowledge = (sheet, one) =>
  call({ method: sheet.ack.method, path: pathOf(sheet.ack.path, one), body: {} });

function AnomalyList({ view, sheet, sheets, words, all }) {
  const picks = usePicks("id");
  const [rounds, setRounds] = state(0);
  const [failed, setFailed] = state([]);

  const acknowledgeAll = async some => {
    const left = new Map();

    await forEach(some, one => acknowledge(sheet, one).then(() => { left.delete(one); }, why => {
      left.set(one, why);

      return why;
    }));

    setFailed([...left]);
    picks.clear();
    toast(fill(words.acked, { n: some.length - left.size }));
    setRounds(n => n + 1);
  };

  const stop = ({ clientId, agentName: name }, again) => kill({
    one: { clientId, name }, sheet: sheets.agents, words: all.agents, done: again,
  });

  return h("div", {},
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    picks.picked.size > 0 && h("div", { class: "actions picks", role: "status" },
      h("span", {}, fill(text.picked, { n: picks.picked.size })),
      h("button", { type: "button", class: "primary",
                    onclick: () => acknowledgeAll([...picks.picked.values()]) }, words.ack),
      h("button", { type: "button", class: "plain", onclick: picks.clear }, text.clear)),
    failed.map(([one, why]) => h("p", { key: one.id, class: "wrong", role: "alert" },
      `${shown(one.agentName)}: ${sentence(why)}`)),
    h(List, {
      sheet, words, picks, rounds, to: one => at("agents", one.clientId),
      draws: {
        type: one => h(Link, { to: at(view, one.id) }, words.options.type[one.type] ?? one.type),
        description: one => h(Known, { one, words }),
      },
      onkey: (event, one, again) => isKey(event, "k") && stop(one, again),
      acts: (one, again) => h("div", { class: "actions" },
        !one.acknowledged && h("button", {
          type: "button", class: "plain", onclick: () => acknowledgeAll([one]),
        }, words.ack),
        h("button", {
          type: "button", class: "danger", "aria-keyshortcuts": "K",
          "aria-label": fill(all.agents.killOne, { name: shown(one.agentName) }),
          onclick: () => stop(one, again),
        }, all.agents.acts.kill.verb)),
    }));
}

// Links to one of them stay good when somebody has looked.  The list finds it by its id.

function AnomalyView({ view, id, sheet, words }) {
  const { data, failure, again } = useAnswer(
    { path: sheet.path, query: { q: id, all: "true", limit: 1 } }, [id]);
  const above = { view, title: words.title };
  const one = data?.anomalies.find(anomaly => anomaly.id === id);

  if (!one) {
    return h("div", {}, h(Head, { title: words.one, above }),
      failure ? h(Problem, { failure, again })
        : h("p", { class: data ? "muted" : "muted loading", role: "status" },
            data ? text.none : text.loading));
  }

  const look = async () => {
    await acknowledge(sheet, one);
    toast(fill(words.acked, { n: 1 }));
    again();
  };

  return h("div", {},
    h(Head, { title: shown(one.agentName), above },
      h(Link, { class: "button", to: at("agents", one.clientId) }, words.columns.agentName),
      !one.acknowledged && h(SmallAct, { verb: words.ack, act: look })),
    h("div", { class: "object" },
      h("div", { class: "panel" }, h(Known, { one, words })),
      h(Facts, { sheet, words, one })));
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
  anomalies: { List: AnomalyList, View: AnomalyView },
  delegations: { List: Delegations, View: Root },
};
