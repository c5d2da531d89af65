// An MCP server, which asks /oauth/introspect who comes, and MCP clients, which
// find out by themselves where to get a token: all of @modelcontextprotocol/sdk.
//
// input: { "issuer", "port", "redirect", "sub" } and applications: "api", whose
//     resourceUri is that of the server, "agent", "native", "service"
// asks: visit, an authorization request: where it leads to;
//     kill, a clientId: it is disabled

import express from 'express';
import * as oauth from 'oauth4webapi';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider }
    from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { StreamableHTTPClientTransport }
    from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InvalidGrantError, InvalidTokenError }
    from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth }
    from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter }
    from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport }
    from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { ask, attempt, input, refused } from './party.mjs';

const { issuer, port, redirect, sub, api } = input;
const resource = new URL(api.resourceUri);

// of this machine alone, without TLS
const http = { [oauth.allowInsecureRequests]: true };

const as = await oauth.processDiscoveryResponse(new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...http }));

// --- the server -------------------------------------------------------------------

async function verifyAccessToken(token) {
    const rs = { client_id: api.clientId };
    const r = await oauth.introspectionRequest(
        as, rs, oauth.ClientSecretBasic(api.clientSecret), token, http);
    const seen = await oauth.processIntrospectionResponse(as, rs, r);

    if (!seen.active) {
        throw new InvalidTokenError('The token is not active');
    }

    return { token, clientId: seen.client_id, scopes: seen.scope.split(' '),
             expiresAt: seen.exp, resource: new URL(seen.aud),
             extra: { sub: seen.sub, act: seen.act?.sub } };
}

async function answer(req, res) {
    const server = new McpServer({ name: 'tools', version: '1.0.0' });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });

    server.registerTool('who', { description: 'Who calls' }, ({ authInfo }) => {
        const { clientId, scopes, extra } = authInfo;

        return { content: [{ type: 'text',
                             text: JSON.stringify({ clientId, scopes, ...extra }) }] };
    });

    res.on('close', () => server.close());

    await server.connect(transport);
    await transport.handleRequest(req, res, req.body);
}

const app = express();

app.use(mcpAuthMetadataRouter({ oauthMetadata: as, resourceServerUrl: resource,
                                scopesSupported: ['tools:call', 'offline_access'] }));
app.post('/mcp', express.json(), requireBearerAuth({
    verifier: { verifyAccessToken }, expectedResource: resource,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource) }), answer);
app.all('/mcp', (req, res) => res.status(405).end());

const listener = app.listen(port, '127.0.0.1');

await new Promise(resolve => listener.once('listening', resolve));

// --- the clients ------------------------------------------------------------------

// What an application keeps of one user: all in memory.

class Provider {
    constructor(client) {
        this.client = { client_id: client.clientId, client_secret: client.clientSecret,
                        issuer };
        this.n = 0;
    }

    get redirectUrl() { return redirect; }
    get clientMetadata() { return { redirect_uris: [redirect] }; }
    state() { return this.expected = oauth.generateRandomState(); }
    clientInformation() { return this.client; }
    tokens() { return this.kept; }
    saveTokens(tokens) { this.kept = tokens; }
    saveCodeVerifier(verifier) { this.verifier = verifier; }
    codeVerifier() { return this.verifier; }
    redirectToAuthorization(url) { this.n++; this.url = url; }

    invalidateCredentials(what) {
        this.invalid = what;
        this.kept = undefined;
    }

    // The address that the user comes back with.

    async visited() {
        return oauth.validateAuthResponse(
            as, this.client, new URL(await ask('visit', this.url.href)), this.expected);
    }
}

async function connected(authProvider) {
    const client = new Client({ name: 'a client', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(resource, { authProvider });

    try {
        await client.connect(transport);

    } catch (e) {
        return { transport, e };
    }

    return { client, transport };
}

async function who(client) {
    const r = await client.callTool({ name: 'who', arguments: {} });

    return JSON.parse(r.content[0].text);
}

async function status(token) {
    const r = await fetch(resource, {
        method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`,
                   Accept: 'application/json, text/event-stream' } });

    await r.body.cancel();

    return r.status;
}

// All that a client does for a user.

async function flow(name, app, act) {
    const provider = new Provider(app);
    let client;

    await attempt(`${name}: finds out where to ask, and for what`, async () => {
        const { e, transport } = await connected(provider);
        const asked = provider.url.searchParams;
        const params = await provider.visited();

        await transport.finishAuth(params.get('code'));
        ({ client } = await connected(provider));

        const seen = await who(client);

        return e instanceof UnauthorizedError && asked.get('resource') === resource.href
               && asked.get('code_challenge_method') === 'S256' && seen.sub === sub
               && seen.clientId === app.clientId && seen.act === act
               && seen.scopes.includes('tools:call');
    });

    await attempt(`${name}: takes another token when one is dead`, async () => {
        const { access_token, refresh_token } = provider.kept;
        const c = { client_id: app.clientId };

        await oauth.processRevocationResponse(await oauth.revocationRequest(
            as, c, app.clientSecret ? oauth.ClientSecretBasic(app.clientSecret)
                                    : oauth.None(), access_token, http));

        const seen = await who(client);

        return seen.sub === sub && provider.n === 1
               && provider.kept.access_token !== access_token
               && provider.kept.refresh_token !== refresh_token;
    });

    await attempt(`${name}: killed, the next call is refused`, async () => {
        const { access_token } = provider.kept;
        const before = await status(access_token);

        await ask('kill', app.clientId);

        const after = await status(access_token);
        const called = await refused(who(client), e => e instanceof UnauthorizedError);

        return before === 200 && after === 401 && called && provider.n === 2
               && provider.invalid === 'tokens';
    });

    await attempt(`${name}: nor does the user get another one for it`, () => refused(
        provider.visited(), e => e.error === 'unauthorized_client'));

    await client.close();
}

await flow('an agent', input.agent, input.agent.clientId);
await flow('a client without a secret', input.native);

await attempt('an agent of its own: a token, and a call, until it is killed', async () => {
    const { clientId, clientSecret } = input.service;
    const provider = new ClientCredentialsProvider({ clientId, clientSecret,
                                                     expectedIssuer: issuer,
                                                     scope: 'tools:call' });
    const { client } = await connected(provider);
    const seen = await who(client);
    const { access_token } = provider.tokens();

    await ask('kill', clientId);

    const after = await status(access_token);

    const called = await refused(who(client), e => e instanceof InvalidGrantError);

    await client.close();

    return seen.sub === clientId && after === 401 && called;
});

await attempt('a token for another server is none', async () => {
    const c = { client_id: api.clientId };
    const t = await oauth.processClientCredentialsResponse(
        as, c, await oauth.clientCredentialsGrantRequest(
            as, c, oauth.ClientSecretBasic(api.clientSecret),
            { resource: 'https://other.test/mcp', scope: 'tools:call' }, http));

    return await status(t.access_token) === 401;
});

listener.closeAllConnections();
listener.close();
