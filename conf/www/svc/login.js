// /login: a password, or a passkey; letters.js has what goes by mail.  /account: the
// same, and then what account/start.js has.

import { button, form, fragment, names, post, query, run, show, text } from "./page.js";
import { begin, options } from "./brand.js";
import { done, emailField, home, named, resume } from "./session.js";
import * as passkey from "./passkey.js";

const letter = name => async (...values) => {
  passkey.stopOffer();
  await (await import("./letters.js"))[name](...values);
};


// others.js has what leads to other servers.  With some connections the address comes
// first: what has been found for it is given then.

const elsewhere = () => import("./others.js");

async function signIn(found) {
  const { methods } = options;
  const others = (methods.connections?.length || methods.discover) && await elsewhere();
  const first = methods.discover && !found;

  show(names.name ? `${text.signIn} – ${names.name}` : text.signIn,
       first ? others.address(signIn)
         : form([{ ...emailField(), autocomplete: "username webauthn",
                   readonly: found && "" },
                 { name: "password", label: text.password, type: "password",
                   autocomplete: "current-password", maxlength: "1024" }],
                text.signIn, async values =>
                  done(await post("/auth/login", named(values)))),
       ...(others ? others.buttons(found) : []),
       passkey.usable() && button(text.usePasskey, async () =>
         done(await passkey.signIn())),
       methods.passwordless && button(text.mailCode, letter("mailCode")),
       !first && methods.passwordReset !== false
         && button(text.forgot, letter("forgot")),
       methods.signup && button(text.signUp, letter("signUp")),
       found && button(text.back, home.show));

  passkey.offer(get => run(async () => done(await get())));
}


// A link of a mail, or whoever is here, or the form.

async function start() {
  const link = ["token", "signup"].find(name => fragment.get(name));

  home.show = () => signIn();

  if (link) {
    return letter("fromLink")(link, fragment.get(link));
  }

  home.after = location.pathname === "/account"
    && (async session => (await import("./account/start.js")).start(session));

  if (fragment.has("connection")) {
    return (await elsewhere()).chosen();
  }

  if (home.start && !home.after) {
    return home.start();
  }

  await resume();

  if (fragment.has("forgot")) {
    await letter("forgot")();
  }
}

async function whose() {
  if (query.has("return_to")) {
    await (await import("./next.js")).find();
  }

  await begin(start);

  if (fragment.has("error")) {
    (await elsewhere()).refused();
  }
}

const out = query.has("logout") || query.has("signed_out");

run(async () => out ? (await import("./logout.js")).start()
  : fragment.has("organization") ? letter("founded")(fragment.get("organization"))
  : whose());
