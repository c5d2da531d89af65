// The frame of the console: whose it is, where one may go, and the view.

import { hear, session } from "../ui/call.js";
import { signOut } from "../ui/again.js";
import { effect, h, state } from "../ui/draw.js";
import { Icon } from "../ui/icon.js";
import { Link, usePlace } from "../ui/place.js";
import "../ui/sent.js";
import { text } from "../ui/text.js";
import { fill, shown, wordsOf } from "../ui/words.js";
import { watch } from "./idle.js";
import { keysOf, listen } from "./keys.js";
import { Logo } from "./logo.js";
import { allowed, at, groups, viewOf, views } from "./nav.js";
import { ask, server } from "./server.js";

const FIRST = "overview";       // where no view is named

let words = {};

// the views that are made from a sheet: all areas need them, and the frame does not

const made = import("./sheet.js");

export const begin = async () => {
  [words] = await Promise.all([wordsOf("console/shell"), ask()]);
  listen(words, allowed);
  watch(server.session.idleSeconds, words);
};


export function Shell() {
  const { path } = usePlace();
  const [, setSession] = state(0);
  const { view = FIRST, id, tab } = viewOf(path);

  effect(() => hear("session", () => setSession(n => n + 1)), []);

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
      h("button", { type: "button", class: "find", onclick: keysOf(words)["/"] },
        h(Icon, { name: "find" }), " ", h("span", {}, words.palette), " ", h("kbd", {}, "/")),
      h(Who)),
    h("nav", { id: "nav", popover: true, "aria-label": words.navigation },
      groups.map(([name, names]) => h(NavGroup, { key: name, name, names, view }))),
    h("main", { id: "main" }, h(Area, { key: path, view, id, tab })));
}


function NavGroup({ name, names, view }) {
  const shownNames = names.filter(allowed);

  return shownNames.length === 0 ? null : h("section", {},
    name && h("h2", {}, h(Icon, { name }), words.groups[name]),
    h("ul", {}, shownNames.map(one => h("li", { key: one },
      h(Link, { to: at(one), "aria-current": one === view ? "page" : null },
        !name && h(Icon, { name: one }), words.views[one])))));
}


const THEMES = ["", "light", "dark"];

function Who() {
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
      h("p", {}, h("button", { type: "button", class: "plain",
                               onclick: keysOf(words)["?"] }, words.help)),
      h("p", {}, h("button", { type: "button", class: "plain",
                               onclick: keysOf(words)["`"] }, words.drawer)),
      h("p", {}, h("label", {}, words.theme, " ",
        h("select", { value: theme, onchange: event => choose(event.target.value) },
          THEMES.map(value => h("option", { key: value, value }, words.themes[value]))))),
      h("button", { type: "button", onclick: signOut }, text.signOut)));
}


// --- the view ------------------------

// What an area is made of is loaded when it is looked at.

const loaded = new Map();

function areaOf(name) {
  if (!loaded.has(name)) {
    loaded.set(name, Promise.all([
      import(`./${name}.js`), import(`./${name}.sheet.js`), wordsOf(`console/${name}`), made,
    ]).then(([views, sheets, areaWords, common]) =>
      ({ views: views.default, sheets: sheets.default, words: areaWords, common })));
    loaded.get(name).catch(() => loaded.delete(name));
  }

  return loaded.get(name);
}

function Area({ view, id, tab }) {
  const [area, setArea] = state(null);
  const [failure, setFailure] = state(null);
  const known = Object.hasOwn(views, view) ? views[view] : null;

  effect(() => {
    if (known && allowed(view)) {
      areaOf(known.area).then(setArea, setFailure);
    }
  }, [allowed(view)]);

  if (!known) {
    return h(Note, { title: words.noView, note: words.noViewNote });
  }

  if (!allowed(view)) {
    return h(Note, { title: words.views[view],
                     note: fill(words.noPermission, { permission: known.needs.join(", ") }) });
  }

  if (failure) {
    return h(Failed, {});
  }

  if (!area) {
    return h("p", { class: "muted loading", role: "status" }, text.loading);
  }

  const { List, New, View } = area.views[view] ?? {};
  const { SheetList, SheetNew, SheetView } = area.common;
  const makes = id === "new" && (New || area.sheets[view]?.create);
  const kind = makes ? New ?? SheetNew : id ? View ?? SheetView : List ?? SheetList;

  return h("div", {},
    h(Off, known),
    h(kind, { view, id, tab, sheets: area.sheets, sheet: area.sheets[view],
              words: area.words[view], all: area.words }));
}

const Off = ({ without }) => !without || server.features[without] ? null
  : h("p", { class: "notice" }, fill(text.isOff, { directive: `svc_${without} on` }));

// Other files than those of this page may be there by now, after an upgrade.

const Failed = () => h(Note, { title: words.failed, note: text.newer, again: true });

Area.failed = () => h(Failed);

const Note = ({ title, note, again }) => h("div", {},
  h("h1", {}, title), h("p", {}, note),
  again && h("button", { onclick: () => location.reload() }, text.again));
