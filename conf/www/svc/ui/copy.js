// What people take elsewhere: identifiers, secrets, commands.

import { h, state } from "./draw.js";
import { text } from "./text.js";


export function Copy({ value, label = text.copy }) {
  const [copied, setCopied] = state(false);

  return h("button", {
    type: "button", class: "copy",
    async onclick() {
      await navigator.clipboard.writeText(value);
      setCopied(true);
      setTimeout(setCopied, 2000, false);
    },
  }, copied ? text.copied : label);
}

export const Id = ({ value }) =>
  h("span", { class: "id" }, h("code", {}, value), h(Copy, { value }));


// A secret that is shown this once.  It leaves the document with its component.

export const Secret = ({ value, label }) =>
  h("div", { class: "secret" },
    h("p", {}, h("strong", {}, label)),
    h("p", {}, h("code", {}, value), " ", h(Copy, { value })),
    h("p", { class: "muted" }, text.onceOnly));


export const Code = ({ value }) =>
  h("div", { class: "code" },
    h("pre", { tabindex: "0" }, h("code", {}, value)), h(Copy, { value }));
