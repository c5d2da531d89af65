// What people do by a button: it waits meanwhile, and what went wrong is said.

import { state } from "./draw.js";


// Returns { busy, failure, run, setFailure }: run(action) is an onclick.  "tell" says what
// went wrong, where it is not to be drawn.

export function useAct(tell) {
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);

  const run = action => async () => {
    setFailure(null);
    setBusy(true);

    try {
      await action();

    } catch (e) {
      if (e.code !== "cancelled") {
        (tell ?? setFailure)(e);
      }

    } finally {
      setBusy(false);
    }
  };

  return { busy, failure, run, setFailure };
}
