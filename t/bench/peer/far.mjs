// A SCIM server far away: it answers each request after a given number of ms.
//  It remembers the names of users until a DELETE, and finds those that a
// filter compares with; below /plain it accepts filters of one comparison only.

import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';

const delay = Number(process.argv[2]);
const users = new Map();

function find(url) {
    const filter = new URL(url, 'http://far').searchParams.get('filter') ?? '';
    const terms = filter.split(' or ');

    if (terms.length > 1 && url.includes('/plain/')) {
        return [ 400, { status: '400', scimType: 'invalidFilter' } ];
    }

    const found = terms.map(term => /^userName eq "(.*)"$/.exec(term)?.[1])
                       .filter(name => users.has(name))
                       .map(name => ({ id: users.get(name), userName: name }));

    return [ 200, { totalResults: found.length, Resources: found } ];
}

function create(text) {
    const { userName } = JSON.parse(text);

    users.set(userName, randomUUID());

    return [ 201, { id: users.get(userName), userName } ];
}

const server = createServer((request, response) => {
    const parts = [];

    request.on('data', part => parts.push(part));
    request.on('end', () => setTimeout(() => {
        const [ status, body ] = request.method === 'DELETE' ? [ 204, users.clear() ]
            : request.method === 'POST' ? create(Buffer.concat(parts)) : find(request.url);

        response.writeHead(status, { 'Content-Type': 'application/scim+json' });
        response.end(status === 204 ? '' : JSON.stringify(body));
    }, delay));
});

server.keepAliveTimeout = 600000;
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
