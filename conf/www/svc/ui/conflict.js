// Two at a time: what was sent was based on what is not there any more.

import { call, Failure } from "./call.js";
import { Diff } from "./diff.js";
import { Dialog, show } from "./dialog.js";
import { h } from "./draw.js";
import { lasts } from "./duration.js";
import { text } from "./text.js";


// Shows what somebody else has changed, and what one's own would change of that.
// Returns a promise of "theirs", of "mine", which is to be sent again, or of null, where
// all stays as it is.
//
//   was, theirs, mine   the values
//   words               as Diff takes them
//   note                who it was, if that is known

export const conflict = props => show(Conflict, props);

// Sends a change of what has an ETag.  Where that is not the one any more, it shows both:
// "send" is called once more with the new one, or nothing is sent.  Returns whether it was.
//
//   send     sends it: a function of the ETag, and of "now", what was read again, if it was
//   path     of what is changed, to read it again
//   of       takes what the fields are of from what was read; it may be a promise
//   was      what that was before
//   changed  the members that are sent
//   fields   their kinds, and "words" of the form

export async function sendOver({ send, etag, path, of = data => data, was, changed, fields,
                                 words, now })
{
  try {
    await send(etag, now);

    return true;

  } catch (e) {
    if (e.code !== "precondition_failed") {
      throw e;
    }
  }

  const { data, etag: next } = await call({ path });
  const names = Object.keys(fields);
  const only = value => Object.fromEntries(names.map(name => [name, value[name] ?? null]));
  const theirs = only(await of(data));

  switch (await conflict({ was: only(was), theirs, mine: { ...theirs, ...changed },
                           words: { fields: words.fields, say: sayer(fields, words) } }))
  {

  case "mine":
    return sendOver({ send, etag: next, path, of, was: theirs, changed, fields, words,
                      now: data });

  case "theirs":
    return false;

  default:
    throw new Failure("cancelled", "");
  }
}

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
