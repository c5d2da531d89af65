// Auth.js: next-auth 4, by its handler of Next.js' API routes, and @auth/core.

import { createServer } from 'node:http';

import { Auth } from '@auth/core';
import express from 'express';
import NextAuth from 'next-auth';

import { Agent } from './agent.mjs';
import { attempt, input, patience } from './party.mjs';
import { listening } from './site.mjs';

const { issuer, email, sub } = input;

// What the button of the page "Sign in" does, and what a page knows of its user then.

async function signed_in(name, base) {
    const agent = new Agent(issuer);

    await attempt(`${name}: nobody is signed in at first`, async () => {
        const session = await agent.json(`${base}/session`);

        return session === null || Object.keys(session).length === 0;
    });

    await attempt(`${name}: a user signs in, and the session has name and address`,
                  async () => {
        const { csrfToken } = await agent.json(`${base}/csrf`);
        const page = await agent.go(`${base}/signin/svc`, { csrfToken });
        const { user } = await agent.json(`${base}/session`);

        return page.status === 200 && user.name === 'Ada Lovelace' && user.email === email;
    });

    await attempt(`${name}: and signs out of it`, async () => {
        const { csrfToken } = await agent.json(`${base}/csrf`);

        await agent.go(`${base}/signout`, { csrfToken });

        const session = await agent.json(`${base}/session`);

        return session === null || Object.keys(session).length === 0;
    });
}

// Next.js gives an API route the parts of its path, the cookies and the form.

async function* next_site({ clientId, clientSecret, port }) {
    const base = `http://localhost:${port}`;
    const app = express();
    let seen;

    process.env.NEXTAUTH_URL = base;

    const handler = NextAuth.default({
        secret: 'of this test',
        providers: [{
            id: 'svc', name: 'Service', type: 'oauth',
            httpOptions: { timeout: patience },
            wellKnown: `${issuer}/.well-known/openid-configuration`,
            authorization: { params: { scope: 'openid email profile' } },
            idToken: true, checks: ['pkce', 'state'], clientId, clientSecret,
            profile(profile) {
                seen = profile.sub;

                return { id: profile.sub, name: profile.name, email: profile.email };
            } }] });

    app.use(express.urlencoded({ extended: false }));
    app.get('/', (req, res) => res.send('home'));
    app.use('/api/auth', (req, res) => {
        const cookies = Object.fromEntries(
            (req.headers.cookie ?? '').split('; ').filter(Boolean).map(cookie => {
                const at = cookie.indexOf('=');

                return [cookie.slice(0, at), decodeURIComponent(cookie.slice(at + 1))];
            }));
        const query = { ...req.query, nextauth: req.path.split('/').filter(Boolean) };

        return handler(Object.create(req, { query: { value: query },
                                            cookies: { value: cookies } }), res);
    });

    const close = await listening(app, port);

    await signed_in('next-auth 4', `${base}/api/auth`);
    await attempt('next-auth 4: it is that user', async () => seen === sub);
    close();
}

async function* core_site({ clientId, clientSecret, port }) {
    const base = `http://localhost:${port}`;
    let seen;

    const config = {
        basePath: '/auth', secret: 'of this test', trustHost: true,
        providers: [{ id: 'svc', name: 'Service', type: 'oidc', issuer, clientId,
                      clientSecret }],
        callbacks: { signIn({ account }) {
            seen = account.providerAccountId;

            return true;
        } } };

    const server = createServer(async (req, res) => {
        const body = [];

        for await (const chunk of req) {
            body.push(chunk);
        }

        const answer = req.url.startsWith('/auth/') ? await Auth(new Request(base + req.url, {
            method: req.method, headers: req.headers,
            body: body.length ? Buffer.concat(body) : undefined }), config)
            : new Response('home');

        res.writeHead(answer.status, [...answer.headers].flat());
        res.end(await answer.text());
    });

    const close = await listening(server, port);

    await signed_in('@auth/core', `${base}/auth`);
    await attempt('@auth/core: it is that user', async () => seen === sub);
    close();
}

export const flows = [
    ['next', next_site],
    ['core', core_site],
];
