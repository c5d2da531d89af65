// A SCIM server made of scimmy and express, whose users are in memory.
//
// Argument: a folder with certificates.  Prints "path <path>", "secret <token>",
// "port <n>" and "control <n>", then "ready".  Base URL:
// https://127.0.0.1:<port><path>; by plain HTTP the latter shows the users.

import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';

const [ dir ] = process.argv.slice(2);
const users = new Map();

SCIMMY.Resources.declare(SCIMMY.Resources.User).extend(SCIMMY.Schemas.EnterpriseUser);

SCIMMY.Resources.User.ingress((resource, data) => {
    const user = JSON.parse(JSON.stringify(data));
    const name = user.userName.toLowerCase();

    for (const other of users.values()) {
        if (other.id !== resource.id && other.userName.toLowerCase() === name) {
            throw new SCIMMY.Types.Error(409, 'uniqueness', 'He is there');
        }
    }

    user.id = resource.id ?? randomUUID();
    users.set(user.id, user);

    return user;
});

SCIMMY.Resources.User.egress(resource => {
    if (!resource.id) {
        return [ ...users.values() ];
    }

    if (!users.has(resource.id)) {
        throw new SCIMMY.Types.Error(404, null, 'He is not there');
    }

    return users.get(resource.id);
});

SCIMMY.Resources.User.degress(resource => users.delete(resource.id));

const app = express();

app.use('/scim', new SCIMMYRouters({
    type: 'bearer',
    handler: req => {
        if (req.header('Authorization') !== 'Bearer secret-token-of-the-target') {
            throw new Error('Who are you?');
        }

        return 'client';
    },
}));

const server = https.createServer({ cert: readFileSync(`${dir}/good.pem`),
                                    key: readFileSync(`${dir}/good.key`) }, app);

const control = http.createServer((req, res) => {
    res.end(JSON.stringify([ ...users.values() ]));
});

server.listen(0, '127.0.0.1', () => control.listen(0, '127.0.0.1', () => {
    console.log('path /scim\nsecret secret-token-of-the-target');
    console.log(`port ${server.address().port}`);
    console.log(`control ${control.address().port}\nready`);
}));
