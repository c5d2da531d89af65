// What people take elsewhere: identifiers, secrets, commands.

import { h, state } from "./draw.js";
import { text } from "./text.js";
import { shown } from "./words.js";


// The browser may not let a page copy: then it is said.

export function Copy({ value, label = text.copy }) {
  const [said, setSaid] = state(null);

  return h("button", {
    type: "button", class: "copy",
    async onclick() {
      try {
        await navigator.clipboard.writeText(value);
        setSaid(text.copied);

      } catch {
        setSaid(text.notCopied);
      }

      setTimeout(setSaid, 2000, null);
    },
  }, said ?? label);
}

export const Id = ({ value }) =>
  h("span", { class: "id" }, h("code", {}, shown(value)), h(Copy, { value }));


// A secret that is shown this once.  It leaves the document with its component.

export const Secret = ({ value, label }) =>
  h("div", { class: "secret" },
    h("p", {}, h("strong", {}, label)),
    h("p", {}, h("code", {}, value), " ", h(Copy, { value })),
    h("p", { class: "muted" }, text.onceOnly));


export const Code = ({ value }) =>
  h("div", { class: "code" },
    h("pre", { tabindex: "0" }, h("code", {}, value)), h(Copy, { value }));
