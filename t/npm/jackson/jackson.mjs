// A SCIM server made of @boxyhq/saml-jackson, whose users are in memory.
//
// Argument: a folder with certificates.  Prints "path <path>", "secret <token>",
// "port <n>" and "control <n>", then "ready".  Base URL:
// https://127.0.0.1:<port><path>; by plain HTTP the latter shows the users.

import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import jackson from '@boxyhq/saml-jackson';

const [ dir ] = process.argv.slice(2);

const { directorySyncController: sync } = await jackson.controllers({
    externalUrl: 'https://127.0.0.1',
    samlPath: '/saml',
    scimPath: '/scim',
    samlAudience: 'https://127.0.0.1',
    db: { engine: 'mem' },
    noAnalytics: true,
});

const { data: directory, error } = await sync.directories.create({
    tenant: 'acme', product: 'test', name: 'acme', type: 'generic-scim-v2',
});

if (error) {
    throw error;
}

async function answer(req, body) {
    const url = new URL(req.url, 'https://127.0.0.1');
    const [ , , id, resource, user ] = url.pathname.split('/');
    const query = url.searchParams;

    return await sync.requests.handle({
        method: req.method,
        body: body ? JSON.parse(body) : undefined,
        directoryId: id,
        resourceType: (resource ?? '').toLowerCase(),
        resourceId: user && decodeURIComponent(user),
        apiSecret: (req.headers.authorization ?? '').replace(/^Bearer /, ''),
        query: {
            filter: query.get('filter') ?? undefined,
            count: Number(query.get('count') ?? 100),
            startIndex: Number(query.get('startIndex') ?? 1),
        },
    }, async () => {});
}

function serve(req, res) {
    const parts = [];

    req.on('data', part => parts.push(part));
    req.on('end', async () => {
        const { status, data } = await answer(req, Buffer.concat(parts).toString());

        res.writeHead(status, { 'Content-Type': 'application/scim+json' });
        res.end(data === undefined ? '' : JSON.stringify(data));
    });
}

const control = http.createServer(async (req, res) => {
    const { data } = await sync.users.setTenantAndProduct('acme', 'test')
                                     .getAll({ directoryId: directory.id });

    res.end(JSON.stringify(data.map(user => user.raw)));
});

const server = https.createServer({ cert: readFileSync(`${dir}/good.pem`),
                                    key: readFileSync(`${dir}/good.key`) }, serve);

server.listen(0, '127.0.0.1', () => control.listen(0, '127.0.0.1', () => {
    console.log(`path /scim/${directory.id}`);
    console.log(`secret ${directory.scim.secret}`);
    console.log(`port ${server.address().port}`);
    console.log(`control ${control.address().port}\nready`);
}));
