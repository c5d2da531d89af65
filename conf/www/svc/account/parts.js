// What the sections are made of: their words, what has been read for them, and rows with
// buttons that do one thing.

import { text as pages } from "../page.js";
import { call, Failure } from "../ui/call.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { tell, text } from "../ui/text.js";
import { language, shown, speak, wordsOf } from "../ui/words.js";

export const words = {};

export { pages };


// The words of the sign-in pages are those of the steps in a dialog.

export async function learn(locale) {
  speak(locale);

  const [own, steps] = await Promise.all(
    [wordsOf("account/account"), import(`../text.${language}.js`), tell()]);

  Object.assign(words, own);
  Object.assign(pages, steps.default);
  text.errors = { ...steps.default.errors, ...text.errors, ...own.errors };
}


// The words of the dialogs come with the first of them.

export const dialogs = {};

export const learnMore = async () =>
  Object.assign(dialogs, await wordsOf("account/dialogs"));


// --- what is read --------------------

const PATHS = {
  profile: "/auth/profile", factors: "/mfa/factors", sessions: "/auth/sessions",
  consents: "/oauth/consents", identities: "/auth/identities",
};

export async function read(names, limit) {
  return Object.fromEntries(await Promise.all(names.map(async name => {
    try {
      return [name, { value: (await call({ path: PATHS[name], query: { limit } })).data }];

    } catch (failure) {
      return [name, { failure }];
    }
  })));
}


// Says what was done.

export const say = async said => (await import("../ui/toast.js")).toast(said);


// --- sections ------------------------

// "part" is what was read for it: { value } or { failure }, or nothing yet.  "draw" gets what
// says what has gone wrong.  The ids of fields are those of the steps in a dialog.

export function Section({ id, title, note, part, again, draw }) {
  const [failure, setFailure] = state(null);

  effect(element => {
    failure && element.querySelector(".problem").scrollIntoView({ block: "nearest" });
  }, [failure]);

  return h("section", { id: `part-${id}`, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title`, tabindex: "-1" }, title),
    note && h("p", { class: "muted" }, note),
    failure && h(Problem, { failure }),
    part?.failure ? h(Problem, { failure: part.failure, again })
      : part ? draw(setFailure)
      : h("p", { class: "muted" }, text.loading));
}


export const Rows = ({ none, kids }) => kids.length > 0
  ? h("ul", { class: "rows" }, kids)
  : h("p", { class: "muted" }, none);


export const Row = ({ title, badges, notes = [], kids }) => h("li", { class: "row" },
  h("div", { class: "what" },
    h("p", { class: "title" }, h("bdi", {}, title), badges),
    notes.filter(Boolean).map(note => h("p", { class: "muted" }, note))),
  kids.length > 0 && h("div", { class: "actions" }, kids));

export const Badge = ({ kind, kids }) => h("span", { class: `badge ${kind}` }, kids);


// "of" names the row that a button is for, to whoever does not see it; "fail" is told what
// went wrong, unless somebody has thought better of it.

const QUIET = ["cancelled", "step_up_required"];

export function Act({ label, of, action, fail, kind }) {
  const [busy, setBusy] = state(false);

  return h("button", {
    type: "button", class: kind, "aria-busy": busy && "true",
    "aria-label": of && `${label}: ${shown(of)}`,
    async onclick({ currentTarget }) {
      const section = currentTarget.closest("section");

      if (busy) {
        return;
      }

      setBusy(true);
      fail(null);

      try {
        await action();

      } catch (e) {
        if (!QUIET.includes(e.code)) {
          fail(e.code ? e : new Failure("network", e.message));
        }

      } finally {
        setBusy(false);
        setTimeout(stay, 0, section);
      }
    },
  }, label);
}

// Where the button is gone, with its row, the title has the focus.

function stay(section) {
  if (document.activeElement === document.body) {
    section?.querySelector("h2").focus({ preventScroll: true });
  }
}
