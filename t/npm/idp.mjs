// Identity providers, oidc-provider as it is, behind TLS.
//
//   node idp.mjs DIR N CALLBACK...
//
// DIR has good.pem and good.key.  It says "ready", with the issuers.  Then each line on
// stdin is a journey of a browser that is at the provider for the first time:
// { url, account, acr, amr }, and the answer is { location } when it is led away, and
// "tokens" and "jwks", how many requests for tokens and keys there have been.  An account
// is its claims.  With { accounts }, of names, a page asks those who come who they are;
// { rotate } has the provider of that number make other keys; { leave } has the browser of the
// last journey sign out there, of which the provider tells LOGOUT, a URL in the environment.

import { readFileSync } from "node:fs";
import https from "node:https";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import Provider from "oidc-provider";
import { exportJWK, generateKeyPair } from "jose";

const [dir, n, ...callbacks] = process.argv.slice(2);
const tls = { cert: readFileSync(`${dir}/good.pem`), key: readFileSync(`${dir}/good.key`) };
const accounts = new Map();

let journey = null;
let cookies = new Map();
let tokens = 0;
let jwks = 0;


// A key of each kind, and a client that has a secret, and one that has none.

async function settings() {
  const keys = [];

  for (const alg of ["RS256", "ES256", "ES384", "PS256", "EdDSA"]) {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });

    keys.push({ ...await exportJWK(privateKey), alg, use: "sig" });
  }

  const client = more => ({
    redirect_uris: callbacks, response_types: ["code"], grant_types: ["authorization_code"],
    require_auth_time: true, ...more });

  return {
    clients: [
      client({ client_id: "svc", client_secret: "s:e/c r+e%t",
               ...process.env.LOGOUT ? { backchannel_logout_uri: process.env.LOGOUT,
                                         backchannel_logout_session_required: true } : {} }),
      client({ client_id: "post", client_secret: "secret",
               token_endpoint_auth_method: "client_secret_post" }),
      client({ client_id: "public", token_endpoint_auth_method: "none" }),
      ...["ES256", "ES384", "PS256", "EdDSA"].map(alg => client({
        client_id: alg, client_secret: "secret", id_token_signed_response_alg: alg })),
    ],
    jwks: { keys },
    cookies: { keys: ["a"] },
    ttl: Object.fromEntries(["AccessToken", "AuthorizationCode", "Grant", "IdToken",
                             "Interaction", "Session"].map(name => [name, 600])),
    conformIdTokenClaims: false,
    claims: {
      email: ["email", "email_verified"],
      profile: ["name", "given_name", "family_name", "locale"],
      openid: ["sub", "groups", "acr", "amr"],
    },
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256", "ES384", "PS256", "EdDSA"] },
    acrValues: ["phr", "urn:one"],
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),    // loopback, too
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (ctx, id) => ({
      accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }),
    loadExistingGrant: async ctx => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });

      grant.addOIDCScope("openid email profile");
      await grant.save();

      return grant;
    },
  };
}


async function listen() {
  const server = https.createServer(tls);

  await new Promise(done => server.listen(0, "127.0.0.1", done));

  const issuer = `https://127.0.0.1:${server.address().port}`;
  let provider, handle;

  const make = async () => {
    provider = new Provider(issuer, await settings());
    handle = provider.callback();
    provider.on("server_error", (ctx, error) => console.error(error));
    provider.on("backchannel.error", (ctx, error) => console.error(error));
  };

  await make();

  server.on("request", (req, res) => {
    tokens += req.url === "/token";
    jwks += req.url === "/jwks";

    if (!req.url.startsWith("/interaction/")) {
      return handle(req, res);
    }

    if (journey.accounts) {
      return form(provider, req, res);
    }

    const { account, acr, amr } = journey;

    return provider.interactionFinished(req, res, {
      login: { accountId: account.sub, acr, amr } });
  });

  return { issuer, make };
}


// The page, whose field has the hint.

async function form(provider, req, res) {
  if (req.method === "POST") {
    const body = new URLSearchParams(await text(req));

    return provider.interactionFinished(req, res,
      body.has("cancel") ? { error: "access_denied" }
                         : { login: { accountId: journey.accounts[body.get("name")].sub } });
  }

  const { params } = await provider.interactionDetails(req, res);
  const hint = (params.login_hint ?? "").replace(/["&<]/g, c => `&#${c.charCodeAt()};`);

  res.setHeader("Content-Type", "text/html; charset=utf-8");
  res.end(`<!doctype html><title>Provider</title><link rel="icon" href="data:,">
<h1>Provider</h1>
<form method="post"><label>Name <input name="name" value="${hint}"></label>
<button>Enter</button><button name="cancel">Cancel</button></form>`);
}


// Follows a browser's journey until it leaves the provider.

async function walk({ url, account }) {
  const origin = new URL(url).origin;

  accounts.set(account.sub, account);
  cookies = new Map();

  for (let i = 0; i < 10 && url.startsWith(origin); i++) {
    const res = await get(url);

    if (!res.headers.location) {
      return { status: res.statusCode };
    }

    url = new URL(res.headers.location, url).href;
  }

  return { location: url };
}


// Its page asks whether one really wants to.

async function leave(issuer) {
  const [, xsrf] = (await get(`${issuer}/session/end`)).body.match(/name="xsrf" value="(\w+)"/);

  return (await get(`${issuer}/session/end/confirm`, `xsrf=${xsrf}&logout=yes`)).statusCode;
}


const get = (url, form) => new Promise((done, failed) => {
  const cookie = [...cookies].map(c => c.join("=")).join("; ");
  const req = https.request(url, {
    method: form ? "POST" : "GET", rejectUnauthorized: false,
    headers: { ...cookie ? { cookie } : {},
               ...form ? { "content-type": "application/x-www-form-urlencoded" } : {} },
  }, async res => {
    for (const set of res.headers["set-cookie"] ?? []) {
      const [, name, value] = set.match(/^([^=]+)=([^;]*)/);

      cookies.set(name, value);
    }

    res.body = await text(res);
    done(res);
  });

  req.on("error", failed);
  req.end(form);
});


const providers = [];

for (let i = 0; i < n; i++) {
  providers.push(await listen());
}

console.log(JSON.stringify({ issuers: providers.map(p => p.issuer) }));

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);

  journey = asked.url || asked.accounts ? asked : journey;

  if ("rotate" in asked) {
    await providers[asked.rotate].make();
  }

  for (const account of Object.values(asked.accounts ?? {})) {
    accounts.set(account.sub, account);
  }

  console.log(JSON.stringify({ ...asked.url ? await walk(asked) : {},
    ...asked.leave !== undefined ? { left: await leave(providers[asked.leave].issuer) } : {},
    tokens, jwks }));
}

process.exit(0);
