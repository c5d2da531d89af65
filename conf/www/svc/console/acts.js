// Acts: the buttons for what may be done with something.  What they do is in perform.js,
// which comes with the first press.

import { useAct } from "../ui/act.js";
import { late } from "../ui/call.js";
import { h } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { text } from "../ui/text.js";
import { server } from "./server.js";
import { labelOf, mayAct, withLock } from "./sheet.js";

const doing = () => late(import("./perform.js"));
const refused = async failure => (await doing()).refuse(failure);


// Whether an act is for this one: "where" says which values its members must have, and
// "unless" which they must not.

export const fits = ({ where = {}, unless = {} }, one) =>
  Object.entries(where).every(([name, values]) => values.includes(one[name]))
  && !Object.entries(unless).some(([name, values]) => values.includes(one[name]));

// An act that is "sensitive" asks for a second factor, and one that "asks" may.  One that
// needs a "feature" of the server says so where that is off.  "small" ones are those of a
// row.  What has no kind is but the way back of another one.

export function Acts({ sheet, words, one, done, gone, small,
                       names = Object.keys(sheet.acts ?? {}) }) {
  const fitting = names
    .filter(name => sheet.acts[name].kind && fits(sheet.acts[name], one)
                    && mayAct(sheet, sheet.acts[name]));

  return fitting.length === 0 ? null : h("div", { class: "actions" },
    fitting.map(name => h(ActButton, { key: name, sheet, words, name, one, small,
                                       done: name === "remove" ? gone : done })));
}

// The button of a row: a dialog says what has failed.

export function SmallAct({ label, verb, act }) {
  const { busy, failure, run } = useAct(refused);

  return h("span", {},
    h("button", { type: "button", class: "plain", disabled: busy, "aria-label": label,
                  onclick: run(act) }, verb),
    failure && h(Problem, { failure }));
}

function ActButton({ sheet, words, name, one, small, done }) {
  const { busy, failure, run } = useAct(small && refused, doing);
  const act = sheet.acts[name];
  const { verb, off } = words.acts[name];
  const asks = act.sensitive || act.asks;

  if (act.feature && !server.features[act.feature]) {
    return h("button", { type: "button", "aria-disabled": "true", title: off,
                         onclick: run(({ toast }) => toast(off)) }, verb);
  }

  return h("span", {},
    h("button", {
      type: "button", disabled: busy, title: asks ? text.sensitive : null,
      onclick: run(async ({ perform }) =>
        await perform({ sheet, words, name, one, done }) && await done()),
      class: small ? "plain" : act.kind === "type" || act.method === "DELETE" ? "danger" : null,
      "aria-label": small ? `${verb}: ${labelOf(sheet, one)}` : null,
    }, asks ? withLock(verb) : verb),
    failure && h(Problem, { failure }));
}
