// The lists of people and roles: what their sheets do not say.

import { may } from "../ui/call.js";
import { h, state } from "../ui/draw.js";
import { later, Problem } from "../ui/fail.js";
import { Link } from "../ui/place.js";
import { Table, useAnswer, usePicks } from "../ui/table.js";
import { allowed, at } from "./nav.js";
import { Head, mayAct, SheetList } from "./sheet.js";


// --- those of which some may be picked

// "many" of the sheet names the acts, and "joins" the sheet of what the picked ones can be put
// into.  What is done with them is in bulk.js.

const Bulk = later(async () => (await import("./bulk.js")).Bulk, () => null);

function Picking({ kids, ...props }) {
  const { sheet, sheets } = props;
  const picks = usePicks(sheet.id);
  const [bulk] = state({ begun: false });
  const into = sheets[sheet.joins];
  const members = into && may(into.needs) ? into : undefined;
  const able = members || sheet.many.some(name => mayAct(sheet, sheet.acts[name]));

  bulk.begun ||= picks.picked.size > 0;

  return h(SheetList, {
    ...props, picks: able ? picks : undefined,
    bar: again => bulk.begun && h(Bulk, { ...props, members, picks, again }),
  }, kids);
}

const UserList = props => h(Picking, props, may("members:manage")
  && h(Link, { class: "button primary", to: at("invitations", "new") }, props.words.invite));


// --- roles ---------------------------

// There are few: all of them come at once.

export const ALL = { path: "/admin/roles", query: { limit: 500 } };

function RoleList({ view, sheet, words }) {
  const { data, failure, again } = useAnswer(ALL, []);
  const to = role => at(view, role.key);

  return h("div", {},
    h(Head, { title: words.title },
      h(Link, { class: "button primary", to: at(view, "new") }, words.new)),
    failure && h(Problem, { failure, again }),
    data && h("h2", {}, words.own),
    data && (data.roles.length > 0 ? h(Table, { sheet, words, to, rows: data.roles })
                                   : h("p", { class: "list empty" }, words.empty)),
    data && h("h2", {}, words.system),
    data && h(Table, { sheet, words, to, rows: data.systemRoles }));
}


// --- identities ----------------------

const PLACES = { human: () => "users", agent: () => "agents",
                 service: id => id.startsWith("app_") ? "applications" : "tokens" };

const IdentityList = props => h(SheetList, {
  ...props,
  to(row) {
    const view = PLACES[row.type](row.id);

    return allowed(view) ? at(view, row.id) : null;
  },
});


export default {
  users: { List: UserList },
  invitations: { List: Picking },
  identities: { List: IdentityList },
  roles: { List: RoleList },
};
