// Logout tokens, verified by jose as OpenID Connect Back-Channel Logout 1.0, 2.6 says.
//
// stdin: { issuer, audience, jwks, alg, tokens }; prints a line of JSON for each: its
// claims, or { "wrong": why }.

import { readFileSync } from 'node:fs';
import * as jose from 'jose';

const { issuer, audience, jwks, alg, tokens } = JSON.parse(readFileSync(0));
const keys = jose.createLocalJWKSet(jwks);
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

for (const token of tokens) {
    try {
        const { payload } = await jose.jwtVerify(token, keys, {
            issuer, audience, typ: 'logout+jwt', algorithms: [ alg ],
            requiredClaims: [ 'iat', 'exp', 'jti', 'events', 'sub', 'sid' ],
        });

        if (payload.nonce !== undefined || typeof payload.events[EVENT] !== 'object') {
            throw new Error('no logout token');
        }

        console.log(JSON.stringify(payload));

    } catch (e) {
        console.log(JSON.stringify({ wrong: e.message }));
    }
}
