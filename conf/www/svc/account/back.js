// Where a tab goes that was opened for a sign-in: the one that waits is told.

import { note, show } from "../page.js";
import { wordsOf } from "../ui/words.js";

export async function back() {
  const words = await wordsOf("account/account");

  new BroadcastChannel("svc").postMessage("signed_in");

  if (opener) {
    close();
  }

  show(words.back, note(words.backNote));
}
