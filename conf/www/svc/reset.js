// /reset#token=...: a new password.

import { form, fragment, link, names, note, pageOf, post, run, show, text,
} from "./page.js";
import { begin, options } from "./brand.js";
import { newPassword } from "./fields.js";
import "./session.js";

const token = fragment.get("token");

function start() {
  show(text.newPassword,
       form([newPassword(options.passwordPolicy)], text.goOn, set));
}

async function set({ password }) {
  try {
    await post("/auth/password/reset", { token, password, tenant: names.tenant });

  } catch (e) {
    if (e.code !== "invalid_token") {
      throw e;
    }

    return over();
  }

  show(text.isSet, note(text.isSetNote), link(pageOf("login"), text.signIn));
}

function over() {
  show(text.linkOver, note(text.linkOverNote),
       link(pageOf("login", "#forgot"), text.forgot));
}

run(() => token ? begin(start) : over());
