// The account of whoever is signed in.  What changes something comes when it is asked
// for: change.js, factors.js.

import { hear, ifChanged, isServed, refresh, session, signOut, take } from "../ui/call.js";
import { effect, h, mount, state } from "../ui/draw.js";
import { sentence } from "../ui/fail.js";
import { fill, language, shown } from "../ui/words.js";
import { Act, learn, pages, read, say, words } from "./parts.js";
import { Consents, Factors, Identities, Passkeys, Password, Profile, Sessions, linkable,
} from "./sections.js";

const FIRST = ["profile", "factors", "sessions", "consents"];


// The sheet of the form that signs in gives way to those of the account.

const SHEETS = ["/svc/ui/ui.css", "/svc/account/account.css"];

const sheets = SHEETS.map(href => new Promise(loaded => {
  const sheet = document.createElement("link");

  Object.assign(sheet, { rel: "stylesheet", href, media: "not all",
                         onload: loaded, onerror: loaded });
  document.head.append(sheet);
}));

function dress() {
  const { style } = document.documentElement;
  const [r, g, b] = style.getPropertyValue("--surface").match(/\d+/g).map(Number);

  style.colorScheme = 3 * r + 6 * g + b < 1280 ? "dark" : "light";

  for (const sheet of document.querySelectorAll("link[rel=stylesheet]")) {
    sheet.media = SHEETS.includes(sheet.getAttribute("href")) ? "all" : "not all";
  }
}


export async function open(given) {
  take(given);

  const parts = await read(FIRST);

  await Promise.all([learn(parts.profile.value?.locale), ...sheets]);

  const scopes = parts.consents.value?.total > 0
    && (await import(`../consent.${language}.js`)).default.scopes;
  const logo = document.querySelector("#brand img")?.getAttribute("src");

  dress();
  document.title = `${words.title} – ${session.tenant.name}`;
  document.body.replaceChildren();
  mount(document.body, h(Account, { parts, scopes, logo }));
  arrived();
}

// From where an identity was linked.

function arrived() {
  const query = new URLSearchParams(location.search);

  if (query.has("linked")) {
    query.delete("linked");
    history.replaceState(null, "", `/account${query.size > 0 ? `?${query}` : ""}`);
    say(words.identities.linked);
  }
}


function Account({ parts: first, scopes, logo }) {
  const [parts, setParts] = state(first);
  const [, setSession] = state(0);

  effect(() => hear("session", () => setSession(n => n + 1)), []);

  const again = (name, limit) => async () => {
    const after = await read([name], limit);

    setParts(now => ({ ...now, ...after }));
  };

  // reads the session, too: what it may show has changed, and its token

  const renew = async (names, limit) => {
    const before = parts;

    await refresh().catch(ifChanged);

    const after = await read(names, limit);

    setParts(now => ({ ...now, ...after }));

    return { before, after };
  };

  const shows = [
    ["profile", Profile], parts.profile.value && ["password", Password],
    ["passkeys", Passkeys, "factors"], ["factors", Factors], ["sessions", Sessions],
    linkable() && parts.identities?.failure?.status !== 404 && ["identities", Identities],
    parts.consents.failure?.status !== 404 && ["consents", Consents],
  ].filter(Boolean);

  return h("div", { class: "account" },
    h(Head, { logo }),
    h("div", { class: "page" },
      h("nav", { "aria-label": words.contents },
        h("ul", {}, shows.map(([id]) =>
          h("li", { key: id }, h("a", {
            href: `#part-${id}`,
            onclick(event) {
              event.preventDefault();
              document.getElementById(`part-${id}`).scrollIntoView();
              document.getElementById(`${id}-title`).focus({ preventScroll: true });
            },
          }, words[id].title))))),
      h("main", {},
        h("h1", { tabindex: "-1" }, words.title),
        h("p", { class: "muted" }, fill(words.who, {
          name: shown(session.user.displayName ?? session.user.email),
          tenant: shown(session.tenant.name),
        })),
        shows.map(([id, Part, name = id]) => h(Part, {
          key: id, part: parts[name], profile: parts.profile, sessions: parts.sessions,
          scopes, renew, again: again(name),
        })))));
}


function Head({ logo }) {
  const [console, setConsole] = state(false);

  // Who has a permission is told of the console, if it is served here.

  effect(() => {
    if (session.permissions.length > 0) {
      isServed("/console").then(setConsole);
    }
  }, []);

  return h("header", {},
    h("p", { class: "tenant" },
      logo && h("img", { src: logo, alt: "" }), h("bdi", {}, shown(session.tenant.name))),
    h("div", { class: "actions" },
      console && h("a", { class: "button", href: "/console" }, words.console),
      h(Act, { label: pages.signOut, action: signOut,
               fail: failure => failure && say(sentence(failure)) })));
}
