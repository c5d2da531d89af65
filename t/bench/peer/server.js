'use strict';

// The peer of the benchmark: SCIM users by fastify and pg, in as many processes
// as nginx has workers.
//
// Environment: PEER_PORT, PEER_WORKERS, PEER_BASE, which URLs in answers begin
// with, PEER_PG, the folder of PostgreSQL's socket.

const cluster = require('node:cluster');
const { createHash, randomUUID } = require('node:crypto');
const fastify = require('fastify');

const db = require('./db');
const scim = require('./scim');

const BASE = process.env.PEER_BASE;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;


// Version 7: an index of ids grows at its end.

function newId() {
    const time = Date.now().toString(16).padStart(12, '0');

    return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}


function refuse(reply, status, detail, scimType) {
    return reply.code(status).send(scim.errorOf(status, detail, scimType));
}


async function authenticate(request, reply) {
    const header = request.headers.authorization ?? '';

    reply.type('application/scim+json');

    if (header.startsWith('Bearer ')) {
        const hash = createHash('sha256').update(header.slice(7)).digest();

        [request.caller] = await db.rows('token', hash);
    }

    if (!request.caller) {
        return refuse(reply, 401, 'The token is missing or not valid.');
    }

    if (!request.caller.permissions.includes('scim')) {
        return refuse(reply, 403, 'The token may not do this.');
    }
}


function send(reply, status, row) {
    const user = scim.resource(row, BASE);

    reply.code(status).header('Content-Location', user.meta.location);
    if (status === 201) reply.header('Location', user.meta.location);

    return reply.send(user);
}


const missing = (reply) => refuse(reply, 404, 'There is no such user.');

const taken = (reply) => refuse(reply, 409, 'The user exists already.',
                                'uniqueness');


async function list(request, reply) {
    const name = scim.filterName(request.query.filter);

    if (name === null) {
        return refuse(reply, 400, 'Only userName eq is known.', 'invalidFilter');
    }

    const rows = await db.rows('byName', request.caller.tenant_id, name);

    return reply.send(scim.listOf(rows, BASE));
}


async function get(request, reply) {
    const [row] = await db.rows('get', request.caller.tenant_id,
                                request.params.id);

    return row ? send(reply, 200, row) : missing(reply);
}


async function create(request, reply) {
    const { body } = request;
    const status = body.active === false ? 'deactivated' : 'active';

    const row = await db.write(
        request, () => ['user.created', { source: 'scim' }], 'create', newId(),
        body.userName, status, ...scim.columns(body));

    return row ? send(reply, 201, row) : taken(reply);
}


async function patch(request, reply) {
    const active = scim.patchActive(request.body);

    if (typeof active !== 'boolean') {
        return refuse(reply, 400, 'Only "active" can be patched.',
                      'invalidValue');
    }

    const action = active ? 'user.reactivated' : 'user.deactivated';
    const row = await db.write(
        request, () => [action, { source: 'scim', changed: ['status'] }],
        'active', request.params.id, active ? 'active' : 'deactivated');

    return row ? send(reply, 200, row) : get(request, reply);
}


async function replace(request, reply) {
    const { active } = request.body;
    const status = active === undefined ? null
                 : active ? 'active' : 'deactivated';

    const row = await db.write(
        request,
        (row) => ['user.updated', { source: 'scim', changed: db.changed(row) }],
        'replace', request.params.id, status, ...scim.columns(request.body));

    return row ? send(reply, 200, row) : missing(reply);
}


function onError(error, request, reply) {
    if (error.code === '23505') return taken(reply);
    if (error.statusCode < 500) {
        return refuse(reply, error.statusCode, error.message, 'invalidSyntax');
    }

    console.error(error);

    return refuse(reply, 500, 'The server has failed.');
}


// Serialised by the schema of their kind, whatever the status.

function route(method, url, handler, body, answer) {
    const { error } = scim.schemas;
    const schema = { response: { '2xx': answer, '4xx': error, '5xx': error } };

    if (body) schema.body = body;

    const checkId = async (request, reply) => {
        if (!UUID.test(request.params.id)) return missing(reply);
    };

    return { method, url, handler, schema,
             preHandler: url.endsWith(':id') ? checkId : undefined };
}


function start() {
    const app = fastify({ logger: false, keepAliveTimeout: 600_000,
                          genReqId: () => randomUUID().replaceAll('-', '') });
    const { user, list: users, profile, patch: operations } = scim.schemas;
    const newUser = { ...profile, required: ['userName'] };

    app.decorateRequest('caller', null);
    app.addHook('onRequest', authenticate);
    app.setErrorHandler(onError);
    app.addContentTypeParser('application/scim+json', { parseAs: 'string' },
                             app.getDefaultJsonParser('error', 'error'));

    app.route(route('GET', '/scim/v2/Users', list, undefined, users));
    app.route(route('POST', '/scim/v2/Users', create, newUser, user));
    app.route(route('GET', '/scim/v2/Users/:id', get, undefined, user));
    app.route(route('PATCH', '/scim/v2/Users/:id', patch, operations, user));
    app.route(route('PUT', '/scim/v2/Users/:id', replace, profile, user));

    return app.listen({ port: Number(process.env.PEER_PORT),
                        host: '127.0.0.1' });
}


if (cluster.isPrimary) {
    for (let i = 0; i < Number(process.env.PEER_WORKERS); i++) cluster.fork();

    cluster.on('exit', (worker, code) => {
        console.error(`worker ${worker.process.pid} has ended: ${code}`);
        process.exit(1);
    });

} else {
    start();
}
