// Asks for the tenant, where the server knows of none.

import { form, names, show, text } from "./page.js";

// "wrong" is set when there is no such tenant as was asked for.

export function ask(next, wrong) {
  show(text.whichTenant,
       form([{ name: "tenant", label: text.tenant, autocomplete: "organization",
               autocapitalize: "none", spellcheck: "false" }],
            text.goOn, ({ tenant }) => {
              names.tenant = tenant.trim().toLowerCase();

              return next();
            }));

  document.querySelector("#error").textContent = wrong && text.noTenant;
}
