// What goes by mail: a link for who has forgotten the password, a code to sign in
// with, one for somebody new, and a link that confirms an address.

import { button, fill, form, names, note, post, say, show, text } from "./page.js";
import { options } from "./brand.js";
import { done, emailField, home, leave, named, signedIn } from "./session.js";
import { codeOf, digits, nameField, newPassword } from "./fields.js";

const back = () => button(text.back, () => home.show());


// Links that sign in: of somebody, somebody new, or a whole organisation.

const LINKS = {
  token: "/auth/passwordless/verify",
  signup: "/auth/signup/verify",
};

export async function fromLink(name, token) {
  try {
    done(await post(LINKS[name], { token, tenant: names.tenant }));

  } catch (e) {
    if (e.code !== "invalid_token") {
      throw e;
    }

    await home.show();
    say(e);
  }
}

export const founded = async token =>
  done(await post("/auth/organizations/verify", { token }));


export function forgot() {
  show(text.forgot, note(text.forgotNote),
       form([emailField()], text.send, async values => {
         await post("/auth/password/forgot", named(values));
         show(text.lookThere, note(text.forgotSent), back());
       }),
       back());
}


export function mailCode() {
  show(text.mailCode, note(text.mailCodeNote),
       form([emailField()], text.send, async values => {
         const { challengeId } = await post("/auth/passwordless/start",
                                            named(values));

         typeCode("/auth/passwordless/verify", challengeId);
       }),
       back());
}

// One that proves whose the address of an identity is.  Its mail has no link.

export async function linkCode(flow) {
  const path = "/auth/federation/mail";
  const { challengeId } = await post(`${path}/start`, { flow });

  showCode(`${path}/verify`, { challengeId, flow });
}

function typeCode(path, challengeId) {
  showCode(path, { challengeId, tenant: names.tenant }, note(text.codeSent));
}

function showCode(path, body, said) {
  show(text.lookThere, said,
       form([digits()], text.goOn, async values =>
         done(await post(path, { ...body, code: codeOf(values) }))),
       back());
}


export function signUp() {
  show(text.signUp,
       form([emailField(), nameField(), newPassword(options.passwordPolicy)],
            text.signUp, async values => {
              const answer = await post("/auth/signup", named(values));

              if (answer.user) {
                return done(answer);
              }

              typeCode("/auth/signup/verify", answer.challengeId);
            }),
       back());
}


// Whoever asked for it, in the session of then; anybody else is just signed in.

export async function confirm(session, path, token) {
  signedIn(session);

  const { email } = await post(path, { token });

  show(text.confirmed, note(fill(text.confirmedNote, { email })),
       button(text.signOut, leave));
}
