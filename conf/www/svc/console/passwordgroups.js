// Groups that have a password policy of their own.

import { useAct } from "../ui/act.js";
import { call, Failure } from "../ui/call.js";
import { confirm, Dialog, show } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { Pick } from "../ui/pick.js";
import { List, useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { SmallAct } from "./acts.js";
import { sentencesOf } from "./passwords.js";
import { review } from "./review.js";

const SWITCHES = ["rejectBreached", "rejectContextual", "requireLower", "requireUpper",
                  "requireDigit", "requireSymbol"];

const NAMES = ["minLength", ...SWITCHES, "historyCount", "maxAgeDays"];

const policyOf = row => Object.fromEntries(NAMES.map(name => [name, row[name] ?? null]));

// Most groups have none.

async function ofGroup(sheet, id) {
  try {
    return await call({ path: `${sheet.path}/${id}` });

  } catch (e) {
    if (e.code !== "not_found") {
      throw e;
    }

    return { data: {}, etag: null };
  }
}

export function Groups({ sheet, words, tenant, fields }) {
  const [rounds, setRounds] = state(0);
  const { busy, failure, run } = useAct();
  const { data } = useAnswer({ path: tenant.path }, [rounds]);
  const about = { sheet, words, fields, tenant: data, shapes: tenant.form };

  const edit = async ({ groupId, groupName }, now) => {
    const { data, etag } = now ?? await ofGroup(sheet, groupId);
    const row = { groupId, groupName, ...data };
    const made = await show(Edit, { ...about, row, etag });

    if (made?.theirs) {
      return edit(row, made);
    }

    if (made) {
      setRounds(n => n + 1);
      toast(fill(words.saved, { name: shown(row.groupName) }));
    }
  };

  const remove = async row => {
    const name = shown(row.groupName);

    if (await confirm({ title: fill(words.remove.title, { name }), notes: words.remove.notes,
                        verb: words.remove.verb }))
    {
      await call({ method: "DELETE", path: `${sheet.path}/${row.groupId}` });
      setRounds(n => n + 1);
      toast(fill(words.remove.done, { name }), async () => {
        await call({ method: "PUT", path: `${sheet.path}/${row.groupId}`, body: policyOf(row) });
        setRounds(n => n + 1);
      });
    }
  };

  return h("section", { class: "groups" },
    h("h2", {}, words.title),
    h("p", { class: "muted" }, words.note),
    h(Pick, { id: "pick-group", type: "group", label: words.add, readonly: busy,
              onpick: ({ id, name }) => run(() => edit({ groupId: id, groupName: name }))() }),
    failure && h(Problem, { failure }),
    h(List, {
      sheet: { ...sheet, columns: { groupName: "text", policy: "node", updatedAt: "time" } },
      words, rounds,
      draws: { policy: row => h("ul", {}, sentencesOf(policyOf(row), fields).map(one =>
        h("li", { key: one }, one))) },
      acts: row => [
        h("button", { type: "button", class: "plain", onclick: run(() => edit(row)),
                      "aria-label": fill(words.edit, { name: shown(row.groupName) }) },
          words.change),
        h(SmallAct, { label: fill(words.removeOne, { name: shown(row.groupName) }),
                      verb: words.remove.verb, act: () => remove(row) }),
      ],
    }));
}

// What is left as it is, is as the tenant's, which is said in place.

function Edit({ sheet, words, fields, tenant, shapes, row, etag, done }) {
  const was = policyOf(row);
  const path = `${sheet.path}/${row.groupId}`;
  const [once] = state(() => crypto.randomUUID());

  const save = async (changed, all) => {
    const mine = Object.fromEntries(NAMES.map(name => [name, SWITCHES.includes(name)
      ? { yes: true, no: false }[all[name]] ?? null : all[name] ?? null]));
    const set = Object.fromEntries(Object.entries(mine).filter(([, v]) => v !== null));

    if (Object.keys(set).length === 0) {
      throw new Failure("invalid_request", words.nothing);
    }

    const next = await review({
      section: "groupPasswordPolicies", prefix: "groupPasswordPolicies[0]",
      resource: `groupPasswordPolicy:${row.groupId}`,
      value: [{ groupId: row.groupId, ...set }], mine: () => mine, was: row, of: policyOf,
      part: ({ groupId, ...policy }) => policy,
      etag, words: { ...words.review, diff: fields },
      read: () => ofGroup(sheet, row.groupId),
      send: tag => tag ? call({ method: "PUT", path, etag: tag, body: mine })
                       : call({ method: "POST", path: sheet.path, key: once,
                                body: { groupId: row.groupId, ...set } }),
    });

    next && done(next);
  };

  return h(Dialog, { title: shown(row.groupName), done: () => done() },
    h(Form, {
      id: "group", fields: shapeOf(shapes), verb: words.review.open, onsave: save,
      oncancel: () => done(),
      value: Object.fromEntries(NAMES.map(name => [name,
        SWITCHES.includes(name) && was[name] !== null ? (was[name] ? "yes" : "no")
                                                      : was[name]])),
      words: wordsFor({ words, fields, tenant }),
    }));
}

const shapeOf = shapes => Object.fromEntries(NAMES.map(name => [name, SWITCHES.includes(name)
  ? { kind: "choice", options: ["yes", "no"], none: true }
  : { ...shapes[name], must: false }]));

function wordsFor({ words, fields, tenant }) {
  const asTenant = (name, said) => fill(said, {
    value: typeof tenant?.[name] === "boolean" ? (tenant[name] ? text.yes : text.no)
                                               : tenant?.[name] ?? "–",
  });

  return {
    ...fields,
    help: Object.fromEntries(NAMES.filter(name => !SWITCHES.includes(name))
                                  .map(name => [name, asTenant(name, words.empties)])),
    options: Object.fromEntries(SWITCHES.map(name => [name, { yes: text.yes, no: text.no }])),
    none: Object.fromEntries(SWITCHES.map(name => [name, asTenant(name, words.asTenant)])),
  };
}
