// Whether an OpenAPI document is a good one: two validators, a description
// wherever one belongs, and examples that fit.
//
// stdin: the document; stdout: one fault a line, nothing when all is well

import { json } from 'node:stream/consumers';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Contract } from './contract.mjs';

const document = await json(process.stdin);
const faults = [];

// --- validators

const result = await new Validator().validate(structuredClone(document));

if (!result.valid) {
    faults.push('document: ' + JSON.stringify(result.errors));
}

const config = await createConfig({
    extends: ['recommended'],
    rules: {
        'info-license': 'off',                  // of the software, not the API
        'no-server-example.com': 'off',         // tests are on 127.0.0.1
        'no-invalid-schema-examples': 'error',
        'operation-singular-tag': 'error',
    },
});

// a path that two patterns fit is none of these, as no connection has that key

const APART = '`/v1/admin/federation/{connection}/test` and `/v1/admin/federation/tests/{id}`';

for (const p of await lintFromString({ source: JSON.stringify(document),
                                       config }))
{
    if (p.ruleId === 'no-ambiguous-paths' && p.message.includes(APART)) {
        continue;
    }

    faults.push(`lint: ${p.location[0]?.pointer}: ${p.ruleId}: ${p.message}`);
}

// what follows takes a valid document for granted

if (faults.length) {
    console.log(faults.join('\n'));
    process.exit(0);
}

const contract = new Contract(document);

// --- descriptions, and defaults

function described(where, o) {
    const text = o.description ?? contract.resolve(o).description;

    if (!/^\S[^]{4,}[\w.`)]$/.test(text ?? '')) {
        faults.push(`${where}: description: ${text}`);
    }
}

function schemas(where, s) {
    if (!s || s.$ref && Object.keys(s).length === 1) {
        return;
    }

    const known = contract.properties(s);
    const wrong = 'default' in s ? contract.faults(s, s.default) : '';

    if (wrong) {
        faults.push(`${where}: default: ${wrong}`);
    }

    for (const name of s.required ?? []) {
        if (!known[name] && s.properties) {
            faults.push(`${where}: requires ${name}, which it does not have`);
        }
    }

    for (const [name, p] of Object.entries(s.properties ?? {})) {
        described(`${where}.${name}`, p);
        schemas(`${where}.${name}`, p);
    }

    schemas(`${where}[]`, s.items);
    [...s.allOf ?? [], ...s.oneOf ?? [], ...s.anyOf ?? []].forEach(
        (part, i) => schemas(`${where}/${i}`, part));
}

for (const kind of ['schemas', 'parameters', 'headers', 'responses']) {
    for (const [name, o] of Object.entries(document.components[kind])) {
        described(`${kind} ${name}`, o);

        schemas(name, kind === 'schemas' ? o : o.schema);
    }
}

document.tags.forEach(tag => described(`tag ${tag.name}`, tag));

// --- operations and their examples

function examples(where, media) {
    const all = { ...media.examples };

    if (media.example !== undefined) {
        all.example = { value: media.example };
    }

    if (Object.keys(all).length === 0 && !media.schema.contentMediaType) {
        faults.push(`${where}: no example`);
    }

    for (const [name, ref] of Object.entries(all)) {
        const { value } = contract.resolve(ref);
        const wrong = contract.faults(media.schema, value);

        if (wrong) {
            faults.push(`${where}: example ${name}: ${wrong}`);
        }

        contract.visit(media.schema, value, () => {}, path => faults.push(
            `${where}: example ${name}: ${path} is not described`));
    }
}

function response(where, status, ref) {
    const r = contract.resolve(ref);

    described(`${where}: ${status}`, r);

    for (const [name, header] of Object.entries(r.headers ?? {})) {
        described(`${where}: ${status}: ${name}`, header);
    }

    for (const media of Object.values(r.content ?? {})) {
        examples(`${where}: ${status}`, media);
        schemas(`${where}: ${status}`, media.schema);

        if (!/^[23]/.test(status)
            && !/^#\/components\/schemas\/(Authorization)?Error$/.test(
                media.schema.$ref))
        {
            faults.push(`${where}: ${status} is not an Error`);
        }
    }
}

for (const { method, path, operation } of [...contract.operations(),
                                           ...contract.operations('webhooks')])
{
    const where = `${method} ${path}`;

    if (!operation.summary || /\.$/.test(operation.summary)) {
        faults.push(`${where}: summary`);
    }

    for (const p of operation.parameters ?? []) {
        described(`${where}: ${contract.resolve(p).name}`, p);
    }

    if (operation.description !== undefined) {
        described(where, operation);
    }

    if (operation.requestBody) {
        described(`${where}: body`, operation.requestBody);
    }

    for (const media of Object.values(operation.requestBody?.content ?? {})) {
        examples(`${where}: request`, media);
        schemas(`${where}: request`, media.schema);
    }

    for (const [status, ref] of Object.entries(operation.responses)) {
        response(where, status, ref);
    }
}

console.log(faults.join('\n'));
