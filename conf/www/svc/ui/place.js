// The address: what of a view is in it comes back by Back, by a link, after a reload.

import { queryOf } from "./call.js";
import { h, state, effect } from "./draw.js";
import { text } from "./text.js";

const heard = new Set();
const guards = new Map();       // of each form that differs: asks whether it may be lost

export const typed = () => guards.size > 0;

// Another query of the same view loses nothing.

const mayLeave = async path => path === shown || !typed() || guards.values().next().value();


// The entry of the history that is shown, and its path.

const indexOf = () => history.state?.index ?? 0;

let index = indexOf();
let shown = location.pathname;

function arrive() {
  index = indexOf();
  shown = location.pathname;
  heard.forEach(action => action());
}

export const here = () => ({
  path: location.pathname,
  query: Object.fromEntries(new URLSearchParams(location.search)),
});


// Where the scroll was is kept with the entry of the history.  Whoever is "sure" does
// not ask whether what was typed may be lost.

export async function go(to, { replace = false, sure = false } = {}) {
  if (!sure && !await mayLeave(new URL(to, location.origin).pathname)) {
    return;
  }

  if (replace) {
    history.replaceState({ index }, "", to);

  } else {
    history.replaceState({ index, y: scrollY }, "");
    history.pushState({ index: index + 1 }, "", to);
    scrollTo(0, 0);
  }

  arrive();
}


// Changes the query alone: null takes a parameter away.

export function change(query, options) {
  return go(location.pathname + queryOf({ ...here().query, ...query }), options);
}


// The browser has gone there already when this is called: whoever stays is led back, which
// calls it once more.

let back = false;

addEventListener("popstate", async () => {
  const away = indexOf() - index;

  if (back) {
    back = false;

  } else if (await mayLeave(location.pathname)) {
    arrive();

  } else if (away !== 0) {
    back = true;
    history.go(-away);
  }
});

// A page that is hidden is of a session that is over: nothing of it is worth a question.

addEventListener("beforeunload", event => {
  if (typed() && !document.body.hidden) {
    event.preventDefault();
  }
});

// What shows rows goes to where they were left, once they are there.

history.scrollRestoration = "manual";

export const restore = () => scrollTo(0, history.state?.y ?? 0);


// A component that calls this is drawn again when the address changes.

export function usePlace() {
  const [place, setPlace] = state(here);

  effect(() => {
    const action = () => setPlace(here());

    heard.add(action);

    return () => heard.delete(action);
  }, []);

  return place;
}


// Asks before what was typed is lost.

export const mayDiscard = () => import("./dialog.js")
  .then(({ mayLeave }) => mayLeave(), () => confirm(text.differs));

// While a form differs, "question" is asked before it goes away: a function that
// returns a promise of whether to go.

export function guard(question = mayDiscard) {
  const mine = Symbol("guard");

  guards.set(mine, question);

  return () => guards.delete(mine);
}


// A link within the console.  Middle clicks and others are the browser's.  Whoever is
// "sure" keeps what was typed.

export function Link({ to, sure = false, kids, ...props }) {
  return h("a", {
    ...props, href: to,
    onclick(event) {
      if (event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey
          && !event.altKey)
      {
        event.preventDefault();
        go(to, { sure });
      }
    },
  }, kids);
}


// The only way to a link that came from a server: https, or nothing.

export function link(url, props, ...kids) {
  const parsed = URL.canParse(url) ? new URL(url) : null;

  return parsed?.protocol === "https:"
    ? h("a", { ...props, href: parsed.href, rel: "noreferrer noopener", target: "_blank" },
        ...kids)
    : h("span", {}, ...kids);
}
