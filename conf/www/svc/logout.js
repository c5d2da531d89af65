// An application wants its user to sign out, or has done so.

import { button, note, pageOf, post, query, show, text } from "./page.js";

// its own words, which a sign-in does not load

const { default: words } = await import(`./logout.${document.documentElement.lang}.js`);


export function start() {
  return query.has("logout") ? ask() : over();
}

function ask() {
  show(words.ask, note(words.askNote),
       button(text.signOut, leave),
       button(words.stay, () => location.assign(pageOf("login"))));
}

// The server says where the application wants them, if they may go there.

async function leave() {
  const { redirectTo } = await post("/oauth/logout", { request: query.get("logout") });

  return redirectTo ? location.assign(redirectTo) : over();
}

function over() {
  show(words.over, note(words.overNote));
}
