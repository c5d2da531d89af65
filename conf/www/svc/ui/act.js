// What people do by a button: it waits meanwhile, and what went wrong is said.

import { state } from "./draw.js";

// What could not be used for a while has lost the focus.

const regain = element => document.activeElement === document.body && element.isConnected
                          && element.focus();


// Returns { busy, failure, run, setFailure }: run(action) is an onclick.  "tell" says what
// went wrong, where it is not to be drawn.  What the action gets is loaded by "ready", before
// the button cannot be used: it has the focus, which a dialog gives back.

export function useAct(tell, ready) {
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);
  const [waits] = state({ now: false });

  const said = async e => {
    try {
      await (tell ?? setFailure)(e);

    } catch (other) {
      setFailure(other);
    }
  };

  const run = action => async () => {
    const active = document.activeElement;

    if (waits.now) {
      return;
    }

    setFailure(null);

    try {
      waits.now = Boolean(ready);

      const needed = ready && await ready();

      waits.now = false;
      setBusy(true);
      await action(needed);

    } catch (e) {
      waits.now = false;

      if (e.code !== "cancelled") {
        await said(e);
      }

    } finally {
      setBusy(false);
      setTimeout(regain, 0, active);
    }
  };

  return { busy, failure, run, setFailure };
}
