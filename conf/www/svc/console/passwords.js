// What passwords must be.

import { h, state } from "../ui/draw.js";
import { later } from "../ui/fail.js";
import { fill } from "../ui/words.js";
import { Singleton } from "./singleton.js";

const Groups = later(async () => (await import("./passwordgroups.js")).Groups);


function Passwords({ sheet, sheets, words, all }) {
  return h("div", {},
    h(Singleton, {
      sheet, words, about: policy => h("div", { class: "aside" },
        h(Sentences, { policy, words }), h(Sample, { policy, words })),
    }),
    h(Groups, { sheet: sheets.passwordGroups, words: all.passwordGroups, tenant: sheet,
                fields: words }));
}


// --- the policy in words -------------

// What is not asked for is said where it differs from what else would count.

export const sentencesOf = (policy, words, all = true) => Object.entries(policy)
  .filter(([name, value]) => words.sentences[name] && value !== null
                             && (all || value || !name.startsWith("require")))
  .map(([name, value]) => typeof value === "boolean" || value === 0
    ? words.sentences[name][value ? "yes" : "no"] ?? null
    : fill(words.sentences[name], { n: value, value }))
  .filter(Boolean);

const Sentences = ({ policy, words }) => h("section", {},
  h("h2", {}, words.inWords),
  h("ul", {}, sentencesOf(policy, words, false).map(one => h("li", { key: one }, one))));


// --- a sample ------------------------

// As the server sees characters; what it alone can judge is not here.

const KINDS = {
  requireLower: /\p{Ll}/u, requireUpper: /\p{Lu}/u, requireDigit: /[0-9]/,
  requireSymbol: /[^\p{L}\p{N}\p{M}]/u,
};

export const judge = (sample, policy) => ({
  minLength: [...sample].length >= policy.minLength,
  ...Object.fromEntries(Object.entries(KINDS).filter(([name]) => policy[name])
    .map(([name, kind]) => [name, kind.test(sample)])),
});

// It is a sample, and to be seen; it has no name, and nothing of it is sent.

function Sample({ policy, words }) {
  const [sample, setSample] = state("");
  const said = words.sample;

  return h("section", { class: "sample" },
    h("h2", {}, said.title),
    h("div", { class: "field" },
      h("label", { for: "sample" }, said.label),
      h("input", {
        id: "sample", type: "text", autocomplete: "off", autocapitalize: "none", value: sample,
        spellcheck: "false", "aria-describedby": "sample-note",
        oninput: event => setSample(event.target.value),
        onkeydown: event => event.key === "Enter" && event.preventDefault(),
      }),
      h("p", { id: "sample-note", class: "muted" }, said.note)),
    h("div", { role: "status" }, sample && h("ul", { class: "checked" },
      Object.entries(judge(sample, policy)).map(([name, good]) => h("li", { key: name },
        h("span", { class: good ? "badge good" : "badge bad" }, good ? said.good : said.bad), " ",
        fill(said.of[name], { n: policy.minLength }))))));
}


export default { passwords: { List: Passwords } };
