// What is done with several rows at once: those that are picked in a list.

import { useAct } from "../ui/act.js";
import { call, Failure } from "../ui/call.js";
import { Copy } from "../ui/copy.js";
import { confirm, Dialog, show } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem, sentence } from "../ui/fail.js";
import { forEach } from "../ui/many.js";
import { Pick } from "../ui/pick.js";
import { guard } from "../ui/place.js";
import { styled } from "../ui/style.js";
import { MOST_PICKED, Table, useFocus } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, number, shown } from "../ui/words.js";
import { fits } from "./acts.js";
import { sendAct } from "./perform.js";
import { labelOf, mayAct, pathOf, withLock } from "./sheet.js";

await styled("/svc/console/views.css");


// The others wait, and whoever leaves the view ends it.

export function Bulk({ sheet, words, all, members, picks, again }) {
  const [under, setUnder] = state(null);        // way: how many of how many are done
  const [outcome, setOutcome] = state(null);
  const [now] = state(() => ({ ended: null }));
  const said = all.bulk;
  const rows = [...picks.picked.values()];
  const focused = useFocus(element => element.querySelector("button")
                                      ?? document.querySelector("main h1"));

  effect(() => () => now.ended?.abort(), []);
  effect(() => under ? guard(() => confirm({ title: said.leave, verb: said.stop })) : null,
         [under !== null]);

  // "before" is what came of those for whom it was done the first time

  const run = async (name, some, before = []) => {
    const act = sheet.acts[name];

    now.ended = new AbortController();
    setOutcome(null);
    setUnder({ n: 0, total: some.length });

    const { done, left } = await sendAll(one => sendAct(act, one), some, now.ended.signal,
                                         n => setUnder({ n, total: some.length }));

    setUnder(null);
    setOutcome({ name, left, made: act.secret ? [...before, ...done] : [] });
    picks.clear();
    again();

    if (done.length > 0) {
      toast(fill(said[name].done, { n: done.length }),
            act.back && (() => undo({
              rows: done, said, again,
              send: async ([one, { data }]) => await isSame(sheet, data)
                ? sendAct(sheet.acts[act.back], one) : SKIPPED,
            })));
    }
  };

  const begin = async (name, some) => {
    const { title, notes } = said[name];

    if (!title || await confirm({ title: fill(title, { n: some.length }), notes,
                                  verb: words.acts[name].verb }))
    {
      await run(name, some);
    }
  };

  return h("div", { class: "bulk", onfocusin: focused },
    under ? h("p", { class: "actions picks", role: "status" },
      fill(said.underWay, under), " ",
      h("button", { type: "button", onclick: () => now.ended.abort() }, said.stop))
      : rows.length > 0 && h(Picked, { sheet, words, said, members, rows, picks, begin, again }),
    outcome && h(Outcome, { ...outcome, sheet, words, said, run,
                            close: () => setOutcome(null) }));
}


// Those of the picked ones that an act is for.

function Picked({ sheet, words, said, members, rows, picks, begin, again }) {
  const { busy, failure, run } = useAct();

  const acts = sheet.many.filter(name => mayAct(sheet, sheet.acts[name]))
    .map(name => ({ name, some: rows.filter(one => fits(sheet.acts[name], one)) }))
    .filter(({ some }) => some.length > 0);

  return h("div", {},
    h("div", { class: "actions picks" },
      h("span", { role: "status" }, fill(text.picked, { n: rows.length }),
        rows.length === MOST_PICKED && ` ${said.most}`),
      acts.map(({ name, some }) => h("button", {
        key: name, type: "button", disabled: busy, onclick: run(() => begin(name, some)),
      }, verbOf(sheet, words, name),
         some.length < rows.length && ` (${number(some.length)})`)),
      members && h("button", {
        type: "button", disabled: busy,
        onclick: run(() => intoGroup({ said, members, rows, picks, again })),
      }, said.group.verb),
      h("button", { type: "button", class: "plain", onclick: picks.clear }, text.clear)),
    failure && h(Problem, { failure }));
}

const verbOf = (sheet, words, name) => sheet.acts[name].sensitive
  ? withLock(words.acts[name].verb) : words.acts[name].verb;


// Does it for each of them.  Returns who it was done for, with the answers, and who is left,
// with the reasons.

async function sendAll(send, rows, signal, tell) {
  const done = new Map();
  const failed = new Map();
  let last = new Failure("cancelled", "");

  await forEach(rows, async one => {
    try {
      done.set(one, await send(one));
      failed.delete(one);

      return null;

    } catch (why) {
      failed.set(one, why);
      last = why;

      return why;

    } finally {
      tell?.(done.size + failed.size);
    }
  }, signal);

  return { done: [...done], left: rows.filter(one => !done.has(one))
                                      .map(one => [one, failed.get(one) ?? last]) };
}

// Takes back what an act did, and no more: what has changed since stays as it is, and so
// does what is not there any more.  Returns what is to be said of that, if something is.

const SKIPPED = Symbol("skipped");

async function undo({ rows, send, said, again }) {
  const { done, left } = await sendAll(send, rows);
  const skipped = done.filter(([, answer]) => answer === SKIPPED).length;

  again();

  if (left.length === rows.length) {
    throw left[0][1];
  }

  return skipped + left.length === 0 ? null : [
    fill(said.undone, { n: done.length - skipped }),
    skipped > 0 && fill(said.skipped, { n: skipped }),
    left.length > 0 && fill(said.notUndone, { n: left.length }),
  ].filter(Boolean).join(" ");
}

const unlessGone = e => {
  if (e.code !== "not_found") {
    throw e;
  }
};

// Whether it is still as an act has left it.

async function isSame(sheet, { [sheet.id]: id, updatedAt }) {
  const now = await call({ path: pathOf(`${sheet.path}/{id}`, { id }) }).catch(unlessGone);

  return now?.data.updatedAt === updatedAt;
}


// --- what came of it -----------------

function Outcome({ name, left, made, sheet, words, said, run, close }) {
  const secret = sheet.acts[name].secret;
  const links = made.filter(([, { data }]) => data?.[secret])
                    .map(([one, { data }]) => ({ id: one[sheet.id], name: labelOf(sheet, one),
                                                 link: data[secret] }));
  const failed = left.map(([one, why]) => ({
    id: one[sheet.id], name: labelOf(sheet, one),
    why: [sentence(why), why.message].filter(Boolean).join(" "),
  }));

  return failed.length + links.length === 0 ? null : h("div", { class: "panel" },
    failed.length > 0 && h("p", { role: "alert" },
      h("strong", {}, fill(said.left, { n: failed.length, verb: words.acts[name].verb }))),
    failed.length > 0 && h(Table, { words: said, rows: failed,
                                    sheet: { id: "id", columns: { name: "text", why: "text" } } }),
    links.length > 0 && h("p", {}, words.links),
    links.length > 0 && h(Table, { words: said, rows: links,
                                   sheet: { id: "id", columns: { name: "text", link: "copy" } } }),
    h("div", { class: "actions" },
      links.length > 1 && h(Copy, {
        label: words.copyAll, value: links.map(one => `${one.name}\t${one.link}`).join("\n"),
      }),
      failed.length > 0 && h("button", {
        type: "button", class: "primary", onclick: () => run(name, left.map(([one]) => one), made),
      }, said.again),
      h("button", { type: "button", onclick: close }, text.close)));
}


// --- into a group --------------------

const ChooseGroup = ({ said, n, done }) => h(Dialog, { title: fill(said.title, { n }), done },
  h(Pick, { type: "group", label: said.label, onpick: done }),
  h("div", { class: "actions" },
    h("button", { type: "button", onclick: () => done() }, text.cancel)));

// Who was in it before stays there when it is undone: those that were added are the newest.

async function intoGroup({ said, members, rows, picks, again }) {
  const group = await show(ChooseGroup, { said: said.group, n: rows.length });

  if (!group) {
    return;
  }

  const path = pathOf(members.path, group);
  const ids = rows.map(one => one.id);
  const before = (await call({ path, query: { limit: 1 } })).data.members[0]?.addedAt ?? "";
  const { data } = await call({ method: members.add.method, path, query: { limit: MOST_PICKED },
                                body: { [members.add.member]: ids } });

  const added = data.members.filter(one => one.addedAt > before && ids.includes(one.userId))
                            .map(one => ({ ...one, id: group.id }));

  picks.clear();
  toast(fill(said.group.done, { n: added.length, name: shown(group.name) }),
        added.length > 0 && (() => leave({ path, members, added, said, again })));
}

// Whoever was taken out of it since, or put into it once more, is left as they are.

async function leave({ path, members, added, said, again }) {
  const { data } = await call({ path, query: { limit: MOST_PICKED } });
  const now = new Map(data.members.map(one => [one.userId, one.addedAt]));

  return undo({
    rows: added, said, again,
    send: async one => (now.get(one.userId) ?? one.addedAt) === one.addedAt
      && await sendAct(members.takes, one).catch(unlessGone) || SKIPPED,
  });
}
