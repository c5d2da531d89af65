// Passkeys: what the browser makes, and what it shows.

import { post, names } from "./page.js";
import { options } from "./brand.js";

let waiting = null;             // the offer in the field of the address

const here = globalThis.PublicKeyCredential;

export const usable = () => Boolean(options?.methods.passkey
                                    && here?.parseRequestOptionsFromJSON);


export async function make(name) {
  const { publicKey } = await post("/mfa/passkeys/options");
  const credential = await navigator.credentials.create({
    publicKey: here.parseCreationOptionsFromJSON(publicKey),
  });

  return post("/mfa/passkeys", { credential: credential.toJSON(), name });
}


export async function ask(publicKey) {
  stopOffer();

  const credential = await navigator.credentials.get({
    publicKey: here.parseRequestOptionsFromJSON(publicKey),
  });

  return credential.toJSON();
}

const verify = credential =>
  post("/auth/passkey/verify", { credential, tenant: names.tenant });

async function challenge() {
  const { publicKey } = await post("/auth/passkey/options",
                                   { tenant: names.tenant });

  return publicKey;
}

export const signIn = async () => verify(await ask(await challenge()));


// Beside the addresses that the browser knows.  A challenge is good for five
// minutes: there is another one before, for an hour.

export async function offer(take) {
  if (!usable() || !await here.isConditionalMediationAvailable?.()) {
    return;
  }

  stopOffer();
  const mine = waiting = new AbortController();

  for (let n = 0; n < 15 && !mine.signal.aborted; n++) {
    const signal = AbortSignal.any([mine.signal, AbortSignal.timeout(240000)]);

    try {
      const credential = await navigator.credentials.get({
        publicKey: here.parseRequestOptionsFromJSON(await challenge()),
        mediation: "conditional", signal,
      });

      return take(() => verify(credential.toJSON()));

    } catch (e) {
      if (!signal.aborted) {
        return;
      }
    }
  }
}

export function stopOffer() {
  waiting?.abort();
  waiting = null;
}
