// What went wrong, for whoever is to do something about it.

import { h } from "./draw.js";
import { text } from "./text.js";
import { fill, shown } from "./words.js";
import { Copy } from "./copy.js";
import { useWait } from "./wait.js";

export const sentence = failure =>
  fill(text.errors[failure.code] ?? text.errors.other,
       { n: Math.max(1, Math.ceil((failure.seconds ?? 60) / 60)) });

// The server says more, in English; nothing of it where our own sentence is all.

const OWN = ["network", "cancelled", "unavailable", "rate_limited", "not_found"];

export function Problem({ failure, again }) {
  const seconds = useWait(failure);

  return h("div", { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, sentence(failure))),
    failure.message && !OWN.includes(failure.code)
      && h("p", { lang: "en" }, shown(failure.message)),
    failure.id && h("p", { class: "muted" }, `${text.requestId} `, h("code", {}, failure.id), " ",
                    h(Copy, { value: failure.id })),
    again && h("button", {
      type: "button", onclick: again, disabled: seconds > 0, "aria-live": "off",
    }, seconds > 0 ? fill(text.againIn, { n: seconds }) : text.tryAgain));
}
