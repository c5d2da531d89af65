// What an agent may do at most, beside what it has done, and what would become of that
// before another ceiling applies.

import { call } from "../ui/call.js";
import { sendOver } from "../ui/conflict.js";
import { Dialog, show } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { lasts } from "../ui/duration.js";
import { Problem } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { Table, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { issuer } from "./credentials.js";
import { pathOf } from "./sheet.js";

// No ceiling is not the same as one that allows nothing: a switch tells them apart.

const fieldsOf = ({ maxTokenTtlSeconds, allowedScopes, allowedAudiences }, options) => ({
  maxTokenTtlSeconds,
  limitScopes: { kind: "switch" },
  allowedScopes: { ...allowedScopes, options, when: typed => typed.limitScopes },
  limitAudiences: { kind: "switch" },
  allowedAudiences: { ...allowedAudiences, when: typed => typed.limitAudiences },
});

// What has been used, and what would be refused

const USED = {
  id: "value", tones: { allowed: { true: "good", false: "warn" } },
  columns: { value: "code", tokens: "number", lastSeenAt: "time", allowed: "badge" },
};
const REFUSED = {
  id: "value", columns: { reason: "word", value: "code", tokens: "number", lastSeenAt: "time" },
};

// Under a policy that allows nothing all that was used is refused, and so is told.

const NOTHING = { enabled: true, allowedScopes: [], allowedAudiences: [] };

const typedOf = ({ maxTokenTtlSeconds, allowedScopes, allowedAudiences }) => ({
  maxTokenTtlSeconds,
  limitScopes: allowedScopes !== null, allowedScopes: allowedScopes ?? [],
  limitAudiences: allowedAudiences !== null, allowedAudiences: allowedAudiences ?? [],
});

const policyOf = typed => ({
  maxTokenTtlSeconds: typed.maxTokenTtlSeconds,
  allowedScopes: typed.limitScopes ? typed.allowedScopes : null,
  allowedAudiences: typed.limitAudiences ? typed.allowedAudiences : null,
});

const differing = (policy, before) => Object.fromEntries(Object.entries(policy)
  .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));


export function Ceilings({ one, app, etag, sheet, words, again, read }) {
  const path = pathOf(sheet.simulate.path, one);
  const used = useAnswer({ method: "POST", path, body: NOTHING }, [one.clientId, one.updatedAt]);
  const [draft, setDraft] = state(null);
  const scopes = used.data ? used.data.refused.filter(({ reason }) => reason === "scope") : [];
  const audiences = used.data
    ? used.data.refused.filter(({ reason }) => reason === "audience") : [];

  // before it is sent, people see what it does

  const save = async (changed, all) => {
    const policy = differing(policyOf(all), one.policy);
    const { data } = await call({ method: "POST", path, body: policy });

    if (!await show(Review, { data, words })) {
      return;
    }

    const sent = await sendOver({
      etag, path: `/applications/${one.clientId}`, words, was: one.policy, changed: policy,
      fields: sheet.policy.form, of: async () => (await read(one.clientId)).policy,
      send: etag => call({ method: "PUT", path: pathOf(sheet.policy.path, one), etag,
                           body: policy }),
    });

    sent && toast(fill(words.applied, { name: shown(one.name) }));
    again();
  };

  const onlyUsed = () => setDraft({
    limitScopes: true, allowedScopes: scopes.map(({ value }) => value),
    limitAudiences: true,
    allowedAudiences: [...new Set(audiences.map(({ value }) => value ?? issuer()))],
  });

  const options = [...new Set([...app.scopes, ...one.policy.allowedScopes ?? [],
                               ...scopes.map(({ value }) => value)])].sort();

  return h("div", { class: "panel" },
    h("h2", {}, words.ceilings),
    h("p", { class: "muted" }, fill(words.ceilingsNote, { ttl: lasts(app.accessTokenTtlSeconds) })),
    h(Form, {
      key: JSON.stringify([one.policy, draft]), words, value: typedOf(one.policy), draft,
      verb: words.reviewIt, onsave: save,
      fields: fieldsOf(sheet.policy.form, options),
    }),
    h("h3", {}, words.used),
    used.failure ? h(Problem, { failure: used.failure, again: used.again })
      : !used.data ? h("p", { class: "muted", role: "status" }, text.loading)
      : h(Used, { data: used.data, scopes, audiences, one, words, onlyUsed }));
}


function Used({ data, scopes, audiences, one, words, onlyUsed }) {
  const { sample } = data;
  const rowsOf = (rows, allowed) => rows.map(row => ({
    ...row, allowed: allowed === null ? null : isWithin(row, allowed),
  }));

  if (sample.tokens === 0) {
    return h("p", { class: "muted" }, words.unused);
  }

  return h("div", {},
    h("p", { class: "muted" }, fill(sample.truncated ? words.sampleMost : words.sample,
                                    { n: sample.tokens })),
    [["usedScopes", scopes, one.policy.allowedScopes],
     ["usedAudiences", audiences, one.policy.allowedAudiences]].map(([name, rows, allowed]) =>
      rows.length > 0 && h(Table, {
        key: name, sheet: USED, rows: rowsOf(rows, allowed),
        draws: drawsOf(words),
        words: { columns: { ...words.columns, value: words[name] }, options: words.options },
      })),
    h("p", {}, h("button", { type: "button", onclick: onlyUsed }, words.onlyUsed)));
}


// Addresses are compared however they are written.  A token that named no audience is for
// this server, or for the only one that the agent may have.

const written = value => URL.canParse(value) ? new URL(value).href : value;

const isWithin = ({ reason, value }, allowed) => reason === "scope" ? allowed.includes(value)
  : allowed.map(written).includes(written(value ?? issuer()))
    || value === null && allowed.length === 1;

const drawsOf = words => ({
  value: row => row.value === null && h("span", {}, words.noAudience),
});


// --- what a policy would do ----------

function Review({ data: { sample, summary, refused, live }, words, done }) {
  const hurts = summary.refused > 0 || live.wouldDie > 0;

  return h(Dialog, { title: words.reviewTitle, wide: true, done },
    h("p", {}, sample.tokens === 0 ? words.unused
      : fill(sample.truncated ? words.sampleMost : words.sample, { n: sample.tokens })),
    h("dl", { class: "review" },
      ["unchanged", "shortened", "refused"].flatMap(name => [
        h("dt", { key: `t ${name}` }, words.summary[name]),
        h("dd", { key: `d ${name}`, class: name === "refused" && summary.refused > 0 && "lost" },
          fill(words.tokens, { n: summary[name] })),
      ]),
      h("dt", {}, words.live),
      h("dd", { class: live.wouldDie > 0 && "lost" },
        fill(words.wouldDie, { n: live.wouldDie, all: live.tokens })),
      live.wouldNarrow > 0 && h("dt", {}, words.narrow),
      live.wouldNarrow > 0 && h("dd", {}, fill(words.tokens, { n: live.wouldNarrow }))),
    refused.length > 0 && h("h3", {}, words.why),
    refused.length > 0 && h(Table, {
      sheet: REFUSED, words, rows: refused, draws: drawsOf(words),
    }),
    h("div", { class: "actions" },
      h("button", { type: "button", autofocus: true, onclick: () => done() }, text.cancel),
      h("button", { type: "button", class: hurts ? "danger" : "primary",
                    onclick: () => done(true) }, words.apply)));
}
