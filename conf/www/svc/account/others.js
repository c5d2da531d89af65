// The rows of what is linked with the account, and of what may act for it.

import { options } from "../brand.js";
import { h } from "../ui/draw.js";
import { about } from "../ui/time.js";
import { fill, list, shown, wordOf } from "../ui/words.js";
import { Act, Row, Rows, words } from "./parts.js";
import { access, More, wantsAll } from "./sections.js";


export function Linked({ identities, total, renew, fail }) {
  const w = words.identities;
  const there = identities.map(it => it.connection);
  const others = options.methods.connections
    .filter(c => c.kind !== "ldap" && !there.includes(c.connection));

  return h("div", {},
    h(Rows, { none: w.none },
      identities.map(it => h(Row, {
        key: it.id, title: shown(it.label),
        notes: [it.email && shown(it.email),
                [fill(w.linkedAt, { when: about(it.linkedAt) }),
                 it.lastAt ? fill(words.factor.used, { when: about(it.lastAt) })
                           : words.factor.unused].join(" · ")],
      },
        h(Act, { label: words.remove, of: it.label, fail, kind: "danger",
                 action: () => access("unlink")(it, total, renew) })))),
    h("div", { class: "actions" },
      h(More, { total, rows: identities, fail, action: wantsAll("identities", renew) }),
      others.map(c => h(Act, {
        key: c.connection, label: fill(w.link, { name: shown(c.label) }), fail,
        action: () => access("linkTo")(c.connection),
      }))));
}


export function Allowed({ consents, total, scopes, renew, fail }) {
  const w = words.consents;
  const named = scope => wordOf(scopes, scope) ?? shown(scope);

  return h("div", {},
    h(Rows, { none: w.none },
      consents.map(it => h(Row, {
        key: it.clientId, title: shown(it.name),
        notes: [
          it.scopes.length > 0 ? it.scopes.map(named).join(" · ") : w.nothing,
          it.resources.length > 0
            && fill(w.at, { resources: list(it.resources.map(shown)) }),
          fill(w.since, { when: about(it.createdAt) }),
        ],
      },
        h(Act, { label: w.take, of: it.name, fail, kind: "danger",
                 action: () => access("takeBack")(it, renew) })))),
    h(More, { total, rows: consents, fail, action: wantsAll("consents", renew) }));
}
