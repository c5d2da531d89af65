// Clients that run in a browser, in chromium, with the pages of the server for people:
// each is a page of t/npm/clients, served at an origin of its own.
//
// input: { "pages": the folder of them, with node_modules; "issuer", "certificate",
//     "key", "email", "password", "sub", "limit": milliseconds; "clients": { name: {
//     "clientId", "base": its origin, of a name below acme.test, "port", "scope",
//     "page": unless it is the name } } }

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { extname } from 'node:path';

import { chromium } from 'playwright-core';

import { executablePath } from './chromium.mjs';
import { attempt, input } from './party.mjs';

const { pages, issuer, email, password, sub, limit } = input;
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript' };

const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--in-process-gpu',
           '--host-resolver-rules=MAP *.acme.test 127.0.0.1'],
});

// What a bundler finds without its ending is found, too.

function file_of(name, path) {
    const file = path.startsWith('/packages/')
        ? `${pages}/node_modules/${path.slice('/packages/'.length)}`
        : `${pages}/${name}.html`;

    return [file, `${file}.js`, `${file}/index.js`].find(f => extname(f) && existsSync(f));
}

function site(name, app) {
    const settings = { authority: issuer, client_id: app.clientId, scope: app.scope };

    const tls = { cert: readFileSync(input.certificate), key: readFileSync(input.key) };

    return createServer(tls, (req, res) => {
        const { pathname } = new URL(req.url, app.base);

        if (pathname === '/settings.json') {
            return res.setHeader('Content-Type', 'application/json')
                      .end(JSON.stringify(settings));
        }

        const file = file_of(name, pathname);

        if (!file) {
            return res.writeHead(404).end();
        }

        res.setHeader('Content-Type', TYPES[extname(file)]);
        createReadStream(file).pipe(res);
    }).listen(app.port, '127.0.0.1');
}

// A browser of its own at such a page, with what users do at the server's.

async function opened(name) {
    const app = input.clients[name];
    const server = site(app.page ?? name, app);
    const context = await browser.newContext({ locale: 'en', ignoreHTTPSErrors: true });
    const page = await context.newPage();
    const faults = [];

    context.setDefaultTimeout(limit);
    page.on('pageerror', e => faults.push(String(e)));

    return {
        page, faults, base: app.base,

        async ready() {
            await page.waitForFunction(
                origin => location.origin === origin && window.ready, this.base);
        },

        async sign_in() {
            await page.getByLabel('E-mail address', { exact: true }).fill(email);
            await page.getByLabel('Password', { exact: true }).fill(password);
            await page.getByRole('button', { name: 'Sign in', exact: true }).click();
            await page.getByRole('button', { name: 'Allow', exact: true }).click()
                      .catch(this.shown);
            await this.ready();
        },

        // What there is instead of what was waited for.

        async shown(e) {
            throw new Error(`${e.message}\n${page.url()}\n${await page.innerText('body')}`);
        },

        // What signs out comes back, without a session at the server.

        async out(f) {
            await page.evaluate(() => { window.ready = false; });
            await page.evaluate(f);
            await this.ready();

            const cookies = await context.cookies(issuer);

            return !cookies.some(c => c.name.includes('session'));
        },

        async close() {
            await context.close();
            server.closeAllConnections();
            server.close();
        },
    };
}

function is_ada(claims) {
    return claims.sub === sub && claims.name === 'Ada Lovelace' && claims.email === email;
}

// --- oidc-client-ts ------------------------------------------------------------------

async function oidc_client_ts(b) {
    const { page } = b;

    await attempt('oidc-client-ts: a user signs in, and the profile has name and address',
                  async () => {
        await page.goto(`${b.base}/`);
        await b.ready();
        await page.evaluate(() => { users.signinRedirect(); });
        await b.sign_in();

        return is_ada(await page.evaluate(() => users.getUser().then(user => user.profile)));
    });

    await attempt('oidc-client-ts: renews silently by itself, in a frame', async () => {
        await page.waitForFunction(() => new Set(renewed).size >= 2);

        return page.evaluate(() => users.getUser().then(
            user => !user.expired && user.refresh_token === undefined));
    });

    await attempt('oidc-client-ts: signs out at the server, and comes back', async () =>
        await b.out(() => { users.signoutRedirect(); })
        && page.evaluate(() => users.getUser().then(user => user === null)));
}

async function oidc_client_ts_refresh(b) {
    const { page } = b;

    await attempt('oidc-client-ts: with offline_access it renews by its refresh token',
                  async () => {
        await page.goto(`${b.base}/`);
        await b.ready();
        await page.evaluate(() => { users.signinRedirect(); });
        await b.sign_in();

        const [before, after] = await page.evaluate(async () => {
            const user = await users.getUser();

            return [user.refresh_token, (await users.signinSilent()).refresh_token];
        });

        return before !== undefined && after !== undefined && before !== after
               && is_ada(await page.evaluate(() => users.getUser().then(u => u.profile)));
    });

    await attempt('oidc-client-ts: and revokes it', async () => page.evaluate(async () => {
        await users.revokeTokens();

        return (await users.getUser()).refresh_token === null
               || (await users.getUser()).refresh_token === undefined;
    }));
}

// --- keycloak-js ---------------------------------------------------------------------

async function keycloak_js(b) {
    const { page } = b;

    await attempt('keycloak-js: a page that needs a user, who signs in', async () => {
        await page.goto(`${b.base}/`);
        await b.sign_in();

        return page.evaluate(sub => keycloak.authenticated && keycloak.subject === sub
                                    && keycloak.idTokenParsed.sub === sub, sub);
    });

    await attempt('keycloak-js: userinfo has name and address', async () =>
        is_ada(await page.evaluate(() => keycloak.loadUserInfo())));

    await attempt('keycloak-js: who comes again is not asked again', async () => {
        await page.goto(`${b.base}/`);
        await b.ready();

        return page.evaluate(() => keycloak.authenticated);
    });

    await attempt('keycloak-js: who signs out is asked to sign in again', async () => {
        await page.evaluate(() => { keycloak.logout(); });
        await page.getByLabel('Password', { exact: true }).waitFor();

        return new URL(page.url()).origin === new URL(issuer).origin;
    });
}

// --- angular-oauth2-oidc -------------------------------------------------------------

async function angular(b) {
    const { page } = b;

    await attempt('angular-oauth2-oidc: a user signs in', async () => {
        await page.goto(`${b.base}/index.html`);
        await b.ready();
        await page.evaluate(() => { oauth.initCodeFlow(); });
        await b.sign_in();

        return page.evaluate(sub => oauth.hasValidAccessToken() && oauth.hasValidIdToken()
                                    && oauth.getIdentityClaims().sub === sub, sub);
    });

    await attempt('angular-oauth2-oidc: the profile has name and address', async () =>
        is_ada(await page.evaluate(() => oauth.loadUserProfile().then(p => p.info))));

    await attempt('angular-oauth2-oidc: refreshes', async () => page.evaluate(async () => {
        const before = oauth.getAccessToken();

        await oauth.refreshToken();

        return oauth.hasValidAccessToken() && oauth.getAccessToken() !== before;
    }));

    await attempt('angular-oauth2-oidc: signs out at the server, and comes back', async () =>
        await b.out(() => { oauth.logOut(); })
        && page.evaluate(() => !oauth.hasValidAccessToken()));
}

// -------------------------------------------------------------------------------------

const FLOWS = { 'oidc-client-ts': oidc_client_ts, 'oidc-client-ts-refresh':
                oidc_client_ts_refresh, 'keycloak-js': keycloak_js,
                'angular-oauth2-oidc': angular };

await Promise.all(Object.entries(FLOWS).map(async ([name, flow]) => {
    const b = await opened(name);

    await flow(b);
    await attempt(`${name}: without an error of the page`, async () => {
        if (b.faults.length) {
            throw new Error(`${b.faults.join('\n')} ${await b.page.innerText('body')}`);
        }

        return true;
    });
    await b.close();
}));

await browser.close();
