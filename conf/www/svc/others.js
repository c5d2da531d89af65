// Signing in through another server: by which connections, and what came of it.

import { button, fill, form, fragment, h, names, post, say, show, text,
} from "./page.js";
import { options } from "./brand.js";
import { emailField, home } from "./session.js";

// its own words, which a sign-in without connections does not load

const { default: words } = await import(`./others.${document.documentElement.lang}.js`);

// those that are answers to forms, too

for (const code of ["directory_account", "directory_password_expired", "email_unverified",
                    "flow_expired", "link_required", "no_account", "sso_required"]) {
  text.errors[code] = words.errors[code];
}


// What a connection is called: its label, unless that is its key.

const PROVIDERS = new Map([
  ["apple", "Apple"], ["facebook", "Facebook"], ["github", "GitHub"],
  ["gitlab", "GitLab"], ["google", "Google"], ["linkedin", "LinkedIn"],
  ["microsoft", "Microsoft"],
]);

const nameOf = ({ connection, label }) =>
  label !== connection ? label
    : connection === "saml" ? options.tenant.name
    : PROVIDERS.get(connection) ?? label;

const title = connection => fill(words.signInWith, { name: nameOf(connection) });


// A directory is asked for the password of the form, and has no page.

const leads = connection => connection.kind !== "ldap";

export const buttons = ({ connections = [], email } = {}) =>
  [...connections, ...options.methods.connections ?? []]
    .filter((c, i, all) => leads(c)
                           && all.findIndex(d => d.connection === c.connection) === i)
    .map(c => button(title(c), () => leave(c.connection, email)));

// Where an application waits, the browser comes back to it.

async function leave(connection, email) {
  const { redirectTo } = await post("/auth/federation/start", {
    connection, tenant: names.tenant, email,
    returnTo: home.next?.slice(location.origin.length),
  });

  location.assign(redirectTo);
}


// The address comes first: who must come in by a connection types no password.

export const address = next =>
  form([{ ...emailField(), autocomplete: "username webauthn" }], text.goOn,
       async ({ email }) => {
         names.email = email;

         const found = await discover(email);
         const must = mustBy(found);

         return must ? leave(must.connection, email) : next({ ...found, email });
       });

async function discover(email) {
  try {
    return await post("/auth/discover", { email, tenant: names.tenant });

  } catch (e) {
    if (e.code !== "not_found") {
      throw e;
    }

    return { connections: [] };
  }
}

const mustBy = ({ connections, required }) =>
  connections.find(c => c.connection === required && leads(c));


// An answer to a form.  Who must come in otherwise is led there, if the form had an
// address.

export async function answer(e) {
  const { email } = names;
  const must = e.code === "sso_required" && email?.includes("@")
    && mustBy(await discover(email));

  return must ? leave(must.connection, email) : say(e);
}


// What a server elsewhere has sent here: nobody is led away without a click.

export function chosen() {
  const key = fragment.get("connection");

  if (!/^(?:[a-z]{1,30}|oidc-[a-z0-9]{1,30})$/.test(key)) {
    return home.show();
  }

  const known = options.methods.connections?.find(c => c.connection === key);
  const hint = fragment.get("login_hint") || undefined;

  show(`${text.signIn} – ${names.name}`,
       form([], title(known ?? { connection: key, label: key }), () => leave(key, hint)),
       button(words.another, () => home.show()));
}


// What came of a sign-in elsewhere.  Anybody may write such an address, so that it
// only chooses a sentence.

const SAME = ["access_denied", "rate_limited", "unavailable"];

export function refused() {
  const [code, id, flow] = ["error", "id", "flow"].map(key => fragment.get(key));
  const sentence = SAME.includes(code) ? text.errors[code]
    : Object.hasOwn(words.errors, code) ? words.errors[code] : words.failed;

  document.querySelector("#error").replaceChildren(
    fill(sentence, { minutes: 1 }),
    ...(/^\w{1,64}$/.test(id) ? [h("br"), `${words.quote} `, h("code", {}, id)] : []),
    ...(code === "link_required" && flow
      ? [h("br"), button(words.linkCode, async () =>
        (await import("./letters.js")).linkCode(flow))] : []));
}
