// The identity providers that are known by name: oidc-provider, with what is peculiar to
// each, behind TLS.
//
//   node providers.mjs DIR N CALLBACK...
//
// DIR has named.pem and named.key, of all their names, which are at one port.  The last
// part but one of a callback is the name of its provider.  It says "ready", with the port.  Then
// each line on stdin is a journey: { url, account }, and the answer is { location }, where
// the browser is led, with { form } when it is to send one.  { set } changes what follows:
// appleKey, the key of Apple's clients; linkedin, how that spells its issuer; fails, a path
// that answers 500.  The answer has "asked", the last requests to paths; "secret", the
// header and the claims of the last secret that Apple was sent; and "sent", whether each
// provider was sent a secret in the header or in the form.

import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import https from "node:https";
import { createInterface } from "node:readline";
import Provider from "oidc-provider";
import { decodeProtectedHeader, exportJWK, generateKeyPair, jwtVerify } from "jose";

const [dir, , ...callbacks] = process.argv.slice(2);
const tls = { cert: readFileSync(`${dir}/named.pem`), key: readFileSync(`${dir}/named.key`) };
const accounts = new Map();
const told = { linkedin: "https://www.linkedin.com/oauth" };

let account = null;
let secret = null;
let asked = [];
const sent = {};

const { privateKey } = await generateKeyPair("RS256", { extractable: true });
const jwks = { keys: [{ ...await exportJWK(privateKey), alg: "RS256", use: "sig" }] };
const TID = "11111111-1111-4111-8111-111111111111";
const MICROSOFT = "https://login.microsoftonline.com";


// What is peculiar: issuer, that of tokens; path, where it is mounted; and more settings.

const quirks = {
  google: { host: "accounts.google.com", issuer: () => "https://accounts.google.com" },
  microsoft: { host: "login.microsoftonline.com", path: `/${TID}/v2.0`,
               issuer: () => `${MICROSOFT}/${account.tid}/v2.0`, no_iss: true },
  apple: { host: "appleid.apple.com", issuer: () => "https://appleid.apple.com", post: true,
           apple: true },
  gitlab: { host: "gitlab.com", issuer: () => "https://gitlab.com" },
  linkedin: { host: "www.linkedin.com", path: "/oauth", issuer: () => told.linkedin, post: true,
              no_pkce: true, no_nonce: true, no_iss: true,
              published: "https://www.linkedin.com/oauth" },
  facebook: { host: "www.facebook.com", more: [ "graph.facebook.com" ], post: true, no_iss: true,
              issuer: () => "https://www.facebook.com",
              routes: { authorization: "/dialog/oauth", token: "/oauth/access_token",
                        jwks: "/.well-known/oauth/openid/jwks/" } },
  github: { host: "github.com", more: [ "api.github.com" ], post: true, no_iss: true,
            issuer: () => "https://github.com/login/oauth",
            scopes: [ "read:user", "user:email" ],
            routes: { authorization: "/login/oauth/authorize",
                      token: "/login/oauth/access_token" } },
};


function settings(name, quirk) {
  return {
    clients: [{
      client_id: "svc", client_secret: "secret", response_types: ["code"],
      grant_types: ["authorization_code"], redirect_uris: callbacks.filter(
        url => url.endsWith(`/${name}/callback`)),
      token_endpoint_auth_method: quirk.post ? "client_secret_post" : "client_secret_basic",
    }],
    jwks,
    cookies: { keys: ["a"] },
    ttl: Object.fromEntries(["AccessToken", "AuthorizationCode", "Grant", "IdToken",
                             "Interaction", "Session"].map(key => [key, 600])),
    conformIdTokenClaims: false,
    claims: {
      email: ["email", "email_verified"],
      profile: ["name", "given_name", "family_name"],
      openid: ["sub", "hd", "tid", "oid", "xms_edov", "amr", "auth_time"],
    },
    ...quirk.routes ? { routes: quirk.routes } : {},
    scopes: ["openid", "offline_access", ...quirk.scopes ?? []],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (ctx, id) => ({
      accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }),
    loadExistingGrant: async ctx => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });

      grant.addOIDCScope(["openid email profile", ...quirk.scopes ?? []].join(" "));
      await grant.save();

      return grant;
    },
  };
}


// What a provider answers in its own way.

function peculiar(name, provider, quirk) {
  provider.use(async (ctx, next) => {
    await next();

    if (ctx.oidc?.route === "token") {
      sent[name] = ctx.headers.authorization ? "header" : "form";
    }

    if (ctx.path.endsWith("/openid-configuration")) {
      if (quirk.no_iss) {
        delete ctx.body.authorization_response_iss_parameter_supported;
      }
      ctx.body.issuer = quirk.published ?? ctx.body.issuer;
    }

    if (quirk.no_iss && ctx.response.get("location")) {
      ctx.set("location", ctx.response.get("location").replace(/&iss=[^&]*/, ""));
    }

    if (quirk.no_pkce && ctx.oidc?.body?.code_verifier) {
      ctx.status = 401;
      ctx.body = { error: "invalid_client" };
    }

    // GitHub says errors with 200

    if (quirk.scopes && ctx.status >= 400 && ctx.path === quirk.routes.token) {
      ctx.status = 200;
    }
  });

  Object.defineProperty(provider, "issuer", { get: quirk.issuer });

  if (quirk.no_nonce) {
    const { set } = provider.IdToken.prototype;

    provider.IdToken.prototype.set = function (key, value) {
      return key === "nonce" ? undefined : set.call(this, key, value);
    };
  }

  if (quirk.apple) {
    provider.Client.prototype.compareClientSecret = async text => {
      const { payload } = await jwtVerify(text, createPublicKey(told.appleKey), {
        audience: "https://appleid.apple.com", algorithms: ["ES256"] });

      secret = { header: decodeProtectedHeader(text), payload };

      return true;
    };
  }
}


const providers = Object.entries(quirks).map(([name, quirk]) => {
  account = { tid: TID };

  const provider = new Provider(`https://${quirk.host}${quirk.path ?? ""}`,
                                settings(name, quirk));

  peculiar(name, provider, quirk);
  provider.on("server_error", (ctx, error) => console.error(error));

  return { ...quirk, name, provider, handle: provider.callback(),
           hosts: [quirk.host, ...quirk.more ?? []] };
});


// GitHub's documents.

async function documents({ provider }, req) {
  const [, text] = (req.headers.authorization ?? "").match(/^Bearer (\S+)$/) ?? [];
  const token = text && await provider.AccessToken.find(text);

  if (!token || !req.headers["user-agent"]) {
    return { status: 403, json: { message: "Forbidden" } };
  }

  const { sub, login, name, emails } = accounts.get(token.accountId);

  return { status: 200, json: req.url === "/user" ? { id: Number(sub), login, name } : emails };
}


// What is published for all directories of Microsoft.

async function common({ path }) {
  const res = await get(`${MICROSOFT}${path}/.well-known/openid-configuration`);

  return { status: 200, json: { ...JSON.parse(res.text),
                                issuer: `${MICROSOFT}/{tenantid}/v2.0` } };
}


async function serve(req, res) {
  const one = providers.find(p => p.hosts.includes(req.headers.host));
  const json = ({ status, json }) => {
    res.writeHead(status, { "content-type": "application/json" });
    res.end(JSON.stringify(json));
  };

  if (!req.url.includes("/interaction/") && !req.url.includes("/auth")) {
    asked = [...asked, `${req.headers.host}${req.url}`].slice(-10);
  }

  if (req.url === told.fails) {
    return json({ status: 500, json: {} });
  }

  if (req.headers.host === "api.github.com") {
    return json(await documents(one, req));
  }

  if (req.url === "/common/v2.0/.well-known/openid-configuration") {
    return json(await common(one));
  }

  if (req.url.startsWith("/interaction/")) {
    return one.provider.interactionFinished(req, res, {
      login: { accountId: account.sub, amr: account.amr } });
  }

  if (one.path) {
    req.originalUrl = req.url;
    req.url = req.url.slice(one.path.length);
  }

  return one.handle(req, res);
}


const server = https.createServer(tls, (req, res) => {
  serve(req, res).catch(error => {
    console.error(error);
    res.destroy();
  });
});

await new Promise(done => server.listen(0, "127.0.1.1", done));

const { port } = server.address();


// Follows a browser's journey until it leaves the providers.

async function walk(url) {
  const cookies = new Map();

  accounts.set(account.sub, account);

  for (let i = 0; i < 10; i++) {
    if (!providers.some(p => p.hosts.includes(new URL(url).host))) {
      return { location: url };
    }

    const res = await get(url, [...cookies].map(c => c.join("=")).join("; "));

    for (const cookie of res.headers["set-cookie"] ?? []) {
      const [, name, value] = cookie.match(/^([^=]+)=([^;]*)/);

      cookies.set(name, value);
    }

    if (!res.headers.location) {
      const [, action] = res.text.match(/action="([^"]*)"/) ?? [];
      const fields = [...res.text.matchAll(/name="([^"]*)" value="([^"]*)"/g)];

      return action ? { location: action, form: Object.fromEntries(fields.map(f => f.slice(1))) }
                    : { status: res.statusCode };
    }

    url = new URL(res.headers.location, url).href;
  }

  return {};
}


const get = (url, cookie) => new Promise((done, failed) => {
  const { hostname, pathname, search } = new URL(url);

  https.get({ host: "127.0.1.1", port, servername: hostname, path: pathname + search,
              headers: { host: hostname, ...cookie ? { cookie } : {} },
              rejectUnauthorized: false }, res => {
    let text = "";

    res.on("data", chunk => { text += chunk; });
    res.on("end", () => done({ headers: res.headers, statusCode: res.statusCode, text }));
  }).on("error", failed);
});


console.log(JSON.stringify({ issuers: [], port }));

for await (const line of createInterface({ input: process.stdin })) {
  const { url, set, ...more } = JSON.parse(line);

  Object.assign(told, set);
  account = more.account ?? account;

  const came = url ? await walk(url) : {};

  console.log(JSON.stringify({ ...came, asked, secret, sent }));
}

process.exit(0);
