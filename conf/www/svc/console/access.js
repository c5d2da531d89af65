// Who may sign in: the rules in order, what they would do to a sign-in, and what they
// were before.

import { useAct } from "../ui/act.js";
import { late } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { effect, h, state } from "../ui/draw.js";
import { later, Loading, Problem } from "../ui/fail.js";
import { guard, Link, usePlace } from "../ui/place.js";
import { useAnswer } from "../ui/table.js";
import { styled } from "../ui/style.js";
import { text } from "../ui/text.js";
import { fill, shown } from "../ui/words.js";
import { at } from "./nav.js";
import { ACTIONS, marksOf, snapshotOf, TONES } from "./rules.js";
import { sentence } from "./sentence.js";
import { Head } from "./sheet.js";

const SHORTCUTS = ["Alt+ArrowUp", "Alt+ArrowDown"];

const TABS = {
  try: later(async () => (await import("./accesstry.js")).Try),
  history: later(async () => (await import("./accesshistory.js")).History),
};

await styled("/svc/console/policy.css");


function Access({ view, sheet, words }) {
  const { data, etag, failure, again } = useAnswer({ path: sheet.path }, []);

  return h("div", {},
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    failure && h(Problem, { failure, again }),
    data ? h(Policy, { view, sheet, words, first: { data, etag } })
         : !failure && h(Loading));
}

// Rules have no id: they get one for the time that they are looked at.

let ids = 0;

const withIds = ({ rules, defaultAction }) =>
  ({ defaultAction, rules: rules.map(rule => ({ id: `rule-${ids++}`, rule })) });

const policyOf = ({ rules, defaultAction }) =>
  ({ rules: rules.map(({ rule }) => rule), defaultAction });


function Policy({ view, sheet, words, first }) {
  const { query } = usePlace();
  const [base, setBase] = state(first);
  const [draft, setDraft] = state(() => withIds(first.data));
  const policy = policyOf(draft);
  const dirty = JSON.stringify(policy) !== JSON.stringify(snapshotOf(base.data));
  const Tab = TABS[query.tab];

  effect(() => dirty ? guard() : null, [dirty]);

  const adopt = next => {
    setBase(next);
    setDraft(withIds(next.data));
  };

  return h("div", {},
    h("nav", { class: "tabs", "aria-label": words.title }, [null, ...Object.keys(TABS)].map(name =>
      h(Link, {
        key: name ?? "", sure: true, to: at(view) + (name ? `?tab=${name}` : ""),
        "aria-current": (query.tab ?? null) === name ? "page" : null,
      }, words.tabs[name ?? "one"]))),
    Tab ? h(Tab, { sheet, words, policy, dirty, base, adopt })
        : h(Rules, { words, draft, setDraft, dirty, base, adopt }));
}


// --- the rules -----------------------

function Rules({ words, draft, setDraft, dirty, base, adopt }) {
  const { rules, marks, said, put, move, edit, remove, wrong, failure, busy, look, discard }
    = useRules({ words, draft, setDraft, base, adopt });

  return h("div", { "aria-busy": busy ? "true" : null },
    failure && h(Problem, { failure }),
    h("p", { class: "unseen", role: "status" }, said),
    rules.length === 0
      ? h("div", { class: "list empty" }, words.empty.map(p => h("p", {}, p)))
      : h("ol", { class: "rules" }, rules.map((one, n) => h(Rule, {
          key: one.id, id: one.id, rule: one.rule, n, total: rules.length, words,
          mark: marks[n], names: rules, wrong: wrong[one.id],
          move: to => move(n, to), edit: () => edit(one), remove: () => remove(one, n),
          turn: () => put(one.id, { ...one.rule, enabled: !one.rule.enabled }),
        }))),
    h("p", {}, h("button", { id: "rule-add", type: "button", onclick: () => edit(null) },
      words.add)),
    rules.length > 1 && h("p", { class: "muted" }, words.keys),
    h("div", { class: "panel" }, h("p", { class: "else" },
      h("label", { for: "default-action" }, words.otherwise),
      h("select", {
        id: "default-action", value: draft.defaultAction,
        onchange: event => setDraft(now => ({ ...now, defaultAction: event.target.value })),
      }, ACTIONS.map(action => h("option", { key: action, value: action },
                                 words.everybody[action]))))),
    dirty && h("div", { class: "actions bar" },
      h("span", {}, words.dirty),
      h("button", { type: "button", class: "primary", disabled: busy, onclick: look },
        words.review.open),
      h("button", { type: "button", onclick: discard }, text.discard)));
}


// What is wrong with the rules, as the server says, by a rule's id; and their review.

function useReview({ words, draft, base, adopt }) {
  const [wrong, setWrong] = state({});
  const { rules } = draft;

  const { busy, failure, run, setFailure } = useAct(e => {
    const rule = rules[e.member?.match(/^rules\[(\d+)\]/)?.[1]];

    if (rule) {
      setWrong({ [rule.id]: e.message });
      document.getElementById(`name-${rule.id}`)?.focus();

    } else {
      setFailure(e);
    }
  }, () => late(import("./accessreview.js")));

  const toast = (...said) => late(import("../ui/toast.js")).then(
    ({ toast }) => toast(...said), setFailure);

  const look = run(async ({ reviewPolicy }) => {
    setWrong({});

    const next = await reviewPolicy({ words, base, policy: policyOf(draft) });

    if (next) {
      adopt(next);
      toast(next.theirs ? words.theirs : words.applied);
    }
  });

  return { wrong, setWrong, busy, failure, setFailure, look, toast };
}

// The rules as they are edited.

function useRules({ words, draft, setDraft, base, adopt }) {
  const { wrong, setWrong, busy, failure, setFailure, look, toast }
    = useReview({ words, draft, base, adopt });
  const rule = useAct(setFailure, () => late(import("./accessrule.js")));
  const [said, setSaid] = state("");
  const { rules } = draft;

  const setRules = change => setDraft(now => ({ ...now, rules: change(now.rules) }));
  const put = (id, rule) => setRules(all => all.map(one => one.id === id ? { id, rule } : one));

  const move = (n, to) => {
    if (to >= 0 && to < rules.length && to !== n) {
      setRules(all => all.toSpliced(n, 1).toSpliced(to, 0, all[n]));
      setSaid(fill(words.moved, { name: shown(rules[n].rule.name), n: to + 1,
                                  total: rules.length }));
    }
  };

  const edit = one => rule.run(async ({ editRule }) => {
    const made = await editRule({ words, rule: one?.rule });

    if (made && one) {
      setWrong(({ [one.id]: gone, ...rest }) => rest);
      put(one.id, made);

    } else if (made) {
      setRules(all => [...all, { id: `rule-${ids++}`, rule: made }]);
    }
  })();

  const remove = (one, n) => {
    setRules(all => all.filter(({ id }) => id !== one.id));
    document.getElementById("rule-add").focus();
    toast(fill(words.removed, { name: shown(one.rule.name) }), async () =>
      setRules(all => all.toSpliced(n, 0, one)));
  };

  const discard = () => {
    setDraft(withIds(base.data));
    setWrong({});
    setFailure(null);
    toast(words.discarded, async () => setDraft(draft));
  };

  return { rules, marks: marksOf(policyOf(draft).rules), said, put, move, edit, remove, wrong,
           failure, busy, look, discard };
}


function Rule({ id, rule, n, total, words, mark, names, wrong, move, edit, remove, turn }) {
  const name = shown(rule.name);
  const about = verb => fill(words.about, { verb, name });

  const keys = { ArrowUp: () => move(n - 1), ArrowDown: () => move(n + 1) };

  return h("li", {
    class: rule.enabled ? null : "off",
    onkeydown(event) {
      if (event.altKey && keys[event.key]) {
        event.preventDefault();
        keys[event.key]();
      }
    },
  },
    h("input", {
      type: "number", class: "place", min: 1, max: total, value: String(n + 1),
      "aria-label": fill(words.place, { name }),
      onchange(event) {
        const typed = event.target.valueAsNumber;
        const to = isNaN(typed) ? n + 1 : Math.min(Math.max(Math.trunc(typed), 1), total);

        event.target.value = to;
        move(to - 1);
      },
    }),
    h("div", { class: "what" },
      h("p", {},
        h("button", { id: `name-${id}`, type: "button", class: "name", onclick: edit,
                      "aria-keyshortcuts": SHORTCUTS.join(" ") }, name), " ",
        h(Badge, { value: rule.action, tone: rule.enabled ? TONES[rule.action] : "off",
                   words: words.actions }),
        !rule.enabled && [" ", h("span", { class: "mark" }, words.marks.off)],
        mark.above === null && mark.all && [" ", h("span", { class: "mark" }, words.marks.all)],
        mark.above !== null && [" ", h("span", { class: "mark bad" }, fill(words.marks.never, {
          n: mark.above + 1, name: shown(names[mark.above].rule.name) }))]),
      h("p", {}, sentence(rule, words.say)),
      wrong && h("p", { class: "wrong", role: "alert", lang: "en" }, shown(wrong))),
    h("div", { class: "actions" },
      h("button", { type: "button", "aria-label": about(words.up), "aria-disabled": n === 0
                    ? "true" : null, onclick: () => move(n - 1) }, "↑"),
      h("button", { type: "button", "aria-label": about(words.down), "aria-disabled":
                    n === total - 1 ? "true" : null, onclick: () => move(n + 1) }, "↓"),
      h("button", { type: "button", "aria-label": about(rule.enabled ? words.off : words.on),
                    onclick: turn }, rule.enabled ? words.off : words.on),
      h("button", { type: "button", "aria-label": about(words.remove), onclick: remove },
        words.remove)));
}


export default { access: { List: Access } };
