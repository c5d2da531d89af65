// What ends sessions, links accounts, and takes back what applications may do.

import { call, session } from "../ui/call.js";
import { confirm } from "../ui/dialog.js";
import { fill, shown } from "../ui/words.js";
import { removed } from "./factors.js";
import { dialogs, say, words } from "./parts.js";


export async function end(it, renew) {
  await call({ method: "DELETE", path: `/auth/sessions/${it.id}` });
  await renew(["sessions"]);
  await say(fill(dialogs.sessions.ended, { n: 1 }));
}

export async function endOthers(n, renew) {
  const { others } = words.sessions;
  const w = dialogs.sessions;

  if (await confirm({ title: others, notes: [fill(w.othersNote, { n })], verb: others })) {
    const { data } = await call({ method: "POST", path: "/auth/sessions/revoke-others" });

    await renew(["sessions"]);
    await say(fill(w.ended, { n: data.revokedSessions }));
  }
}


export async function unlink(it, total, renew) {
  const w = dialogs.identities;
  const name = shown(it.label);

  if (await confirm({ title: fill(w.remove, { name }), verb: words.remove,
                      notes: [w.removeNote, ...(total === 1 ? [dialogs.wayIn] : [])] }))
  {
    await call({ method: "DELETE", path: `/auth/identities/${it.id}` });
    await removed(name, ["identities"], renew);
  }
}

export async function linkTo(connection) {
  const { data } = await call({
    method: "POST", path: "/auth/federation/start",
    body: { connection, purpose: "link", tenant: session.tenant.slug,
            returnTo: "/account?linked" },
  });

  location.assign(data.redirectTo);
}


export async function takeBack(it, renew) {
  const w = dialogs.consents;
  const name = shown(it.name);

  if (await confirm({ title: fill(w.remove, { name }), notes: [w.removeNote],
                      verb: words.consents.take }))
  {
    await call({ method: "DELETE", path: `/oauth/consents/${encodeURIComponent(it.clientId)}` });
    await renew(["consents"]);
    await say(fill(w.removed, { name }));
  }
}
