// Users, groups and roles: what their sheets do not say.

import { call, may, session } from "../ui/call.js";
import { h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { Pick } from "../ui/pick.js";
import { go, Link } from "../ui/place.js";
import { List, Table, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { at } from "./nav.js";
import { Acts, Facts, Head, labelOf, pathOf, SheetNew, SheetView } from "./sheet.js";


// --- a user --------------------------

// An identity provider or a directory writes over what it keeps, but not the language.

const KEPT = ["scim", "ldap"];

const fieldsOf = sheet => one => !KEPT.includes(one.source) ? sheet.form
  : Object.fromEntries(Object.entries(sheet.form).map(([name, field]) =>
      [name, name === "locale" ? field : { ...field, fixed: true }]));

const UserView = props => h(SheetView, {
  ...props,
  fields: fieldsOf(props.sheet),
  draw: (one, again) => may("members:manage") && may("roles:manage")
                        && h(Role, { one, again, sheet: props.sheet, words: props.words }),
  tabs: activity(),
});


// What grants more than one's own role cannot be given; nor can an owner be made by
// anybody but one.

function Role({ one, sheet, words, again }) {
  const { data } = useAnswer({ path: "/admin/roles", query: { limit: 500 } }, []);

  if (!data) {
    return null;
  }

  const roles = [...data.systemRoles, ...data.roles];
  const missing = role => role.permissions.filter(permission => !may(permission));
  const off = role => role.key === "owner" && session.role !== "owner" || missing(role).length > 0;
  const said = words.acts.role;

  return h("div", { class: "panel" },
    h(Form, {
      key: one.role, value: { role: one.role }, verb: said.verb,
      words: {
        fields: { role: words.columns.role }, help: { role: said.note },
        options: { role: Object.fromEntries(roles.map(role => [role.key, off(role)
          ? fill(said.off, { name: role.name, missing: missing(role).join(", ") || "owner" })
          : role.name])) },
      },
      fields: { role: { kind: "choice", must: true, options: roles.map(role => role.key),
                        off: key => key !== one.role && off(roles.find(r => r.key === key)) } },
      async onsave({ role }) {
        await call({ method: "PUT", path: `/admin/members/${one.id}`, body: { role } });
        toast(fill(said.done, { name: labelOf(sheet, one) }));
        again();
      },
    }));
}


// --- a group -------------------------

const GroupView = props => h(SheetView, {
  ...props,
  tabs: {
    members: tab => h(Linked, { ...tab, name: "groupMembers",
                                to: may("users:view") && (row => at("users", row.userId)) }),
    apps: tab => h(Linked, { ...tab, name: "groupApps" }),
    ...activity(),
  },
});


// What belongs to it, and may be added and taken away.

function Linked({ one, name, to, sheets, all }) {
  const [rounds, setRounds] = state(0);
  const sheet = sheets[name];
  const words = all[name];

  const add = async ids => {
    await call({ method: "POST", path: pathOf(sheet.path, one),
                 body: { [sheet.add.member]: ids } });
    setRounds(n => n + 1);
  };

  const take = async row => {
    await call({ method: "DELETE", path: pathOf(sheet.takes.path, { ...one, ...row }) });
    setRounds(n => n + 1);
    toast(fill(words.taken, { name: shown(row.displayName ?? row.name ?? row.email) }),
          () => add([row[sheet.id]]));
  };

  return h("div", {},
    h(Pick, { type: sheet.add.type, label: words.add, onpick: ({ id }) => add([id]) }),
    h(List, {
      sheet, words, path: pathOf(sheet.path, one), rounds, to: to || undefined,
      acts: row => h("button", { type: "button", class: "plain", onclick: () => take(row) },
                     words.take),
    }));
}


// --- roles ---------------------------

// There are few: all of them come at once, with those of the system.

const ALL = { path: "/admin/roles", query: { limit: 500 } };

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

const fieldsOfRole = (sheet, words, taken) => {
  const { key, ...fields } = sheet.form;

  return {
    name: fields.name, ...taken ? {} : { key },
    permissions: { ...fields.permissions, off: one => may(one) ? null : words.notYours },
  };
};

const RoleNew = props => h(SheetNew, {
  ...props, fields: fieldsOfRole(props.sheet, props.words, false),
});

function RoleView({ view, id, sheet, words }) {
  const { data, failure, again } = useAnswer(ALL, [id]);
  const above = { view, title: words.title };
  const one = data?.roles.find(role => role.key === id);
  const system = data?.systemRoles.find(role => role.key === id);

  if (!one && !system) {
    return h("div", {}, h(Head, { title: words.one, above }),
      failure ? h(Problem, { failure, again })
              : h("p", { class: data ? "muted" : "muted loading", role: "status" },
                data ? words.gone : text.loading));
  }

  const save = async changed => {
    await call({ method: "PUT", path: pathOf(`${sheet.path}/{key}`, one), body: changed });
    toast(text.saved);
    again();
  };

  return h("div", {},
    h(Head, { title: (one ?? system).name, above },
      one && h(Acts, { sheet, words, one, gone: () => go(at(view)) })),
    h("div", { class: one && "object" },
      one && h("div", { class: "panel" },
        h(Form, { key: JSON.stringify(one), words, value: one, verb: text.save, onsave: save,
                  fields: fieldsOfRole(sheet, words, true) })),
      h(Facts, { sheet, words, one: one ?? system })),
    may("members:manage") && h("h2", { class: "next" }, words.members),
    may("members:manage") && h(RoleMembers, { role: id, sheet: sheet.members, words }));
}

const RoleMembers = ({ role, sheet, words }) => h(List, {
  sheet: { ...sheet, query: { role } }, words: { ...words, empty: words.nobody },
  to: may("users:view") && (row => at("users", row.userId)) || undefined,
});

export default {
  users: { View: UserView },
  groups: { View: GroupView },
  roles: { List: RoleList, View: RoleView, New: RoleNew },
};
