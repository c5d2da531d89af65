// The import of a directory: what the last one has done, and the next one now.

import { useAct } from "../ui/act.js";
import { call, session } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { confirm } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Table, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { useFollow } from "./follow.js";
import { Facts } from "./facts.js";
import { withLock } from "./sheet.js";
import { FEDERATION } from "./tenant.sheet.js";

const FOLLOW = { pause: 1000, most: 60 };

const UNDER_WAY = ["waiting", "running"];


export function Import({ one, sheets, words: all }) {
  const { data, failure, again } = useAnswer({ path: sheets.ldapSync.path }, []);
  const { busy, failure: refused, run } = useAct();
  const words = all.sync;
  const under = UNDER_WAY.includes(data?.status);
  const stopped = useFollow(under, again, FOLLOW);

  if (!data) {
    return failure?.status === 404
      ? h("p", { class: "list empty" }, fill(text.isOff, { directive: FEDERATION }))
      : failure ? h(Problem, { failure, again })
      : h(Loading);
  }

  // what is missing for one, if something is

  const lacks = !one.enabled ? "disabled" : !one.syncEnabled ? "off"
              : one.covers !== "owners" ? "owner" : null;

  const begin = (asked, body) => run(async () => {
    if (await confirm(asked)) {
      await call({ method: "POST", path: sheets.ldap.sync.path, body });
      toast(words.begun);
      again();
    }
  });

  return h("div", { class: "object" },
    h("div", {},
      h("div", { class: "panel" },
        h("h2", {}, h(Badge, { value: data.status, words: words.options.status,
                               tone: sheets.ldapSync.tones.status[data.status] })),
        h("p", { role: "status" }, words.notes[data.status]),
        data.error && h("p", { lang: "en" }, shown(data.error)),
        stopped && h("p", { class: "muted" }, words.stopped),
        failure && h(Problem, { failure, again }),
        lacks && h("p", { class: "muted" }, words.lacks[lacks]),
        h("div", { class: "actions" },
          h("button", { type: "button", disabled: busy || under || lacks !== null,
                        onclick: begin(words.confirm, {}) }, withLock(words.verb)),
          h("button", { type: "button", class: "plain", onclick: again }, all.look)),
        refused && h(Problem, { failure: refused })),
      data.status === "held" && h(Held, { one, words, busy,
                                          force: asked => begin(asked, { force: true }) }),
      h(Conflicts, { data, sheet: sheets.ldapSync.conflicts, words })),
    h(Facts, { sheet: sheets.ldapSync, words, one: data }));
}


// Nobody was deactivated, for there would have been so many: an owner says that it is right.

const Held = ({ one, words, busy, force }) => h("div", { class: "panel" },
  h("h2", {}, words.held.title),
  words.held.notes.map(note => h("p", { key: note }, note)),
  session.role === "owner"
    ? h("p", {}, h("button", {
        type: "button", class: "danger", disabled: busy,
        onclick: force({ ...words.held.confirm, name: one.connection }),
      }, withLock(words.held.confirm.verb)))
    : h("p", { class: "muted" }, words.held.owner));


const Conflicts = ({ data, sheet, words }) => data.conflictCount === 0 ? null : h("section", {},
  h("h2", { class: "next" }, words.conflicts),
  h(Table, {
    sheet: { ...sheet, id: "n" }, words, loading: false,
    rows: data.conflicts.map((one, n) => ({ ...one, n })),
  }),
  data.conflictCount > data.conflicts.length
    && h("p", { class: "muted" }, fill(text.more, {
         n: data.conflictCount - data.conflicts.length })));
