// The versions of the access policy: what any two differ in, and the way back to one.

import { call } from "../ui/call.js";
import { Diff } from "../ui/diff.js";
import { h, state } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { change, usePlace } from "../ui/place.js";
import { Table, useAnswer } from "../ui/table.js";
import { toast } from "../ui/toast.js";
import { about } from "../ui/time.js";
import { fill } from "../ui/words.js";
import { diffWords, reviewPolicy } from "./accessreview.js";
import { useNames } from "./names.js";

const KEPT = 50;


export function History({ sheet, words, base, adopt, dirty }) {
  const { data, failure, again } = useAnswer(
    { path: `${sheet.path}/versions`, query: { limit: KEPT } }, [base.etag]);
  const [wrong, setWrong] = state(null);
  const said = words.history;

  if (!data) {
    return failure ? h(Problem, { failure, again })
                   : h(Loading);
  }

  // It may be gone by now: the newest are kept.

  const restore = async ({ id, version }) => {
    setWrong(null);

    try {
      const { data: one } = await call({ path: `${sheet.path}/versions/${id}` });
      const next = await reviewPolicy({
        words, base, policy: one.snapshot, title: fill(said.title, { n: version }),
        async send(etag) {
          await call({ method: "POST", path: `${sheet.path}/versions/${id}/restore`, etag });

          return call({ path: sheet.path });
        },
      });

      if (next) {
        adopt(next);
        toast(next.theirs ? words.theirs : fill(said.restored, { n: version }));
      }

    } catch (e) {
      e.code === "cancelled" || setWrong(e);
    }
  };

  return h("div", {},
    wrong && h(Problem, { failure: wrong }),
    data.versions.length === 0 ? h("p", { class: "list empty" }, said.empty) : [
      data.versions.length > 1 && h(Compare, { versions: data.versions, words }),
      dirty && h("p", { class: "notice" }, said.dirty),
      h(Table, {
        sheet: { ...sheet.versions, columns: { ...sheet.versions.columns, rules: "number" } },
        words: said, rows: data.versions.map(one => ({
          ...one, rules: one.snapshot.rules.length,
        })),
        acts: one => !one.current && h("button", {
          type: "button", class: "plain", disabled: dirty,
          "aria-label": fill(said.restoreOne, { n: one.version }), onclick: () => restore(one),
        }, said.restore),
      }),
    ]);
}


// Which two it is, is in the address.

function Compare({ versions, words }) {
  const { query } = usePlace();
  const said = words.history;
  const who = useNames(versions.map(one => one.createdBy));
  const byId = id => versions.find(one => one.id === id);
  const b = byId(query.to) ?? versions[0];
  const a = byId(query.from) ?? versions[versions.indexOf(b) + 1] ?? versions[0];

  const choice = (name, one) => h("label", {}, said[name], " ", h("select", {
    value: one.id, onchange: event => change({ [name]: event.target.value }, { sure: true }),
  }, versions.map(version => h("option", { key: version.id, value: version.id },
    fill(said.version, { n: version.version, when: about(version.createdAt),
                         name: who(version.createdBy) })))));

  return h("section", { class: "panel" },
    h("h2", {}, said.compare),
    h("div", { class: "tools" }, choice("from", a), choice("to", b)),
    h(Diff, { before: a.snapshot, after: b.snapshot, words: diffWords(words) }));
}
