// The peer of the benchmark of OAuth: oidc-provider issues tokens of a client,
// and introspects them, in as many processes as nginx has workers.
//
// Environment: PEER_PORT, PEER_WORKERS, PEER_RESOURCE, whose tokens are JWTs by
// ES256, and below it, /rs256, by RS256;
// PEER_PG, the folder of PostgreSQL's socket: records are in its table
// oidc_record, and without it in the memory of each process.

import cluster from 'node:cluster';
import { generateKeyPairSync } from 'node:crypto';

import { Provider } from 'oidc-provider';
import pg from 'pg';

const ISSUER = `http://127.0.0.1:${process.env.PEER_PORT}`;
const CLIENT = {
    client_id: 'bench', client_secret: 'bench-secret-of-32-characters-xx',
    grant_types: ['client_credentials'], response_types: [], redirect_uris: [],
    token_endpoint_auth_method: 'client_secret_basic',
    id_token_signed_response_alg: 'ES256',
};

let pool;


// What a client's token needs of an adapter: storing and finding.

class Records {
    constructor(model) {
        this.model = model;
    }

    async upsert(id, payload, expiresIn) {
        await pool.query({
            name: 'upsert',
            text: 'INSERT INTO oidc_record (model, id, payload, expires_at)'
                  + " VALUES ($1, $2, $3, now() + $4 * interval '1 second')"
                  + ' ON CONFLICT (model, id) DO UPDATE SET payload ='
                  + ' excluded.payload, expires_at = excluded.expires_at',
            values: [this.model, id, payload, expiresIn],
        });
    }

    async find(id) {
        const { rows } = await pool.query({
            name: 'find',
            text: 'SELECT payload FROM oidc_record WHERE model = $1 AND id = $2'
                  + ' AND expires_at > now()',
            values: [this.model, id],
        });

        return rows[0]?.payload;
    }

    async consume() {}
    async destroy() {}
    async findByUid() {}
    async findByUserCode() {}
    async revokeByGrantId() {}
}


function start() {
    if (process.env.PEER_PG) {
        pool = new pg.Pool({ host: process.env.PEER_PG, port: 5432, max: 8,
                             user: 'postgres', database: 'oidc' });
    }

    const provider = new Provider(ISSUER, {
        adapter: pool && Records,
        clients: [CLIENT],
        scopes: ['invoices:read'],
        jwks: { keys: JSON.parse(process.env.PEER_KEYS) },
        ttl: { ClientCredentials: 3600 },
        features: {
            devInteractions: { enabled: false },
            clientCredentials: { enabled: true },
            introspection: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo: (ctx, resource) => ({
                    scope: 'invoices:read', audience: process.env.PEER_RESOURCE,
                    accessTokenFormat: 'jwt', accessTokenTTL: 3600,
                    jwt: { sign: { alg: resource.endsWith('/rs256') ? 'RS256' : 'ES256' } },
                }),
            },
        },
    });

    provider.on('server_error', (ctx, error) => console.error(error));

    provider.listen(Number(process.env.PEER_PORT), '127.0.0.1')
        .keepAliveTimeout = 600_000;
}


if (cluster.isPrimary) {
    const key = (alg, type, options) => ({
        ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }),
        kid: alg, alg, use: 'sig',
    });
    const keys = [ key('ES256', 'ec', { namedCurve: 'P-256' }),
                   key('RS256', 'rsa', { modulusLength: 2048 }) ];

    for (let i = 0; i < Number(process.env.PEER_WORKERS); i++) {
        cluster.fork({ PEER_KEYS: JSON.stringify(keys) });
    }

    cluster.on('exit', (worker, code) => {
        console.error(`worker ${worker.process.pid} has ended: ${code}`);
        process.exit(1);
    });

} else {
    start();
}
