// lua-resty-openidc 1.7 by its source, where there is no package of it: what it asks for
// and sends with its documented settings (redirect_uri, discovery, client_id,
// client_secret), and what it checks.

import { createPublicKey, randomBytes, verify } from 'node:crypto';

import { ask, attempt, input } from './party.mjs';

const { issuer, email, sub } = input;

function part(jwt, n) {
    return JSON.parse(Buffer.from(jwt.split('.')[n], 'base64url'));
}

// openidc_load_jwt_and_verify_crypto: RSA alone, by kid, of an algorithm that the
// metadata has where it has any.

async function verified(jwt, discovery, expected) {
    const { alg, kid } = part(jwt, 0);
    const { keys } = await (await fetch(discovery.jwks_uri)).json();
    const key = keys.find(k => k.kty === 'RSA' && (!k.use || k.use === 'sig')
                               && k.kid === kid);

    if (alg !== 'RS256' || (expected && !expected.includes(alg)) || !key) {
        throw new Error(`${alg} ${kid}: no such RSA key`);
    }

    const at = jwt.lastIndexOf('.');
    const good = verify('sha256', jwt.slice(0, at), createPublicKey({ key, format: 'jwk' }),
                        Buffer.from(jwt.slice(at + 1), 'base64url'));

    if (!good || part(jwt, 1).exp < Date.now() / 1000 - 120) {
        throw new Error('jwt signature verification failed');
    }

    return part(jwt, 1);
}

async function json(answer) {
    if (answer.status !== 200) {
        throw new Error(`status=${answer.status}, body=${await answer.text()}`);
    }

    return answer.json();
}

async function* lua_resty_openidc({ clientId, clientSecret, redirect }) {
    const name = 'lua-resty-openidc';
    const discovery = await json(await fetch(`${issuer}/.well-known/openid-configuration`));
    let tokens;

    await attempt(`${name}: a user signs in, the ID token is RS256`, async () => {
        const [state, nonce] = [randomBytes(16).toString('hex'),
                                randomBytes(16).toString('hex')];
        const url = `${discovery.authorization_endpoint}?${new URLSearchParams({
            client_id: clientId, response_type: 'code', scope: 'openid email profile',
            redirect_uri: redirect, state, nonce })}`;
        const back = new URL((await ask('visit', url)).url).searchParams;

        if (back.get('state') !== state || (back.has('iss') && back.get('iss') !== issuer)
            || (back.has('client_id') && back.get('client_id') !== clientId)) {
            throw new Error(`another answer: ${back}`);
        }

        // the first method of the metadata that it knows

        if (discovery.token_endpoint_auth_methods_supported.find(
            m => m === 'client_secret_basic' || m === 'client_secret_post')
            !== 'client_secret_basic') {
            throw new Error('another method');
        }

        tokens = await json(await fetch(discovery.token_endpoint, {
            method: 'POST',
            headers: { authorization: 'Basic ' + Buffer.from(
                [clientId, clientSecret].map(encodeURIComponent).join(':'))
                .toString('base64') },
            body: new URLSearchParams({ grant_type: 'authorization_code',
                                        code: back.get('code'), redirect_uri: redirect,
                                        state }) }));

        const claims = await verified(tokens.id_token, discovery,
                                      discovery.id_token_signing_alg_values_supported);

        return claims.iss === issuer && claims.sub === sub && claims.nonce === nonce
               && [claims.aud].flat().includes(clientId)
               && Number.isInteger(claims.iat) && claims.exp > claims.iat;
    });

    await attempt(`${name}: userinfo has name and address`, async () => {
        const info = await json(await fetch(discovery.userinfo_endpoint, {
            headers: { authorization: `Bearer ${tokens.access_token}` } }));

        return info.sub === sub && info.email === email && info.name === 'Ada Lovelace';
    });

    await attempt(`${name}: bearer_jwt_verify by the keys`, async () => {
        const claims = await verified(tokens.access_token, discovery);

        return claims.iss === issuer && claims.sub === sub;
    });
}

export const flows = [
    ['lua-resty-openidc', lua_resty_openidc],
];
