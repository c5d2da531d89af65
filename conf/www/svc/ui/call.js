// The one call of the console and of the account page.  A page belongs to one user of
// one tenant: it never sends the CSRF token of whoever has signed in meanwhile.

import { language } from "./words.js";

export const session = {};      // as GET /v1/auth/session has it
export let seen = Date.now();   // when the server last knew it

const heard = { session: new Set(), sent: new Set() };
let gate = Promise.resolve();   // what other requests wait for, while somebody is asked


// What went wrong.  "code" is the server's, or "network", "cancelled", "bad_answer".

export class Failure extends Error {
  constructor(code, message, more) {
    super(message);
    Object.assign(this, { code, status: 0, seconds: null, id: null, member: null }, more);
  }
}


// What comes when it is needed may not come: after an upgrade other files are there.

export const late = part => part.catch(e => {
  throw new Failure("not_loaded", e.message);
});


// The query of an address: what is null, undefined or "" is left out.

export function queryOf(query) {
  const values = Object.entries(query ?? {})
    .filter(([, value]) => value !== undefined && value !== null && value !== "");

  return values.length > 0 ? `?${new URLSearchParams(values)}` : "";
}


// Returns { data, etag, status, id, replayed }.
//
//   path    without /v1
//   body    what becomes JSON; a file is sent as it is
//   etag    of what a change is based on
//   key     an Idempotency-Key, for all attempts
//   now     does not wait while somebody is asked: for who asks
//   stream  the data is the body, which comes bit by bit
//   last    the id of the last event of a stream

export async function call(request) {
  if (!request.now) {
    await gate;
  }

  return attempt(request, {});
}


// "done" says what has been tried already: everything once.

async function attempt(request, done) {
  await current();

  const answer = await send(request);

  if (answer.ok) {
    await current(!request.method);

    return answer;
  }

  const { failure } = answer;
  const { code } = failure;

  if (!request.now && !done[code] && await remedy(failure, request)) {
    return attempt(request, { ...done, [code]: true });
  }

  if (code === "forbidden") {
    await refresh().catch(() => {});
  }

  throw failure;
}

// What is read is of whoever the cookie belongs to: of somebody else it is not shown.

export async function current(read) {
  if (session.user && moved()) {
    await refresh().catch(read ? null : ifChanged);
  }
}

export const ifChanged = e => {
  if (e.code === "session_changed") {
    throw e;
  }
};

async function remedy(failure, { method = "GET", stream }) {
  switch (failure.code) {

  case "csrf_failed":
  case "unauthenticated":
  case "unauthorized":
    return moved() ? refresh()
      : failure.code !== "csrf_failed" && gated(stream ? "signInHere" : "signIn");

  case "step_up_required":
    return gated("stepUp");

  case "rate_limited":
  case "unavailable":
    return method === "GET" && failure.seconds !== null && failure.seconds <= 5
           && new Promise(next => setTimeout(next, failure.seconds * 1000, true));

  default:
    return false;
  }
}


// For what nobody has asked for just now the page is not left: "signInHere".

const dialog = async name => (await late(import("./asking.js")))[name]();

// One question at a time.  Whoever comes to it meanwhile is told its outcome.

let asking = null;

function gated(question) {
  asking ??= dialog(question).finally(() => {
    asking = null;
  });

  gate = asking.catch(() => {});

  return asking;
}


async function send(request) {
  const { method = "GET", path, query, body, etag, key, signal, stream, last } = request;
  const headers = { "Accept-Language": language };
  const begun = performance.now();
  const whole = body === undefined || body instanceof Blob;

  if (method !== "GET") {
    headers["X-CSRF-Token"] = session.csrfToken ?? "";
  }

  if (!whole) {
    headers["Content-Type"] = "application/json";
  }

  if (etag) {
    headers["If-Match"] = etag;
  }

  if (key) {
    headers["Idempotency-Key"] = key;
  }

  if (last) {
    headers["Last-Event-ID"] = last;
  }

  try {
    const r = await fetch(`/v1${path}${queryOf(query)}`, {
      method, headers, signal, body: whole ? body : JSON.stringify(body),
    });

    const answer = stream && r.ok ? { ok: true, status: r.status, data: r.body, id: idOf(r) }
                                  : await answerOf(r);

    if (r.status !== 401 && !last) {
      seen = Date.now();
    }

    heard.sent.forEach(action => action(request, answer.failure ?? answer, begun));

    return answer;

  } catch (e) {
    if (signal?.aborted) {
      throw new Failure("cancelled", e.message);
    }

    return { failure: new Failure("network", e.message) };
  }
}

// Whether the server has a page of this path.

export const isServed = path => fetch(path, { method: "HEAD", redirect: "manual" })
  .then(r => r.ok, () => false);


const idOf = r => r.headers.get("X-Request-Id");

async function answerOf(r) {
  const id = idOf(r);
  const text = await r.text();
  let data = null;

  try {
    data = text ? JSON.parse(text) : null;

  } catch {
    return { failure: new Failure("bad_answer", text.slice(0, 200), { status: r.status, id }) };
  }

  if (r.ok) {
    return {
      ok: true, status: r.status, id, data, etag: r.headers.get("ETag"),
      replayed: r.headers.get("Idempotency-Replayed") === "true",
    };
  }

  const { code = "bad_answer", message = "", member = null } = data?.error ?? {};
  const seconds = r.headers.get("Retry-After");

  return { failure: new Failure(code, message, {
    status: r.status, id, member, seconds: seconds === null ? null : Number(seconds),
  }) };
}


// --- the session ---------------------

// The click on a link to an answer, which the browser asks for by itself: not with the
// cookie of somebody else.

export function ours(event) {
  if (session.user && moved()) {
    event.preventDefault();
    call({ path: "/auth/session" }).then(() => event.target.click(), () => {});
  }
}

const cookieToken = () =>
  document.cookie.match(/(?:^|; )(?:__Host-)?svc_csrf=([^;]*)/)?.[1];

const moved = () => {
  const token = cookieToken();

  return token !== undefined && token !== session.csrfToken;
};


// The page is of the first session that is given; where a later one is somebody else's,
// nothing is sent any more.

let over = false;

export function take(next) {
  if (session.user && !same(next)) {
    if (!over) {
      over = true;
      dialog("changed");
    }

    throw new Failure("session_changed", "Somebody else has signed in.");
  }

  Object.assign(session, next);
  heard.session.forEach(action => action(session));

  return true;
}

const same = next =>
  next.user.id === session.user.id && next.tenant.id === session.tenant.id;


// Reads whose session it is now.  Returns true, or fails.

export async function refresh() {
  const answer = await send({ path: "/auth/session" });

  if (!answer.ok) {
    throw answer.failure;
  }

  return take(answer.data);
}


// Calls the action with each session, from now on, or after each request ("sent"), with that,
// its answer and when it began.  Returns the function that ends it.

export function hear(what, action) {
  heard[what].add(action);

  return () => heard[what].delete(action);
}

export const may = permission => session.permissions?.includes(permission) ?? false;


// --- other tabs ----------------------

// A tab tells who has signed in, or out.

const tabs = new BroadcastChannel("svc");
const listeners = new Set();

export const loginOf = to => `/login?tenant=${encodeURIComponent(session.tenant.slug)}`
  + (to ? `&return_to=${encodeURIComponent(to)}` : "");

tabs.addEventListener("message", ({ data }) => {
  if (data === "signed_in") {
    listeners.forEach(action => action());

  } else if (data === "signed_out") {
    document.body.hidden = true;
    location.assign(loginOf(location.pathname));
  }
});

export function onSignIn(action) {
  listeners.add(action);

  return () => listeners.delete(action);
}


export async function signOut() {
  await call({ method: "POST", path: "/auth/logout", body: {} });
  tabs.postMessage("signed_out");
  location.assign(loginOf());
}


// A page that comes back from the browser's memory may be of a session that is over.

addEventListener("pageshow", async event => {
  if (event.persisted) {
    document.body.hidden = true;

    try {
      await refresh();
      document.body.hidden = false;

    } catch {
      location.reload();
    }
  }
});
