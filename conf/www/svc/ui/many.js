// One act for many: four at a time, and the first one alone, since it may be that somebody
// is asked for a second factor.  What would fail for all of them ends it.

const AT_ONCE = 4;
const OF_ALL = ["step_up_required", "cancelled", "csrf_failed", "unauthenticated",
                "unauthorized", "session_changed"];
const PATIENCE = 60;            // seconds to wait for a server that takes no more for now


export async function forEach(all, action, signal) {
  const left = [...all];

  const next = async () => {
    const failure = await patient(action, left.shift(), signal);

    if (OF_ALL.includes(failure?.code)) {
      left.length = 0;
    }
  };

  const work = async () => {
    while (left.length > 0 && !signal?.aborted) {
      await next();
    }
  };

  if (left.length > 0) {
    await next();
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

// "action" returns what has failed, if something has, and so does this.

async function patient(action, one, signal) {
  const failure = await action(one);

  if (failure?.code === "rate_limited" && failure.seconds !== null
      && failure.seconds <= PATIENCE && !signal?.aborted)
  {
    await pause(failure.seconds, signal);

    return signal?.aborted ? failure : patient(action, one, signal);
  }

  return failure;
}

const pause = (seconds, signal) => new Promise(next => {
  const timer = setTimeout(next, seconds * 1000);

  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    next();
  }, { once: true });
});
