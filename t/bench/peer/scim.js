'use strict';

// SCIM users: converts a row to a resource, and a request to columns.

const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

const text = { type: 'string' };
const input = { type: ['string', 'null'], maxLength: 256 };

// The schema by which fastify serialises.

const user = {
    type: 'object',
    properties: {
        schemas: { type: 'array', items: text },
        id: text,
        externalId: text,
        userName: text,
        name: {
            type: 'object',
            properties: { givenName: text, familyName: text },
        },
        displayName: text,
        title: text,
        locale: text,
        active: { type: 'boolean' },
        emails: {
            type: 'array',
            items: {
                type: 'object',
                properties: {
                    value: text, type: text, primary: { type: 'boolean' },
                },
            },
        },
        [ENTERPRISE]: { type: 'object', properties: { department: text } },
        meta: {
            type: 'object',
            properties: {
                resourceType: text, created: text, lastModified: text,
                location: text,
            },
        },
    },
};

const list = {
    type: 'object',
    properties: {
        schemas: { type: 'array', items: text },
        totalResults: { type: 'integer' },
        startIndex: { type: 'integer' },
        itemsPerPage: { type: 'integer' },
        Resources: { type: 'array', items: user },
    },
};

const error = {
    type: 'object',
    properties: {
        schemas: { type: 'array', items: text },
        status: text, scimType: text, detail: text,
    },
};

// The schema by which fastify checks bodies.

const profile = {
    type: 'object',
    properties: {
        userName: { type: 'string', maxLength: 254, pattern: '^[^@ ]+@[^@ ]+$' },
        externalId: input,
        active: { type: 'boolean' },
        name: {
            type: 'object',
            properties: { givenName: input, familyName: input },
        },
        displayName: input,
        title: input,
        locale: input,
        [ENTERPRISE]: { type: 'object', properties: { department: input } },
    },
};

const patch = {
    type: 'object',
    required: ['Operations'],
    properties: {
        Operations: {
            type: 'array',
            minItems: 1,
            items: {
                type: 'object',
                required: ['op', 'value'],
                properties: { op: text, path: text },
            },
        },
    },
};


function resource(row, base) {
    const schemas = row.department === null ? [CORE] : [CORE, ENTERPRISE];
    const r = { schemas, id: row.id };

    if (row.external_id !== null) r.externalId = row.external_id;
    r.userName = row.user_name;

    if (row.first_name !== null || row.last_name !== null) {
        r.name = {};
        if (row.first_name !== null) r.name.givenName = row.first_name;
        if (row.last_name !== null) r.name.familyName = row.last_name;
    }

    if (row.display_name !== null) r.displayName = row.display_name;
    if (row.title !== null) r.title = row.title;
    if (row.locale !== null) r.locale = row.locale;

    r.active = row.status === 'active';
    r.emails = [{ value: row.user_name, type: 'work', primary: true }];

    if (row.department !== null) r[ENTERPRISE] = { department: row.department };

    r.meta = {
        resourceType: 'User',
        created: row.created_at.toISOString(),
        lastModified: row.updated_at.toISOString(),
        location: `${base}/scim/v2/Users/${row.id}`,
    };

    return r;
}


function listOf(rows, base) {
    return {
        schemas: [LIST], totalResults: rows.length, startIndex: 1,
        itemsPerPage: rows.length,
        Resources: rows.map((row) => resource(row, base)),
    };
}


function errorOf(status, detail, scimType) {
    return { schemas: [ERROR], status: String(status), scimType, detail };
}


// Returns the columns of a profile, in the order of the statements' parameters.

function columns(body) {
    return [
        body.externalId ?? null,
        body.name?.givenName ?? null,
        body.name?.familyName ?? null,
        body.displayName ?? null,
        body.title ?? null,
        body[ENTERPRISE]?.department ?? null,
        body.locale ?? null,
    ];
}


// Returns the name in a filter like: userName eq "ada@acme.test".

function filterName(filter) {
    const found = /^userName eq ("(?:[^"\\]|\\.)*")$/i.exec(filter ?? '');

    return found ? JSON.parse(found[1]) : null;
}


// Returns what a PatchOp sets "active" to; undefined when it does not set it.

function patchActive(body) {
    let active;

    for (const { op, path, value } of body.Operations) {
        if (!/^(add|replace)$/i.test(op)) continue;

        if (path === undefined) active = value.active ?? active;
        else if (path.toLowerCase() === 'active') active = value;
    }

    return active;
}


module.exports = {
    schemas: { user, list, error, profile, patch },
    resource, listOf, errorOf, columns, filterName, patchActive,
};
