// An agent: who answers for it, what it may do, what it has done, and how to stop it at once.

import { call } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { sendOver } from "../ui/conflict.js";
import { effect, h } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { Link } from "../ui/place.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { exact, Time } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { Acts } from "./acts.js";
import { kill } from "./agentacts.js";
import { Ceilings } from "./ceilings.js";
import { Rotate } from "./credentials.js";
import { Acted } from "./delegated.js";
import { Facts, Tabs } from "./facts.js";
import { at, isKey } from "./nav.js";
import { Settings } from "./object.js";
import { Head, pathOf, withLock } from "./sheet.js";



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


export default { agents: { View: AgentOrSettings } };
