// What a change of a policy would do, before it is made.

import { call, Failure } from "../ui/call.js";
import { conflict } from "../ui/conflict.js";
import { Diff } from "../ui/diff.js";
import { Dialog, show } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { text } from "../ui/text.js";
import { shown } from "../ui/words.js";
import { withLock } from "./sheet.js";

// These are why the server would refuse it; the others are to be known.

export const REFUSALS = ["forbidden", "limit_exceeded", "anti_lockout", "role_in_use"];


export const planOf = async (bundle, prune) => (await call({
  method: "POST", path: "/admin/config/plan",
  query: { detail: true, prune: prune || null }, body: { version: 1, ...bundle },
})).data;


// Names the member as the form does: without what is before it in a bundle.

export function without(prefix, failure) {
  const message = failure.message.replaceAll(`"${prefix}.`, '"');

  return new Failure(failure.code, message, {
    status: failure.status, seconds: failure.seconds, id: failure.id,
    member: message.match(/^"([^"]+)"/)?.[1] ?? null,
  });
}


// Shows what would change, and sends it.  Returns a promise of { data, etag }, which is
// what the server has now; with "theirs" it is what somebody else has made of it.  Null:
// nothing was sent.  What the plan refuses is thrown.
//
//   section   of the bundle, and "value" of it; "resource" is the one that it is about, and
//             "prefix" what its members have before them
//   etag      of what the change is based on, which is "was"
//   send      sends it, with an etag
//   mine      makes of what somebody else has made of it what it would be with one's own;
//             "of" takes of that, and of "was", what is one's own to change
//   read      reads what there is now: a promise of { data, etag, note }
//   part      what of the plan's values is to be seen
//   draw      draws what else is to be known
//   words     title, note, verb, none; and those of the differences, as Diff takes them

export async function review(props) {
  const { section, value, resource = section, prefix = section } = props;
  let plan;

  try {
    plan = await planOf({ [section]: value });

  } catch (e) {
    throw without(prefix, e);
  }

  return show(Review, {
    ...props, change: plan.changes.find(change => change.resource === resource),
    warnings: plan.warnings.filter(({ code }) => code !== "deletes_skipped"),
  });
}


const itself = value => value;

function Review({ change, warnings, etag, was, send, read, of = itself, part = itself, mine, draw,
                  words, done }) {
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);
  const refused = warnings.filter(({ code }) => REFUSALS.includes(code));

  const apply = async tag => {
    setFailure(null);
    setBusy(true);

    try {
      done(await send(tag));

    } catch (e) {
      if (e.code === "precondition_failed") {
        await merge().catch(setFailure);

      } else if (e.code !== "cancelled") {
        setFailure(e);
      }

    } finally {
      setBusy(false);
    }
  };

  const merge = async () => {
    const now = await read();
    const theirs = of(now.data);
    const choice = await conflict({
      was: of(was), theirs, mine: mine(theirs), words: words.diff, note: now.note,
    });

    if (choice === "theirs") {
      done({ ...now, theirs: true });

    } else if (choice === "mine") {
      await apply(now.etag);
    }
  };

  return h(Dialog, { title: words.title, wide: true, done: () => done() },
    failure && h(Problem, { failure }),
    h(Warnings, { warnings }),
    change ? h(Diff, { before: part(change.before ?? {}), after: part(change.after ?? {}),
                       words: words.diff })
           : h("p", {}, text.diff.none),
    draw,
    refused.length > 0 && h("p", { id: "review-why", class: "wrong" }, words.refused),
    h("div", { class: "actions" },
      h("button", { type: "button", autofocus: true, onclick: () => done() }, text.cancel),
      h("button", {
        type: "button", class: "primary", disabled: busy || refused.length > 0,
        "aria-describedby": refused.length > 0 ? "review-why" : null,
        title: text.sensitive, onclick: () => apply(etag),
      }, withLock(words.verb))));
}


// The server's words: why it would refuse a plan, and what else is to be known of it.

export const Warnings = ({ warnings }) => h("div", {}, warnings.map(({ code, message }, n) =>
  h("div", {
    key: n, class: REFUSALS.includes(code) ? "problem" : "notice",
    role: REFUSALS.includes(code) ? "alert" : null,
  }, h("p", { lang: "en" }, shown(message)))));
