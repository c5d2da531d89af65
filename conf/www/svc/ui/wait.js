// What has to wait before it is tried again.

import { effect, state } from "./draw.js";

const left = until => Math.max(0, Math.ceil((until - Date.now()) / 1000));


// Returns for how many seconds more the server wants nothing, after what it has refused.

export function useWait(failure) {
  const [seconds, setSeconds] = state(0);

  effect(() => {
    const until = Date.now() + 1000 * (failure?.seconds ?? 0);

    setSeconds(left(until));

    if (left(until) === 0) {
      return null;
    }

    const timer = setInterval(() => {
      setSeconds(left(until));

      if (left(until) === 0) {
        clearInterval(timer);
      }
    }, 1000);

    return () => clearInterval(timer);
  }, [failure]);

  return seconds;
}
