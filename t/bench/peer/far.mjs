// A SCIM server far away: each request is answered after as many ms as it is told.

import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';

const delay = Number(process.argv[2]);

const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => setTimeout(() => {
        const body = request.method === 'POST'
            ? { id: randomUUID() } : { totalResults: 0, Resources: [] };

        response.writeHead(request.method === 'POST' ? 201 : 200,
                           { 'Content-Type': 'application/scim+json' });
        response.end(JSON.stringify(body));
    }, delay));
});

server.keepAliveTimeout = 600000;
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
