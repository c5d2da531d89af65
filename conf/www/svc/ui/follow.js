// A stream of the server's: its events as they come, for as long as somebody wants them.
// It is opened again whenever it breaks off, behind the last event that was seen.

import { call, current, Failure } from "./call.js";

const FIRST = 1000;             // ms until the second attempt
const LONGEST = 60000;
const STEADY = 10000;           // a stream that lasts so long has not failed
const SILENT = 45000;           // the server says something every 15 seconds

// what may be otherwise in a moment

const PASSES = ["network", "unavailable", "rate_limited", "bad_answer"];


// Returns a promise, which ends when "signal" does, or fails when no other attempt would
// help.
//
//   last    the id of the last event that was seen, or null
//   opened  is called when the stream is open, with whether it goes on where it was: a
//           promise that it returns comes before any event
//   heard   gets events, several at a time: { id, event, data }
//   told    gets { seconds, failure } while the next attempt is waited for, and then null
//   hurry   gets a function that begins it at once

export async function follow({ path, query, last = null, signal, opened, heard, told, hurry }) {
  let tries = 0;

  while (!signal.aborted) {
    const begun = Date.now();
    const ended = new AbortController();
    let failure = null;

    try {
      const { data } = await call({ path, query, last, stream: true,
                                    signal: AbortSignal.any([signal, ended.signal]) });

      await opened(last !== null);

      for await (const events of eventsOf(data, ended)) {
        await current(true);

        if (signal.aborted) {
          return;
        }

        heard(events);
        last = events.findLast(({ id }) => id !== null)?.id ?? last;
      }

    } catch (e) {
      if (!(e instanceof Failure)) {
        throw e;
      }

      failure = e;

    } finally {
      ended.abort();
    }

    if (signal.aborted) {
      return;
    }

    if (failure && !PASSES.includes(failure.code)) {
      throw failure;
    }

    tries = Date.now() - begun > STEADY ? 1 : tries + 1;

    const wait = waitOf(tries, failure);

    told({ seconds: wait / 1000, failure });
    await pause(wait, signal, hurry);

    if (!signal.aborted) {
      told(null);
    }
  }
}


// Twice as long each time; and not all at once, when a server has let go of many.

const waitOf = (tries, failure) => Math.max(
  Math.min(LONGEST, FIRST * 2 ** (tries - 1)) * (0.75 + Math.random() / 2),
  1000 * (failure?.seconds ?? 0));

const pause = (ms, signal, hurry) => new Promise(resolve => {
  const timer = setTimeout(done, ms);

  function done() {
    clearTimeout(timer);
    signal.removeEventListener("abort", done);
    removeEventListener("online", done);
    resolve();
  }

  if (signal.aborted) {
    return done();
  }

  signal.addEventListener("abort", done);
  addEventListener("online", done);
  hurry(done);
});


const broken = e => {
  throw new Failure("network", e.message);
};


// The events of a body, as many at a time as have come.  A connection that is dead without
// a word is given up.

async function* eventsOf(body, ended) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";

  for (;;) {
    const timer = setTimeout(() => ended.abort(), SILENT);
    const { value, done } = await reader.read().catch(broken).finally(() => clearTimeout(timer));

    if (done) {
      return;
    }

    const blocks = (text + value).split("\n\n");

    text = blocks.pop();

    const events = blocks.map(eventOf).filter(Boolean);

    if (events.length > 0) {
      yield events;
    }
  }
}

// A block is lines of a name and a value; one without data is a comment, or none of ours.

function eventOf(block) {
  const fields = Object.fromEntries(block.split("\n").map(line => {
    const at = line.indexOf(":");

    return [line.slice(0, at), line.slice(at + 1).trimStart()];
  }));

  return fields.data === undefined ? null
    : { id: fields.id ?? null, event: fields.event, data: JSON.parse(fields.data) };
}
