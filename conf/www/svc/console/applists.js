// The lists of applications and of SAML applications: what their sheets do not say.

import { h } from "../ui/draw.js";
import { later } from "../ui/fail.js";
import { Link, usePlace } from "../ui/place.js";
import { at } from "./nav.js";
import { Head, SheetList } from "./sheet.js";

const AppList = props => h(SheetList, props,
  h(Link, { class: "button", to: at("applications", "settings") }, props.all.settings.title));


// --- SAML applications ---------------

// To ask makes a key and a certificate, the first time: nobody asks but by a button.

const Provider = later(async () => (await import("./samlprovider.js")).Provider);

function SamlList({ view, sheet, words }) {
  const { query } = usePlace();

  return h("div", {},
    h(Head, { title: words.title },
      h(Link, { class: "button primary", to: at(view, "new") }, words.new)),
    h("p", { class: "muted" }, words.note),
    query.show ? h(Provider, { view, sheet, words })
      : h("div", { class: "list empty" },
          h("p", {}, words.asks),
          h("p", {}, h(Link, { class: "button", to: `${at(view)}?show=yes` }, words.show))));
}


export default { applications: { List: AppList }, "saml-apps": { List: SamlList } };
