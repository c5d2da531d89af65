// What people do by a button: it waits meanwhile, and what went wrong is said.

import { effect, state } from "./draw.js";

// What could not be used for a while has lost the focus.

const regain = element => document.activeElement === document.body && element.isConnected
                          && element.focus();


// Where what had the focus goes away, "next" says what has it then: it gets what went, and
// the element of the component.  Returns the listener that the element needs.

export function useFocus(next) {
  const [kept] = state(() => ({ last: null }));

  effect(element => {
    const { last } = kept;

    if (last && !last.isConnected) {
      kept.last = null;

      if (document.activeElement === document.body) {
        const to = next(element, kept.place);

        to?.focus({ preventScroll: to.tabIndex < 0 });
      }
    }
  });

  return event => {
    kept.last = event.target;
    kept.place = placeOf(event.target);
  };
}

// The number of the row that it is in, if it is in one.

const placeOf = element => element.closest("tbody tr")?.sectionRowIndex;


// Returns { busy, failure, run, setFailure }: run(action) is an onclick.  "tell" says what
// went wrong, where it is not to be drawn.

export function useAct(tell) {
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);

  const run = action => async () => {
    const active = document.activeElement;

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
      setTimeout(regain, 0, active);
    }
  };

  return { busy, failure, run, setFailure };
}
