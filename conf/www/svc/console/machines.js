// API tokens, SCIM tokens and webhooks: what their sheets do not say.

import { useAct } from "../ui/act.js";
import { call } from "../ui/call.js";
import { Code, Id, Secret } from "../ui/copy.js";
import { confirm } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { go } from "../ui/place.js";
import { List, Table, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { SmallAct } from "./acts.js";
import { at } from "./nav.js";
import { SheetNew, SheetView } from "./object.js";
import { Head, pathOf } from "./sheet.js";
import { NODE, PYTHON, useToken } from "./snippets.js";


// --- API tokens ----------------------

// The list says which permissions may be given.

function TokenNew(props) {
  const { sheet, view, words } = props;
  const { data, failure, again } = useAnswer({ path: sheet.path, query: { limit: 1 } }, []);

  if (!data) {
    return h("div", {},
      h(Head, { title: words.new, above: { view, title: words.title } }),
      failure ? h(Problem, { failure, again })
              : h(Loading));
  }

  const off = one => data.assignableScopes.includes(one) ? null : words.notYours;

  return h(SheetNew, {
    ...props, made: TokenMade,
    fields: { ...sheet.form, scopes: { ...sheet.form.scopes, off } },
  });
}

const TokenMade = ({ words }) => h("div", {},
  h("p", {}, words.use), h(Code, { value: useToken(location.origin) }));

const TokenView = props => h(SheetView, { ...props, tabs: activity() });


// --- SCIM tokens ---------------------

const ScimNew = props => h(SheetNew, { ...props, made: ScimMade });

const ScimMade = ({ one, words }) => h("div", {},
  h("h2", { class: "end" }, words.baseUrl),
  h(Id, { value: one.baseUrl }),
  words.guides.map(([name, steps], n) => h("details", { key: name, class: "guide", open: n === 0 },
    h("summary", {}, name),
    h("ol", {}, steps.map((step, n) => h("li", { key: n }, around(step, one.baseUrl)))))));

const around = (step, url) => step.split("{url}").flatMap((part, n) =>
  n === 0 ? part : [h("code", {}, url), part]);


// --- webhooks ------------------------

const WebhookNew = props => h(SheetNew, { ...props, made: Verifier });

const Verifier = ({ words }) => h("div", {},
  h("p", { class: "end" }, words.verify), h(Code, { value: PYTHON }),
  h("p", { class: "end" }, words.verifyNode), h(Code, { value: NODE }));

const WebhookView = props => h(SheetView, {
  ...props,
  draw: one => h(Test, { one, sheets: props.sheets, words: props.words,
                         all: props.all }),
  tabs: {
    deliveries: tab => h(Deliveries, { ...tab, words: props.words }),
    rotate: tab => h(Rotate, { ...tab, view: props.view, words: props.words }),
    ...activity(),
  },
});

function Deliveries({ one, sheets, words, all }) {
  const [rounds, setRounds] = state(0);
  const { again } = sheets.deliveries;
  const said = all.deliveries.again;

  const deliver = row => async () => {
    await call({ method: again.method, path: pathOf(again.path, { ...row, webhookId: one.id }),
                 body: {} });
    toast(said.done);
    await second();
    setRounds(n => n + 1);
  };

  return h(List, {
    sheet: sheets.deliveries, words: all.deliveries, rounds,
    path: pathOf(sheets.deliveries.path, one),
    acts: one.enabled && (row => FINAL.includes(row.outcome) && h(SmallAct, {
      label: `${said.verb}: ${row.id}`, verb: said.verb, act: deliver(row),
    })),
  }, h("button", { type: "button", onclick: () => setRounds(n => n + 1) }, words.refresh));
}


// A sample is followed for some seconds: it is delivered by another process.

const LOOKS = 5;
const FINAL = ["acknowledged", "abandoned", "refused"];

const second = () => new Promise(next => setTimeout(next, 1000));

async function follow(webhook, id, sheet, signal, tell) {
  for (let n = 0; n < LOOKS && !signal.aborted; n++) {
    await second();

    const { data } = await call({ path: pathOf(sheet.path, webhook), query: { limit: 20 },
                                  signal });
    const found = data.deliveries.filter(one => one.id === id);

    tell(found);

    if (found.some(one => FINAL.includes(one.outcome))) {
      return;
    }
  }
}

const attemptsOf = ({ columns, ...sheet }) => {
  const { attempt, outcome, status, durationMs, error } = columns;

  return { ...sheet, columns: { attempt, outcome, status, durationMs, error } };
};

function Test({ one, sheets, words, all, bare }) {
  const [sent, setSent] = state(null);
  const [found, setFound] = state([]);
  const [busy, setBusy] = state(false);
  const [failure, setFailure] = state(null);
  const said = words.test;

  effect(() => {
    if (!sent) {
      return null;
    }

    const ended = new AbortController();

    follow(one, sent, sheets.deliveries, ended.signal, setFound)
      .catch(setFailure).finally(() => setBusy(false));

    return () => ended.abort();
  }, [sent]);

  const send = async () => {
    setBusy(true);
    setFailure(null);
    setFound([]);
    setSent(null);

    try {
      setSent((await call({ method: "POST", path: pathOf("/admin/webhooks/{id}/test", one),
                            body: {} })).data.id);

    } catch (e) {
      setFailure(e);
      setBusy(false);
    }
  };

  const last = found.find(attempt => FINAL.includes(attempt.outcome));

  return h("div", { class: !bare && "panel" },
    !bare && h("h2", {}, said.title),
    h("p", { class: "muted" }, one.enabled ? said.note : said.off),
    h("p", {}, h("button", { type: "button", disabled: busy || !one.enabled, onclick: send },
                 said.verb)),
    failure && h(Problem, { failure }),
    h("p", { role: "status" }, !sent ? null
      : last ? said.over[last.outcome] : busy ? said.waiting
      : found.length > 0 ? said.still : said.none),
    found.length > 0 && h(Table, { sheet: attemptsOf(sheets.deliveries), words: all.deliveries,
                                   rows: found }));
}


// A secret is not changed: a second webhook takes the place of the first one.

function Rotate({ view, one, sheets, words, all }) {
  const [once] = state(() => crypto.randomUUID());
  const [next, setNext] = state(null);
  const { busy, failure, run } = useAct();
  const said = words.rotate;
  const { url, events, enabled } = one;

  const make = run(async () => setNext((await call({
    method: "POST", path: "/admin/webhooks", key: once, body: { url, events, enabled },
  })).data));

  const remove = run(async () => {
    const { title, notes, done } = words.acts.remove;

    if (await confirm({ title, verb: said.removeVerb, notes: [shown(url), ...notes.slice(1)] })) {
      await call({ method: "DELETE", path: pathOf("/admin/webhooks/{id}", one) });
      toast(done);
      await go(at(view, next.id));
    }
  });

  return h("div", { class: "panel" },
    h("p", {}, said.note),
    failure && h(Problem, { failure }),
    h("ol", { class: "steps" },
      h("li", { class: next ? "done" : "now" },
        h("h2", {}, said.make), h("p", {}, said.makeNote),
        next ? next.secret ? h(Secret, { value: next.secret, label: words.secret })
                           : h("p", { class: "problem" }, text.secretLost)
             : h("button", { type: "button", class: "primary", disabled: busy, onclick: make },
                 said.makeVerb)),
      h("li", { class: next && "now" }, h("h2", {}, said.both), h("p", {}, said.bothNote)),
      h("li", { class: next && "now" }, h("h2", {}, said.test),
        next && h(Test, { bare: true, one: next, sheets, words, all })),
      h("li", {}, h("h2", {}, said.remove), h("p", {}, said.removeNote),
        h("button", { type: "button", class: "danger", disabled: busy || !next, onclick: remove },
          said.removeVerb))));
}

export default {
  tokens: { View: TokenView, New: TokenNew },
  scim: { View: TokenView, New: ScimNew },
  webhooks: { View: WebhookView, New: WebhookNew },
};
