// Validates an OpenAPI document, its examples, and answers that were given.
//
// stdin: { "document": {...}, "answers": [ { "operationId", "status", "body" } ] }
// stdout: one fault a line; nothing when all is well.

import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const { document, answers } = JSON.parse(readFileSync(0, 'utf8'));
const faults = [];

const result = await new Validator().validate(structuredClone(document));

if (!result.valid) {
    faults.push('document: ' + JSON.stringify(result.errors));
}

const ajv = new Ajv({ strict: false, allErrors: true });
formats(ajv);
ajv.addSchema(document, 'doc');

function resolve(o) {
    return o?.$ref ? o.$ref.slice(2).split('/').reduce((d, k) => d[k], document)
                   : o;
}

function check(where, schema, value) {
    const rebased = JSON.parse(JSON.stringify(schema).replaceAll(
        '"$ref":"#/', '"$ref":"doc#/'));
    const validate = ajv.compile(rebased);

    if (!validate(value)) {
        faults.push(`${where}: ${ajv.errorsText(validate.errors)}`);
    }
}

function checkExamples(where, media) {
    const all = { ...media.examples };

    if (media.example !== undefined) {
        all.example = { value: media.example };
    }

    if (Object.keys(all).length === 0) {
        faults.push(`${where}: no example`);
    }

    for (const [name, example] of Object.entries(all)) {
        check(`${where}: example ${name}`, media.schema, example.value);
    }
}

const operations = {};

for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, op] of Object.entries(item)) {
        if (method === 'parameters') {
            continue;
        }

        const where = `${method} ${path}`;

        operations[op.operationId] = op;

        if (!op['x-permission']) {
            faults.push(`${where}: no x-permission`);
        }

        for (const media of Object.values(op.requestBody?.content ?? {})) {
            checkExamples(`${where}: request`, media);
        }

        for (const [status, ref] of Object.entries(op.responses)) {
            const response = resolve(ref);

            for (const media of Object.values(response.content ?? {})) {
                checkExamples(`${where}: ${status}`, media);

                if (status >= '400'
                    && media.schema.$ref !== '#/components/schemas/Error')
                {
                    faults.push(`${where}: ${status} is not an Error`);
                }
            }
        }
    }
}

for (const { operationId, status, body } of answers) {
    const response = resolve(operations[operationId]?.responses[status]);
    const where = `${operationId}: ${status}`;

    if (!response) {
        faults.push(`${where}: not in the document`);
        continue;
    }

    const media = response.content?.['application/json'];

    if (!media !== (body === null)) {
        faults.push(`${where}: body or no body`);

    } else if (media) {
        check(`${where}: answer`, media.schema, body);
    }
}

console.log(faults.join('\n'));
