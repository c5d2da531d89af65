// What a client proves itself by, and what its library is told: shown when there is a new
// secret, which leaves the document with it.

import { call, session } from "../ui/call.js";
import { Code, Id, Secret } from "../ui/copy.js";
import { Dialog, show } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { Form } from "../ui/form.js";
import { text } from "../ui/text.js";
import { Time } from "../ui/time.js";
import { fill, shown, wordsOf } from "../ui/words.js";
import { server } from "./server.js";
import { pathOf, withLock } from "./sheet.js";

const words = await wordsOf("console/credentials");

export const issuer = () => server.issuerPrefix + session.tenant.slug;

const CODE = "authorization_code";
const GRANT = "grant_type=client_credentials";
const ENV = "$SVC_CLIENT_SECRET";


// The settings of a library of OpenID Connect, and a request that tries it.

function settingsOf({ clientId, scopes, redirectUris, tokenEndpointAuthMethod }) {
  return [
    ["issuer", issuer()],
    ["client_id", clientId],
    tokenEndpointAuthMethod === "client_secret_basic" && ["client_secret", ENV],
    ["token_endpoint_auth_method", tokenEndpointAuthMethod],
    redirectUris.length > 0 && ["redirect_uri", redirectUris[0]],
    scopes.length > 0 && ["scope", scopes.join(" ")],
  ].filter(Boolean).map(([name, value]) => `${name} = ${value}`).join("\n");
}

function requestOf({ clientId, grantTypes, tokenEndpointAuthMethod }) {
  if (grantTypes.includes("client_credentials")
      && tokenEndpointAuthMethod === "client_secret_basic")
  {
    return [`curl -u "${clientId}:${ENV}"`, `-d ${GRANT}`,
            `${issuer()}/token`].join(" \\\n  ");
  }

  return `curl ${issuer()}/.well-known/openid-configuration`;
}


// "one" is the application; "secret" the new one.

export const Credentials = ({ one, secret }) => h("div", { class: "credentials" },
  secret && h(Secret, { value: secret, label: words.secret }),
  h("dl", {},
    h("dt", {}, words.clientId), h("dd", {}, h(Id, { value: one.clientId })),
    h("dt", {}, words.issuer), h("dd", {}, h(Id, { value: issuer() }))),
  h("h3", {}, words.settings),
  h(Code, { value: settingsOf(one) }),
  h("h3", {}, one.grantTypes.includes(CODE) ? words.metadata : words.token),
  h(Code, { value: requestOf(one) }));


// --- a new secret --------------------

// "act" is that of a sheet.

export const Rotate = ({ act, one, done }) => h("button", {
  type: "button", title: text.sensitive,
  async onclick() {
    await show(NewSecret, { act, one });
    done();
  },
}, withLock(words.rotate));

function NewSecret({ act, one, done }) {
  const [made, setMade] = state(null);

  const save = async body => {
    const { data } = await call({ method: act.method, path: pathOf(act.path, one), body });

    setMade(data);
  };

  return h(Dialog, {
    title: fill(made ? words.made : words.title, { name: shown(one.name) }), done,
    wide: made !== null,
  },
    made ? h("div", {},
        h(Credentials, { one, secret: made.clientSecret }),
        h("p", {}, words.until, " ",
          h(Time, { value: made.previousValidUntil, none: words.dead })),
        h("div", { class: "actions" },
          h("button", { type: "button", class: "primary", onclick: () => done() }, text.kept)))
      : h("div", {},
          h("p", {}, words.note),
          h(Form, { fields: act.form, words, verb: words.rotate, onsave: save,
                    oncancel: () => done() })));
}
