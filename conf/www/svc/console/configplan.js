// What a file of policies would change, and that done.

import { call, session } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { Diff } from "../ui/diff.js";
import { confirm } from "../ui/dialog.js";
import { effect, h } from "../ui/draw.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown, wordOf, wordsOf } from "../ui/words.js";
import { diffWords } from "./accessreview.js";
import { planOf, REFUSALS, Warnings } from "./review.js";
import { withLock } from "./sheet.js";

const { say } = diffWords((await wordsOf("console/access")).access);

const TONES = { create: "good", update: "info", delete: "bad" };


export async function look(bundle, prune) {
  const data = await planOf(bundle, prune);

  return { data, names: await namesOf(data.changes) };
}

// What groups are called: those that have a policy now.

async function namesOf(changes) {
  const wanted = changes.some(({ resource }) => resource.startsWith("groupPasswordPolicy:"));
  const { data } = !wanted ? { data: { groups: [] } } : await call({
    path: "/admin/password-policy/groups", query: { limit: 500 } });

  return Object.fromEntries(data.groups.map(one => [one.groupId, one.groupName]));
}


// Whoever deletes something says so first.

export async function agreed({ prune, data }, { prune: said }) {
  const deletes = prune ? data.changes.filter(({ action }) => action === "delete").length : 0;

  return deletes === 0 || confirm({ title: fill(said.title, { n: deletes }), notes: said.notes,
                                    verb: said.verb, name: session.tenant.slug });
}

// Returns false where something was changed since the plan was made.

export async function applied({ bundle, prune, data }, words) {
  try {
    await call({ method: "POST", path: "/admin/config/apply", body: bundle, etag: data.etag,
                 query: { prune: prune || null } });
    toast(words.applied);

    return true;

  } catch (e) {
    if (e.code !== "precondition_failed") {
      throw e;
    }

    return false;
  }
}


// --- what is seen --------------------

export function Plan({ words: own, plan, busy, apply, turn }) {
  const words = { ...own, say };
  const { data, prune, stale, names } = plan;
  const refused = data.warnings.filter(({ code }) => REFUSALS.includes(code));
  const of = action => data.changes.filter(change => change.action === action);
  const changes = data.changes.filter(({ action }) => action !== "delete");
  const deletes = of("delete");
  const some = changes.length > 0 || prune && deletes.length > 0;

  effect(element => element.querySelector("h2").focus(), [plan]);

  return h("section", { class: "panel plan" },
    h("h2", { tabindex: "-1" }, words.planned),
    stale && h("p", { class: "notice", role: "alert" }, words.stale),
    h("p", { role: "status" }, !data.hasChanges ? words.noDrift
      : fill(prune ? words.summaryPruned : words.summary, {
          create: of("create").length, update: of("update").length, delete: deletes.length })),
    h(Warnings, { warnings: data.warnings.filter(({ code }) => code !== "deletes_skipped") }),
    changes.map(change => h(Change, { key: change.resource, change, words, names })),
    deletes.length > 0 && h("section", {},
      h("h3", {}, words.deletes),
      h("p", { class: "muted" }, prune ? words.pruned : words.notPruned),
      deletes.map(change => h(Change, { key: change.resource, change, words, names,
                                        kept: !prune })),
      h("label", { class: "switch" },
        h("input", { type: "checkbox", checked: prune, disabled: busy,
                     onchange: event => turn(event.target.checked) }),
        " ", words.prune.label)),
    some && refused.length > 0
      && h("p", { id: "plan-why", class: "wrong" }, words.refused),
    some && h("div", { class: "actions" },
      h("button", {
        type: "button", class: prune && deletes.length > 0 ? "danger" : "primary",
        disabled: busy || refused.length > 0, title: text.sensitive,
        "aria-describedby": refused.length > 0 ? "plan-why" : null, onclick: apply,
      }, withLock(words.apply))));
}

function Change({ change, words, names, kept }) {
  const { resource, action, before, after } = change;
  const [section, key] = resource.split(/:(.*)/s);

  return h("details", { class: "change", open: !kept },
    h("summary", {},
      h(Badge, kept ? { value: "kept", words: words.actions }
                    : { value: action, tone: TONES[action], words: words.actions }), " ",
      h("strong", {}, words.sections[section]), key && [" ",
        wordOf(names, key) ? shown(names[key]) : h("code", {}, shown(key))]),
    h(Diff, { before: before ?? {}, after: after ?? {}, words }));
}
