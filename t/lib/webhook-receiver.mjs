// A receiver of webhooks for tests: SvcTest::Receiver starts it.
//
// Arguments: a folder with certificates, a file that gets a line of JSON for each
// request, and ports that are not to be any, like "good=8443".  Prints "name
// port" for each server, then "ready".  The path of a request says how it is
// answered.

import { existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import https from 'node:https';
import http from 'node:http';
import net from 'node:net';
import { gzipSync } from 'node:zlib';

const [ dir, log, ...numbers ] = process.argv.slice(2);
const ports = Object.fromEntries(numbers.map(n => n.split('=')));
const out = openSync(log, 'a');
const seen = new Map();
const connections = new WeakMap();
const served = new WeakSet();
let nconnections = 0;

// each of these can be written to until the other side goes away

function forever(socket, text, ms) {
    const more = () => {
        if (socket.destroyed) {
            return;
        }

        if (ms) {
            socket.write(text);
            setTimeout(more, ms);

        } else if (socket.write(text)) {
            setImmediate(more);

        } else {
            socket.once('drain', more);
        }
    };

    more();
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = HEAD + 'Transfer-Encoding: chunked\r\n\r\n';
const CHUNK = '400\r\n' + 'x'.repeat(1024) + '\r\n';

const modes = {
    ok: (req, res) => res.end('ok'),
    status: (req, res, n) => res.writeHead(Number(n)).end(),
    redirect: (req, res, port) => res.writeHead(302, {
        Location: `https://127.0.0.1:${port}/visited` }).end(),
    visited: (req, res) => res.end(),
    slow: (req, res, ms) => setTimeout(() => res.end('ok'), Number(ms)),
    hang: () => {},

    // once there is a file of that name in the folder

    until: (req, res, name) => {
        const timer = setInterval(() => {
            if (existsSync(`${dir}/${name}`)) {
                clearInterval(timer);
                res.end('ok');
            }
        }, 20);
    },

    large: (req, res, n) => res.end('x'.repeat(Number(n))),

    // a document, as servers for fetches have it

    json: (req, res, n) => res.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8', ETag: '"v1"',
        'Cache-Control': 'public, max-age=300' }).end(req.headers.accept ?? '{}'),
    html: (req, res) => res.writeHead(200, { 'Content-Type': 'text/html' })
        .end('<html>sign in</html>'),
    // a file of the folder, once there is none that holds it back

    file: (req, res, name) => {
        const timer = setInterval(() => {
            if (existsSync(`${dir}/${name}.hold`)) {
                return;
            }

            clearInterval(timer);

            if (!existsSync(`${dir}/${name}`)) {
                res.writeHead(404).end('no such file');
                return;
            }

            res.writeHead(200, { 'Content-Type': 'application/jwk-set+json',
                'Cache-Control': 'max-age=7200' }).end(readFileSync(`${dir}/${name}`));
        }, 20);
    },

    'not-modified': (req, res) => res.writeHead(304, { ETag: '"v1"' }).end(),
    gzip: (req, res, n) => res.writeHead(200, { 'Content-Encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(Number(n)))),

    // the first n attempts of each delivery fail, or, where these have no id, of the URL

    fail: (req, res, n) => {
        const id = req.headers['x-svc-delivery'] ?? req.url;
        const count = (seen.get(id) ?? 0) + 1;

        seen.set(id, count);
        res.writeHead(count > Number(n) ? 204 : 503).end();
    },

    hints: (req, res, n) => {
        for (let i = 0; i < Number(n); i++) {
            req.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n');
        }

        res.end('ok');
    },

    'hints-forever': req => forever(req.socket,
        'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
    'head-forever': req => {
        req.socket.write(HEAD);
        forever(req.socket, `X-More: ${'x'.repeat(200)}\r\n`);
    },
    'line-forever': req => {
        req.socket.write(HEAD + 'X-More: ');
        forever(req.socket, 'x'.repeat(1000));
    },
    'body-forever': req => {
        req.socket.write(CHUNKED);
        forever(req.socket, CHUNK);
    },
    'head-drip': req => {
        req.socket.write(HEAD + 'X-More: ');
        forever(req.socket, 'x', 200);
    },
    'body-drip': req => {
        req.socket.write(HEAD + 'Content-Length: 1000000\r\n\r\n');
        forever(req.socket, 'x', 200);
    },
    'bad-body-drip': req => {
        req.socket.write('HTTP/1.1 500 No\r\nContent-Length: 1000000\r\n\r\n');
        forever(req.socket, 'x', 200);
    },

    'old-http': req => req.socket.end('it works\n'),
    garbage: req => req.socket.end('\x00\x01\x02 not HTTP\r\n\r\n'),
    close: req => req.socket.end(),
    'close-head': req => req.socket.end('HTTP/1.1 200 OK\r\nX-More'),
    'close-body': req =>
        req.socket.end(HEAD + 'Content-Length: 10\r\n\r\nx'),
    reset: req => req.socket.destroy(),

    // one request on each connection, though the answer says nothing of it

    once: (req, res, how) => {
        if (served.has(req.socket)) {
            req.socket.destroy();
            return;
        }

        served.add(req.socket);
        res.end('ok', () => how === 'idle' && req.socket.end());
    },
};

function handle(name) {
    return (req, res) => {
        const chunks = [];

        req.socket.on('error', () => {});
        req.on('data', chunk => chunks.push(chunk));
        req.on('end', () => {
            const body = Buffer.concat(chunks);
            const [ , mode, arg ] = req.url.split('?')[0].split('/');

            if (!connections.has(req.socket)) {
                connections.set(req.socket, ++nconnections);
            }

            writeSync(out, JSON.stringify({
                server: name, time: performance.timeOrigin + performance.now(),
                connection: connections.get(req.socket),
                method: req.method, url: req.url, version: req.httpVersion,
                headers: req.rawHeaders, body: body.toString('latin1'),
                tls: req.socket.getProtocol?.(),
            }) + '\n');

            (modes[mode] ?? modes.ok)(req, res, arg);
        });
    };
}

function secure(name) {
    return https.createServer({
        cert: readFileSync(`${dir}/${name}.pem`),
        key: readFileSync(`${dir}/${name}.key`),
        keepAliveTimeout: 60000,
    }, handle(name));
}

// an HTTP proxy that knows CONNECT, and leads all names to this machine

function proxy() {
    return http.createServer().on('connect', (req, client, head) => {
        writeSync(out, JSON.stringify({ server: 'proxy', url: req.url,
            method: 'CONNECT', headers: req.rawHeaders, body: '' }) + '\n');

        if (req.url.startsWith('denied.')) {
            client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
            return;
        }

        const server = net.connect(req.url.split(':')[1], '127.0.0.1', () => {
            client.write('HTTP/1.1 200 OK\r\n\r\n');
            server.write(head);
            server.pipe(client).pipe(server);
        });

        server.on('error', () => client.destroy());
        client.on('error', () => server.destroy());
    });
}

const sockets = new Set();

const servers = {
    good: secure('good'),
    other: secure('other'),
    expired: secure('expired'),
    self: secure('self'),
    plain: http.createServer(handle('plain')),
    stall: net.createServer(socket => sockets.add(socket)),
    reset: net.createServer(socket => socket.resetAndDestroy()),
    proxy: proxy(),
};

for (const [ name, server ] of Object.entries(servers)) {
    server.on('tlsClientError', () => {});
    server.on('clientError', (error, socket) => socket.destroy());

    await new Promise((resolve, reject) => {
        server.on('error', reject);
        server.listen(Number(ports[name] ?? 0), '127.0.0.1', 4096, resolve);
    });

    console.log(name, server.address().port);
}

console.log('ready');
