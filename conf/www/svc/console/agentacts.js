// What is done with agents, and with what is unusual of them.

import { call } from "../ui/call.js";
import { confirm } from "../ui/dialog.js";
import { sentence } from "../ui/fail.js";
import { forEach } from "../ui/many.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { pathOf } from "./sheet.js";


// The key that kills does nothing else: an agent that is off stays off.  Where it could not
// be done the question stays, and Enter tries again.

export async function kill({ one, sheet, words, done }) {
  if (one.policy?.enabled === false) {
    return toast(fill(words.killed, { name: shown(one.name) }));
  }

  const { method, path, give } = sheet.acts.kill;
  const said = words.acts.kill;
  const name = shown(one.name);
  let problem = [];

  while (await confirm({ title: fill(said.title, { name }), notes: [...problem, ...said.notes],
                         verb: said.verb, sure: true }))
  {
    try {
      await call({ method, path: pathOf(path, one), body: give });
      toast(fill(said.done, { name }));

      return done();

    } catch (e) {
      problem = [`${sentence(e)} ${shown(e.message)}`];
    }
  }
}


const send = (sheet, one) =>
  call({ method: sheet.ack.method, path: pathOf(sheet.ack.path, one), body: {} });

export async function acknowledge({ one, sheet, words }) {
  await send(sheet, one);
  toast(fill(words.acked, { n: 1 }));
}

// Returns those that were not acknowledged, with the reasons.

export async function acknowledgeAll({ some, sheet, words }) {
  const left = new Map();

  await forEach(some, one => send(sheet, one).then(() => { left.delete(one); }, why => {
    left.set(one, why);

    return why;
  }));

  toast(fill(words.acked, { n: some.length - left.size }));

  return [...left];
}
