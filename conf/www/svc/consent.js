// What an application asks for: it goes on, or its user signs in, or consents.

import { button, call, fill, fragment, h, names, note, post, query, show, text,
} from "./page.js";
import { options } from "./brand.js";
import { home, leave, resume } from "./session.js";

// its own words, which a sign-in without an application does not load

const { default: words } = await import(`./consent.${document.documentElement.lang}.js`);

Object.assign(text.errors, words.errors);

// what the people of OpenID Connect call so; all else is as it is

const named = scope => Object.hasOwn(words.scopes, scope) ? words.scopes[scope]
                                                          : scope;

let asked = null;


// What it says of who will sign in, which may be anything: nobody looks at it, and
// it fills the field.

function hint(text) {
  if (text && text.length <= 254) {
    names.email = text;
  }
}


// Whose application it is, if it may ask for that.

const LATER = ["rate_limited", "unavailable"];

export async function tenant() {
  try {
    asked = await call("GET", `/v1/oauth/authorization${new URL(home.next).search}`);
    names.tenant = asked.tenant.slug;
    hint(asked.loginHint);

  } catch (e) {
    show(words.clientWrong, note(words.clientWrongNote));

    throw LATER.includes(e.code) ? e : Object.assign(e, { code: "client_refused" });
  }
}


// Of a session that waits for something the next step comes; another one that does
// not do for the request is not shown.  Whoever is here, a new account may be wanted.

export async function start() {
  if (fragment.has("signup") && options.methods.signup) {
    return (await import("./letters.js")).signUp();
  }

  if (asked.login === "required") {
    return resume(() => home.show());
  }

  return query.get("consent") === "1" && asked.consent === "required"
         ? consent() : location.replace(home.next);
}


function consent() {
  const { client, redirectHost, resources, scopes, user } = asked;

  show(fill(words.consent, { client: client.name }),
       note(fill(words.consentNote, { host: redirectHost })),
       scopes.length > 0
         && h("ul", { class: "rules" },
              ...scopes.map(({ name }) => h("li", {}, named(name)))),
       resources.length > 0 && note(words.consentAt),
       resources.length > 0
         && h("ul", { class: "rules" },
              ...resources.map(uri => h("li", {}, uri))),
       note(fill(words.consentAs, { name: user.displayName ?? user.email })),
       button(words.allow, () => decide("approve")),
       button(words.refuse, () => decide("deny")),
       button(text.somebodyElse, leave));
}

async function decide(decision) {
  const { redirectTo } = await post("/oauth/authorization", {
    request: new URL(home.next).search.slice(1), decision, userId: asked.user.id,
    scopes: asked.scopes.map(({ name }) => name), resources: asked.resources,
  });

  location.assign(redirectTo);
}
