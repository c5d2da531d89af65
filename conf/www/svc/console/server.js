// The server: what its operator has switched on, with its times, as GET /v1/admin/console
// says; and what this page has asked it.

import { call, hear, queryOf } from "../ui/call.js";

export let server = null;

export const ask = async () => {
  ({ data: server } = await call({ path: "/admin/console" }));
};


// The last requests, the newest first, for whoever wants to do the same by a script.  Those
// of sign-ins and factors are not among them, nor is any answer.

const MOST = 50;
const OWN = /^\/(?:auth|mfa)\//;
const SECRET = ["bindPassword", "clientSecret", "currentPassword", "newPassword", "password",
                "secret", "token"];

export const sent = [];

// what stands for a secret, which nobody can write

export const HIDDEN = crypto.randomUUID();

const hidden = (name, value) => SECRET.includes(name) && value !== null ? HIDDEN : value;

hear("sent", ({ method = "GET", path, query, body, etag, key }, { status, id }, begun) => {
  if (!OWN.test(path)) {
    sent.unshift({
      method, path: `/v1${path}${queryOf(query)}`, etag, key, status, id,
      at: new Date().toISOString(), ms: Math.round(performance.now() - begun),
      ...body instanceof Blob ? { file: body.name } : { body: JSON.stringify(body, hidden) },
    });
    sent.length = Math.min(sent.length, MOST);
  }
});
