// What SAML applications have to know of this server, and which ones do.

import { Code, Id } from "../ui/copy.js";
import { h } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Table, useAnswer } from "../ui/table.js";
import { Acts } from "./acts.js";
import { at } from "./nav.js";


export function Provider({ view, sheet, words }) {
  const { data, failure, again } = useAnswer({ path: sheet.path }, []);

  if (!data) {
    return failure ? h(Problem, { failure, again }) : h(Loading);
  }

  return h("div", {},
    data.apps.length > 0
      ? h(Table, { sheet, words, rows: data.apps, to: row => at(view, row.id),
                   acts: one => h(Acts, { sheet, words, one, gone: again }) })
      : h("div", { class: "list empty" }, words.empty.map(p => h("p", { key: p }, p))),
    h("div", { class: "panel" },
      h("h2", {}, words.ours),
      h("dl", {}, ["entityId", "ssoUrl", "metadataUrl"].flatMap(name => [
        h("dt", { key: `t ${name}` }, words.columns[name]),
        h("dd", { key: `d ${name}` }, h(Id, { value: data[name] })),
      ])),
      h("h3", {}, words.columns.certificate),
      h(Code, { value: data.certificate })));
}
