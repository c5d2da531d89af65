// Identity providers that say what they are told to, with no "iss" beside a code.
//
//   node upstream.mjs DIR N
//
// DIR has good.pem and good.key.  It says which issuers there are.  Then each line on
// stdin is { claims }, of who comes next, whose ID tokens have no auth_time of their own;
// { leads: { ISSUER: URL } }, where that issuer sends whoever comes, with the state that
// it was sent; { walk }, where a browser goes; or { sign }, the claims of a token, with
// "by", the number of the issuer that signs it, and "kid".  The answer has "location", where
// the providers lead it, "token", and "got", how many codes each issuer's token endpoint was
// sent.
// { token: { status, json } } is what the token endpoints answer to all codes; null: tokens.
// { userinfo } is what userinfo says, and "users" how often it was asked.  { hold: true }
// has those who ask for tokens wait until it is false.

import { readFileSync } from "node:fs";
import https from "node:https";
import { createHash, randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

const [dir, n] = process.argv.slice(2);
const tls = { cert: readFileSync(`${dir}/good.pem`), key: readFileSync(`${dir}/good.key`) };
const told = { claims: {}, leads: {} };
const got = {};
let users = 0;

const digest = text => createHash("sha256").update(text).digest("base64url");

async function listen() {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...await exportJWK(publicKey), alg: "RS256", use: "sig", kid: "one" };
  const codes = new Map();
  const server = https.createServer(tls);

  await new Promise(done => server.listen(0, "127.0.0.1", done));

  const issuer = `https://127.0.0.1:${server.address().port}`;

  got[issuer] = 0;

  const auth = query => {
    if (told.leads[issuer]) {
      const to = new URL(told.leads[issuer]);

      to.searchParams.set("state", query.get("state"));
      return to.href;
    }

    const code = randomBytes(20).toString("base64url");
    const to = new URL(query.get("redirect_uri"));

    codes.set(code, { query, claims: told.claims });
    to.searchParams.set("code", code);
    to.searchParams.set("state", query.get("state"));

    return to.href;
  };

  const token = async form => {
    const { query, claims } = codes.get(form.get("code")) ?? {};

    got[issuer]++;

    while (told.hold) {
      await sleep(10);
    }

    if (told.token) {
      return told.token;
    }

    if (!query || digest(form.get("code_verifier") ?? "") !== query.get("code_challenge")
        || form.get("redirect_uri") !== query.get("redirect_uri")) {
      return { status: 400, json: { error: "invalid_grant" } };
    }

    const now = Math.floor(Date.now() / 1000);
    const id_token = await new SignJWT({
      iss: issuer, aud: query.get("client_id"), nonce: query.get("nonce"), iat: now,
      exp: now + 300, ...claims }).setProtectedHeader({ alg: "RS256", kid: "one" })
      .sign(privateKey);

    return { json: { access_token: "x", token_type: "Bearer", id_token } };
  };

  const answer = async (req, url) => {
    switch (url.pathname) {
    case "/.well-known/openid-configuration":
      return { json: {
        issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`, userinfo_endpoint: `${issuer}/me`, response_types_supported: ["code"],
        id_token_signing_alg_values_supported: ["RS256"] } };
    case "/jwks":
      return { json: { keys: [jwk] } };
    case "/auth":
      return { status: 302, location: auth(url.searchParams) };
    case "/me":
      users++;
      return req.headers.authorization === "Bearer x" ? { json: told.userinfo }
                                                      : { status: 401, json: {} };
    case "/token":
      return token(new URLSearchParams(await text(req)));
    default:
      return { status: 404, json: {} };
    }
  };

  server.on("request", async (req, res) => {
    const { status = 200, location, json } = await answer(req, new URL(req.url, issuer));

    res.writeHead(status, location ? { location } : { "content-type": "application/json" });
    res.end(json && JSON.stringify(json));
  });

  const sign = (claims, kid) => new SignJWT({ iss: issuer, ...claims })
    .setProtectedHeader({ alg: "RS256", kid, typ: "logout+jwt" }).sign(privateKey);

  return { issuer, sign };
}


async function text(req) {
  let body = "";

  for await (const chunk of req) {
    body += chunk;
  }

  return body;
}


async function walk(url, issuers) {
  for (let i = 0; i < 10 && issuers.includes(new URL(url).origin); i++) {
    url = (await get(url)).headers.location;
  }

  return url;
}


const get = url => new Promise((done, failed) =>
  https.get(url, { rejectUnauthorized: false }, res => {
    res.resume();
    res.on("end", () => done(res));
  }).on("error", failed));


const upstreams = [];

for (let i = 0; i < n; i++) {
  upstreams.push(await listen());
}

const issuers = upstreams.map(upstream => upstream.issuer);

console.log(JSON.stringify({ issuers }));

for await (const line of createInterface({ input: process.stdin })) {
  const { walk: url, sign, by = 0, kid = "one", ...more } = JSON.parse(line);

  Object.assign(told, more);
  console.log(JSON.stringify({ ...url ? { location: await walk(url, issuers) } : {},
    ...sign ? { token: await upstreams[by].sign(sign, kid) } : {}, got, users }));
}

process.exit(0);
