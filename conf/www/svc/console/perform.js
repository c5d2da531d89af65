// What an act does: asks first, if it has to, sends it, and says what came of it.

import { call } from "../ui/call.js";
import { Secret } from "../ui/copy.js";
import { confirm, Dialog, show } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { Problem, sentence } from "../ui/fail.js";
import { text } from "../ui/text.js";
import { about } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { fill, list, shown } from "../ui/words.js";
import { labelOf, pathOf } from "./sheet.js";

export { toast };

export function refuse(failure) {
  show(Refused, { failure });
}

const Refused = ({ failure, done }) => h(Dialog, { title: sentence(failure), done },
  h(Problem, { failure }),
  h("div", { class: "actions" },
    h("button", { type: "button", autofocus: true, onclick: () => done() }, text.close)));

// A repeated answer does not have it.

export const Once = ({ value, label }) => value
  ? h(Secret, { value, label }) : h("p", { class: "problem", role: "alert" }, text.secretLost);

const OnceDialog = ({ title, value, label, done }) => h(Dialog, { title, done },
  h(Once, { value, label }),
  h("div", { class: "actions" },
    h("button", { type: "button", class: "primary", onclick: () => done() }, text.kept)));


// What a text may say of what it is about: its members, times as people say them.

const valuesOf = (sheet, one) => ({
  ...Object.fromEntries(Object.entries({ ...sheet.columns, ...sheet.facts }).map(([name, kind]) =>
    [name, ["time", "used", "end"].includes(kind)
           ? one[name] ? about(one[name]) : kind === "end" ? text.endless : text.never
           : Array.isArray(one[name]) ? list(one[name].map(shown))
           : shown(one[name] ?? "–")])),
  name: labelOf(sheet, one),
});


// What an act sends is of what it is about, by its "body", or is what it has to "give".

export const sendAct = (act, one) => call({
  method: act.method, path: pathOf(act.path, one),
  body: act.give ?? (act.body ? Object.fromEntries(Object.entries(act.body)
                                                         .map(([to, from]) => [to, one[from]]))
                              : act.method === "POST" ? {} : undefined),
});

// Asks first, if it has to be; returns whether it was done.  People choose their names, and
// two may have one: where the sheet has "typed", that member is shown, and typed.

export async function perform({ sheet, words, name, one, done }) {
  const act = sheet.acts[name];
  const label = labelOf(sheet, one);
  const said = words.acts[name];
  const typed = one[sheet.typed] ?? label;

  if (act.kind !== "undo" && !await confirm({
    title: fill(said.title, { name: typed === label ? label : `${label} (${shown(typed)})` }),
    verb: said.verb,
    notes: said.notes.map(note => fill(note, valuesOf(sheet, one))),
    name: act.kind === "type" ? typed : undefined,
  }))
  {
    return false;
  }

  const { data } = await sendAct(act, one);

  if (act.secret) {
    await show(OnceDialog, { title: fill(said.done, { name: label }), label: said.secret,
                             value: data[act.secret] });

    return true;
  }

  toast(fill(said.done, { name: label }), act.back && (async () => {
    await sendAct(sheet.acts[act.back], one);
    done();
  }));

  return true;
}
