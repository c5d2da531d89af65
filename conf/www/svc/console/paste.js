// A group's members by their addresses, which somebody has pasted.

import { call, Failure } from "../ui/call.js";
import { Code } from "../ui/copy.js";
import { confirm, Dialog } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Form } from "../ui/form.js";
import { text } from "../ui/text.js";
import { fill, shown } from "../ui/words.js";
import { addressesOf } from "./addresses.js";
import { pathOf } from "./sheet.js";

const MOST = 1000;              // in a request

const FIELDS = {
  emails: { kind: "lines", rows: 10, must: true, autofocus: true },
  only: { kind: "switch" },
};


// A dialog; "done" is told whether anything was changed.

export function Paste({ one, sheet, words, done }) {
  const [n, setN] = state(null);                // how many are sent, once it has begun
  const [outcome, setOutcome] = state(null);
  const [ended] = state(() => new AbortController());
  const path = pathOf(sheet.path, one);
  const title = fill(words.paste, { name: shown(one.name) });

  effect(() => () => ended.abort(), []);

  const send = async ({ emails, only }) => {
    const { addresses, others } = addressesOf(emails);

    if (addresses.length === 0) {
      throw new Failure("invalid_request", words.noAddress, { member: "emails" });
    }

    // everybody who is not named would leave, and so would whoever is written wrongly

    if (only && others.length > 0) {
      throw new Failure("invalid_request", fill(words.others, { n: others.length }),
                        { member: "emails" });
    }

    setN(0);
    setOutcome({ others, n: addresses.length,
                 ...await (only ? replace : add)({ addresses, path, sheet, words, setN,
                                                   signal: ended.signal }) });
  };

  return h(Dialog, { title, done: () => done(n !== null) },
    outcome ? h(Outcome, { ...outcome, words, done: () => done(true) })
      : h(Form, {
          id: "paste", fields: FIELDS, words, verb: text.add, onsave: send,
          oncancel: () => done(n !== null),
          about: ({ emails }) => h(Counted, { emails, n, words }),
        }));
}


// Returns the addresses that nobody has, and how many members there are more.

async function add({ addresses, path, sheet, setN, signal }) {
  const before = await call({ path, query: { limit: 1 } });
  const unknown = [];
  let total = 0;

  for (let from = 0; from < addresses.length && !signal.aborted; from += MOST) {
    setN(from);

    const { data } = await call({ method: sheet.add.method, path, query: { limit: 1 },
                                  body: { emails: addresses.slice(from, from + MOST) } });

    unknown.push(...data.unknownEmails);
    total = data.total;
  }

  return { unknown, added: Math.max(0, total - before.data.total) };
}

async function replace({ addresses, path, sheet, words }) {
  if (addresses.length > MOST) {
    throw new Failure("invalid_request", fill(words.tooMany, { n: addresses.length, most: MOST }),
                      { member: "emails" });
  }

  if (!await confirm({ title: fill(words.replace, { n: addresses.length }),
                       notes: [words.replaceNote], verb: words.replaceVerb }))
  {
    throw new Failure("cancelled", "");
  }

  await call({ method: sheet.set.method, path, query: { limit: 1 }, body: { emails: addresses } });

  return { unknown: [], added: null };
}

function Counted({ emails, n, words }) {
  const { addresses, others } = addressesOf(emails ?? "");

  return h("p", { class: "muted", role: "status" },
    n > 0 ? fill(words.underWay, { n, total: addresses.length })
      : [fill(words.counted, { n: addresses.length }),
         others.length > 0 && ` · ${fill(words.others, { n: others.length })}`]);
}

function Outcome({ n, added, unknown, others, words, done }) {
  const there = n - unknown.length - added;

  return h("div", {},
    h("p", { role: "status" },
      h("strong", {}, fill(added === null ? words.replaced : words.added, { n: added ?? n })),
      added !== null && there > 0 && ` ${fill(words.there, { n: there })}`),
    unknown.length > 0 && h(Lines, { title: fill(words.unknown, { n: unknown.length }),
                                     lines: unknown }),
    others.length > 0 && h(Lines, { title: fill(words.others, { n: others.length }),
                                    lines: others }),
    h("div", { class: "actions" },
      h("button", { type: "button", class: "primary", autofocus: true, onclick: done },
        text.close)));
}

const Lines = ({ title, lines }) => h("div", { class: "lines" },
  h("p", {}, title), h(Code, { value: lines.map(shown).join("\n") }));
