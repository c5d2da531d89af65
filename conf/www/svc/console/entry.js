// An entry of the audit log, with all that it says.

import { queryOf } from "../ui/call.js";
import { Code } from "../ui/copy.js";
import { Dialog, show } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { go } from "../ui/place.js";
import { text } from "../ui/text.js";
import { exact } from "../ui/time.js";
import { shown } from "../ui/words.js";
import { causeOf } from "./cause.js";
import { Facts } from "./facts.js";
import { at } from "./nav.js";

export const open = props => show(Entry, props);

export function factsOf({ one, sheet, words }) {
  const { createdAt, action, outcome, ...facts } = sheet.facts;
  const cause = causeOf(one);

  return {
    sheet: { ...sheet, facts: { createdAt: "node", action, outcome, ...cause && { why: "node" },
                                ...facts, actorId: "copy", targetId: "copy" } },
    words: { ...words, columns: { ...words.columns, ...words.filters, why: cause?.label } },
    one: { ...one, actorId: one.actor.id, targetId: one.target?.id,
           createdAt: `${exact(one.createdAt)} · ${one.createdAt}`,
           why: cause && [cause.said, " ", h("code", {}, cause.code)] },
  };
}

// Signs that nobody sees are written as JSON can: what is copied is the same.

const jsonOf = details => JSON.stringify(details, null, 2).replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu,
  sign => Array.from({ length: sign.length }, (_, n) =>
    `\\u${sign.charCodeAt(n).toString(16).padStart(4, "0")}`).join(""));

export const Told = ({ details }) =>
  Object.keys(details).length > 0 ? h(Code, { value: jsonOf(details) }) : null;

const Entry = ({ one, sheet, words, done }) => h(Dialog, {
  title: shown(one.action), done, wide: true,
},
  h(Facts, factsOf({ one, sheet, words })),
  h(Told, one),
  h(Around, { one, words, done },
    h("button", {
      type: "button",
      onclick() {
        done();
        go(at("audit", one.id));
      },
    }, words.alone),
    h("button", { type: "button", onclick: () => done() }, text.close)));

// What else is of the same.

export const Around = ({ one, words, done = () => {}, kids }) =>
  h("div", { class: "actions" },
    one.actor.id && h(Same, { label: words.sameActor, query: { actorId: one.actor.id }, done }),
    one.target?.id
      && h(Same, { label: words.sameTarget, query: { targetId: one.target.id }, done }),
    one.requestId
      && h(Same, { label: words.sameRequest, query: { requestId: one.requestId }, done }),
    kids);

const Same = ({ label, query, done }) => h("button", {
  type: "button",
  onclick() {
    done();
    go(at("audit") + queryOf(query));
  },
}, label);
