// Whether answers that were given are as an OpenAPI document says: status,
// headers, media type, body, error code.  And whether there were some of each
// kind that it tells of.
//
// stdin: { document, unseen: [ ... ], answers: [ { operationId, status,
//          headers: { name: value }, body } ], deliveries: [ { headers,
//          body } ] }; body: text
// stdout: one fault a line, nothing when all is well

import { json } from 'node:stream/consumers';
import { Contract } from './contract.mjs';

const { document, answers, deliveries, unseen } = await json(process.stdin);
const contract = new Contract(document);
const faults = [];
const operations = {};
const seen = new Set();         // "operationId status", "Schema.member"
const names = new Map(Object.entries(document.components.schemas).map(
    ([name, schema]) => [schema, name]));

for (const { operation } of contract.operations()) {
    operations[operation.operationId] = operation;
}

// --- answers

function header(where, name, ref, value) {
    const { required, schema } = contract.resolve(ref);

    if (value === undefined) {
        if (required) {
            faults.push(`${where}: no ${name}`);
        }

        return;
    }

    const typed = contract.resolve(schema).type === 'string' ? value
                : JSON.parse(value);
    const wrong = contract.faults(schema, typed);

    if (wrong) {
        faults.push(`${where}: ${name}: ${value}: ${wrong}`);
    }

    seen.add(`${name} of ${where}`);
}

function body(where, status, media, text) {
    const value = JSON.parse(text);
    const wrong = contract.faults(media.schema, value);

    if (wrong) {
        faults.push(`${where}: ${wrong} in ${text.slice(0, 400)}`);
    }

    contract.visit(media.schema, value,
        (schema, name) => seen.add(`${names.get(schema) ?? '?'}.${name}`),
        path => faults.push(`${where}: ${path} is not described`));

    if (status >= 400 && !media.examples[value.error?.code]) {
        faults.push(`${where}: no word of the code ${value.error?.code}`);
    }
}

for (const { operationId, status, headers, body: text } of answers) {
    const responses = operations[operationId]?.responses ?? {};
    const response = contract.resolve(responses[status] ?? responses.default);
    const where = `${operationId}: ${status}`;

    if (!response || !responses[status]
                     && ![405, 408, 414, 501, 505].includes(status))
    {
        faults.push(`${where}: not in the document: ${text}`);
        continue;
    }

    seen.add(`${operationId} ${responses[status] ? status : 'default'}`);

    for (const [name, ref] of Object.entries(response.headers ?? {})) {
        header(where, name, ref, headers[name.toLowerCase()]);
    }

    const type = headers['content-type']?.replace(/;.*/, '');
    const media = response.content?.[type];

    if (!response.content !== (text === '')) {
        faults.push(`${where}: body or no body: ${text.slice(0, 100)}`);

    } else if (response.content && !media) {
        faults.push(`${where}: not of type ${type}`);

    } else if (type === 'application/json') {
        body(where, status, media, text);
    }
}

// --- deliveries of webhooks

for (const { headers, body: text } of deliveries) {
    const value = JSON.parse(text);
    const { post } = document.webhooks[value.event];
    const { schema } = post.requestBody.content['application/json'];
    const wrong = contract.faults(schema, value);

    if (wrong) {
        faults.push(`${value.event}: ${wrong}`);
    }

    contract.visit(schema, value,
        (s, name) => seen.add(`${names.get(s) ?? '?'}.${name}`),
        path => faults.push(`${value.event}: ${path} is not described`));

    for (const ref of post.parameters) {
        const { name } = contract.resolve(ref);

        header(value.event, name, ref, headers[name.toLowerCase()]);
    }

    seen.add(post.operationId);
}

// --- what nobody has seen

const wanted = new Set();
const reached = new Set();

function reach(schema) {
    const s = contract.resolve(schema);

    if (!s || typeof s !== 'object' || reached.has(s)) {
        return;
    }

    reached.add(s);

    for (const [name, p] of Object.entries(s.properties ?? {})) {
        if (names.has(s)) {
            wanted.add(`${names.get(s)}.${name}`);
        }

        reach(p);
    }

    reach(s.items);
    [...s.allOf ?? [], ...s.oneOf ?? [], ...s.anyOf ?? []].forEach(reach);
}

for (const { operation } of contract.operations('webhooks')) {
    wanted.add(operation.operationId);
    reach(operation.requestBody.content['application/json'].schema);
}

for (const [id, operation] of Object.entries(operations)) {
    for (const [status, ref] of Object.entries(operation.responses)) {
        wanted.add(`${id} ${status}`);

        for (const [name, h] of Object.entries(
            contract.resolve(ref).headers ?? {}))
        {
            if (status !== 'default') {
                wanted.add(`${name} of ${id}: ${status}`);
            }
        }

        for (const media of Object.values(
            contract.resolve(ref).content ?? {}))
        {
            reach(media.schema);
        }
    }
}

const accepted = unseen.map(text => new RegExp(`^(?:${text})$`));

for (const what of wanted) {
    if (!seen.has(what) && !accepted.some(pattern => pattern.test(what))) {
        faults.push(`never seen: ${what}`);
    }
}

for (const pattern of accepted) {
    if (![...wanted].some(what => pattern.test(what) && !seen.has(what))) {
        faults.push(`seen after all: ${pattern}`);
    }
}

console.log(faults.join('\n'));
