// /account?test=...: what the test of a connection has found, for who administers the tenant.

import { call, fill, h, note, query, show } from "./page.js";

// its own words, which a sign-in does not load

const { default: words } = await import(`./tested.${document.documentElement.lang}.js`);

// the server's sentences, names and claims are in English, or in no language

const said = value => h("span", { lang: "en" }, value);


async function start() {
  const id = encodeURIComponent(query.get("test"));
  let test;

  document.head.append(h("link", { rel: "stylesheet", href: "/svc/tested.css" }));

  try {
    test = await call("GET", `/v1/admin/federation/tests/${id}`);

  } catch (e) {
    if (!["not_found", "forbidden"].includes(e.code)) {
      throw e;
    }

    return show(words.over, note(words[e.code]));
  }

  const { connection, outcome, user, steps, claims, attributes, groups } = test;

  // the tab where it was begun shows it, too

  new BroadcastChannel("svc").postMessage({ tested: id });

  show(fill(words.title, { name: connection ?? "" }),
       h("p", {}, h("strong", {}, words.outcomes[outcome] ?? words.outcomes.failed),
         user && h("br"), user),
       note(words.madeNothing),
       h("h2", {}, words.steps), h("ol", { class: "steps" }, ...steps.map(step)),
       ...part(words.claims, claims.map(c => [c.name, c.value])),
       ...part(words.attributes, attributes.map(a => [a.attribute, a.value ?? "–"])),
       ...part(words.groups, groups.map(name => [name])));
}

const step = ({ step, ok, detail }) =>
  h("li", {}, h("strong", {}, `${words.step[step]}: ${ok ? words.good : words.wrong}`),
    h("br"), said(detail));

// What there is of a kind, as a list of names with values; or nothing.

const part = (title, rows) => rows.length
  ? [h("h2", {}, title),
     h("dl", {}, ...rows.flatMap(([name, value]) =>
       [h("dt", {}, said(name)), h("dd", {}, said(value ?? ""))]))]
  : [];

await start();
