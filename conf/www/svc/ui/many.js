// One act for many: four at a time, and the first one alone, since it may be that somebody
// is asked for a second factor.

const AT_ONCE = 4;
const PATIENCE = 60;            // seconds to wait for a server that takes no more for now


export async function forEach(all, action, signal) {
  const left = [...all];

  const work = async () => {
    while (left.length > 0 && !signal?.aborted) {
      await patient(action, left.shift(), signal);
    }
  };

  if (left.length > 0) {
    await patient(action, left.shift(), signal);
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

// "action" returns what has failed, if something has.

async function patient(action, one, signal) {
  const failure = await action(one);

  if (failure?.code === "rate_limited" && failure.seconds !== null
      && failure.seconds <= PATIENCE && !signal?.aborted)
  {
    await new Promise(next => setTimeout(next, failure.seconds * 1000));
    await patient(action, one, signal);
  }
}
