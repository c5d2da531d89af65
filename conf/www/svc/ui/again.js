// Asks people to show who they are, when the server wants it: a second factor, within a
// request; or to sign in again, in another tab, while what was typed here stays.  And
// tells other tabs who has signed out.  The dialogs are in asking.js, which most visits
// do not need.

import { ask, call, hear, refresh, session } from "./call.js";

const tabs = new BroadcastChannel("svc");
const dialog = async name => (await import("./asking.js"))[name]();

export const loginOf = to => `/login?tenant=${encodeURIComponent(session.tenant.slug)}`
  + (to ? `&return_to=${encodeURIComponent(to)}` : "");

ask.stepUp = () => dialog("stepUp");
ask.signIn = () => dialog("signIn");
ask.signInHere = () => dialog("signInHere");


// What a page was drawn for is over: nothing of it is sent, or shown, any more.

let said = false;

hear("changed", () => {
  if (!said) {
    said = true;
    dialog("changed");
  }
});


// --- other tabs ----------------------

const listeners = new Set();

tabs.addEventListener("message", ({ data }) => {
  if (data === "signed_in") {
    listeners.forEach(action => action());

  } else if (data === "signed_out") {
    document.body.hidden = true;
    location.assign(loginOf(location.pathname));
  }
});

export function onSignIn(action) {
  listeners.add(action);

  return () => listeners.delete(action);
}


export async function signOut() {
  await call({ method: "POST", path: "/auth/logout", body: {} });
  tabs.postMessage("signed_out");
  location.assign(loginOf());
}


// A page that comes back from the browser's memory may be of a session that is over.

addEventListener("pageshow", async event => {
  if (event.persisted) {
    document.body.hidden = true;

    try {
      await refresh();
      document.body.hidden = false;

    } catch {
      location.reload();
    }
  }
});
