// Whether the server refuses what an OpenAPI document does not allow, and takes
// what it does: each member of a body, and each parameter of a query, with
// values of all types and at both sides of each limit.
//
// stdin: { document, base, token, cookie, csrf, bodies: { operationId: a good body },
//          path: { "groups/{id}": value }, known: [ "where: value" ] }
// stdout: one difference a line; then "checked N"

import http from 'node:http';
import { json, text as textOfStream } from 'node:stream/consumers';
import { Contract } from './contract.mjs';

const { document, base, token, cookie, csrf, bodies, path: stands, known } =
    await json(process.stdin);
const contract = new Contract(document);
const faults = [];
const used = new Set();
let checked = 0;

// --- values

const TYPES = [null, true, 0, 1.5, 'x', '', [1], { a: 1 }];

function textOf(length, schema) {
    if (schema.pattern?.includes('@')) {
        return 'x'.repeat(length).replace(/..$/, '@y');
    }

    return schema.format === 'uri'
           ? 'https://hooks.example.com/'.padEnd(length, 'x')
           : 'a'.repeat(length);
}

// Values at a schema's limits and one beyond; good: a value that fits.

function atLimits(schema, good) {
    const parts = contract.parts(schema);
    const values = [];
    const enough = n => n >= 0 && n <= 5000;

    for (const s of parts) {
        for (const limit of [s.minimum, s.maximum, s.const]) {
            if (Number.isInteger(limit)) {
                values.push(limit - 1, limit, limit + 1);
            }
        }

        for (const limit of [s.minLength, s.maxLength]) {
            if (limit !== undefined) {
                values.push(...[limit - 1, limit, limit + 1].filter(enough)
                                .map(n => textOf(n, s)));
            }
        }

        const role = s.pattern?.match(/\{1,(\d+)\}\$$/);

        if (role) {
            values.push(...[0, 1, 2].map(n => textOf(+role[1] + n, {})),
                        'a', 'A1', '1a', 'a_-9');
        }

        for (const limit of [s.minItems, s.maxItems]) {
            if (limit !== undefined && Array.isArray(good) && good.length) {
                values.push(...[limit - 1, limit, limit + 1].filter(enough)
                                .map(n => Array(n).fill(good[0])));
            }
        }

        values.push(...s.enum ?? [], ...s.enum?.map(v => `${v}x`) ?? []);

        if (s.format === 'date-time') {
            values.push('2099-01-01T00:00:00Z', '2099-01-01',
                        '2099-13-01T00:00:00Z');
        }
    }

    return values;
}

// [ name, body ]: a good body with one thing in it changed.

function* changed(schema, good, where = '') {
    for (const value of [...TYPES, ...atLimits(schema, good)]) {
        yield [where, value];
    }

    if (Array.isArray(good)) {
        const items = contract.parts(schema).find(s => s.items)?.items;

        for (const [name, value] of changed(items, good[0], `${where}[]`)) {
            yield [name, [value, ...good.slice(1)]];
        }

    } else if (good && typeof good === 'object') {
        yield* members(schema, good, where);
    }
}

function* members(schema, good, where) {
    for (const [name, parts] of Object.entries(contract.properties(schema))) {
        if (parts.some(p => contract.resolve(p).readOnly)) {
            continue;
        }

        const { [name]: old, ...without } = good;

        yield [`${where}.${name} absent`, without];

        for (const [path, value] of changed({ allOf: parts }, old,
                                            `${where}.${name}`))
        {
            yield [path, { ...good, [name]: value }];
        }
    }
}

// --- requests

// fetch() takes five times as long

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function ask(method, url, headers, body) {
    return new Promise((resolve, reject) => {
        const r = http.request(url, { method, headers, agent }, resolve);

        r.on('error', reject);
        r.end(body);
    });
}

async function taken({ method, path, operation }, query, body) {
    const url = base + path.replace(/\{\w+\}/g, (_, at) => {
        const pattern = path.slice(0, at).split('/').at(-2);

        return stands[pattern] ?? stands[path];
    });
    const [scheme] = operation.security ?? document.security;
    const sent = body === undefined ? '' : JSON.stringify(body);
    const r = await ask(method.toUpperCase(), url + query, {
        ...scheme?.adminToken ? { authorization: `Bearer ${token}` }
           : scheme ? { cookie, 'x-csrf-token': csrf } : {},
        ...sent ? { 'content-length': Buffer.byteLength(sent) } : {},
    }, sent);
    const text = await textOfStream(r);

    if (r.statusCode >= 500) {
        throw new Error(`${method} ${path}: ${r.statusCode} ${text}`);
    }

    const { code } = (r.statusCode === 400 && JSON.parse(text).error) || {};

    return { good: code !== 'invalid_request' && code !== 'limit_exceeded',
             text };
}

function compare(where, shown, allowed, { good, text }) {
    checked++;

    if (allowed === good) {
        return;
    }

    const match = known.find(k => new RegExp(`^(?:${k})$`).test(
        `${where}: ${shown}`));

    if (match) {
        used.add(match);

    } else {
        faults.push(`${where}: ${shown.slice(0, 60)}: the document says `
                    + `${allowed ? 'yes' : 'no'}, the server `
                    + text.slice(0, 200));
    }
}

const names = new Set(contract.operations().flatMap(
    ({ operation }) => operation.parameters ?? []).map(
        p => contract.resolve(p)).filter(p => p.in === 'query').map(
            p => p.name));

for (const called of contract.operations()) {
    const { method, operation } = called;
    const id = operation.operationId;
    const schema = operation.requestBody?.content['application/json']?.schema;

    if (schema && !bodies[id]) {
        faults.push(`${id}: no good body`);
        continue;
    }

    if (schema) {
        compare(id, 'the good body', true, await taken(called, '', bodies[id]));

        for (const [where, body] of members(schema, bodies[id], '')) {
            const at = where.replace(/^\./, '').replace(/ .*/, '')
                       .split(/\.|(?=\[)/);
            const value = at.reduce((v, key) => v?.[key === '[]' ? 0 : key],
                                    body);

            compare(`${id} ${where}`, JSON.stringify(value) ?? 'undefined',
                    contract.faults(schema, body) === '',
                    await taken(called, '', body));
        }
    }

    const own = (operation.parameters ?? []).map(p => contract.resolve(p))
                .filter(p => p.in === 'query');

    // what no value is good for is not looked at where it does not belong: all of
    // it at once, and one by one where that is refused

    const others = [...names].filter(name => !own.some(p => p.name === name));

    if ((method === 'get' || schema) && id !== 'streamAuditEvents') {
        const all = `?${others.join('=%00&')}=%00`;

        checked += others.length;

        if (!(await taken(called, all, bodies[id])).good) {
            for (const name of others) {
                compare(`${id} ?${name}`, 'not its own', true,
                        await taken(called, `?${name}=%00`, bodies[id]));
            }
        }
    }

    for (const p of own) {
        if (id === 'streamAuditEvents') {
            continue;
        }

        const text = contract.parts(p.schema).some(s => s.type === 'string');
        const typed = value => !text && /^(-?\d+|true|false)$/.test(value)
                               ? JSON.parse(value) : value;

        for (const value of ['x', '-1', '0', '1', '1.5', 'true', 'false',
                             ...atLimits(p.schema)].map(String))
        {
            compare(`${id} ?${p.name}`, value,
                    contract.faults(p.schema, typed(value)) === '',
                    await taken(called,
                                `?${p.name}=${encodeURIComponent(value)}`,
                                bodies[id]));
        }
    }
}

for (const k of known.filter(k => !used.has(k))) {
    faults.push(`no difference any more: ${k}`);
}

console.log([...faults, `checked ${checked}`].join('\n'));
