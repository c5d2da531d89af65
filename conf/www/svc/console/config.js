// Policy as code: the policies and roles as one file, what it would change, and that done.

import { useAct } from "../ui/act.js";
import { call, session } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { Code } from "../ui/copy.js";
import { Diff } from "../ui/diff.js";
import { confirm, mayLeave } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Icon } from "../ui/icon.js";
import { guard } from "../ui/place.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown, wordOf } from "../ui/words.js";
import { diffWords } from "./accessreview.js";
import { PIPELINES } from "./policy.sheet.js";
import { planOf, REFUSALS, Warnings } from "./review.js";
import { Head } from "./sheet.js";

const LARGEST = 1024 * 1024;    // bytes that the server takes

const TONES = { create: "good", update: "info", delete: "bad" };


export function Configuration({ sheet, words: own, all }) {
  const words = { ...own, say: diffWords(all.access).say };
  const { typed, write, replace, wrong, setWrong, failure, plan, busy, begin, apply, turn }
    = usePlan(words);

  return h("div", { "aria-busy": busy ? "true" : null },
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    h(Export, { path: sheet.path, words, take: json => replace(json, true) }),
    h("form", { class: "panel form wide", novalidate: true, onsubmit: begin },
      h("h2", {}, words.file),
      h(Upload, { words, busy, take: replace, refuse: setWrong }),
      h("div", { class: "field" },
        h("label", { for: "bundle" }, words.bundle),
        h("textarea", {
          id: "bundle", class: "source", rows: 10, spellcheck: "false", value: typed,
          readonly: busy,
          "aria-invalid": wrong ? "true" : null,
          "aria-describedby": wrong ? "bundle-wrong bundle-help" : "bundle-help",
          oninput: event => write(event.target.value),
        }),
        h("p", { id: "bundle-help", class: "muted" }, words.bundleHelp),
        wrong && h("p", { id: "bundle-wrong", class: "wrong", role: "alert" }, wrong)),
      h("div", { class: "actions" },
        h("button", { class: "primary", disabled: busy || typed.trim() === "" }, words.plan),
        typed !== "" && h("button", { type: "button", disabled: busy,
                                      onclick: () => replace("") }, text.clear))),
    failure && h(Problem, { failure }),
    plan && h(Plan, { words, plan, busy, apply, turn }),
    h(Pipeline, { words }));
}


// The text.  What was typed goes only if somebody says so; "begun" is called before it is
// another one.

function useText(begun) {
  const [typed, setTyped] = state("");
  const [kept, setKept] = state("");          // what has been applied, or was never typed

  effect(() => typed !== kept ? guard(mayLeave) : null, [typed !== kept]);

  const write = next => {
    setTyped(next);
    begun();
  };

  const replace = async (next, same) => {
    if (typed === kept || typed === "" || await mayLeave()) {
      write(next);
      setKept(same ? next : "");
    }
  };

  return { typed, write, replace, setKept };
}

// The text, and what it would change, which is asked of the server.

function usePlan(words) {
  const [wrong, setWrong] = state(null);
  const [plan, setPlan] = state(null);        // { source, bundle, prune, data, stale }

  const refuse = why => {
    setWrong(why);
    document.getElementById("bundle").focus();
  };

  const { busy, failure, run, setFailure } = useAct(e =>
    e.code === "invalid_request" ? refuse(shown(e.message)) : setFailure(e));

  const { typed, write, replace, setKept } = useText(() => {
    setPlan(null);
    setWrong(null);
    setFailure(null);
  });

  // "source" is the text that the bundle is of

  const look = async ({ source, bundle }, prune, stale = false) => {
    const data = await planOf(bundle, prune);

    setPlan({ source, bundle, prune, stale, data, names: await namesOf(data.changes) });
  };

  const begin = event => {
    event.preventDefault();
    setPlan(null);

    const { bundle, why } = bundleOf(typed, words);

    setWrong(null);

    return bundle ? run(() => look({ source: typed, bundle }, false))() : refuse(why);
  };

  const apply = async () => {
    if (await agreed(plan, words)) {
      await run(async () => {
        const done = await applied(plan);

        if (done) {
          setKept(plan.source);
          toast(words.applied);
        }

        await look(plan, plan.prune, !done);
      })();
    }
  };

  return {
    typed, write, replace, wrong, setWrong, failure, busy, begin, apply,
    plan: plan?.source === typed ? plan : null, turn: prune => run(() => look(plan, prune))(),
  };
}


// Whoever deletes something says so first.

async function agreed({ prune, data }, { prune: said }) {
  const deletes = prune ? data.changes.filter(({ action }) => action === "delete").length : 0;

  return deletes === 0 || confirm({ title: fill(said.title, { n: deletes }), notes: said.notes,
                                    verb: said.verb, name: session.tenant.slug });
}

// Returns false where something was changed since the plan was made.

async function applied({ bundle, prune, data }) {
  try {
    await call({ method: "POST", path: "/admin/config/apply", body: bundle, etag: data.etag,
                 query: { prune: prune || null } });

    return true;

  } catch (e) {
    if (e.code !== "precondition_failed") {
      throw e;
    }

    return false;
  }
}


// Returns { bundle }, or { why }: where it is no JSON.

function bundleOf(typed, words) {
  if (new Blob([typed]).size > LARGEST) {
    return { why: words.large };
  }

  try {
    const bundle = JSON.parse(typed);

    return typeof bundle === "object" && bundle !== null && !Array.isArray(bundle)
      ? { bundle } : { why: words.noObject };

  } catch (e) {
    return { why: fill(words.noJson, { reason: shown(e.message) }) };
  }
}


// What groups are called: those that have a policy now.

async function namesOf(changes) {
  const wanted = changes.some(({ resource }) => resource.startsWith("groupPasswordPolicy:"));
  const { data } = !wanted ? { data: { groups: [] } } : await call({
    path: "/admin/password-policy/groups", query: { limit: 500 } });

  return Object.fromEntries(data.groups.map(one => [one.groupId, one.groupName]));
}


// --- out and in ----------------------

function Export({ path, words, take }) {
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);

  const read = action => async () => {
    setFailure(null);
    setBusy(true);

    try {
      action(`${JSON.stringify((await call({ path })).data, null, 2)}\n`);

    } catch (e) {
      setFailure(e);

    } finally {
      setBusy(false);
    }
  };

  return h("section", { class: "panel" },
    h("h2", {}, words.export),
    failure && h(Problem, { failure }),
    h("p", {}, words.exportNote),
    h("div", { class: "actions" },
      h("button", { type: "button", disabled: busy,
                    onclick: read(json => save(`${session.tenant.slug}.json`, json)) },
        words.download),
      h("button", { type: "button", disabled: busy, onclick: read(take) }, words.edit)));
}

function save(name, content) {
  const url = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });

  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}


const Upload = ({ words, busy, take, refuse }) => h("div", { class: "field" },
  h("label", { for: "upload" }, words.upload),
  h("input", {
    id: "upload", type: "file", accept: ".json,application/json", disabled: busy,
    async onchange(event) {
      const [file] = event.target.files;

      event.target.value = "";

      if (file?.size > LARGEST) {
        return refuse(words.large);
      }

      if (file) {
        take(await file.text());
      }
    },
  }));


// --- the plan ------------------------

function Plan({ words, plan, busy, apply, turn }) {
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
      }, words.apply, " ", h(Icon, { name: "lock" }))));
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


// --- in a pipeline -------------------

const Pipeline = ({ words }) => h("section", { class: "panel" },
  h("h2", {}, words.pipeline.title),
  h("p", {}, words.pipeline.note),
  Object.entries(PIPELINES).map(([name, value]) => h("details", { key: name },
    h("summary", {}, fill(words.pipeline.of, { name })), h(Code, { value }))));
