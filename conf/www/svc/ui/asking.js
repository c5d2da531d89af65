// The dialogs that ask people to show who they are: see call.js.

import { call, loginOf, onSignIn, refresh, session, take } from "./call.js";
import { Dialog, show } from "./dialog.js";
import { effect, h, state } from "./draw.js";
import { Problem } from "./fail.js";
import { typed } from "./place.js";
import { styled } from "./style.js";
import { text } from "./text.js";
import { fill, shown } from "./words.js";

// where a tab goes that has done its work: it says so, and closes

const BACK = "/account?back";


// --- a second factor -----------------

export async function stepUp() {
  const proved = await show(StepUp);

  return proved !== null && take(proved);
}

// Whoever has no second factor shows the password; without one, too, it is the server
// of a linked identity that says who they are.

const challenge = async () => session.mfa.methods.length > 0 ? undefined
  : (await call({ method: "POST", path: "/mfa/challenge", body: {}, now: true })).data;

function StepUp({ done }) {
  const [elsewhere, setElsewhere] = state(false);
  const [failure, setFailure] = state(null);

  effect(element => {
    let put = null;

    const draw = async () => {
      let begun = await challenge();

      if (begun?.method === null) {
        return setElsewhere(true);
      }

      const page = await import("../page.js");
      const [brand, signin, steps] = await Promise.all(
        [...["brand", "session", "steps"].map(name => import(`../${name}.js`)),
         styled("/svc/ui/asking.css")]);

      if (!element.isConnected) {
        return;
      }

      put = page.into(element, () => session.csrfToken);
      page.names.tenant = session.tenant.slug;

      // what has expired begins anew, and not with a sign-in

      const begin = async () => {
        const first = begun;

        begun = undefined;
        signin.home.after = begin;
        await steps.secondFactor(session.mfa.methods[0], done, null, first);
      };

      await page.run(async () => {
        if (!brand.options) {
          await brand.load(`?tenant=${encodeURIComponent(session.tenant.slug)}`);
        }

        await begin();
      });
    };

    draw().catch(setFailure);

    return () => put?.();
  }, []);

  return h(Dialog, { title: text.stepUp, done },
    h("p", {}, text.stepUpNote),
    failure && h(Problem, { failure }),
    h("p", { class: "error", id: "step-error", role: "alert" }),
    elsewhere ? h(Elsewhere, { done }) : h("div", { class: "view" }),
    h("div", { class: "actions" },
      h("button", { type: "button", onclick: () => done() }, text.cancel)));
}


function Elsewhere({ done }) {
  const [links, setLinks] = state([]);
  const [failure, setFailure] = state(null);

  effect(() => {
    call({ path: "/auth/identities", now: true })
      .then(({ data }) => setLinks(data.identities), setFailure);

    return onSignIn(async () => {
      await refresh();
      done(session);
    });
  }, []);

  // the tab is opened by the click itself: later the browser would refuse it

  const start = async connection => {
    const tab = open("about:blank");

    try {
      const { data } = await call({
        method: "POST", path: "/auth/federation/start", now: true,
        body: { connection, purpose: "step_up", returnTo: BACK },
      });

      tab.location = data.redirectTo;

    } catch (e) {
      tab?.close();
      setFailure(e);
    }
  };

  return h("div", {},
    failure && h(Problem, { failure }),
    links.map(({ id, connection, label }) => h("button", {
      key: id, type: "button", onclick: () => start(connection),
    }, fill(text.signInAt, { name: shown(label) }))));
}


// --- a session that has ended --------

export async function signIn() {
  if (!typed()) {
    location.assign(loginOf(location.pathname + location.search));

    return new Promise(() => {});
  }

  return signInHere();
}

export const signInHere = async () => await show(SignIn) === true;

function SignIn({ done }) {
  const [failure, setFailure] = state(null);

  const look = async () => {
    try {
      done(await refresh());

    } catch (e) {
      setFailure(e.code === "unauthenticated" ? null : e);
    }
  };

  effect(() => onSignIn(look), []);

  return h(Dialog, { title: text.sessionOver, done },
    h("p", {}, text.sessionOverNote),
    failure && h(Problem, { failure }),
    h("div", { class: "actions" },
      h("button", { type: "button", onclick: () => done() }, text.cancel),
      h("button", { type: "button", onclick: look }, text.signedIn),
      h("a", { class: "button primary", href: loginOf(BACK), target: "_blank",
               rel: "opener" }, text.signIn)));
}


// --- somebody else -------------------

export const changed = () => show(Changed);

const Changed = () => h(Dialog, { title: text.changed, done: () => {} },
  h("p", {}, text.changedNote),
  h("div", { class: "actions" },
    h("button", { class: "primary", onclick: () => location.reload() }, text.again)));
