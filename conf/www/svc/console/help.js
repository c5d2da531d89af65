// What the keys do.

import { Dialog, show } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { text } from "../ui/text.js";
import { PLACES, views } from "./nav.js";

export const open = words => show(Help, { words });

function Help({ done, words }) {
  const [off, setOff] = state(() => localStorage.getItem("svc-keys") === "off");

  const choose = event => {
    localStorage.setItem("svc-keys", event.target.checked ? "on" : "off");
    setOff(!event.target.checked);
  };

  const rows = [
    ...Object.entries(words.keys),
    ...Object.entries(PLACES).filter(([, view]) => Object.hasOwn(views, view))
      .map(([key, view]) => [`g ${key}`, words.views[view]]),
  ];

  return h(Dialog, { title: words.help, done },
    h("label", { class: "check" },
      h("input", { type: "checkbox", checked: !off, onchange: choose }), words.keysOn),
    h("dl", {}, rows.flatMap(([key, what]) =>
      [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("div", { class: "actions" }, h("button", { type: "button", onclick: () => done() },
                                     text.close)));
}
