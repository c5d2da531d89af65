// What adds factors, names them, and takes them away: a dialog each.

import { call, Failure } from "../ui/call.js";
import { Copy } from "../ui/copy.js";
import { Dialog, confirm, show } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Form } from "../ui/form.js";
import { text } from "../ui/text.js";
import { about } from "../ui/time.js";
import { fill, shown } from "../ui/words.js";
import { TypeCode } from "./change.js";
import { dialogs, pages, say, words } from "./parts.js";
import { device } from "./sections.js";

const post = async (path, body) => (await call({ method: "POST", path, body })).data;


// With the first factor come the recovery codes.

async function added({ recoveryCodes }, said, renew) {
  await renew(["factors"]);

  if (recoveryCodes) {
    await show(Codes, { codes: recoveryCodes });
  }

  await say(said);
}


// --- passkeys ------------------------

export async function addPasskey(renew) {
  const made = await show(NewPasskey, {});

  if (made) {
    await added(made, dialogs.passkeys.added, renew);
  }
}

const NewPasskey = ({ done }) => h(Dialog, { title: words.passkeys.add, done },
  h(NameForm, { verb: dialogs.passkeys.create, done, first: device(navigator.userAgent),
                send: name => makePasskey(name) }));

async function makePasskey(name) {
  const { publicKey } = await post("/mfa/passkeys/options", {});
  const { parseCreationOptionsFromJSON } = PublicKeyCredential;
  let credential;

  try {
    credential = await navigator.credentials.create({
      publicKey: parseCreationOptionsFromJSON.call(PublicKeyCredential, publicKey),
    });

  } catch (e) {
    throw new Failure(e.name, "");
  }

  return post("/mfa/passkeys", { credential: credential.toJSON(), name });
}


// A name, of a factor that is there or to come.

const NameForm = ({ verb, done, value, first, send }) => h(Form, {
  id: "name", verb, value, oncancel: () => done(),
  fields: { name: { kind: "text", max: 64, must: true, first } },
  words: { fields: { name: dialogs.factor.name } },
  onsave: async ({ name }) => done(await send(name.trim())),
});


// --- authenticator apps --------------

export async function addApp(there, renew) {
  const name = there > 0 ? `${pages.app} ${there + 1}` : pages.app;
  const made = await post("/mfa/totp", { name });

  const proved = await show(TypeCode, {
    title: pages.app,
    above: h(Qr, made),
    confirm: code => post(`/mfa/totp/${made.id}/confirm`, { code }),
  });

  if (proved) {
    return added(proved, dialogs.factors.added, renew);
  }

  // what nobody has confirmed would be in the way of the next one

  await call({ method: "DELETE", path: `/mfa/factors/${made.id}` }).catch(() => {});
  await renew([]);
}

const Qr = ({ qrSvg, secret }) => h("div", {},
  h("p", {}, pages.scan),
  h("img", { class: "qr", alt: pages.qr,
             src: `data:image/svg+xml,${encodeURIComponent(qrSvg)}` }),
  h("p", {}, pages.typeSecret, " ",
    h("code", { class: "fours" }, secret.replace(/.{4}(?=.)/g, "$& ")), " ",
    h(Copy, { value: secret })));


// --- codes by mail -------------------

export async function addMail(email, renew) {
  let { id } = await post("/mfa/email");

  const proved = await show(TypeCode, {
    title: words.factors.mail,
    notes: [fill(dialogs.profile.codeSent, { email: shown(email) })],
    send: async () => ({ id } = await post("/mfa/email")),
    confirm: code => post(`/mfa/email/${id}/confirm`, { code }),
  });

  if (proved) {
    await added(proved, dialogs.factors.added, renew);
  }
}


// --- recovery codes ------------------

export async function freshCodes(left, renew) {
  const w = words.factors;

  if (left > 0 && !await confirm({ title: w.fresh, notes: [dialogs.factors.freshNote],
                                   verb: w.fresh }))
  {
    return;
  }

  const { recoveryCodes } = await post("/mfa/recovery-codes");

  await renew(["factors"]);
  await show(Codes, { codes: recoveryCodes });
}

function Codes({ codes, done }) {
  const all = `${codes.join("\n")}\n`;
  const [url] = state(() => URL.createObjectURL(new Blob([all], { type: "text/plain" })));

  effect(() => () => URL.revokeObjectURL(url), []);

  return h(Dialog, { title: pages.recoveryCodes, done },
    h("p", {}, pages.recoveryNote),
    h("ul", { class: "codes" }, codes.map(code => h("li", {}, h("code", {}, code)))),
    h("div", { class: "actions" },
      h(Copy, { value: all }),
      h("a", { class: "button", href: url, download: dialogs.factors.file },
        dialogs.factors.download),
      h("button", { type: "button", onclick: () => print() }, dialogs.print),
      h("button", { type: "button", class: "primary", onclick: () => done(true) },
        pages.keptThem)));
}


// --- what is there -------------------

export async function rename(it, renew) {
  const named = await show(Rename, { it });

  if (named) {
    await renew(["factors"]);
    await say(text.saved);
  }
}

const Rename = ({ it, done }) => h(Dialog, { title: words.rename, done },
  h(NameForm, {
    verb: text.save, done, value: { name: it.name },
    send: async name => (await call({ method: "PATCH", path: `/mfa/factors/${it.id}`,
                                      body: { name } })).data,
  }));


export async function remove(it, factors, renew) {
  const w = dialogs.factor;
  const others = factors.filter(f => f.confirmed && f.id !== it.id);
  const ways = others.filter(f => f.type === "passkey").length;
  const name = shown(it.name);

  const sure = !it.confirmed || await confirm({
    title: fill(w.remove, { name }), verb: words.remove,
    notes: [
      it.lastUsedAt && fill(w.used, { when: about(it.lastUsedAt) }),
      others.length > 0 ? fill(w.stays, { n: others.length }) : w.last,
      it.type === "passkey" && ways === 0 && dialogs.wayIn,
    ].filter(Boolean),
  });

  if (sure) {
    await call({ method: "DELETE", path: `/mfa/factors/${it.id}` });
    await removed(name, ["factors"], renew);
  }
}


// What ends with it is seen by what is left.

export async function removed(name, names, renew) {
  const said = fill(dialogs.factor.removed, { name });
  const { before, after } = await renew([...names, "sessions"]);
  const n = before.sessions?.value && after.sessions.value
            ? before.sessions.value.total - after.sessions.value.total : 0;

  await say(n > 0 ? `${said} ${fill(dialogs.factor.ended, { n })}` : said);
}
