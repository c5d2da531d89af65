// Clients of others as FAPI 2.0 has them: they prove themselves by a key, push their
// requests, and have tokens that are bound by DPoP; refresh tokens stay.
//
// input: { "issuer", "redirect", "email", "sub" }
// asks: register, a JWK Set: the clientId of an application with the profile fapi2;
//     visit, an authorization request: where it leads to

import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';

import { ask, attempt, input, refused } from './party.mjs';

const { issuer, redirect, email, sub } = input;
const scope = 'openid email offline_access';

// of this machine alone, without TLS
const http = { [oauth.allowInsecureRequests]: true };
const execute = [openid.allowInsecureRequests];

function is_ada(info) {
    return info.sub === sub && info.email === email;
}

// A key, and an application that has it.

async function registered(alg) {
    const { privateKey: key, publicKey } = await oauth.generateKeyPair(alg);
    const { kty, crv, x, y, n, e } = await crypto.subtle.exportKey('jwk', publicKey);
    const kid = `${alg} key`;
    const client_id = await ask('register', { keys: [{ kid, kty, crv, x, y, n, e }] });

    return { client_id, key: { key, kid } };
}

// --- oauth4webapi -----------------------------------------------------------------

const as = await oauth.processDiscoveryResponse(
    new URL(issuer), await oauth.discoveryRequest(new URL(issuer), http));

async function flow(alg) {
    const name = `oauth4webapi, FAPI 2.0, ${alg}`;
    const { client_id, key } = await registered(alg);
    const client = { client_id };
    const auth = oauth.PrivateKeyJwt(key);
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
    const options = { ...http, DPoP };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const nonce = oauth.generateRandomNonce();
    const asked = {
        client_id, redirect_uri: redirect, response_type: 'code', scope, state, nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256' };
    let t;

    const push = async (more = {}, by = auth) => oauth.processPushedAuthorizationResponse(
        as, client, await oauth.pushedAuthorizationRequest(
            as, client, by, new URLSearchParams({ ...asked, ...more }), options));

    const refresh = async (with_options = options) => oauth.processRefreshTokenResponse(
        as, client, await oauth.refreshTokenGrantRequest(
            as, client, auth, t.refresh_token, with_options));

    const info = async token => oauth.processUserInfoResponse(
        as, client, sub, await oauth.userInfoRequest(as, client, token, options));

    await attempt(`${name}: a sign-in`, async () => {
        const { request_uri } = await push();
        const url = new URL(as.authorization_endpoint);

        url.search = new URLSearchParams({ client_id, request_uri });

        const params = oauth.validateAuthResponse(
            as, client, new URL(await ask('visit', url.href)), state);

        t = await oauth.processAuthorizationCodeResponse(
            as, client, await oauth.authorizationCodeGrantRequest(
                as, client, auth, params, redirect, verifier, options),
            { expectedNonce: nonce, requireIdToken: true });

        return t.token_type === 'dpop' && is_ada(await info(t.access_token));
    });

    await attempt(`${name}: refresh tokens stay`, async () => {
        const two = await refresh();
        const three = await refresh();

        return [two, three].every(x => x.refresh_token === undefined
                                       && x.token_type === 'dpop')
               && is_ada(await info(three.access_token));
    });

    await attempt(`${name}: no token without DPoP`, async () =>
        refused(refresh(http), e => e.error === 'invalid_dpop_proof'));

    await attempt(`${name}: a key of somebody else`, async () => {
        const other = await oauth.generateKeyPair(alg);

        return refused(push({}, oauth.PrivateKeyJwt({ key: other.privateKey,
                                                      kid: key.kid })),
                       e => e.error === 'invalid_client');
    });

    await attempt(`${name}: an assertion for the token endpoint`, async () =>
        refused(push({}, oauth.PrivateKeyJwt(key, {
            [oauth.modifyAssertion](header, payload) {
                payload.aud = as.token_endpoint;
            } })),
                e => e.error === 'invalid_client'));

    await attempt(`${name}: no PKCE`, async () =>
        refused(push({ code_challenge: '', code_challenge_method: '' }),
                e => e.error === 'invalid_request'));
}

for (const alg of ['ES256', 'Ed25519', 'PS256']) {
    await flow(alg);
}

// --- openid-client ----------------------------------------------------------------

for (const alg of ['ES256', 'Ed25519', 'PS256']) {
    const { client_id, key } = await registered(alg);
    const config = await openid.discovery(
        new URL(issuer), client_id, undefined, openid.PrivateKeyJwt(key), { execute });
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'));
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const nonce = openid.randomNonce();

    await attempt(`openid-client, FAPI 2.0, ${alg}`, async () => {
        const url = await openid.buildAuthorizationUrlWithPAR(config, {
            redirect_uri: redirect, scope, state, nonce,
            code_challenge: await openid.calculatePKCECodeChallenge(verifier),
            code_challenge_method: 'S256' }, { DPoP });
        const t = await openid.authorizationCodeGrant(
            config, new URL(await ask('visit', url.href)),
            { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce,
              idTokenExpected: true },
            undefined, { DPoP });
        const next = await openid.refreshTokenGrant(config, t.refresh_token, undefined,
                                                    { DPoP });
        const told = await openid.fetchUserInfo(config, next.access_token, sub, { DPoP });

        return is_ada(told) && t.token_type === 'dpop' && next.refresh_token === undefined
               && (await openid.tokenIntrospection(config, next.access_token)).active;
    });
}
