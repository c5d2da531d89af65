// What clients of others make of a user's sign-in: the authorization code flow,
// ID tokens, userinfo, refresh tokens.
//
// input: { "issuer", "redirect", "email", "sub" } and applications: "web", "spa"
//     and "dpop" of oauth4webapi, "web2", "spa2" and "dpop2" of openid-client, "par",
//     "par2", "par3" and "spa3", of which all but the last must push their requests
// asks: visit, an authorization request: where it leads to;
//     deny, the same by a user who does not consent

import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';

import { ask, attempt, input, refused } from './party.mjs';

const { issuer, redirect, email, sub } = input;
const scope = 'openid profile email offline_access';

// of this machine alone, without TLS
const http = { [oauth.allowInsecureRequests]: true };
const execute = [openid.allowInsecureRequests];

function is_ada(info) {
    return info.sub === sub && info.email === email && info.name === 'Ada Lovelace';
}

// --- oauth4webapi -----------------------------------------------------------------

const as = await oauth.processDiscoveryResponse(
    new URL(issuer), await oauth.discoveryRequest(new URL(issuer), http));

// A client with its authentication, its keys, and what it has begun.

function client_of(app, DPoP) {
    const client = { client_id: app.clientId, require_auth_time: true };
    const auth = app.clientSecret ? oauth.ClientSecretBasic(app.clientSecret)
                                  : oauth.None();

    return { client, auth, options: DPoP ? { ...http, DPoP } : http };
}

async function begun(c, more = {}) {
    const run = { verifier: oauth.generateRandomCodeVerifier(),
                  state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce() };
    const url = new URL(as.authorization_endpoint);

    const parameters = {
        client_id: c.client.client_id, redirect_uri: redirect, response_type: 'code',
        scope, state: run.state, nonce: run.nonce, max_age: '3600',
        code_challenge: await oauth.calculatePKCECodeChallenge(run.verifier),
        code_challenge_method: 'S256', ...more };

    if (c.options.DPoP) {
        parameters.dpop_jkt = await c.options.DPoP.calculateThumbprint();
    }

    for (const [name, value] of Object.entries(parameters)) {
        url.searchParams.set(name, value);
    }

    return { ...run, url: url.href };
}

// The same request, sent by the client itself (RFC 9126): the browser has a handle of it.

async function pushed(c, more = {}) {
    const run = await begun(c, more);
    const asked = new URL(run.url);
    const r = await oauth.pushedAuthorizationRequest(
        as, c.client, c.auth, asked.searchParams, c.options);
    const { request_uri, expires_in } = await oauth.processPushedAuthorizationResponse(
        as, c.client, r);

    if (expires_in !== 90) {
        throw new Error(`expires_in ${expires_in}`);
    }

    asked.search = new URLSearchParams({ client_id: c.client.client_id, request_uri });

    return { ...run, url: asked.href };
}

async function redeemed(c, run, callback) {
    const params = oauth.validateAuthResponse(as, c.client, new URL(callback), run.state);
    const r = await oauth.authorizationCodeGrantRequest(
        as, c.client, c.auth, params, redirect, run.verifier, c.options);
    const t = await oauth.processAuthorizationCodeResponse(
        as, c.client, r, { expectedNonce: run.nonce, maxAge: 3600, requireIdToken: true });

    await oauth.validateApplicationLevelSignature(as, r, http);

    return t;
}

async function refreshed(c, token) {
    const r = await oauth.refreshTokenGrantRequest(as, c.client, c.auth, token, c.options);

    return oauth.processRefreshTokenResponse(as, c.client, r);
}

async function info(c, t, options = c.options) {
    const r = await oauth.userInfoRequest(as, c.client, t.access_token, options);

    return oauth.processUserInfoResponse(as, c.client, sub, r);
}

const invalid_grant = e => e.error === 'invalid_grant';

async function flow(name, app, DPoP) {
    const c = client_of(app, DPoP);
    const type = DPoP ? 'dpop' : 'bearer';
    let t, run, callback;

    await attempt(`${name}: a code, and an ID token`, async () => {
        run = await begun(c);
        callback = await ask('visit', run.url);
        t = await redeemed(c, run, callback);

        const claims = oauth.getValidatedIdTokenClaims(t);

        return claims.sub === sub && claims.amr[0] === 'pwd' && t.token_type === type
               && t.scope === 'email offline_access openid profile';
    });

    await attempt(`${name}: userinfo`, async () => is_ada(await info(c, t)));

    await attempt(`${name}: refresh tokens rotate, and one again ends all`, async () => {
        const two = await refreshed(c, t.refresh_token);
        const three = await refreshed(c, two.refresh_token);
        const rotates = new Set([t, two, three].map(x => x.refresh_token)).size === 3;
        const known = is_ada(await info(c, three));

        return rotates && known && three.token_type === type
               && await refused(refreshed(c, t.refresh_token), invalid_grant)
               && await refused(refreshed(c, three.refresh_token), invalid_grant)
               && refused(info(c, three), e => e.cause[0].parameters.error
                                               === 'invalid_token');
    });

    await attempt(`${name}: nobody is asked again, and a code is good once`, async () => {
        run = await begun(c, { prompt: 'none' });
        callback = await ask('visit', run.url);
        t = await redeemed(c, run, callback);

        return await refused(redeemed(c, run, callback), invalid_grant)
               && refused(refreshed(c, t.refresh_token), invalid_grant);
    });

    return c;
}

const web = await flow('oauth4webapi', input.web);

await attempt('oauth4webapi: another issuer, and none, in the answer', async () => {
    const run = await begun(web);
    const url = new URL(await ask('visit', run.url));
    const validate = async () => oauth.validateAuthResponse(as, web.client, url, run.state);
    const mixed = e => e.code === oauth.INVALID_RESPONSE;

    await validate();
    url.searchParams.set('iss', issuer.replace('acme', 'globex'));

    const other = await refused(validate(), mixed);

    url.searchParams.delete('iss');

    return other && refused(validate(), mixed);
});

await attempt('oauth4webapi: another nonce, and another verifier', async () => {
    const run = await begun(web);
    const nonce = await refused(
        redeemed(web, { ...run, nonce: 'other' }, await ask('visit', run.url)),
        e => e.code === oauth.JWT_CLAIM_COMPARISON && e.cause.claim === 'nonce');
    const verifier = oauth.generateRandomCodeVerifier();

    return nonce && refused(redeemed(web, { ...run, verifier }, await ask('visit', run.url)),
                            invalid_grant);
});

await attempt('oauth4webapi: a user who does not consent', async () => {
    const run = await begun(web, { prompt: 'consent' });

    return refused(redeemed(web, run, await ask('deny', run.url)),
                   e => e instanceof oauth.AuthorizationResponseError
                        && e.error === 'access_denied');
});

await flow('oauth4webapi, without a secret', input.spa);

const keys = { client_id: input.dpop.clientId };
const DPoP = oauth.DPoP(keys, await oauth.generateKeyPair('ES256'));
const bound = await flow('oauth4webapi, DPoP', input.dpop, DPoP);

await attempt('oauth4webapi, DPoP: the code and the token are bound', async () => {
    const other = client_of(input.dpop,
                            oauth.DPoP(keys, await oauth.generateKeyPair('ES256')));
    let run = await begun(bound);

    const code = await refused(redeemed(other, run, await ask('visit', run.url)),
                               invalid_grant);

    run = await begun(bound);

    const t = await redeemed(bound, run, await ask('visit', run.url));
    const challenged = e => e instanceof oauth.WWWAuthenticateChallengeError;

    return code && await refused(info(bound, t, http), challenged)
           && await refused(info(bound, t, other.options), challenged)
           && is_ada(await info(bound, t));
});

async function flow_pushed(name, app, DPoP) {
    const c = client_of(app, DPoP);

    await attempt(`${name}: a request that is pushed`, async () => {
        const run = await pushed(c);
        const t = await redeemed(c, run, await ask('visit', run.url));

        return is_ada(await info(c, t)) && t.token_type === (DPoP ? 'dpop' : 'bearer');
    });

    await attempt(`${name}: an error is one, at once`, async () =>
        refused(pushed(c, { scope: 'openid other' }),
                e => e instanceof oauth.ResponseBodyError && e.error === 'invalid_scope'
                     && e.status === 400));

    await attempt(`${name}: a user who does not consent`, async () => {
        const run = await pushed(c, { prompt: 'consent' });

        return refused(redeemed(c, run, await ask('deny', run.url)),
                       e => e instanceof oauth.AuthorizationResponseError
                            && e.error === 'access_denied');
    });

    return c;
}

const pushes = await flow_pushed('oauth4webapi, PAR', input.par);

await attempt('oauth4webapi, PAR: no request that is not pushed', async () => {
    const run = await begun(pushes);

    return refused(redeemed(pushes, run, await ask('visit', run.url)),
                   e => e instanceof oauth.AuthorizationResponseError
                        && e.error === 'invalid_request');
});

await flow_pushed('oauth4webapi, PAR, DPoP', input.par2, oauth.DPoP(
    { client_id: input.par2.clientId }, await oauth.generateKeyPair('ES256')));
await flow_pushed('oauth4webapi, PAR, without a secret', input.spa3);

// --- openid-client ----------------------------------------------------------------

async function signed_in(config, DPoP, more = {}) {
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const nonce = openid.randomNonce();
    const { push, ...asked } = more;
    const build = push ? openid.buildAuthorizationUrlWithPAR : openid.buildAuthorizationUrl;
    const url = await build(config, {
        redirect_uri: redirect, scope, state, nonce, max_age: '3600',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256', ...asked }, { DPoP });
    const callback = new URL(await ask('visit', url.href));

    return openid.authorizationCodeGrant(
        config, callback,
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce,
          maxAge: 3600, idTokenExpected: true }, {}, { DPoP });
}

async function flow2(name, app, keys) {
    const auth = app.clientSecret ? openid.ClientSecretBasic(app.clientSecret)
                                  : openid.None();
    const config = await openid.discovery(
        new URL(issuer), app.clientId, undefined, auth,
        { execute: [...execute, openid.enableNonRepudiationChecks] });
    const DPoP = keys && openid.getDPoPHandle(config, keys);
    const type = keys ? 'dpop' : 'bearer';
    let t;

    await attempt(`${name}: a code, and an ID token`, async () => {
        t = await signed_in(config, DPoP);

        return t.claims().sub === sub && t.token_type === type && t.expiresIn() > 0;
    });

    await attempt(`${name}: userinfo`, async () => is_ada(
        await openid.fetchUserInfo(config, t.access_token, sub, { DPoP })));

    await attempt(`${name}: refresh tokens rotate, and one again ends all`, async () => {
        const refresh = x => openid.refreshTokenGrant(config, x.refresh_token, {}, { DPoP });
        const two = await refresh(t);
        const three = await refresh(two);

        return two.refresh_token !== t.refresh_token && three.token_type === type
               && await refused(refresh(t), invalid_grant)
               && refused(refresh(three), invalid_grant);
    });

    await attempt(`${name}: nobody is asked again`, async () => {
        t = await signed_in(config, DPoP, { prompt: 'none' });

        return is_ada(await openid.fetchUserInfo(config, t.access_token, sub, { DPoP }));
    });

    await attempt(`${name}: an error is one`, async () =>
        refused(signed_in(config, DPoP, { scope: 'openid other' }),
                e => e instanceof openid.AuthorizationResponseError
                     && e.error === 'invalid_scope'));

    return config;
}

await flow2('openid-client', input.web2);
await flow2('openid-client, without a secret', input.spa2);
await flow2('openid-client, DPoP', input.dpop2, await openid.randomDPoPKeyPair('Ed25519'));

for (const keys of [undefined, await openid.randomDPoPKeyPair('ES256')]) {
    const config = await openid.discovery(
        new URL(issuer), input.par3.clientId, undefined,
        openid.ClientSecretPost(input.par3.clientSecret), { execute });
    const DPoP = keys && openid.getDPoPHandle(config, keys);

    await attempt(`openid-client, PAR${keys ? ', DPoP' : ''}`, async () => {
        const t = await signed_in(config, DPoP, { push: true });

        return is_ada(await openid.fetchUserInfo(config, t.access_token, sub, { DPoP }))
               && t.token_type === (keys ? 'dpop' : 'bearer');
    });
}
