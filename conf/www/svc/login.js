// /login: a password, or a passkey; letters.js has what goes by mail.

import { button, form, fragment, names, post, run, say, show, text } from "./page.js";
import { begin, options } from "./brand.js";
import { done, emailField, home, named, resume, signedIn } from "./session.js";
import * as passkey from "./passkey.js";

const letter = name => async () => {
  passkey.stopOffer();
  (await import("./letters.js"))[name]();
};


function signIn() {
  const { methods } = options;

  show(names.name ? `${text.signIn} – ${names.name}` : text.signIn,
       form([{ ...emailField(), autocomplete: "username webauthn" },
             { name: "password", label: text.password, type: "password",
               autocomplete: "current-password", maxlength: "1024" }],
            text.signIn, async values =>
              done(await post("/auth/login", named(values)))),
       passkey.usable() && button(text.usePasskey, async () =>
         done(await passkey.signIn())),
       methods.passwordless && button(text.mailCode, letter("mailCode")),
       methods.passwordReset !== false && button(text.forgot, letter("forgot")),
       methods.signup && button(text.signUp, letter("signUp")));

  passkey.offer(get => run(async () => done(await get())));
}


// A link of a mail, or whoever is here, or the form.

const LINKS = {
  token: "/auth/passwordless/verify",
  signup: "/auth/signup/verify",
};

async function start() {
  home.show = signIn;

  for (const [name, path] of Object.entries(LINKS)) {
    if (fragment.has(name)) {
      return fromLink(path, fragment.get(name));
    }
  }

  await resume(signedIn);

  if (fragment.has("forgot")) {
    await letter("forgot")();
  }
}

async function fromLink(path, token) {
  try {
    done(await post(path, { token, tenant: names.tenant }));

  } catch (e) {
    if (e.code !== "invalid_token") {
      throw e;
    }

    signIn();
    say(e);
  }
}

run(() => begin(start));
