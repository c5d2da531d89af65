// Policy as code: the policies and roles as one file, what it would change, and that done.

import { useAct } from "../ui/act.js";
import { call, late, session } from "../ui/call.js";
import { Code } from "../ui/copy.js";
import { effect, h, state } from "../ui/draw.js";
import { later, Problem } from "../ui/fail.js";
import { guard, mayDiscard } from "../ui/place.js";
import { styled } from "../ui/style.js";
import { text } from "../ui/text.js";
import { fill, shown } from "../ui/words.js";
import { Head } from "./sheet.js";
import { PIPELINES } from "./snippets.js";

const LARGEST = 1024 * 1024;    // bytes that the server takes

const planning = () => late(import("./configplan.js"));

const Plan = later(async () => (await planning()).Plan);

await Promise.all(["ui/form", "console/policy"].map(name => styled(`/svc/${name}.css`)));


function Configuration({ sheet, words }) {
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

  effect(() => typed !== kept ? guard() : null, [typed !== kept]);

  const write = next => {
    setTyped(next);
    begun();
  };

  const replace = async (next, same) => {
    if (typed === kept || typed === "" || await mayDiscard()) {
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

  const asks = useAct(setFailure, planning);

  const { typed, write, replace, setKept } = useText(() => {
    setPlan(null);
    setWrong(null);
    setFailure(null);
  });

  // "source" is the text that the bundle is of

  const look = async ({ source, bundle }, prune, stale = false) =>
    setPlan({ source, bundle, prune, stale, ...await (await planning()).look(bundle, prune) });

  const begin = event => {
    event.preventDefault();
    setPlan(null);

    const { bundle, why } = bundleOf(typed, words);

    setWrong(null);

    return bundle ? run(() => look({ source: typed, bundle }, false))() : refuse(why);
  };

  const apply = asks.run(async acts => {
    if (await acts.agreed(plan, words)) {
      await run(async () => {
        const done = await acts.applied(plan, words);

        if (done) {
          setKept(plan.source);
        }

        await look(plan, plan.prune, !done);
      })();
    }
  });

  return {
    typed, write, replace, wrong, setWrong, failure, busy, begin, apply,
    plan: plan?.source === typed ? plan : null,
    turn: prune => run(() => look(plan, prune))(),
  };
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


// --- in a pipeline -------------------

const Pipeline = ({ words }) => h("section", { class: "panel" },
  h("h2", {}, words.pipeline.title),
  h("p", {}, words.pipeline.note),
  Object.entries(PIPELINES).map(([name, value]) => h("details", { key: name },
    h("summary", {}, fill(words.pipeline.of, { name })), h(Code, { value }))));


export default { configuration: { List: Configuration } };
