'use strict';

// PostgreSQL: each statement is prepared once on each connection.

const { Pool } = require('pg');

const PROFILE = ['external_id', 'first_name', 'last_name', 'display_name',
                 'title', 'department', 'locale'];
const USER = ['id', 'user_name', 'status', 'created_at', 'updated_at',
              ...PROFILE];
const NAMES = ['externalId', 'firstName', 'lastName', 'displayName', 'title',
               'department', 'locale'];

const SQL = {
    token: `SELECT tenant_id, id, name, permissions FROM credential
            WHERE token_hash = $1 AND kind = 'scim' AND revoked_at IS NULL
              AND (expires_at IS NULL OR expires_at > now())`,

    get: `SELECT ${USER} FROM user_account WHERE tenant_id = $1 AND id = $2`,

    byName: `SELECT ${USER} FROM user_account
             WHERE tenant_id = $1 AND user_name_key = lower($2)`,

    create: `INSERT INTO user_account (tenant_id, id, user_name, status,
                                       email_verified, source, ${PROFILE})
             VALUES ($1, $2, $3, $4, true, 'scim',
                     ${PROFILE.map((_, i) => `$${i + 5}`)})
             ON CONFLICT DO NOTHING RETURNING ${USER}`,

    active: `UPDATE user_account SET status = $3, updated_at = now()
             WHERE tenant_id = $1 AND id = $2 AND status <> $3
             RETURNING ${USER}`,

    replace: `UPDATE user_account u
              SET status = coalesce($3, u.status), updated_at = now(),
                  ${PROFILE.map((name, i) => `${name} = $${i + 4}`)}
              FROM (SELECT * FROM user_account
                    WHERE tenant_id = $1 AND id = $2 FOR UPDATE) o
              WHERE u.tenant_id = $1 AND u.id = $2
              RETURNING ${USER.map((name) => `u.${name}`)},
                        o.status AS old_status,
                        ${PROFILE.map((name) => `o.${name} AS old_${name}`)}`,

    audit: `INSERT INTO audit_event (tenant_id, action, actor_type, actor_id,
                                     actor_name, target_type, target_id, ip,
                                     user_agent, request_id, details)
            VALUES ($1, $2, 'scim', $3, $4, 'user', $5, $6, $7, $8, $9)`,
};

const pool = new Pool({
    host: process.env.PEER_PG, user: 'peer', database: 'peer',
    max: 16, idleTimeoutMillis: 0, pipeline: true,
});


function statement(name, values) {
    return { name, text: SQL[name], values };
}


async function rows(name, ...values) {
    return (await pool.query(statement(name, values))).rows;
}


// Makes the change and its audit event, in one transaction of two round trips.
// Returns the row, or undefined when nothing was changed.  "event" returns the
// action and the details for a row.

async function write(request, event, name, ...values) {
    const { caller } = request;
    const client = await pool.connect();
    let broken = true;

    try {
        const [, { rows: [row] }] = await Promise.all([
            client.query('BEGIN'),
            client.query(statement(name, [caller.tenant_id, ...values])),
        ]);

        if (row) {
            const [action, details] = event(row);

            await Promise.all([
                client.query(statement('audit', [
                    caller.tenant_id, action, caller.id, caller.name, row.id,
                    request.ip, request.headers['user-agent'], request.id,
                    details])),
                client.query('COMMIT'),
            ]);

        } else {
            await client.query('ROLLBACK');
        }

        broken = false;

        return row;

    } finally {
        client.release(broken);
    }
}


// Returns what an UPDATE that returns the old values has changed.

function changed(row) {
    const names = NAMES.filter((_, i) =>
        row[PROFILE[i]] !== row[`old_${PROFILE[i]}`]);

    return row.status === row.old_status ? names : [...names, 'status'];
}


module.exports = { rows, write, changed };
