// /invite#token=...: an account.

import { fill, form, fragment, link, names, note, pageOf, post, run, show, text,
} from "./page.js";
import { begin } from "./brand.js";
import { done, emailField } from "./session.js";
import { nameField, newPassword } from "./fields.js";

const token = fragment.get("token");

async function start() {
  try {
    const invitation = await post("/auth/invitations/lookup", { token });

    names.tenant = invitation.tenant.slug;
    await begin(() => accept(invitation));

  } catch (e) {
    if (token && e.code !== "invalid_invite") {
      throw e;
    }

    show(text.inviteOver, note(text.inviteOverNote),
         link(pageOf("login"), text.signIn));
  }
}

function accept({ email, tenant, passwordPolicy }) {
  names.email = email;
  show(fill(text.joinTenant, { tenant: tenant.name }),
       form([{ ...emailField(), readonly: "" }, nameField(),
             newPassword(passwordPolicy)],
            text.join, async ({ password, displayName }) =>
              done(await post("/auth/invitations/accept",
                              { token, password, displayName }))));
}

run(start);
