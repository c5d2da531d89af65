// A SCIM server for tests that can misbehave: t/scim_push_http.t starts it.
//
// Arguments: a folder with certificates, and a file that gets a line of JSON for
// each request.  Prints "port <n>" and "control <n>", then "ready".  By plain HTTP
// GET /<store> at the latter shows the users, PUT sets them, POST opens its gate, and
// PATCH with a status has it answer so to all requests, until that is 0.
// A base URL is https://127.0.0.1:<port>/<store>/<mode>;<mode>..., where a store has
// users of its own, and a mode is name or name=value.  Modes:
//
//   none            nothing unusual
//   all             filters are ignored: everybody is listed
//   blind           filters find nobody, so nobody is shown
//   nofilter        400 invalidFilter for externalId
//   noor=<n>        status n for a filter of several comparisons
//   first, last     of several comparisons it reads the first one, the last one
//   middle          or all but the first and the last one
//   paged=<n>       a list has n users at most, whatever is asked for
//   short=<n>       the same, of whom was changed last, and it says that they are all
//   stranger        a list has somebody else in it, too
//   hung            a filter of several comparisons is never answered
//   bare            an empty list has no Resources
//   empty404        404 instead of an empty list
//   dupes           a POST makes whom it says, whoever has the name
//   noid            the answer to a POST has no id
//   post204         POST is answered with 204
//   patch204        PATCH and PUT are answered with 204
//   nopatch[=405]   PATCH is not there
//   strict          an operation that removes what is not there: 400
//   double          everybody is listed twice
//   ids=<text>      the id of a new user, percent-encoded
//   nolist          501 for a list without a filter
//   nopage          each page of it is the first one
//   numeric[=17]    ids are numbers, of these digits
//   mute            nobody's "active" is shown
//   conflict400     400 with scimType uniqueness, not 409
//   keeps           PATCH of active changes nothing
//   status=<m>:<n>  method m is answered with status n
//   after=<v>       with Retry-After: v, percent-encoded
//   once            that status is given once for the store
//   reset=<m>       carries a request of that method out, and closes the connection
//   drop=<m>        closes it before anything is done
//   slow=<m>:<ms>   waits before the answer
//   gate=<text>     waits until the gate is opened, when the text is in the method or
//                   in what is behind the base URL
//   slowbody=<ms>   the body follows so late
//   huge=<m>:<n>    an answer of n bytes
//   text            answers are not JSON
//   array           answers are a JSON array
//   deep            answers are nested 1,000 deep
//   twice           "id" is there twice
//   upper           names of members are in upper case
//   redirect        302 to 127.0.0.1
//   echo            errors have what was sent in them, with the token
//   close           each connection is closed behind its answer
//   cut             the connection ends within the body

import { openSync, readFileSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';

const [ dir, log ] = process.argv.slice(2);
const out = openSync(log, 'a');
const stores = new Map();
const gates = new Map();
const connections = new WeakMap();
let nconnections = 0;

const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

const fold = s => String(s ?? '').toLowerCase();

// What ends when the gate of a store is opened, by whoever asks first.

function gateOf(name) {
    if (!gates.has(name)) {
        let open;
        const opened = new Promise(done => open = done);
        gates.set(name, { open, opened });
    }

    return gates.get(name);
}

function modesOf(text) {
    return Object.fromEntries(text.split(';').map(part => {
        const at = part.indexOf('=');
        return at < 0 ? [ part, '' ]
                      : [ part.slice(0, at), decodeURIComponent(part.slice(at + 1)) ];
    }));
}

function of(mode, method) {
    const [ m, v ] = (mode ?? '').split(':');
    return m === method ? v ?? '' : undefined;
}

class Bad extends Error {
    constructor(status, scimType) {
        super(scimType);
        this.status = status;
        this.scimType = scimType;
    }
}

function where(user, path) {
    const urn = path.match(/^(urn:.*:User):(\w+)$/);
    const [ parent, name ] = urn ? urn.slice(1) : path.includes('.')
                             ? path.split('.') : [ null, path ];

    return [ parent, name ];
}

function patch(user, body, modes) {
    for (const { op, path, value } of body.Operations) {
        if (!path || op !== op.toLowerCase()) {
            throw new Bad(400, 'noTarget');
        }

        const [ parent, name ] = where(user, path);
        const object = parent ? user[parent] ??= {} : user;

        if (op === 'remove') {
            if ('strict' in modes && !(name in object)) {
                throw new Bad(400, 'noTarget');
            }

            delete object[name];

        } else {
            if (name === 'active' && typeof value !== 'boolean') {
                throw new Bad(400, 'invalidValue');
            }

            if (!(name === 'active' && 'keeps' in modes)) {
                object[name] = value;
            }
        }
    }
}

function term(users, text, modes) {
    const m = text.match(/^(\w+) eq ("(?:[^"\\]|\\.)*")$/);

    if (!m) {
        throw new Bad(400, 'invalidFilter');
    }

    if ('nofilter' in modes && m[1] === 'externalId') {
        throw new Bad(400, 'invalidFilter');
    }

    const value = JSON.parse(m[2]);

    return m[1] === 'userName'
           ? users.filter(u => fold(u.userName) === fold(value))
           : users.filter(u => u[m[1]] === value);
}

function filter(users, text, modes) {
    let terms = text.split(' or ');

    if (terms.length > 1) {
        if ('noor' in modes) {
            throw new Bad(Number(modes.noor), 'invalidFilter');
        }

        terms = 'first' in modes ? terms.slice(0, 1)
                : 'last' in modes ? terms.slice(-1)
                : 'middle' in modes ? terms.slice(1, -1) : terms;
    }

    const found = new Set(terms.flatMap(t => term(users, t, modes)));

    return users.filter(u => found.has(u));
}

function list(store, query, modes) {
    let users = [ ...store.users.values() ];

    if (query.has('filter') && !('all' in modes)) {
        users = 'blind' in modes ? [] : filter(users, query.get('filter'), modes);
    }

    if ('empty404' in modes && !users.length) {
        throw new Bad(404);
    }

    if ('double' in modes) {
        users = [ ...users, ...users ];
    }

    if ('short' in modes) {
        users = users.reverse().slice(0, modes.short);
    }

    if ('stranger' in modes && query.has('count') && users.length) {
        users = [ ...users, { id: 'stranger', userName: 'eve@evil.test' } ];
    }

    if ('nolist' in modes && !query.has('filter')) {
        throw new Bad(501);
    }

    if ('bare' in modes && !users.length) {
        return { schemas: [ LIST ], totalResults: 0 };
    }

    const start = 'nopage' in modes ? 1 : Number(query.get('startIndex') ?? 1);
    const count = Math.min(query.get('count') ?? 1000, modes.paged ?? 1000);

    return { schemas: [ LIST ], totalResults: users.length, startIndex: start,
             Resources: users.slice(start - 1, start - 1 + count) };
}

function create(store, body, modes) {
    const user = JSON.parse(body);

    for (const other of store.users.values()) {
        if (!('dupes' in modes) && fold(other.userName) === fold(user.userName)) {
            throw 'conflict400' in modes ? new Bad(400, 'uniqueness')
                                         : new Bad(409, 'uniqueness');
        }
    }

    user.id = 'ids' in modes ? modes.ids
              : 'numeric' in modes ? modes.numeric || '17' : randomUUID();
    user.meta = { resourceType: 'User', version: 'W/"1"' };
    store.users.set(String(user.id), user);

    return user;
}

function act(store, method, path, query, body, modes) {
    if (path === '/ServiceProviderConfig') {
        return { patch: { supported: !('nopatch' in modes) } };
    }

    if (path === '/Users') {
        if (method === 'GET') {
            return list(store, query, modes);
        }

        const user = create(store, body, modes);

        if ('noid' in modes) {
            const { id, ...rest } = user;
            return rest;
        }

        return user;
    }

    const id = path.match(/^\/Users\/([^/]+)$/);
    const user = id && store.users.get(decodeURIComponent(id[1]));

    if (!user) {
        throw new Bad(404);
    }

    if (method === 'PATCH') {
        if ('nopatch' in modes) {
            throw new Bad(Number(modes.nopatch || 405));
        }

        patch(user, JSON.parse(body), modes);

        if ('short' in modes) {
            store.users.delete(user.id);
            store.users.set(user.id, user);
        }

    } else if (method === 'PUT') {
        const { id, meta } = user;
        const next = { ...JSON.parse(body), id, meta };

        for (const name of Object.keys(user)) {
            delete user[name];
        }

        Object.assign(user, next);
    }

    return user;
}

function upper(value) {
    return Array.isArray(value) ? value.map(upper)
           : value && typeof value === 'object'
           ? Object.fromEntries(Object.entries(value).map(([ k, v ]) =>
                                [ k.toUpperCase(), upper(v) ]))
           : value;
}

function text(answer, modes, method) {
    const huge = of(modes.huge, method);

    if (huge !== undefined) {
        return JSON.stringify({ ...answer, padding: 'x'.repeat(Number(huge)) });
    }

    if ('text' in modes) {
        return '<html>welcome</html>';
    }

    if ('array' in modes) {
        return JSON.stringify([ answer ]);
    }

    if ('deep' in modes) {
        return '{"a":'.repeat(1000) + '1' + '}'.repeat(1000);
    }

    let json = JSON.stringify('upper' in modes ? upper(answer) : answer);

    if ('numeric' in modes) {
        json = json.replace(/"id":"([-\d.e]+)"/g, '"id": $1');
    }

    if ('mute' in modes) {
        json = json.replace(/"active":\w+,?/g, '');
    }

    return 'twice' in modes ? json.replace(/\}$/, ',"id":"x","id":"y"}') : json;
}

function answer(store, req, path, query, body, modes) {
    const method = req.method;
    const forced = of(modes.status, method);

    if (store.away) {
        throw new Bad(store.away);
    }

    if (forced !== undefined && !('once' in modes && store.once)) {
        store.once = true;
        throw new Bad(Number(forced));
    }

    return act(store, method, path, query, body, modes);
}

async function serve(req, res, body) {
    const url = new URL(req.url, 'https://127.0.0.1');
    const [ , name, list, ...rest ] = url.pathname.split('/');
    const modes = modesOf(list ?? 'none');
    const path = '/' + rest.join('/');
    const method = req.method;

    writeSync(out, JSON.stringify({ store: name, method, path,
        url: req.url.slice(`/${name}/${list}`.length), headers: req.headers, body,
        connection: connections.get(req.socket) }) + '\n');

    if (!stores.has(name)) {
        stores.set(name, { users: new Map() });
    }

    const store = stores.get(name);

    if (of(modes.drop, method) !== undefined) {
        req.socket.destroy();
        return;
    }

    let status = 200;
    let reply;
    const headers = { 'Content-Type': 'application/scim+json' };

    if ('redirect' in modes) {
        headers.Location = `https://127.0.0.1:${server.address().port}/visited/none`;
        status = 302;
        reply = {};

    } else {
        try {
            reply = answer(store, req, path, url.searchParams, body, modes);
            status = method === 'POST' ? 201 : 200;

        } catch (e) {
            if (!(e instanceof Bad)) {
                throw e;
            }

            status = e.status;
            reply = { schemas: [ ERROR ], status: String(status),
                      scimType: e.scimType };

            if ('echo' in modes) {
                reply.detail = `${req.headers.authorization} ${body}`;
            }

            if ('after' in modes) {
                headers['Retry-After'] = modes.after;
            }
        }
    }

    if (of(modes.reset, method) !== undefined) {
        req.socket.destroy();
        return;
    }

    if ('hung' in modes && url.search.includes('%20or%20')) {
        return;
    }

    if ('close' in modes) {
        headers.Connection = 'close';
    }

    const wait = of(modes.slow, method);

    if (wait !== undefined) {
        await new Promise(done => setTimeout(done, Number(wait)));
    }

    if ('gate' in modes && `${method} ${path}${url.search}`.includes(modes.gate)) {
        await gateOf(name).opened;
    }

    if (status < 300 && (method === 'POST' ? 'post204' in modes
                         : method !== 'GET' && 'patch204' in modes)) {
        res.writeHead(204, headers).end();
        return;
    }

    const whole = text(reply, modes, method);

    if ('cut' in modes) {
        headers['Content-Length'] = Buffer.byteLength(whole) + 10;
        res.writeHead(status, headers);
        res.write(whole, () => req.socket.destroy());
        return;
    }

    res.writeHead(status, headers);

    if ('slowbody' in modes) {
        res.flushHeaders();
        setTimeout(() => res.end(whole), Number(modes.slowbody));
        return;
    }

    res.end(whole);
}

const server = https.createServer({
    cert: readFileSync(`${dir}/good.pem`),
    key: readFileSync(`${dir}/good.key`),
    keepAliveTimeout: 60000,
    maxHeaderSize: 65536,
}, (req, res) => {
    const parts = [];

    req.on('data', part => parts.push(part));
    req.on('end', () => serve(req, res, Buffer.concat(parts).toString()));
});

server.on('secureConnection', socket => {
    connections.set(socket, ++nconnections);
    socket.on('error', () => {});
});

const control = http.createServer((req, res) => {
    const name = req.url.slice(1);
    let body = '';

    req.on('data', part => body += part);
    req.on('end', () => {
        if (req.method === 'POST') {
            gateOf(name).open();

        } else if (req.method === 'PATCH') {
            stores.get(name).away = Number(body);

        } else if (req.method === 'PUT') {
            stores.set(name, { users: new Map(JSON.parse(body)
                                              .map(u => [ String(u.id), u ])) });
        }

        res.end(JSON.stringify([ ...stores.get(name)?.users.values() ?? [] ]));
    });
});

server.listen(0, '127.0.0.1', () => control.listen(0, '127.0.0.1', () => {
    console.log(`port ${server.address().port}`);
    console.log(`control ${control.address().port}\nready`);
}));
