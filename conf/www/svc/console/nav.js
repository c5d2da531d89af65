// The views of the console, by the name that is in their address, and the keys that lead
// there.

import { late, may } from "../ui/call.js";
import { go } from "../ui/place.js";

// in the order in which they stand in the navigation

export const groups = [
  ["", ["overview"]],
  ["people", ["users", "groups", "invitations", "roles", "identities"]],
  ["apps", ["applications", "agents", "anomalies", "delegations", "saml-apps", "scim-targets",
            "catalogue"]],
  ["security", ["access", "risk", "passwords", "blocks", "incidents", "audit"]],
  ["signin", ["branding", "domains", "connections"]],
  ["machines", ["tokens", "scim", "webhooks", "configuration"]],
];

// The area is the name of the sheets and of the words.  "list" is the file of a list that no
// sheet makes alone, and "one" that of a form for a new one and of what shows one of them.
// One of the permissions suffices, and whoever may anything sees what needs none.
// What a view has little use "without" the operator turns on by a directive of that name.

export const views = {
  overview: { area: "overview", list: "overview", needs: [] },
  users: { area: "people", list: "peoplelists", one: "people", needs: ["users:view"] },
  groups: { area: "people", list: "peoplelists", one: "people", needs: ["groups:manage"] },
  invitations: { area: "people", list: "peoplelists", one: "invite", needs: ["members:manage"] },
  roles: { area: "people", list: "peoplelists", one: "people", needs: ["roles:manage"] },
  identities: { area: "people", list: "peoplelists", needs: ["users:view"] },
  applications: { area: "apps", list: "applists", one: "apps", needs: ["apps:manage"],
                  without: "oauth" },
  agents: { area: "agents", list: "agentlists", one: "agents", needs: ["apps:manage"],
            without: "oauth" },
  anomalies: { area: "agents", list: "agentlists", one: "anomaly", needs: ["apps:manage"],
               without: "oauth" },
  delegations: { area: "agents", list: "delegated", one: "delegated", needs: ["apps:manage"],
                 without: "oauth" },
  "saml-apps": { area: "apps", list: "applists", one: "apps", needs: ["apps:manage"] },
  "scim-targets": { area: "apps", list: "applists", one: "apps", needs: ["apps:manage"] },
  catalogue: { area: "apps", list: "applists", one: "apps", needs: ["apps:manage"] },
  access: { area: "access", list: "access", needs: ["tenant:manage"] },
  risk: { area: "risk", list: "risk", needs: ["tenant:manage"] },
  passwords: { area: "passwords", list: "passwords", needs: ["tenant:manage"] },
  blocks: { area: "tenant", one: "tenant", needs: ["tenant:manage"] },
  incidents: { area: "audit", list: "audit", one: "auditviews", needs: ["audit:view"] },
  audit: { area: "audit", list: "audit", one: "auditviews", needs: ["audit:view"] },
  branding: { area: "signin", list: "signin", needs: ["tenant:manage"] },
  domains: { area: "tenant", one: "tenant", needs: ["tenant:manage"] },
  connections: { area: "connections", list: "connectionlist", one: "connections",
                 needs: ["tenant:manage"], without: "federation" },
  tokens: { area: "machines", one: "machines", needs: ["tenant:manage"] },
  scim: { area: "machines", one: "machines", needs: ["tenant:manage"], without: "scim" },
  webhooks: { area: "machines", one: "machines", needs: ["tenant:manage"] },
  configuration: { area: "config", list: "config", needs: ["tenant:manage"] },
};

export const allowed = view => Object.hasOwn(views, view)
  && (views[view].needs.length === 0 || views[view].needs.some(may));


// What an address shows: /console/{view}, /console/{view}/new, /console/{view}/{id} or
// /console/{view}/{id}/{tab}.

export function viewOf(path) {
  const [view, id, tab] = path.split("/").slice(2).filter(Boolean).map(decodeURIComponent);

  return { view, id, tab };
}

export const at = (view, id, tab) =>
  ["/console", view, id, tab].filter(part => part !== undefined && part !== null)
    .map((part, n) => n === 0 ? part : encodeURIComponent(part)).join("/");


// --- keys ----------------------------

// None of them counts while somebody types, and they can be off.

export const PLACES = {         // after "g"
  u: "users", g: "groups", r: "roles", i: "invitations", a: "applications", k: "agents",
  l: "audit", p: "access", w: "webhooks", o: "overview",
};

const TYPING = "input, select, textarea, [contenteditable], dialog";

// A dialog is loaded first: what is typed meanwhile is for its field.

let typed = null;

const opens = (name, words, fail) => async () => {
  if (typed !== null) {
    return;
  }

  typed = "";

  try {
    (await late(import(`./${name}.js`))).open(words, typed);

  } catch (e) {
    fail(e);

  } finally {
    typed = null;
  }
};

// What the keys do, and some buttons, too.  "fail" is told what could not be loaded.

export const keysOf = (words, fail) => ({
  "/": opens("palette", words, fail),
  "?": opens("help", words, fail),
  "`": opens("drawer", words, fail),
  c: () => document.querySelector("main .head .primary")?.click(),
  e: () => document.querySelector("main form :is(input, textarea, select):enabled")?.focus(),
});


let before = null;              // after "g" the next one is a place

const modified = event => event.ctrlKey || event.metaKey || event.altKey;

const counts = event => !modified(event) && localStorage.getItem("svc-keys") !== "off"
  && !event.target.closest?.(TYPING) && !document.querySelector("dialog");

export const isKey = (event, letter) =>
  event.key.toLowerCase() === letter && !event.repeat && before === null && counts(event);


// Listens for all keys of the page.

export function listen(keys) {
  addEventListener("keydown", event => {
    const { key } = event;

    if (typed !== null && key.length === 1 && !modified(event)) {
      event.preventDefault();
      typed += key;

      return;
    }

    if (key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();

      return document.querySelector("dialog") ? null : keys["/"]();
    }

    const last = before;

    before = null;

    if (!counts(event)) {
      return;
    }

    if (last === "g") {
      return allowed(PLACES[key]) && go(at(PLACES[key]));
    }

    if (key === "g") {
      before = "g";

    } else if (Object.hasOwn(keys, key)) {
      event.preventDefault();
      keys[key]();
    }
  });
}
