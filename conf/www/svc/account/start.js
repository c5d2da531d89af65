// /account, for whoever is signed in: what the link of a mail is for, what the test of a
// connection has found, or the account.

import { fragment, query } from "../page.js";
import { stopOffer } from "../passkey.js";

const LINKS = {
  verify: "/auth/email/verify",
  change: "/auth/email/change/verify",
};

export async function start(session) {
  const link = Object.keys(LINKS).find(name => fragment.get(name));

  stopOffer();

  if (link) {
    return (await import("../letters.js"))
      .confirm(session, LINKS[link], fragment.get(link));
  }

  if (query.has("test")) {
    return import("../tested.js");
  }

  if (query.has("back")) {
    return (await import("./back.js")).back();
  }

  await (await import("./account.js")).open(session);
}
