// What may come after a password: a second factor, one's first factor, a new
// password.

import { button, fill, form, h, note, post, show, text } from "./page.js";
import { options } from "./brand.js";
import { done, leave, resume } from "./session.js";
import { CODE, codeOf, digits, newPassword } from "./fields.js";
import * as passkey from "./passkey.js";


// --- a second factor -----------------

// "out" is the way to somebody else, null where there is none; "begun" is a challenge that
// there is already.

export async function secondFactor(method, after = done, out = leave, begun) {
  const c = begun ?? await post("/mfa/challenge", { method });
  const others = c.methods.filter(other => other !== c.method && can(other));

  if (!can(c.method) && others.length) {
    return secondFactor(others[0], after, out);
  }

  const prove = async shown =>
    after(await post("/mfa/step-up", { challengeId: c.challengeId, ...shown }));

  show(text.secondFactor,
       note(fill(text.methods[c.method].note, { hint: c.emailHint })),
       shown(c, prove),
       ...others.map(other => button(text.methods[other].instead,
                                     () => secondFactor(other, after, out))),
       c.method === "email" && button(text.sendAgain,
                                      () => secondFactor("email", after, out)),
       out && button(text.somebodyElse, out));
}

const can = method => method !== "passkey" || passkey.usable();

function shown(c, prove) {
  switch (c.method) {

  case "passkey":
    return form([], text.usePasskey, async () =>
      prove({ credential: await passkey.ask(c.publicKey) }));

  case "recovery":
    return form([{ ...CODE, label: text.recoveryCode }], text.goOn,
                values => prove({ code: codeOf(values) }));

  case "password":
    return form([{ name: "password", label: text.password, type: "password",
                   autocomplete: "current-password" }], text.goOn, prove);

  default:
    return form([digits()], text.goOn, values => prove({ code: codeOf(values) }));
  }
}


// --- one's first factor --------------

// With mail the address is shown to be one's own first.

const proved = action => async () => {
  try {
    await action();

  } catch (e) {
    if (e.code !== "step_up_required") {
      throw e;
    }

    await secondFactor("email", enrol);
  }
};

export function enrol() {
  show(text.enrol, note(text.enrolNote),
       button(text.app, proved(enrolApp)),
       passkey.usable() && button(text.passkey, proved(enrolPasskey)),
       button(text.somebodyElse, leave));
}

async function enrolApp() {
  const { id, secret, qrSvg } = await post("/mfa/totp", { name: text.app });

  show(text.app, note(text.scan),
       h("img", { class: "qr", alt: text.qr,
                  src: `data:image/svg+xml,${encodeURIComponent(qrSvg)}` }),
       note(text.typeSecret, " ", h("code", {}, secret.replace(/.{4}(?=.)/g, "$& "))),
       form([digits()], text.goOn, async values =>
         recoveryCodes(await post(`/mfa/totp/${id}/confirm`,
                                  { code: codeOf(values) }))),
       button(text.back, enrol));
}

const enrolPasskey = async () => recoveryCodes(await passkey.make(text.passkey));

function recoveryCodes({ recoveryCodes: codes }) {
  if (!codes) {
    return resume();
  }

  show(text.recoveryCodes, note(text.recoveryNote),
       h("ul", { class: "codes" }, ...codes.map(code => h("li", {}, code))),
       form([], text.keptThem, () => resume()));
}


// --- a new password ------------------

export function expired() {
  show(text.expired, note(text.expiredNote),
       form([newPassword(options?.passwordPolicy)], text.goOn, async values =>
         done(await post("/auth/password", { newPassword: values.password }))),
       button(text.somebodyElse, leave));
}
