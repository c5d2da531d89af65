// From which scores on a sign-in needs a second factor, or is denied.

import { h } from "../ui/draw.js";
import { fill, number } from "../ui/words.js";
import { Singleton } from "./singleton.js";

const LENGTH = 100;


const Risk = ({ sheet, words }) => h(Singleton, {
  sheet, words, about: all => [h(Scale, { all, words }), h(Outcomes, { all, words })],
}, h(Signals, { points: sheet.signals, words }));


// The three parts of the scale, to be seen; what it says is in words beneath.

function Scale({ all, words }) {
  const { mfaThreshold, denyThreshold } = all;

  if (!(mfaThreshold >= 0 && denyThreshold <= LENGTH && mfaThreshold < denyThreshold)) {
    return null;
  }

  const parts = [["allow", 0, mfaThreshold], ["mfa", mfaThreshold, denyThreshold],
                 ["deny", denyThreshold, LENGTH]];

  return h("svg", { class: all.enabled ? "scale" : "scale off", viewBox: "-2 0 104 12",
                    "aria-hidden": "true", focusable: "false" },
    parts.map(([name, from, to]) => h("rect", {
      key: name, class: name, x: from, y: 1, width: to - from, height: 5,
    })),
    [mfaThreshold, denyThreshold].map((x, n) => [
      h("rect", { key: `h${n}`, class: "handle", x: x - 0.4, y: 0, width: 0.8, height: 7 }),
      h("text", { key: `t${n}`, x, y: 11, "text-anchor": "middle" }, x),
    ]));
}

function Outcomes({ all, words }) {
  const { enabled, mfaThreshold: m, denyThreshold: d } = all;

  if (!enabled) {
    return h("p", { class: "notice" }, words.disabled);
  }

  if (!(m < d)) {
    return null;
  }

  return h("ul", {},
    m > 0 && h("li", {}, fill(words.outcomes.allow, { to: m - 1 })),
    h("li", {}, fill(words.outcomes.mfa, { from: m, to: d - 1 })),
    h("li", {}, fill(words.outcomes.deny, { from: d })));
}


const Signals = ({ points, words }) => h("section", { class: "panel" },
  h("h2", {}, words.signals.title),
  h("p", { class: "muted" }, words.signals.note),
  h("table", { class: "list points", "aria-label": words.signals.title },
    h("thead", {}, h("tr", {},
      h("th", { scope: "col" }, words.signals.signal),
      h("th", { scope: "col", class: "number" }, words.signals.points))),
    h("tbody", {}, Object.entries(points).map(([name, [least, most]]) => h("tr", { key: name },
      h("td", { "data-label": words.signals.signal }, words.signals.of[name]),
      h("td", { class: "number", "data-label": words.signals.points },
        most ? fill(words.signals.range, { least, most }) : number(least)))))));


export default { risk: { List: Risk } };
