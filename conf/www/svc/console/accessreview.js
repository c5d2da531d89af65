// What another access policy would do, before it is in force.

import { call, session } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { h } from "../ui/draw.js";
import { Table } from "../ui/table.js";
import { text } from "../ui/text.js";
import { about, exact } from "../ui/time.js";
import { fill, language, number, shown } from "../ui/words.js";
import { whoIs } from "./names.js";
import { review } from "./review.js";
import { decide, snapshotOf, TONES } from "./rules.js";
import { countryOf, sentence, windowOf } from "./sentence.js";

const PATH = "/admin/access-policy";
const SHOWN = 50;               // of the addresses whose outcome would be another


// How the differences of two policies are said.

export const diffWords = words => ({
  fields: { ...words.fields, rules: words.tabs.one, defaultAction: words.otherwise },
  say(path, value) {
    const member = path.at(-1);

    if (path.length === 2 && path[0] === "rules" && value?.action) {
      return [shown(value.name), ": ", sentence(value, words.say),
              !value.enabled && ` (${words.marks.off})`];
    }

    return member === "action" || member === "defaultAction" ? words.actions[value]
      : member === "countries" && Array.isArray(value)
        ? value.map(one => countryOf(one, words.say)).join(", ")
      : path.includes("timeWindows") && value?.start ? windowOf(value, words.say) : null;
  },
});


// Returns a promise of what is in force then, as review() does.  "send" is another way
// than to send the policy.

export async function reviewPolicy({ words, base, policy, send, title }) {
  const simulation = call({ method: "POST", path: `${PATH}/simulate`, body: policy });

  simulation.catch(() => {});   // the plan says what is wrong with it

  const own = ownOf(policy);

  return review({
    section: "accessPolicy", value: policy, mine: () => policy, etag: base.etag, was: base.data,
    of: snapshotOf,
    words: { ...words.review, ...title && { title }, diff: diffWords(words) },
    draw: h(Simulation, { words: words.simulation, actions: words.actions, say: words.say,
                          own: await own, ...await settled(simulation) }),
    send: send ?? (etag => call({ method: "PUT", path: PATH, body: policy, etag })),
    read: async () => ({ ...await call({ path: PATH }), note: await lastOf(words) }),
  });
}

// What the policy would decide of oneself, where one is signed in from: null where that is
// not known.

async function ownOf(policy) {
  const { data } = await call({ path: "/auth/sessions", query: { limit: 500 } })
    .catch(() => ({ data: { sessions: [] } }));
  const { ip, country } = data.sessions.find(one => one.current) ?? {};

  return ip ? decide(policy, { address: ip, country: country ?? "", at: new Date() }).action : null;
}

const settled = async promise => {
  try {
    return { data: (await promise).data };

  } catch (e) {
    return { failure: e };
  }
};

// who changed it last, if that is known

async function lastOf(words) {
  const { data } = await call({ path: `${PATH}/versions`, query: { limit: 1 } })
    .catch(() => ({ data: { versions: [] } }));
  const [last] = data.versions;

  return last && fill(words.review.by, {
    name: await whoIs(last.createdBy),
    when: about(last.createdAt),
  });
}


// Whether one would come in, and what would have to be shown for that.

function You({ lockout, own, words }) {
  const you = lockout.wouldLockOutCaller || lockout.denyAll ? "deny"
    : own !== "mfa" ? "allow" : session.mfa.enrolled ? "mfa" : "enroll";

  return h("div", {},
    h("p", {}, h(Badge, { value: you, words: words.you,
                          tone: { allow: "good", deny: "bad" }[you] ?? "warn" })),
    words.yours[you] && h("p", {}, words.yours[you]));
}

// Times that stand below each other are said in one way, by the clock of this browser.

export const Moment = ({ value }) => h("time", { datetime: value, title: exact(value) },
  new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" })
    .format(new Date(value)));

function Simulation({ data, failure, words, actions, say, own }) {
  if (failure) {
    return h("p", { class: "muted" }, words.none);
  }

  const { sample, summary, results, lockout } = data;
  const changed = results.filter(one => one.changed);

  return h("section", {},
    h("h3", {}, words.title),
    h(You, { lockout, own, words }),
    h("p", {}, sample.distinctIps === 0 ? words.empty : fill(words.sample, {
      n: sample.distinctIps, signIns: number(sample.signIns), ...summary })),
    changed.length > 0 && h(Table, {
      sheet: { id: "ip", columns: { ip: "code", country: "text", users: "number",
                                    lastSignInAt: "time", now: "node", then: "node" } },
      words, draws: { lastSignInAt: one => h(Moment, { value: one.lastSignInAt }) },
      rows: changed.slice(0, SHOWN).map(one => ({
        ...one, country: one.country && countryOf(one.country, say),
        now: decision(one.current, actions, words), then: decision(one.candidate, actions, words),
      })),
    }),
    changed.length > SHOWN
      && h("p", { class: "muted" }, fill(text.more, { n: changed.length - SHOWN })),
    sample.truncated && h("p", { class: "muted" }, words.truncated));
}

const decision = ({ action, rule }, actions, words) => h("span", {},
  h(Badge, { value: action, tone: TONES[action], words: actions }), " ",
  h("span", { class: "muted" }, rule === null ? words.otherwise : shown(rule)));
