// A field of certificates, as PEM: what each of them says of itself is shown beneath.  It is
// a kind of ui/fields.js for whoever imports this.

import { Badge } from "../ui/cells.js";
import { h } from "../ui/draw.js";
import { kinds, none } from "../ui/fields.js";
import { Time } from "../ui/time.js";
import { fill, shown } from "../ui/words.js";
import { blocksOf, certificatesOf } from "./certificate.js";

// "many" says that the member is a list of them, and not one text; words.pem has the words.

kinds.pem = {
  of: value => [value ?? []].flat().join(""),
  to: (typed, { many }) => many ? blocksOf(typed) : blocksOf(typed).join("") || null,
  empty: none,
  draw: ({ id, name, field, typed, set, words, attributes }) => h("div", {},
    h("textarea", {
      ...attributes, id, name, class: "json", value: typed, rows: field.rows ?? 6,
      spellcheck: "false", oninput: event => set(event.target.value),
    }),
    h("ul", { class: "certificates" }, certificatesOf(typed).map((one, n) =>
      h("li", { key: n }, one ? h(Certificate, { one, words: words.pem }) : words.pem.unknown)))),
};

export const hasNone = typed => !none(typed) && blocksOf(typed).length === 0;

const Certificate = ({ one: { subject, end, kind, bits }, words }) => h("span", {},
  h("strong", {}, shown(subject)), " · ", fill(words.key, { kind, bits: bits ?? "?" }), " · ",
  new Date(end) < Date.now() ? h(Badge, { value: words.over, tone: "bad" })
                             : h("span", {}, words.until, " ", h(Time, { value: end })));
