// An OpenAPI document: references, operations, and validation by its schemas.

import Ajv from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export class Contract {
    constructor(document) {
        this.document = document;

        // most validators run a few times, and take longer to compile than to run

        this.ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false,
                             code: { optimize: false } });
        formats(this.ajv);
        this.validators = new WeakMap();

        // by names of their own: each is compiled once, and not again for each
        // schema that refers to it

        for (const [name, schema] of Object.entries(
            document.components?.schemas ?? {}))
        {
            this.ajv.addSchema(this.local(JSON.stringify(schema)), `urn:doc:${name}`);
        }

        this.ajv.addSchema(document, 'doc');
    }

    resolve(o) {
        return o?.$ref
            ? this.resolve(o.$ref.slice(2).split('/').reduce(
                  (d, k) => d[k.replaceAll('~1', '/')], this.document))
            : o;
    }

    // [ { method, path, item, operation } ]; of: paths or webhooks

    operations(of = 'paths') {
        return Object.entries(this.document[of] ?? {}).flatMap(
            ([path, item]) => METHODS.filter(m => item[m]).map(
                method => ({ method, path, operation: item[method] })));
    }

    // A schema of the document, from its text, on its own.

    local(text) {
        return JSON.parse(text.replaceAll(
            /"\$ref":"#\/components\/schemas\/(\w+)"/g, '"$ref":"urn:doc:$1"')
            .replaceAll('"$ref":"#/', '"$ref":"doc#/'));
    }

    // What is wrong with a value, or ''.

    faults(schema, value) {
        if (!this.validators.has(schema)) {
            this.validators.set(schema, this.ajv.compile(
                this.local(JSON.stringify(schema))));
        }

        const validate = this.validators.get(schema);

        return validate(value) ? '' : this.ajv.errorsText(validate.errors);
    }

    // The schemas that a schema is made of: itself, and all of its allOf, and
    // of its oneOf and anyOf what the value fits.

    parts(schema, value) {
        const s = this.resolve(schema);
        const some = [...s.oneOf ?? [], ...s.anyOf ?? []].filter(
            part => value === undefined || this.faults(part, value) === '');

        return [s, ...[...s.allOf ?? [], ...some].flatMap(
            part => this.parts(part, value))];
    }

    // { name: [schema, ...] } of an object

    properties(schema, value) {
        const all = {};

        for (const part of this.parts(schema, value)) {
            for (const [name, p] of Object.entries(part.properties ?? {})) {
                (all[name] ??= []).push(p);
            }
        }

        return all;
    }

    // Calls seen(schema, name) for each member of a value that its schema has,
    // and unknown(path) for the others.

    visit(schema, value, seen, unknown, path = '') {
        if (Array.isArray(value)) {
            for (const part of this.parts(schema, value)) {
                value.forEach((v, i) => part.items && this.visit(
                    part.items, v, seen, unknown, `${path}[${i}]`));
            }

        } else if (value !== null && typeof value === 'object') {
            const parts = this.parts(schema, value);
            const open = parts.some(part => part.additionalProperties === true);
            const known = this.properties(schema, value);

            for (const [name, v] of Object.entries(value)) {
                if (!known[name] && !open) {
                    unknown(`${path}.${name}`);
                }

                for (const part of parts) {
                    if (part.properties?.[name]) {
                        seen(part, name);
                        this.visit(part.properties[name], v, seen, unknown,
                                   `${path}.${name}`);
                    }
                }
            }
        }
    }
}
