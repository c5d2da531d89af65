// A user, a group, a role: what their sheets do not say.

import { useAct } from "../ui/act.js";
import { call, late, may, session } from "../ui/call.js";
import { sendOver } from "../ui/conflict.js";
import { Dialog, show } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Form, keyOf } from "../ui/form.js";
import { Pick } from "../ui/pick.js";
import { go } from "../ui/place.js";
import { List, nextRow, Table, useAnswer, useFocus } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { Acts, SmallAct } from "./acts.js";
import { Facts } from "./facts.js";
import { at } from "./nav.js";
import { SheetNew, SheetView } from "./object.js";
import { ALL } from "./peoplelists.js";
import { Head, labelOf, pathOf, withLock } from "./sheet.js";

const FEW = 20;                 // rows of a part of a user


const paste = async () => (await late(import("./paste.js"))).Paste;


// --- a user --------------------------

// An identity provider or a directory writes over what it keeps, but not the language.

const KEPT = ["scim", "ldap"];

const fieldsOf = sheet => one => !KEPT.includes(one.source) ? sheet.form
  : Object.fromEntries(Object.entries(sheet.form).map(([name, field]) =>
      [name, name === "locale" ? field : { ...field, fixed: true }]));

const UserView = props => h(SheetView, {
  ...props,
  fields: fieldsOf(props.sheet),
  draw: (one, again, etag) => may("members:manage") && may("roles:manage")
    && h(Role, { one, etag, again, sheet: props.sheet, words: props.words }),
  tabs: { access: Access, ...activity() },
});


// How somebody comes in, and what that opens.  Each part stands for itself: one may be
// turned off, or need more than the user's page does.

const PARTS = ["userGroups", "userSessions", "userFactors", "userLinks"];

const Access = ({ one, sheets, all }) => h("div", {}, PARTS
  .filter(name => may(sheets[name].needs))
  .map(name => h(Part, { key: name, one, sheet: sheets[name], words: all[name], name })));

function Part({ one, sheet, words, name }) {
  const { data, failure, again } = useAnswer(
    { path: pathOf(sheet.path, one), query: { limit: FEW } }, [one.id]);
  const focused = useFocus(nextRow);

  if (failure?.code === "not_found") {
    return null;
  }

  const rows = data?.[sheet.list].map(row => ({ ...row, userId: one.id }));
  const to = name === "userGroups" && may("groups:manage") ? row => at("groups", row.id)
                                                           : undefined;

  return h("section", { class: "part", onfocusin: focused },
    h("h2", {}, words.title),
    failure && h(Problem, { failure, again }),
    rows?.length === 0 && h("p", { class: "muted" }, words.empty),
    rows?.length > 0 && h(Table, {
      sheet, words, rows, to,
      acts: sheet.acts && may("members:manage")
        && (row => h(Acts, { sheet, words, one: row, small: true, done: again, gone: again })),
    }),
    data?.total > FEW && h("p", { class: "muted" }, fill(text.more, { n: data.total - FEW })),
    data?.recoveryCodesLeft > 0
      && h("p", { class: "muted" }, fill(words.codes, { n: data.recoveryCodesLeft })));
}


// What grants more than one's own role cannot be given; nor can an owner be made by
// anybody but one.  Returns the field for it, and the names of the roles.

export function choiceOfRole({ systemRoles, roles: own }, said, now) {
  const roles = [...systemRoles, ...own];
  const missing = role => role.permissions.filter(permission => !may(permission));
  const off = role => role.key === "owner" && session.role !== "owner" || missing(role).length > 0;

  return {
    field: { kind: "choice", must: true, options: roles.map(role => role.key),
             off: key => key !== now && off(roles.find(role => role.key === key)) },
    names: Object.fromEntries(roles.map(role => [role.key, off(role)
      ? fill(said.off, { name: role.name, missing: missing(role).join(", ") || "owner" })
      : role.name])),
  };
}

// The role is one of the user's members, and has no version of its own.

function Role({ one, etag, sheet, words, again }) {
  const { data } = useAnswer(ALL, []);
  const path = `/admin/members/${one.id}`;

  if (!data) {
    return null;
  }

  const said = words.acts.role;
  const { field, names } = choiceOfRole(data, said, one.role);
  const about = {
    fields: { role: field },
    words: { fields: { role: words.columns.role }, help: { role: said.note },
             options: { role: names } },
  };

  return h("div", { class: "panel" },
    h(Form, {
      ...about, key: one.role, value: { role: one.role }, verb: said.verb,
      async onsave(changed) {
        const sent = await sendOver({
          ...about, etag, path, was: one, changed,
          send: tag => call({ method: "PUT", path, etag: tag, body: changed }),
        });

        sent && toast(fill(said.done, { name: labelOf(sheet, one) }));
        again();
      },
    }));
}


// --- a group -------------------------

const GroupView = props => h(SheetView, {
  ...props,
  tabs: {
    members: tab => h(Linked, { ...tab, name: "groupMembers", change: paste,
                                to: may("users:view") && (row => at("users", row.userId)) }),
    apps: tab => h(Linked, { ...tab, name: "groupApps", change: () => Choose }),
    ...activity(),
  },
});


// What belongs to it, and may be added and taken away; or all of it be changed at once, in
// the dialog that "change" returns.

function Linked({ one, name, to, change, sheets, all }) {
  const [rounds, setRounds] = state(0);
  const { busy, failure, run } = useAct();
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

  const changeAll = run(async () =>
    await show(await change(), { one, sheet, words }) && setRounds(n => n + 1));

  return h("div", {},
    h("div", { class: "adding" },
      h(Pick, { type: sheet.add.type, label: words.add, readonly: busy,
                onpick: ({ id }) => run(() => add([id]))() }),
      h("button", { type: "button", onclick: changeAll }, words.changeAll)),
    failure && h(Problem, { failure }),
    h(List, {
      sheet, words, path: pathOf(sheet.path, one), rounds, to: to || undefined,
      acts: row => h(SmallAct, { verb: words.take, act: () => take(row) }),
    }));
}


// All of a group's applications, in one request, which asks for one factor.

const READ = 500;

function Choose({ one, sheet, words, done }) {
  const path = pathOf(sheet.path, one);
  const { data, failure, again } = useAnswer({ path, query: { limit: READ } }, []);
  const title = fill(words.choose, { name: shown(one.name) });
  const fields = { clientIds: { kind: "picks", type: sheet.add.type } };

  const save = async body => {
    await call({ method: sheet.set.method, path, body });
    toast(text.saved);
    done(true);
  };

  return h(Dialog, { title, done },
    failure ? h(Problem, { failure, again })
      : !data ? h(Loading)
      : data.total > READ ? h("p", {}, fill(words.tooMany, { most: READ }))
      : h(Form, {
          id: "choose", fields, words, verb: withLock(text.save), onsave: save,
          oncancel: () => done(),
          value: { clientIds: data[sheet.list].map(app => ({ id: app.clientId, name: app.name })) },
        }));
}


// --- roles ---------------------------

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
  const path = pathOf(`${sheet.path}/{id}`, { id });
  const { data: one, etag, failure, again } = useAnswer({ path }, [id]);
  const above = { view, title: words.title };

  if (!one) {
    return h("div", {}, h(Head, { title: words.one, above }),
      failure?.status === 404 ? h("p", { class: "muted", role: "status" }, words.gone)
        : failure ? h(Problem, { failure, again })
        : h("p", { class: "muted loading", role: "status" }, text.loading));
  }

  const fields = fieldsOfRole(sheet, words, true);

  const save = async changed => {
    const sent = await sendOver({
      etag, path, was: one, changed, fields, words,
      send: tag => call({ method: "PUT", path, etag: tag, body: changed }),
    });

    sent && toast(text.saved);
    again();
  };

  const own = one.createdAt !== null;       // those of the system stay as they are

  return h("div", {},
    h(Head, { title: one.name, above },
      own && h(Acts, { sheet, words, one, gone: () => go(at(view)) })),
    failure && h(Problem, { failure, again }),
    h("div", { class: own && "object" },
      own && h("div", { class: "panel" },
        h(Form, { key: keyOf(sheet.form, one), words, value: one, verb: text.save, onsave: save,
                  fields })),
      h(Facts, { sheet, words, one })),
    may("members:manage") && h("h2", { class: "next" }, words.members),
    may("members:manage") && h(RoleMembers, { role: id, view, sheet: sheet.members, words }));
}

const RoleOrMember = props => h(props.tab ? MemberView : RoleView, props);

const RoleMembers = ({ role, view, sheet, words }) => h(List, {
  sheet: { ...sheet, query: { role } }, words: { ...words, empty: words.nobody },
  to: row => may("users:view") ? at("users", row.userId) : at(view, role, row.userId),
});

// Whoever may give roles need not be allowed to look at users.

function MemberView({ view, id, tab, sheet: { members: sheet }, sheets, words, all }) {
  const { data: one, etag, failure, again } = useAnswer({ path: `${sheet.path}/${tab}` }, [tab]);
  const above = { view, title: words.title };

  if (!one) {
    return h("div", {}, h(Head, { title: all.users.one, above }),
      failure ? h(Problem, { failure, again })
              : h("p", { class: "muted loading", role: "status" }, text.loading));
  }

  return h("div", {},
    h(Head, { title: labelOf(sheet, one), above }),
    failure && h(Problem, { failure, again }),
    h("div", { class: "object" },
      h(Role, { one: { ...one, id: one.userId }, etag, again, sheet: sheets.users,
                words: all.users }),
      h(Facts, { sheet, words, one })));
}


export default {
  users: { View: UserView },
  groups: { View: GroupView },
  roles: { View: RoleOrMember, New: RoleNew },
};
