// openid-client in three versions, as their READMEs begin: discovery, a code with
// PKCE, the ID token, userinfo, a refresh, a logout.

import openid4 from 'openid-client4';
import openid5 from 'openid-client5';
import * as openid6 from 'openid-client6';

import { ask, attempt, input, patience } from './party.mjs';

const { issuer, email, sub } = input;

function is_ada(info) {
    return info.sub === sub && info.email === email && info.name === 'Ada Lovelace';
}

async function came_back(app, url) {
    const { searchParams, origin, pathname } = new URL((await ask('visit', url)).url);

    return origin + pathname === app.goodbye && searchParams.get('state') === 'a b';
}

// Versions 4 and 5 have the same interface, and want RS256.

async function* before6(name, openid, app) {
    const { custom, Issuer, generators } = openid;

    custom.setHttpOptionsDefaults({ timeout: patience });

    const found = await Issuer.discover(issuer);
    const client = new found.Client({
        client_id: app.clientId, client_secret: app.clientSecret,
        redirect_uris: [app.redirect], response_types: ['code'] });

    async function signed_in(scope, state, more = {}) {
        const code_verifier = generators.codeVerifier();
        const url = client.authorizationUrl({
            scope, state, code_challenge: generators.codeChallenge(code_verifier),
            code_challenge_method: 'S256', ...more });
        const back = await ask('visit', url);

        return client.callback(app.redirect, client.callbackParams(back.url),
                               { code_verifier, state, nonce: more.nonce });
    }

    await attempt(`${name}: a user signs in, and userinfo has name and address`, async () => {
        const tokens = await signed_in('openid email profile', generators.state());

        return tokens.claims().sub === sub
               && is_ada(await client.userinfo(tokens.access_token))
               && tokens.refresh_token === undefined;
    });

    await attempt(`${name}: with a nonce, and a refresh token that has an ID token`,
                  async () => {
        const nonce = generators.nonce();
        const tokens = await signed_in('openid email profile offline_access', undefined,
                                       { nonce });
        const again = await client.refresh(tokens);

        return tokens.claims().nonce === nonce && again.claims().sub === sub
               && is_ada(await client.userinfo(again));
    });

    yield;

    await attempt(`${name}: signs out here and at the server, and comes back`, async () => {
        const id_token_hint = await signed_in('openid', generators.state());

        return came_back(app, client.endSessionUrl({
            id_token_hint, post_logout_redirect_uri: app.goodbye, state: 'a b' }));
    });
}

async function* since6(name, app) {
    const config = await openid6.discovery(new URL(issuer), app.clientId, app.clientSecret);

    let tokens;

    await attempt(`${name}: a user signs in, and userinfo has name and address`, async () => {
        const verifier = openid6.randomPKCECodeVerifier();
        const url = openid6.buildAuthorizationUrl(config, {
            redirect_uri: app.redirect, scope: 'openid email profile offline_access',
            code_challenge: await openid6.calculatePKCECodeChallenge(verifier),
            code_challenge_method: 'S256' });
        const back = await ask('visit', url.href);

        tokens = await openid6.authorizationCodeGrant(config, new URL(back.url),
                                                      { pkceCodeVerifier: verifier });

        const again = await openid6.refreshTokenGrant(config, tokens.refresh_token);

        return tokens.claims().sub === sub
               && is_ada(await openid6.fetchUserInfo(config, again.access_token, sub));
    });

    yield;

    await attempt(`${name}: signs out at the server, and comes back`, async () => {
        const url = openid6.buildEndSessionUrl(config, {
            id_token_hint: tokens.id_token, post_logout_redirect_uri: app.goodbye,
            state: 'a b' });

        return came_back(app, url.href);
    });
}

export const flows = [
    ['openid-client4', app => before6('openid-client 4', openid4, app)],
    ['openid-client5', app => before6('openid-client 5', openid5, app)],
    ['openid-client6', app => since6('openid-client 6', app)],
];
