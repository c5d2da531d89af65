// What goes on at the server is looked at again from time to time: only so often, and only
// while somebody sees the page.

import { effect, state } from "../ui/draw.js";

// Calls "again" after each pause while "on", "most" times.  A page that is hidden waits
// until it is seen again.  Returns whether it has given up.

export function useFollow(on, again, { pause, most }) {
  const [n, setN] = state(0);
  const going = on && n < most;

  effect(() => {
    if (!going) {
      return null;
    }

    const look = () => {
      if (document.hidden) {
        return document.addEventListener("visibilitychange", look, { once: true });
      }

      again();
      setN(n + 1);
    };

    const timer = setTimeout(look, pause);

    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [going, n]);

  effect(() => on ? null : setN(0), [on]);

  return on && !going;
}
