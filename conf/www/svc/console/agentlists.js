// The lists of agents, and of what is unusual of them.

import { useAct } from "../ui/act.js";
import { late } from "../ui/call.js";
import { cell } from "../ui/cells.js";
import { h, state } from "../ui/draw.js";
import { lasts } from "../ui/duration.js";
import { Problem, sentence } from "../ui/fail.js";
import { Link } from "../ui/place.js";
import { styled } from "../ui/style.js";
import { List, usePicks } from "../ui/table.js";
import { text } from "../ui/text.js";
import { Time } from "../ui/time.js";
import { fill, shown } from "../ui/words.js";
import { at, isKey } from "./nav.js";
import { Head } from "./sheet.js";

await styled("/svc/console/views.css");

const acts = () => late(import("./agentacts.js"));


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
  const { failure, run } = useAct(null, acts);
  const stop = (one, done) => run(({ kill }) => kill({ one, sheet, words, done }))();

  return h("div", {},
    h(Head, { title: words.title },
      h(Link, { class: "button", to: at(view, "settings") }, all.settings.title),
      h(Link, { class: "button primary", to: `${at("applications", "new")}?type=agent` },
        words.new)),
    h("p", { class: "muted keyed" }, words.note),
    failure && h(Problem, { failure }),
    h(List, {
      sheet, words, to: one => at(view, one.clientId),
      onkey: (event, one, again) => isKey(event, "k") && stop(one, again),
      draws: { policy: one => ceilingsOf(one, words) },
      acts: (one, again) => one.policy.enabled && h("button", {
        type: "button", class: "danger", "aria-keyshortcuts": "K",
        "aria-label": fill(words.killOne, { name: shown(one.name) }),
        onclick: () => stop(one, again),
      }, words.acts.kill.verb),
    }));
}


// --- what is unusual -----------------

function AnomalyList({ view, sheet, sheets, words, all }) {
  const picks = usePicks("id");
  const [rounds, setRounds] = state(0);
  const [failed, setFailed] = state([]);
  const { failure, run } = useAct(null, acts);

  const acknowledge = some => run(async acts => {
    setFailed(await acts.acknowledgeAll({ some, sheet, words }));
    picks.clear();
    setRounds(n => n + 1);
  })();

  const stop = ({ clientId, agentName: name }, again) => run(({ kill }) => kill({
    one: { clientId, name }, sheet: sheets.agents, words: all.agents, done: again,
  }))();

  return h("div", {},
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    picks.picked.size > 0 && h("div", { class: "actions picks", role: "status" },
      h("span", {}, fill(text.picked, { n: picks.picked.size })),
      h("button", { type: "button", class: "primary",
                    onclick: () => acknowledge([...picks.picked.values()]) }, words.ack),
      h("button", { type: "button", class: "plain", onclick: picks.clear }, text.clear)),
    failure && h(Problem, { failure }),
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
          type: "button", class: "plain", onclick: () => acknowledge([one]),
        }, words.ack),
        h("button", {
          type: "button", class: "danger", "aria-keyshortcuts": "K",
          "aria-label": fill(all.agents.killOne, { name: shown(one.agentName) }),
          onclick: () => stop(one, again),
        }, all.agents.acts.kill.verb)),
    }));
}


// What the server knows of it besides, each as it is.

const TOLD = ["occurrences", "lastSeenAt"];

export function Known({ one, words }) {
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


export default { agents: { List: AgentList }, anomalies: { List: AnomalyList } };
