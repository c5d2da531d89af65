// /login: a password, or a passkey; letters.js has what goes by mail.  /account: the
// same, and then the link of a mail.

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

const LINKS = {
  token: "/auth/passwordless/verify",
  signup: "/auth/signup/verify",
};

// those that want a session

const OWN = {
  verify: "/auth/email/verify",
  change: "/auth/email/change/verify",
};

const linkOf = links => Object.keys(links).find(name => fragment.get(name));

async function start() {
  const link = linkOf(LINKS);
  const own = linkOf(OWN);

  home.show = () => signIn();

  if (link) {
    return letter("fromLink")(LINKS[link], fragment.get(link));
  }

  home.after = own
    ? session => letter("confirm")(session, OWN[own], fragment.get(own))
    : query.has("test") && (() => import("./tested.js"));

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
