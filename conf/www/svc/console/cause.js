// Why a sign-in was refused, in words: the audit log has a code for it.

import { Badge } from "../ui/cells.js";
import { h } from "../ui/draw.js";
import { fill, shown, wordOf, wordsOf } from "../ui/words.js";

const words = await wordsOf("console/cause");

// The member of the details that has the code, by the action.

const MEMBERS = {
  "user.login_failed": "reason", "mfa.challenge_failed": "reason", "federation.denied": "why",
  "federation.failed": "why", "oauth.grant_revoked": "reason",
};


// Returns { label, code, said } of an event, or null.  A factor that was wrong has no code,
// and what a provider has said itself is no code: "said" is null then.

export function causeOf({ action, details }) {
  const member = wordOf(MEMBERS, action);
  const code = member && (details[member] ?? (details.method ? "wrong" : null));

  if (!code) {
    return null;
  }

  const cause = wordOf(words.causes, code);
  const method = wordOf(words.methods, details.method);
  const signals = (details.signals ?? []).map(one => wordOf(words.signals, one) ?? shown(one));

  const said = !cause ? null : method && code === "wrong" ? fill(words.wrongBy, { method })
    : code === "risk" ? [cause, signals.join(" · ")].join(" ").trim() : cause;

  return { label: words.why, code: shown(code), said };
}

// Draws the outcome of an event, and what it comes from.

export const outcomeOf = (sheet, words) => event => {
  const cause = causeOf(event);

  return h("span", {},
    h(Badge, { value: event.outcome, tone: sheet.tones.outcome[event.outcome],
               words: words.options.outcome }),
    cause && h("span", { class: "muted why", lang: cause.said ? null : "en" },
               cause.said ?? cause.code));
};
