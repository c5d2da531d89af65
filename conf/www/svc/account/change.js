// What changes the profile, the address and the password: a dialog each.

import { options } from "../brand.js";
import { newPassword } from "../fields.js";
import { Failure, call, session, take } from "../ui/call.js";
import { Dialog, show } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { Problem, sentence } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { text } from "../ui/text.js";
import { fill, shown } from "../ui/words.js";
import { dialogs, pages, say, words } from "./parts.js";

const LOCALES = ["en", "fr", "de"];


// What some codes say is of one field.

export const about = (fields, send) => async (...values) => {
  try {
    return await send(...values);

  } catch (e) {
    const member = fields[e.code];

    if (!member) {
      throw e;
    }

    const more = e.code === "password_rejected" ? ` ${e.message}` : "";

    throw new Failure("invalid_request", `${sentence(e)}${more}`, { member });
  }
};


// --- the profile ---------------------

export async function editProfile(profile, renew) {
  const saved = await show(EditProfile, { profile });

  if (saved && saved.locale !== profile.locale) {
    return location.reload();
  }

  if (saved) {
    await renew(["profile"]);
    await say(text.saved);
  }
}

function EditProfile({ profile, done }) {
  const w = dialogs.profile;
  const { locale } = profile;
  const known = locale && !LOCALES.includes(locale) ? [...LOCALES, locale] : LOCALES;
  const nameOf = code => new Intl.DisplayNames([code], { type: "language" }).of(code);

  return h(Dialog, { title: w.edit, done },
    h(Form, {
      id: "profile", value: profile, verb: text.save, oncancel: () => done(),
      fields: {
        displayName: { kind: "text", max: 64, autocomplete: "name" },
        firstName: { kind: "text", max: 64, autocomplete: "given-name" },
        lastName: { kind: "text", max: 64, autocomplete: "family-name" },
        locale: { kind: "choice", options: known, none: true },
      },
      words: {
        fields: w.fields, help: { locale: w.localeHelp }, none: { locale: words.profile.asBrowser },
        options: { locale: Object.fromEntries(LOCALES.map(l => [l, nameOf(l)])) },
      },
      onsave: async changed => done((await call({
        method: "PATCH", path: "/auth/profile", body: changed })).data),
    }));
}


// --- a code by mail ------------------

// "send" has it sent again.

export function TypeCode({ title, above, notes = [], send, confirm, done }) {
  const [sent, setSent] = state(null);        // "busy", "sent" or null
  const [failure, setFailure] = state(null);

  const sendAgain = async () => {
    setSent("busy");
    setFailure(null);

    try {
      await send();
      setSent("sent");

    } catch (e) {
      setSent(null);
      setFailure(e.code === "cancelled" ? null : e);
    }
  };

  return h(Dialog, { title, done },
    above, notes.map(note => h("p", {}, note)),
    h(Form, {
      id: "code", verb: pages.goOn, oncancel: () => done(),
      fields: { code: { kind: "text", max: 8, must: true, autocomplete: "one-time-code",
                        inputmode: "numeric", autofocus: true } },
      words: { fields: { code: pages.code } },
      onsave: about({ invalid_code: "code", challenge_expired: "code" },
                    async ({ code }) => done(await confirm(code.trim()))),
    }),
    failure && h(Problem, { failure }),
    send && h("p", { class: "muted" },
      h("button", { type: "button", class: "plain", disabled: sent !== null, onclick: sendAgain },
        sent === "sent" ? dialogs.sent : pages.sendAgain)));
}

export async function verifyAddress(email, renew) {
  const send = () => call({ method: "POST", path: "/auth/email/verify/start" });

  await send();

  const proved = await show(TypeCode, {
    title: dialogs.profile.verify, send,
    notes: [fill(dialogs.profile.codeSent, { email: shown(email) })],
    confirm: code => call({ method: "POST", path: "/auth/email/verify", body: { code } }),
  });

  if (proved) {
    await renew(["profile"]);
    await say(dialogs.profile.isVerified);
  }
}

export async function changeAddress(old, renew) {
  const w = dialogs.profile;
  const email = await show(NewAddress, {});

  if (!email) {
    return;
  }

  const proved = await show(TypeCode, {
    title: w.changeIt, notes: [fill(w.codeSent, { email: shown(email) })],
    send: () => sendTo(email),
    confirm: code => call({ method: "POST", path: "/auth/email/change/verify",
                            body: { code } }),
  });

  if (proved) {
    await renew(["profile", "factors", "sessions"]);
    await say(fill(w.isChanged, { email: shown(email) }));
  }
}

const sendTo = email => call({ method: "POST", path: "/auth/email/change", body: { email } });

function NewAddress({ done }) {
  const w = dialogs.profile;

  return h(Dialog, { title: w.changeIt, done },
    h(Form, {
      id: "address", verb: w.sendCode, oncancel: () => done(),
      fields: { email: { kind: "email", max: 254, must: true, autocomplete: "email" } },
      words: { fields: { email: w.newAddress }, help: { email: w.addressNote } },
      onsave: async ({ email }) => {
        await sendTo(email.trim());
        done(email.trim());
      },
    }));
}


// --- the password --------------------

export async function changePassword(email, renew) {
  if (await show(NewPassword, { email })) {
    await renew(["sessions"]);
    await say(dialogs.password.done);
  }
}

function NewPassword({ email, done }) {
  const w = dialogs.password;
  const { rules } = newPassword(options.passwordPolicy);

  return h(Dialog, { title: w.change, done },
    h(Form, {
      id: "password", verb: w.change, oncancel: () => done(),
      fields: {
        currentPassword: { kind: "password", must: true, max: 1024,
                           autocomplete: "current-password" },
        newPassword: { kind: "password", must: true, max: 256,
                       autocomplete: "new-password" },
      },
      words: { fields: w.fields, help: { newPassword: rules.join(" · ") } },
      onsave: about({ invalid_credentials: "currentPassword",
                      password_rejected: "newPassword" },
                    async body => done(take((await call({
                      method: "POST", path: "/auth/password", body })).data))),
    },
      h("input", { hidden: true, readonly: true, value: email, autocomplete: "username",
                   "aria-hidden": "true" })));
}

export async function sendLink(email) {
  await call({ method: "POST", path: "/auth/password/forgot",
               body: { email, tenant: session.tenant.slug } });
  await say(fill(dialogs.password.sent, { email: shown(email) }));
}
