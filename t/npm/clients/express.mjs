// Sites with Express: passport-openidconnect and express-openid-connect.

import express from 'express';
import session from 'express-session';
import oidc from 'express-openid-connect';
import passport from 'passport';
import Strategy from 'passport-openidconnect';

import { Agent } from './agent.mjs';
import { ask, attempt, input, patience } from './party.mjs';
import { listening } from './site.mjs';

const { issuer, email, sub } = input;

async function* passport_site({ clientId, clientSecret, port, redirect }) {
    const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    const app = express();
    const own = new passport.Passport();

    own.use(new Strategy({
        issuer, authorizationURL: metadata.authorization_endpoint,
        tokenURL: metadata.token_endpoint, userInfoURL: metadata.userinfo_endpoint,
        clientID: clientId, clientSecret, callbackURL: redirect, scope: ['profile', 'email'],
    }, (iss, profile, done) => done(null, { iss, ...profile })));

    own.serializeUser((user, done) => done(null, user));
    own.deserializeUser((user, done) => done(null, user));

    app.use(session({ secret: 'of this test', resave: false, saveUninitialized: false }));
    app.use(own.session());
    app.get('/login', own.authenticate('openidconnect'));
    app.get('/cb', own.authenticate('openidconnect', { failureRedirect: '/failed' }),
            (req, res) => res.redirect('/'));
    app.get('/failed', (req, res) => res.status(401).send('not signed in'));
    app.get('/', (req, res) => res.json(req.user ?? null));

    const close = await listening(app, port);
    const base = `http://localhost:${port}`;
    const agent = new Agent(issuer);

    await attempt('passport-openidconnect: a user signs in, name and address are there',
                  async () => {
        const user = await agent.json(`${base}/login`);

        return user.id === sub && user.iss === issuer
               && user.displayName === 'Ada Lovelace' && user.emails[0].value === email;
    });

    await attempt('passport-openidconnect: an answer that nobody asked for', async () =>
        (await agent.go(`${base}/cb?code=x&state=y`)).text === 'not signed in');

    close();
}

// What its EXAMPLES have of a web server: codes.  more: other settings.

async function* auth0_site({ clientId, clientSecret, port }, name, more = {}) {
    const app = express();
    const base = `http://localhost:${port}`;

    app.use(oidc.auth({
        issuerBaseURL: issuer, baseURL: base, clientID: clientId, clientSecret,
        secret: 'a long, randomly-generated string stored in env', idpLogout: true,
        authorizationParams: { response_type: 'code' }, httpTimeout: patience, ...more }));
    app.get('/', async (req, res) => res.json({
        ...req.oidc.user, info: await req.oidc.fetchUserInfo() }));

    const close = await listening(app, port);
    const agent = new Agent(issuer);

    async function signed_in() {
        const user = await agent.json(`${base}/`);

        return user.sub === sub && user.name === 'Ada Lovelace' && user.email === email
               && user.info.email === email;
    }

    await attempt(`${name}: any page leads to a sign-in and back`, signed_in);

    yield;

    await attempt(`${name}: signs out at the server, too`, async () => {
        await agent.once(`${base}/logout`);
        await signed_in();

        const out = await agent.once(`${base}/logout`);
        const back = await ask('visit', out.headers.get('location'));

        return back.url === base && (await agent.once(`${base}/`)).status === 302;
    });

    close();
}

export const flows = [
    ['passport', passport_site],
    ['express', site => auth0_site(site, 'express-openid-connect')],
    ['expressPar', site => auth0_site(site, 'express-openid-connect, PAR',
                                      { pushedAuthorizationRequests: true })],
];
