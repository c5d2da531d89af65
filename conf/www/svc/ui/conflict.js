// Two at a time: what was sent was based on what is not there any more.

import { call, Failure, late } from "./call.js";


// Shows what somebody else has changed, and what one's own would change of that.
// Returns a promise of "theirs", of "mine", which is to be sent again, or of null, where
// all stays as it is.
//
//   was, theirs, mine   the values
//   words               as Diff takes them, or of a "form": { fields, words }
//   note                who it was, if that is known

export const conflict = async props => (await late(import("./theirs.js"))).ask(props);

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
                           form: { fields, words } }))
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
