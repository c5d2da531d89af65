// Clients with a server of their own, beside each other.
//
// input: { "issuer", "email", "sub", "clients": { name: { "clientId", "clientSecret",
//     "port", "redirect", "goodbye" } } }
// asks: visit, an authorization request: { "url", "form" } that it leads to

import { flows as auth } from './auth.mjs';
import { flows as express } from './express.mjs';
import { flows as openid } from './openid_client.mjs';
import { attempt, input } from './party.mjs';
import { flows as replay } from './replay.mjs';

// Where a flow has more to do alone, since a user has one session, it yields first.

const begun = [...openid, ...express, ...auth, ...replay].map(
    ([name, flow]) => ({ name, flow: flow(input.clients[name]) }));

async function went_on({ name, flow }) {
    try {
        await flow.next();

    } catch (e) {
        await attempt(`${name}: all of it`, () => { throw e; });
    }
}

await Promise.all(begun.map(went_on));

for (const one of begun) {
    await went_on(one);
}
