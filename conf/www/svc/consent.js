// What an application asks for: it goes on, or its user signs in, or consents.

import { asks, button, call, fill, h, names, note, post, run, say, show, text,
} from "./page.js";
import { home, leave, resume } from "./session.js";

// what the people of OpenID Connect call so; all else is as it is

const named = scope => Object.hasOwn(text.scopes, scope) ? text.scopes[scope] : scope;

let asked = null;

const look = async href => call("GET",
  `/v1/oauth/authorization${new URL(href).search}`);


// Whose application it is, if it may ask for that.

const LATER = ["rate_limited", "unavailable"];

export async function tenant(href) {
  try {
    asked = await look(href);
    names.tenant = asked.tenant.slug;

  } catch (e) {
    show(text.clientWrong, note(text.clientWrongNote));

    throw LATER.includes(e.code) ? e : Object.assign(e, { code: "client_refused" });
  }
}


// Of a session that waits for something the next step comes; another one that does
// not do for the request is not shown.

export async function start(href) {
  if (asked.login === "required") {
    return resume(() => home.show());
  }

  return asks() && asked.consent === "required" ? consent(href)
                                                : location.replace(href);
}


function consent(href) {
  const { client, redirectHost, resources, scopes, user } = asked;

  show(fill(text.consent, { client: client.name }),
       note(fill(text.consentNote, { host: redirectHost })),
       scopes.length > 0
         && h("ul", { class: "rules" },
              ...scopes.map(({ name }) => h("li", {}, named(name)))),
       resources.length > 0 && note(text.consentAt),
       resources.length > 0
         && h("ul", { class: "rules" },
              ...resources.map(uri => h("li", {}, uri))),
       note(fill(text.consentAs, { name: user.displayName ?? user.email })),
       button(text.allow, () => decide(href, "approve")),
       button(text.refuse, () => decide(href, "deny")),
       button(text.somebodyElse, leave));
}

async function decide(href, decision) {
  const { redirectTo } = await post("/oauth/authorization", {
    request: new URL(href).search.slice(1), decision, userId: asked.user.id,
  });

  location.assign(redirectTo);
}
