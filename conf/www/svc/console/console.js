// The console: whose session it is, in which language, and then its frame, which shows where
// one may go, and the view.

import { Failure, hear, refresh, seen, session, signOut } from "../ui/call.js";
import { Icon } from "../ui/cells.js";
import { effect, h, mount, state } from "../ui/draw.js";
import { later, Loading, Problem } from "../ui/fail.js";
import { Link, usePlace } from "../ui/place.js";
import { tell, text } from "../ui/text.js";
import { fill, shown, speak, wordsOf } from "../ui/words.js";
import { allowed, at, groups, keysOf, listen, viewOf, views } from "./nav.js";
import { ask, server } from "./server.js";

const FIRST = "overview";       // where no view is named

let words = {};

// all views need it, and the frame does not

const made = import("./sheet.js");


function Shell() {
  const { path } = usePlace();
  const [, setSession] = state(0);
  const [failure, setFailure] = state(null);
  const { view = FIRST, id, tab } = viewOf(path);
  const keys = keysOf(words, setFailure);

  effect(() => hear("session", () => setSession(n => n + 1)), []);
  effect(() => listen(keys), []);

  // where one is may be below what of the navigation is seen

  effect(element => {
    element.querySelector("#nav [aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [view]);

  return h("div", { class: "shell" },
    h("header", { class: "top" },
      h("button", { class: "plain menu", popovertarget: "nav", "aria-label": words.menu },
        h(Icon, { name: "menu" })),
      h(Logo),
      h("strong", { class: "tenant" },
        h(Link, { to: at(FIRST), title: words.views[FIRST] }, shown(session.tenant.name),
          h("span", { class: "muted" }, " ", session.tenant.slug))),
      h("button", { type: "button", class: "find", onclick: keys["/"] },
        h(Icon, { name: "find" }), " ", h("span", {}, words.palette), " ", h("kbd", {}, "/")),
      h(Who, { keys })),
    h("nav", { id: "nav", popover: true, "aria-label": words.navigation },
      groups.map(([name, names]) => h(NavGroup, { key: name, name, names, view }))),
    h("main", { id: "main" },
      failure && h(Problem, { failure }),
      h(Area, { key: path, view, id, tab })));
}

// Nobody waits for the logo: it comes once the view is there.

const LATER = 500;              // ms

const Nothing = () => null;

const Logo = later(async () => {
  await new Promise(done => setTimeout(done, LATER));

  return import("./logo.js").then(({ Logo }) => Logo, () => Nothing);
}, Nothing);


function NavGroup({ name, names, view }) {
  const shownNames = names.filter(allowed);

  return shownNames.length === 0 ? null : h("section", {},
    name && h("h2", {}, h(Icon, { name }), words.groups[name]),
    h("ul", {}, shownNames.map(one => h("li", { key: one },
      h(Link, { to: at(one), "aria-current": one === view ? "page" : null },
        !name && h(Icon, { name: one }), words.views[one])))));
}


const THEMES = ["", "light", "dark"];

function Who({ keys }) {
  const [theme, setTheme] = state(() => localStorage.getItem("svc-theme") ?? "");
  const { user } = session;

  const choose = next => {
    document.documentElement.dataset.theme = next;
    localStorage.setItem("svc-theme", next);
    setTheme(next);
  };

  return h("details", { class: "who" },
    h("summary", {}, shown(user.displayName ?? user.email)),
    h("div", { class: "panel" },
      h("p", { class: "muted" }, shown(user.email), h("br"),
        fill(words.role, { role: session.role })),
      h("p", {}, h("a", { href: "/account" }, words.account)),
      h("p", {}, h("button", { type: "button", class: "plain", onclick: keys["?"] }, words.help)),
      h("p", {}, h("button", { type: "button", class: "plain", onclick: keys["`"] },
                   words.drawer)),
      h("p", {}, h("label", {}, words.theme, " ",
        h("select", { value: theme, onchange: event => choose(event.target.value) },
          THEMES.map(value => h("option", { key: value, value }, words.themes[value]))))),
      h("button", { type: "button", onclick: signOut }, text.signOut)));
}


// --- the view ------------------------

// What a view is made of is loaded when it is looked at.

const loaded = new Map();

async function load({ area, list, one }, id) {
  const file = id ? one : list;
  const [sheets, areaWords, common, object, own] = await Promise.all([
    import(`./${area}.sheet.js`), wordsOf(`console/${area}`), made,
    id && import("./object.js"), file && import(`./${file}.js`),
  ]);

  return { sheets: sheets.default, words: areaWords, own: own?.default ?? {},
           common: { ...common, ...object } };
}

function Area({ view, id, tab }) {
  const known = Object.hasOwn(views, view) ? views[view] : null;
  const name = `${view} ${Boolean(id)}`;
  const [area, setArea] = state(loaded.get(name));
  const [failed, setFailed] = state(false);

  effect(() => {
    if (known && allowed(view) && !area) {
      load(known, id).then(found => {
        loaded.set(name, found);
        setArea(found);
      }, () => setFailed(true));
    }
  }, [allowed(view)]);

  if (!known) {
    return h(Note, { title: words.noView, note: words.noViewNote });
  }

  if (!allowed(view)) {
    return h(Note, { title: words.views[view],
                     note: fill(words.noPermission, { permission: known.needs.join(", ") }) });
  }

  if (failed) {
    return h(Failed);
  }

  return !area ? h(Loading) : h("div", {},
    h(Off, known),
    h(kindOf(area, view, id), { view, id, tab, sheets: area.sheets, sheet: area.sheets[view],
                                words: area.words[view], all: area.words }));
}

function kindOf({ sheets, own, common: { SheetList, SheetNew, SheetView } }, view, id) {
  const { List = SheetList, New, View = SheetView } = own[view] ?? {};

  return !id ? List : id === "new" && (New || sheets[view]?.create) ? New ?? SheetNew : View;
}

const Off = ({ without }) => !without || server.features[without] ? null
  : h("p", { class: "notice" }, fill(text.isOff, { directive: `svc_${without} on` }));

// Other files than those of this page may be there by now, after an upgrade.

const Failed = () => h(Note, { title: words.failed, note: text.errors.not_loaded, again: true });

Area.failed = () => h(Failed);

const Note = ({ title, note, again }) => h("div", {},
  h("h1", {}, title), h("p", {}, note),
  again && h("button", { onclick: () => location.reload() }, text.again));


// --- the session ---------------------

// Whoever has done nothing for long is told, two minutes before, that it will end
// (WCAG 2.2.1).  Nothing is asked of the server until somebody says so.

const WARNING = 120;            // seconds
const LONGEST = 2 ** 31 - 1;    // milliseconds that a browser waits

async function watch() {
  const idle = server.session.idleSeconds;
  const end = seen + idle * 1000;
  const left = end - Math.min(WARNING, idle / 2) * 1000 - Date.now();

  if (left > 0) {
    return setTimeout(watch, Math.min(left, LONGEST));
  }

  // a session that has ended is for the next request to tell

  if (Date.now() >= end) {
    return setTimeout(watch, WARNING * 1000);
  }

  await import("./idle.js").then(({ warn }) => warn(words, end), () => {});
  setTimeout(watch, 1000);
}


// A session that waits for something, or none: the page of sign-in knows what to do.

const WAITS = ["unauthenticated", "unauthorized", "step_up_required",
               "mfa_enrollment_required", "password_expired"];

const login = () => {
  const tenant = new URLSearchParams(location.search).get("tenant")
                 ?? localStorage.getItem("svc-tenant");
  const to = encodeURIComponent(location.pathname + location.search);

  location.replace(`/login?${tenant ? `tenant=${encodeURIComponent(tenant)}&` : ""}`
                   + `return_to=${to}`);
};

document.documentElement.dataset.theme = localStorage.getItem("svc-theme") ?? "";

try {
  await refresh();
  speak(session.user.locale);
  localStorage.setItem("svc-tenant", session.tenant.slug);

  if (session.permissions.length === 0) {
    location.replace("/account");

  } else {
    [words] = await Promise.all([wordsOf("console/shell"), tell("ui/lists"), ask()]);
    watch();
    mount(document.body, h(Shell));
  }

} catch (e) {
  if (e instanceof Failure && WAITS.includes(e.code)) {
    login();

  } else {
    await tell();
    mount(document.body, h("main", {}, h(Problem, {
      failure: e, again: () => location.reload(),
    })));
  }
}
