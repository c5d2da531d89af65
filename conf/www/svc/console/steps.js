// What is to be done first in a new tenant.  What of it is done is told by what there is, and
// kept nowhere; the browser keeps alone that somebody wants to see none of it.

import { call, may, queryOf, session } from "../ui/call.js";
import { effect, h } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Link } from "../ui/place.js";
import { useAnswer } from "../ui/table.js";
import { fill } from "../ui/words.js";
import { allowed, at } from "./nav.js";
import { server } from "./server.js";
import { pathOf } from "./sheet.js";

// the slugs of those tenants of which nobody wants to see them

const hiddenOf = () =>
  (localStorage.getItem("svc-checklist") ?? "").split(" ").filter(Boolean);

export const isHidden = () => hiddenOf().includes(session.tenant.slug);

function keep(hidden) {
  const others = hiddenOf().filter(slug => slug !== session.tenant.slug);

  localStorage.setItem("svc-checklist",
                       [...others, ...hidden ? [session.tenant.slug] : []].join(" "));
}


// Each step, and what of the sheet tells whether it is done: one of these suffices.  "now" is
// known without a request.

const STEPS = {
  factor: { now: () => session.mfa.enrolled },
  owner: { needs: "members:manage", asks: ["owners"], view: ["invitations", "new"],
           query: { role: "owner" } },
  invited: { needs: "members:manage", asks: ["people"], view: ["invitations", "new"] },
  logo: { needs: "tenant:manage", asks: ["logo"], view: ["branding"] },
  mail: { needs: "tenant:manage", now: () => server.features.passwordReset },
  policy: { needs: "tenant:manage", asks: ["versions", "risk"], view: ["access"] },
  application: { needs: "apps:manage", on: ({ oauth }) => oauth, asks: ["applications"],
                 view: ["applications", "new"] },
  connected: { needs: "tenant:manage", asks: ["tokens", "webhooks"],
               on: ({ scim, webhooks }) => scim || webhooks,
               get view() { return [server.features.scim ? "scim" : "webhooks"]; } },
  domain: { needs: "tenant:manage", asks: ["domains"], view: ["domains"] },
};

const some = ({ total }) => total > 0;

const TOLD = {
  owners: ({ total }) => total > 1,
  people: ({ total }) => total > 1,
  logo: ({ branding }) => Boolean(branding.logoUrl),
  risk: ({ enabled }) => enabled,
  domains: ({ domains }) => domains.some(({ verified }) => verified),
};

const OFF = { tokens: "scim", webhooks: "webhooks" };   // without these features

async function isDone({ now, asks }, sheets) {
  if (now) {
    return now();
  }

  for (const name of asks.filter(name => server.features[OFF[name]] ?? true)) {
    const { path, query } = sheets[name];
    const { data } = await call({ path: pathOf(path, session.tenant), query });

    if ((TOLD[name] ?? some)(data)) {
      return true;
    }
  }

  return false;
}

// What could not be looked up is neither done nor to be done: null.

async function look(steps, known, sheets) {
  let failure = null;

  const done = await Promise.all(steps.map(([name, step]) =>
    known[name] || isDone(step, sheets).catch(e => {
      failure = e;

      return null;
    })));

  return { data: { done: Object.fromEntries(steps.map(([name], n) => [name, done[n]])), failure } };
}


// Nothing is asked before what else the page shows is there: "ready".

export function Steps({ sheets, words, ready, invited, moved, hide }) {
  const steps = Object.entries(STEPS).filter(([, { needs, on }]) =>
    (!needs || may(needs)) && (on?.(server.features) ?? true));
  const { data, again } = useAnswer(
    ready ? () => look(steps, { invited }, sheets) : async () => ({}),
    [ready, session.mfa.enrolled]);
  const n = steps.filter(([name]) => data?.done[name]).length;
  const whole = n === steps.length;

  const away = () => {
    keep(true);
    hide(true);
  };

  effect(element => {
    if (moved) {
      keep(false);
      element.querySelector("h2").focus();
    }
  }, []);

  return h("section", { class: "panel first" },
    h("div", { class: "head" },
      h("h2", { tabindex: "-1" }, words.title),
      h("button", { type: "button", class: whole ? "primary" : "plain", onclick: away },
        words.hide)),
    !data ? h(Loading) : [
      h("p", { class: "muted" }, whole ? words.whole : fill(words.count, { n, all: steps.length })),
      data.failure && h(Problem, { failure: data.failure, again }),
      h("ul", {}, steps.map(([name, step]) =>
        h(Step, { key: name, name, step, done: data.done[name], words }))),
    ]);
}

const TONES = { done: "good", todo: "off", unknown: "warn" };

function Step({ name, step: { view, query }, done, words }) {
  const state = done ? "done" : done === null ? "unknown" : "todo";
  const { title, note } = words.of[name];

  return h("li", { class: state },
    h("span", { class: `badge ${TONES[state]}` }, words.states[state]),
    h("div", {},
      name === "factor" ? h("a", { href: "/account" }, title)
        : view && allowed(view[0]) ? h(Link, { to: at(...view) + queryOf(query) }, title)
        : h("strong", {}, title),
      !done && h("p", { class: "muted" }, note)));
}
