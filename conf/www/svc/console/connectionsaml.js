// The connection with an identity provider of SAML, of which a tenant has one at most.

import { h } from "../ui/draw.js";
import { none } from "../ui/fields.js";
import { Form, keyOf } from "../ui/form.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import {
  choosing, Covers, flat, keepLinks, mayChange, Page, putOver, Urls, useConnection, Waiting,
} from "./connectionform.js";
import { titleOf } from "./connectionlist.js";
import { pathTo } from "./connections.sheet.js";
import { hasNone } from "./pem.js";
import { withLock } from "./sheet.js";

const IDENTITY = ["idpEntityId"];

const URLS = ["spEntityId", "acsUrl"];


// What there is not yet has its defaults, and is changed as any other.

export const New = props => h(View, { ...props, id: "saml", tab: undefined });

export function View(props) {
  const { view, sheets: { saml: sheet }, words } = props;
  const { data, failure, again } = useConnection("saml");

  if (!data) {
    return h(Waiting, { title: words.options.kind.saml, above: { view, title: words.title },
                        failure, again });
  }

  const { one } = data;
  const fields = fieldsFor(sheet, data, words);

  const put = async changed => {
    const sent = await putOver({ path: pathTo("saml"), data, changed, fields, words });

    again();

    return sent;
  };

  const save = async changed => {
    await mayChange(one.updatedAt ? IDENTITY : [], changed, data, words);
    await put(changed) && toast(text.saved);
  };

  return h(Page, { ...props, sheet, one, failure, again, tabs: {},
                   title: titleOf(one, "saml", words) },
    h("p", { class: "notice" }, words.unused),
    one.updatedAt && h(Covers, { one, words, vouch: () => put({ vouch: true }) }),
    h("div", { class: "panel" },
      h("h2", {}, words.theirs),
      h(Urls, { words, urls: URLS.map(name => [name, one[name]]) })),
    h("div", { class: "panel" },
      h(Form, { key: keyOf(fields, flat(one)), value: flat(one), fields, words,
                verb: withLock(text.save), onsave: save })));
}


function fieldsFor(sheet, { one, domains, names }, words) {
  const { label, idpEntityId, ...fields } = choosing(sheet.form, { domains, names }, words);

  return {
    label, idpEntityId,
    ...one.updatedAt && { keepLinks: keepLinks(IDENTITY, one, words) },
    ...fields,
    idpCertificates: {
      kind: "pem", many: true, rows: 8,
      wrong: typed => !none(typed.idpCertificates) && hasNone(typed.idpCertificates)
        ? words.pem.unknown : null,
    },
  };
}
