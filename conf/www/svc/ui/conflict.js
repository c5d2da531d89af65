// Two at a time: what was sent was based on what is not there any more.

import { Diff } from "./diff.js";
import { Dialog, show } from "./dialog.js";
import { h } from "./draw.js";
import { text } from "./text.js";


// Shows what somebody else has changed, and what one's own would change of that.
// Returns a promise of "theirs", of "mine", which is to be sent again, or of null, where
// all stays as it is.
//
//   was, theirs, mine   the values
//   words               as Diff takes them
//   note                who it was, if that is known

export const conflict = props => show(Conflict, props);

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
