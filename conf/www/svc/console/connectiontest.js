// Tests of connections, step by step: in a tab that goes to the provider and back, and what
// was found.

import { useAct } from "../ui/act.js";
import { call } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { Code } from "../ui/copy.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { link } from "../ui/place.js";
import { text } from "../ui/text.js";
import { about } from "../ui/time.js";
import { fill, shown, wordOf, wordsOf } from "../ui/words.js";
import { withLock } from "./sheet.js";
import { server } from "./server.js";


// What was looked at, and what was found; the server's sentences are in English.

export const Steps = ({ steps, words }) => h("ol", { class: "steps" }, steps.map(one =>
  h("li", { key: one.step, class: one.ok ? "done" : "failed" },
    h("h2", {}, words.step[one.step], " ",
      h(Badge, { value: one.ok ? words.good : words.wrong, tone: one.ok ? "good" : "bad" }),
      one.ms !== undefined
        && h("span", { class: "muted" }, " ", fill(text.ms, { n: one.ms }))),
    h("p", { lang: "en" }, shown(one.detail)))));


// What the server says of itself may be wrong already: then there is nowhere to go, and the
// address is that of the page that shows the test.

function testOf(url) {
  const { origin, pathname, searchParams } = new URL(url);

  return [location.origin, new URL(server.baseUrl).origin].includes(origin)
         && pathname === "/account" && searchParams.get("test");
}


export function Test({ one, title, words }) {
  const { busy, failure, run, setFailure } = useAct();
  const [to, setTo] = state(null);
  const [found, setFound] = state(null);
  const said = words.test;

  const read = async id => {
    const { data } = await call({ path: `/admin/federation/tests/${encodeURIComponent(id)}` });

    if (data.connection === one.connection) {
      setFound({ data, said: await wordsOf("tested") });
      setTo(null);
    }
  };

  // the tab that has come back tells of its test

  effect(() => {
    const tabs = new BroadcastChannel("svc");

    tabs.addEventListener("message", ({ data }) =>
      typeof data?.tested === "string" && read(data.tested).catch(setFailure));

    return () => tabs.close();
  }, [one.connection]);

  const begin = run(async () => {
    setFound(null);
    setTo(null);

    const path = `/admin/federation/${encodeURIComponent(one.connection)}/test`;
    const { data } = await call({ method: "POST", path, body: {} });
    const id = testOf(data.redirectTo);

    await (id ? read(id) : setTo(data.redirectTo));
  });

  return h("div", { class: "panel" },
    h("p", {}, said.note),
    h("p", { class: "muted" }, said.off),
    h("p", {}, h("button", { type: "button", class: !to && "primary", disabled: busy,
                             onclick: begin },
                 withLock(found || to ? said.again : said.verb))),
    failure && h(Problem, { failure }),
    to && h("div", { class: "notice", role: "status" },
      h("p", {}, said.go),
      h("p", {}, to.startsWith("https:")
        ? link(to, { class: "button primary" }, fill(said.open, { name: title }))
        : h(Code, { value: to }))),
    found && h(Found, { ...found, title }));
}


const Found = ({ data, said, title }) => h("div", { role: "status" },
  h("h2", {}, fill(said.title, { name: title })),
  h("p", {}, h("strong", {}, wordOf(said.outcomes, data.outcome) ?? said.outcomes.failed),
    data.user && [" ", shown(data.user)]),
  h("p", { class: "muted" }, said.madeNothing, " ", about(data.testedAt)),
  h(Steps, { steps: data.steps, words: said }),
  h(Pairs, { title: said.claims, pairs: data.claims.map(one => [one.name, one.value]) }),
  h(Pairs, { title: said.attributes,
             pairs: data.attributes.map(one => [one.attribute, one.value ?? "–"]) }),
  h(Pairs, { title: said.groups, pairs: data.groups.map(name => [name, null]) }));

const Pairs = ({ title, pairs }) => pairs.length === 0 ? null : h("div", {},
  h("h3", {}, title),
  h("dl", { lang: "en" }, pairs.flatMap(([name, value], n) => [
    h("dt", { key: `t ${n}` }, shown(name)),
    h("dd", { key: `d ${n}` }, shown(value ?? "")),
  ])));
