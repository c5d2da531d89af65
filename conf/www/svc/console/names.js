// Who has done something: the log knows users by their ids alone, so that nothing of them
// stays there when they are erased.  The names of those who are drawn are asked for together.

import { call, may, session } from "../ui/call.js";
import { CELLS, Actor } from "../ui/cells.js";
import { effect, h, state } from "../ui/draw.js";
import { shown } from "../ui/words.js";

const MOST = 20;                // ids of a request
const NEEDS = ["users:view", "members:manage", "groups:manage", "apps:manage"];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const known = new Map();        // by id: { name, detail }, or null where there is none
const drawn = new Set();        // what is drawn again when names have come
let wanted = null;              // the ids that nobody has asked for yet
let asked = null;               // where names were asked for last

const isUser = ({ type, id, name }) => type === "user" && !name && UUID.test(id ?? "");

const nameOf = id => id !== session.user.id ? known.get(id)
  : { name: session.user.displayName ?? session.user.email, detail: session.user.email };


// A list asks once: what comes to it while somebody looks on keeps no session awake.

function want(id) {
  if (known.has(id) || id === session.user.id || !NEEDS.some(may)) {
    return;
  }

  if (!wanted) {
    wanted = new Set();
    setTimeout(ask);
  }

  wanted.add(id);
}

async function ask() {
  const ids = [...wanted].slice(0, MOST);
  const here = `${history.state?.index} ${location.href}`;

  wanted = null;

  if (asked !== here) {
    asked = here;
    await read(ids).catch(() => {});            // the ids are there all the same
    drawn.forEach(draw => draw());
  }
}

async function read(ids) {
  ids.forEach(id => known.set(id, null));

  try {
    const { data } = await call({ path: "/admin/names", now: true,
                                  query: { type: "user", ids: ids.join(",") } });

    data.names.forEach(({ id, ...name }) => known.set(id, name));

  } catch (e) {
    ids.forEach(id => known.delete(id));
    throw e;
  }
}


// Who that is, as a text: { type, id, name }.  What draws this is drawn again when more is
// known.

const said = actor =>
  shown(actor.name || isUser(actor) && nameOf(actor.id)?.name || actor.id || actor.type);

export function useNames(actors) {
  const [, setRound] = state(0);
  const ids = actors.filter(isUser).map(({ id }) => id);

  effect(() => {
    const draw = () => setRound(n => n + 1);

    drawn.add(draw);
    ids.forEach(want);

    return () => drawn.delete(draw);
  }, [ids.join()]);

  return said;
}

// the same once, with a request if it takes one

export async function whoIs(actor) {
  if (isUser(actor) && !nameOf(actor.id) && NEEDS.some(may)) {
    await read([actor.id]).catch(() => {});
  }

  return said(actor);
}


// The name, and the address, which is nobody else's, where it is known.

function User({ actor }) {
  useNames([actor]);

  const { name, detail } = nameOf(actor.id) ?? {};

  return h(Actor, { ...actor, name: actor.name ?? name, detail });
}

CELLS.actor = value => h(value.type === "user" ? User : Actor,
                         value.type === "user" ? { actor: value } : value);
