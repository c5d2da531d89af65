// A new connection, of some kind, and one that is there.  What its kind has comes when it is
// looked at.

import { queryOf } from "../ui/call.js";
import { h } from "../ui/draw.js";
import { later, Problem } from "../ui/fail.js";
import { Link, usePlace } from "../ui/place.js";
import { useAnswer } from "../ui/table.js";
import { wordOf, wordsOf } from "../ui/words.js";
import { readAll } from "./connectionlist.js";
import { isSingle, kindOf, PROVIDERS } from "./connections.sheet.js";
import { at } from "./nav.js";
import { Head } from "./sheet.js";

const KINDS = [...PROVIDERS, "saml", "ldap"];

// --- a new one -----------------------

// Of most kinds there is one at most: that one is led to.

function ConnectionNew(props) {
  const { view, words } = props;
  const { query: { kind } } = usePlace();

  return KINDS.includes(kind) ? h(PARTS[groupOf(kind)].New, { ...props, key: kind, kind })
                              : h(Choose, { view, words });
}

function Choose({ view, words }) {
  const { data, failure, again } = useAnswer(readAll, []);
  const there = data?.map(one => one.connection) ?? [];
  const made = kind => kind !== "oidc" && there.includes(kind);

  return h("div", {},
    h(Head, { title: words.new, above: { view, title: words.title } }),
    h("p", {}, words.which),
    failure && h(Problem, { failure, again }),
    data && h("ul", { class: "cards" }, KINDS.map(kind => h("li", { key: kind },
      h(Link, { class: "card", to: made(kind) ? at(view, kind)
                                              : at(view, "new") + queryOf({ kind }) },
        h("strong", {}, words.options.kind[kind]),
        h("span", {}, made(kind) ? words.there : words.about[kind]))))));
}


const ConnectionView = props => {
  const kind = kindOf(props.id);

  return h(PARTS[groupOf(kind)].View, { ...props, key: props.id, kind });
};


// --- what its kind has ---------------

const groupOf = kind => isSingle(kind) ? kind : "oidc";

const MORE = ["columns", "fields", "help", "none", "options", "parts", "tabs", "units", "urls"];

const merged = (words, more) => ({
  ...words, ...more,
  ...Object.fromEntries(MORE.map(name => [name, { ...words[name], ...wordOf(more, name) }])),
});

const partOf = (group, name) => later(async () => {
  const [module, more] = await Promise.all([
    import(`./connection${group}.js`), wordsOf(`console/connection${group}`)]);

  return ({ words, ...props }) => h(module[name], { ...props, words: merged(words, more) });
});

const PARTS = Object.fromEntries(["oidc", "saml", "ldap"].map(group =>
  [group, { New: partOf(group, "New"), View: partOf(group, "View") }]));

export default { connections: { New: ConnectionNew, View: ConnectionView } };
