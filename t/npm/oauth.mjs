// What clients and resource servers of others make of /oauth.
//
// stdin: { "issuer", "client", "opaque", "dpop", "resource", "web", "granted", "keys" };
//     clients with "clientId", "clientSecret" and "resourceUri", and of a user who
//     has granted something to web { "sub", "code", "verifier", "redirect" }; keys:
//     clients without a secret, with "alg", "kid" and "pem"
// stdout: a line for each thing that was tried: { "name", "ok", "why" }

import { readFileSync } from 'node:fs';
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';

const { issuer, client, opaque, dpop, resource, web, granted, keys: keyed } =
    JSON.parse(readFileSync(0, 'utf8'));

// of this machine alone, without TLS
const http = { [oauth.allowInsecureRequests]: true };

async function attempt(name, f) {
    try {
        const ok = await f() === true;
        console.log(JSON.stringify({ name, ok, why: ok ? '' : 'not as it should be' }));

    } catch (e) {
        const why = `${e.stack} ${JSON.stringify(e.cause ?? null)}`;
        console.log(JSON.stringify({ name, ok: false, why }));
    }
}

function id(app) {
    return { client_id: app.clientId };
}

const basic = app => oauth.ClientSecretBasic(app.clientSecret);

let as;

async function grant(app, parameters = {}, options = {}) {
    const r = await oauth.clientCredentialsGrantRequest(
        as, id(app), basic(app), parameters, { ...http, ...options });

    return oauth.processClientCredentialsResponse(as, id(app), r);
}

// A request to a resource server, as that one sees it.

function shown(scheme, token, headers = {}) {
    return new Request('https://api.test/x', {
        headers: { Authorization: `${scheme} ${token}`, ...headers } });
}

async function introspect(app, token) {
    const r = await oauth.introspectionRequest(as, id(app), basic(app), token, http);

    return oauth.processIntrospectionResponse(as, id(app), r);
}

for (const algorithm of ['oidc', 'oauth2']) {
    await attempt(`oauth4webapi: discovery by ${algorithm}`, async () => {
        const url = new URL(issuer);
        const r = await oauth.discoveryRequest(url, { algorithm, ...http });

        as = await oauth.processDiscoveryResponse(url, r);

        return as.issuer === issuer
               && as.code_challenge_methods_supported.includes('S256')
               && as.authorization_response_iss_parameter_supported;
    });
}

await attempt('oauth4webapi: client_credentials, by Basic and in the body', async () => {
    const r = await oauth.clientCredentialsGrantRequest(
        as, id(client), oauth.ClientSecretPost(client.clientSecret), {}, http);
    const posted = await oauth.processClientCredentialsResponse(as, id(client), r);
    const t = await grant(client, { scope: 'read' });

    return t.token_type === 'bearer' && t.scope === 'read' && t.expires_in === 3600
           && posted.scope === 'read write';
});

await attempt('oauth4webapi: an error is one', async () => {
    try {
        await grant(client, { scope: 'other' });
        return false;

    } catch (e) {
        return e instanceof oauth.ResponseBodyError && e.error === 'invalid_scope';
    }
});

await attempt('oauth4webapi: a wrong secret is challenged', async () => {
    try {
        await grant({ ...client, clientSecret: 'x'.repeat(43) });
        return false;

    } catch (e) {
        return e instanceof oauth.WWWAuthenticateChallengeError
               && e.cause[0].scheme === 'basic';
    }
});

await attempt('oauth4webapi: a resource server takes a JWT (RFC 9068)', async () => {
    const t = await grant(client, { resource: resource.resourceUri });
    const claims = await oauth.validateJwtAccessToken(
        as, shown('Bearer', t.access_token), resource.resourceUri, http);

    return claims.client_id === client.clientId && claims.sub === client.clientId
           && claims.aud === resource.resourceUri;
});

await attempt('oauth4webapi: but none for another one', async () => {
    const t = await grant(client, { resource: 'https://other.test/' });

    try {
        await oauth.validateJwtAccessToken(as, shown('Bearer', t.access_token),
                                           resource.resourceUri, http);
        return false;

    } catch (e) {
        return e.code === oauth.JWT_CLAIM_COMPARISON;
    }
});

await attempt('oauth4webapi: introspection by a resource server, and revocation', async () => {
    const t = await grant(client, { resource: resource.resourceUri });
    const before = await introspect(resource, t.access_token);
    const r = await oauth.revocationRequest(as, id(client), basic(client),
                                            t.access_token, http);

    await oauth.processRevocationResponse(r);

    const after = await introspect(resource, t.access_token);

    return before.active && before.aud === resource.resourceUri
           && before.client_id === client.clientId && after.active === false;
});

await attempt('oauth4webapi: introspection of an opaque token', async () => {
    const t = await grant(opaque);
    const seen = await introspect(opaque, t.access_token);

    return !t.access_token.includes('.') && seen.active && seen.iss === issuer;
});

for (const alg of ['ES256', 'Ed25519']) {
    await attempt(`oauth4webapi: DPoP by ${alg}, with a nonce`, async () => {
        const keys = await oauth.generateKeyPair(alg);
        const DPoP = oauth.DPoP(id(dpop), keys);
        const t = await grant(dpop, { resource: resource.resourceUri }, { DPoP });
        const again = await grant(dpop, {}, { DPoP });
        const seen = await introspect(resource, t.access_token);

        return t.token_type === 'dpop' && again.token_type === 'dpop'
               && seen.token_type === 'DPoP' && seen.cnf.jkt === await DPoP.calculateThumbprint();
    });
}

await attempt('oauth4webapi: a clock that is late takes a nonce', async () => {
    const late = { ...id(dpop), [oauth.clockSkew]: -3600 };
    const DPoP = oauth.DPoP(late, await oauth.generateKeyPair('ES256'));
    const ask = () => oauth.clientCredentialsGrantRequest(
        as, late, basic(dpop), {}, { ...http, DPoP });

    let r = await ask();

    try {
        await oauth.processClientCredentialsResponse(as, late, r);
        return false;

    } catch (e) {
        if (!oauth.isDPoPNonceError(e)) {
            throw e;
        }
    }

    r = await ask();

    return (await oauth.processClientCredentialsResponse(as, late, r)).token_type === 'dpop';
});

const keys = await oauth.generateKeyPair('ES256');
let bound;

async function userinfo(app, DPoP) {
    const r = await oauth.userInfoRequest(as, app, bound, { ...http, DPoP });

    return (await oauth.processUserInfoResponse(as, app, granted.sub, r)).sub === granted.sub;
}

await attempt('oauth4webapi: a code, and userinfo, by DPoP', async () => {
    const DPoP = oauth.DPoP(id(web), keys);
    const response = oauth.validateAuthResponse(
        as, id(web), new URLSearchParams({ code: granted.code, iss: issuer }),
        oauth.expectNoState);
    const r = await oauth.authorizationCodeGrantRequest(
        as, id(web), basic(web), response, granted.redirect, granted.verifier,
        { ...http, DPoP });
    const t = await oauth.processAuthorizationCodeResponse(as, id(web), r);

    bound = t.access_token;

    return t.token_type === 'dpop' && await userinfo(id(web), DPoP);
});

await attempt('oauth4webapi: userinfo takes a nonce of a clock that is late', async () => {
    const late = { ...id(web), [oauth.clockSkew]: -3600 };
    const DPoP = oauth.DPoP(late, keys);

    try {
        await userinfo(late, DPoP);
        return false;

    } catch (e) {
        if (!oauth.isDPoPNonceError(e)) {
            throw e;
        }
    }

    return userinfo(late, DPoP);
});

await attempt('openid-client: discovery, and client_credentials', async () => {
    const config = await openid.discovery(
        new URL(issuer), client.clientId, undefined,
        openid.ClientSecretBasic(client.clientSecret),
        { execute: [openid.allowInsecureRequests] });
    const t = await openid.clientCredentialsGrant(config, { scope: 'write' });
    const seen = await openid.tokenIntrospection(config, t.access_token);

    await openid.tokenRevocation(config, t.access_token);

    const after = await openid.tokenIntrospection(config, t.access_token);

    return t.scope === 'write' && seen.active && !after.active;
});

await attempt('openid-client: DPoP', async () => {
    const config = await openid.discovery(
        new URL(issuer), dpop.clientId, undefined,
        openid.ClientSecretPost(dpop.clientSecret),
        { execute: [openid.allowInsecureRequests] });
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    const t = await openid.clientCredentialsGrant(config, {}, { DPoP });

    return t.token_type === 'dpop';
});

for (const app of keyed) {
    const key = { key: await jose.importPKCS8(app.pem, app.alg), kid: app.kid };

    await attempt(`oauth4webapi: private_key_jwt, ${app.alg}`, async () => {
        const auth = oauth.PrivateKeyJwt(key);
        const r = await oauth.clientCredentialsGrantRequest(
            as, id(app), auth, { scope: 'read' }, http);
        const t = await oauth.processClientCredentialsResponse(as, id(app), r);
        const seen = await oauth.processIntrospectionResponse(
            as, id(app),
            await oauth.introspectionRequest(as, id(app), auth, t.access_token, http));

        await oauth.processRevocationResponse(
            await oauth.revocationRequest(as, id(app), auth, t.access_token, http));

        return t.scope === 'read' && seen.active && seen.client_id === app.clientId;
    });

    await attempt(`openid-client: private_key_jwt, ${app.alg}`, async () => {
        const config = await openid.discovery(
            new URL(issuer), app.clientId, undefined, openid.PrivateKeyJwt(key),
            { execute: [openid.allowInsecureRequests] });
        const t = await openid.clientCredentialsGrant(config, { scope: 'write' });
        const seen = await openid.tokenIntrospection(config, t.access_token);

        await openid.tokenRevocation(config, t.access_token);

        const after = await openid.tokenIntrospection(config, t.access_token);

        return t.scope === 'write' && seen.active && !after.active;
    });
}

await attempt('jose: a JWT by the keys that are published', async () => {
    const { access_token } = await grant(client, { resource: resource.resourceUri });
    const keys = jose.createRemoteJWKSet(new URL(as.jwks_uri));
    const { payload, protectedHeader } = await jose.jwtVerify(access_token, keys, {
        issuer, audience: resource.resourceUri, typ: 'at+jwt', algorithms: ['ES256'] });
    const key = (await (await fetch(as.jwks_uri)).json()).keys
        .find((k) => k.kid === protectedHeader.kid);

    return payload.jti.length === 36 && key.alg === 'ES256'
           && key.kid === await jose.calculateJwkThumbprint(key);
});

await attempt('jose: but none that was changed', async () => {
    const { access_token } = await grant(client);
    const [head, body, signature] = access_token.split('.');
    const claims = { ...jose.decodeJwt(access_token), scope: 'admin' };
    const keys = jose.createRemoteJWKSet(new URL(as.jwks_uri));
    const text = Buffer.from(JSON.stringify(claims)).toString('base64url');

    try {
        await jose.jwtVerify(`${head}.${text}.${signature}`, keys);
        return body === text;

    } catch (e) {
        return e.code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED';
    }
});
