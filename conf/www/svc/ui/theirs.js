// The dialog of conflict.js: what somebody else has changed, and what one's own would.

import { Diff } from "./diff.js";
import { Dialog, show } from "./dialog.js";
import { h } from "./draw.js";
import { lasts } from "./duration.js";
import { text } from "./text.js";


// Says a member as its form does.

const sayer = (fields, words) => ([name, ...below], value) => {
  const say = one => words.options?.[name]?.[one] ?? null;

  return below.length > 0 ? null
    : value === null ? words.none?.[name] ?? null
    : fields[name].kind === "duration" ? lasts(value)
    : Array.isArray(value) && value.length > 0 && value.every(say)
      ? value.map(say).join(", ")
    : say(value);
};


const wordsOf = ({ fields, words }) => ({ fields: words.fields, say: sayer(fields, words) });

export const ask = ({ form, words = wordsOf(form), ...props }) =>
  show(Conflict, { ...props, words });

const Conflict = ({ was, theirs, mine, words, note, done }) =>
  h(Dialog, { title: text.conflict.title, wide: true, done: () => done() },
    h("p", {}, note, note && " ", text.conflict.note),
    h("div", { class: "beside" },
      h("section", {}, h("h3", {}, text.conflict.theirs),
        h(Diff, { before: was, after: theirs, words })),
      h("section", {}, h("h3", {}, text.conflict.mine),
        h(Diff, { before: theirs, after: mine, words }))),
    h("div", { class: "actions" },
      h("button", { type: "button", autofocus: true, onclick: () => done() }, text.keep),
      h("button", { type: "button", onclick: () => done("theirs") }, text.conflict.load),
      h("button", { type: "button", class: "primary", onclick: () => done("mine") },
        text.conflict.send)));
