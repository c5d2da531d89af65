// The audit log as it is written: entries come by themselves, for as long as somebody
// looks.

import { call } from "../ui/call.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem, sentence, useWait } from "../ui/fail.js";
import { follow } from "../ui/follow.js";
import { styled } from "../ui/style.js";
import { PAGE, Table, useFocus } from "../ui/table.js";
import { exact } from "../ui/time.js";
import { fill, language } from "../ui/words.js";

await styled("/svc/console/views.css");

const MOST = 500;               // rows
const LATE = 9000;              // ms; by then entries have waited for ten seconds
const SOON = 300;               // ms until it is said that another tab is live
const TOGETHER = 50;            // ms in which what comes is drawn at once
const LOCK = "svc-live";


// --- one tab of a browser ------------

// Each stream is one of the tenant's ten.  Another tab waits until this one is closed or
// hidden, or takes over.

async function alone({ take, signal, waits }, action) {
  let options = take ? { steal: true } : { signal };

  if (!navigator.locks) {
    return action(signal);
  }

  while (!signal.aborted && !await held({ options, signal, waits }, action)) {
    options = { signal };
  }
}

// Returns whether the action has come to its end.

async function held({ options, signal, waits }, action) {
  const later = setTimeout(waits, SOON);
  const taken = new AbortController();

  try {
    await navigator.locks.request(LOCK, options, () => {
      clearTimeout(later);

      return action(AbortSignal.any([signal, taken.signal]));
    });

    return true;

  } catch (e) {
    if (e.name !== "AbortError") {
      throw e;
    }

    return false;

  } finally {
    clearTimeout(later);
    taken.abort();
  }
}


// --- what comes ----------------------

// The newest entries are first.  What comes during a pause is kept behind.  What comes once
// more, as after a gap, is where it comes now.

const begin = () => ({
  rows: [], behind: [], cut: false, paused: false, last: null, gaps: 0, take: false, timer: null,
});

function put(log, entries) {
  const place = log.paused ? "behind" : "rows";
  const known = new Set(entries.map(({ id }) => id));
  const all = [...entries, ...log[place].filter(({ id }) => !known.has(id))];

  log[place] = all.slice(0, MOST);
  log.cut ||= all.length > MOST;
}

function goOn(log) {
  const { behind } = log;

  log.paused = false;
  log.behind = [];
  put(log, behind);
}

const gapOf = (log, words) => ({ id: `gap ${++log.gaps}`, between: words.gap });

// The stream begins now: what was before, and what may be missing in between, is in the
// list.

async function catchUp({ log, sheet, given, words, signal }) {
  const { data } = await call({ path: sheet.path, query: { ...given, limit: PAGE }, signal });
  const list = data[sheet.list];
  const meets = log.rows.length === 0 || list.length < PAGE
                || list.some(({ id }) => log.rows.some(row => row.id === id));

  put(log, meets ? list : [...list, gapOf(log, words)]);
}


// Follows while the page is seen.  Returns what there is, and what may be done: { log, link,
// late, pause, again }.  The link is { is, failure, seconds, hurry }.

function useLive({ sheet, given, words }) {
  const [log] = state(begin);
  const [, setRound] = state(0);
  const [link, setLink] = state({ is: "connecting" });
  const [late, setLate] = state(false);
  const [seen, setSeen] = state(!document.hidden);
  const [start, setStart] = state(0);

  const draw = () => {
    log.timer ??= setTimeout(() => {
      log.timer = null;
      setRound(n => n + 1);
    }, TOGETHER);
  };

  effect(() => {
    const look = () => setSeen(!document.hidden);

    document.addEventListener("visibilitychange", look);

    return () => document.removeEventListener("visibilitychange", look);
  }, []);

  effect(() => seen ? live({ log, sheet, given, words, setLink, setLate, draw }) : null,
         [seen, start]);

  return {
    log, link, late,
    pause() {
      log.paused ? goOn(log) : log.paused = true;
      draw();
    },
    again(take) {
      log.take = take;
      setStart(n => n + 1);
    },
  };
}

// Returns the function that ends it.

function live({ setLate, ...all }) {
  const { log, setLink, draw } = all;
  const ended = new AbortController();
  let timer = null;

  const waiting = yes => {
    clearTimeout(timer);

    if (yes) {
      timer = setTimeout(setLate, LATE, true);
    } else {
      setLate(false);
    }
  };

  const waits = () => {
    setLink({ is: "elsewhere" });

    if (log.rows.length === 0) {
      catchUp({ ...all, signal: ended.signal }).then(draw, () => {});
    }
  };

  alone({ take: log.take, signal: ended.signal, waits },
        signal => followed({ ...all, signal, waiting }))
    .catch(failure => ended.signal.aborted || setLink({ is: "failed", failure }));

  log.take = false;

  return () => {
    ended.abort();
    waiting(false);
  };
}

// The stream has no end and no beginning of its own: what lies outside is left out here.

const within = ({ from, to }) => ({ createdAt }) =>
  (!from || new Date(createdAt) >= new Date(from)) && (!to || new Date(createdAt) < new Date(to));

function followed({ log, sheet, given, words, signal, setLink, waiting, draw }) {
  const { from, to, ...query } = given;
  const wanted = within({ from, to });
  let hurry = null;

  setLink({ is: "connecting" });

  return follow({
    path: `${sheet.path}/stream`, query, last: log.last, signal,
    hurry: action => { hurry = action; },
    told: wait => setLink(wait ? { is: "waits", ...wait, hurry: () => hurry() }
                               : { is: "connecting" }),

    async opened(resumed) {
      if (!resumed) {
        await catchUp({ log, sheet, given, words, signal });
      }

      waiting(false);
      setLink({ is: "open" });
      draw();
    },

    heard(events) {
      const said = events.findLast(({ event }) => event === "waiting");
      const entries = events.flatMap(({ event, data }) =>
        event === "gap" ? gapOf(log, words) : event === "audit" && wanted(data) ? data : []);

      log.last = events.findLast(({ id }) => id !== null)?.id ?? log.last;

      if (said) {
        waiting(said.data.waiting);
      }

      put(log, entries.reverse());
      draw();
    },
  });
}


// --- what is seen --------------------

// "given" are the search and the filters; "draws" and "acts" are as those of Table.

export function Live({ sheet, words: { live: words, ...others }, given, acts, draws }) {
  const { log, link, late, pause, again } = useLive({ sheet, given, words });
  const focused = useFocus(element => element.querySelector(".live button")
                                      ?? document.querySelector("main h1"));

  return h("div", { onfocusin: focused },
    link.is === "failed"
      ? h(Problem, { failure: link.failure, again: () => again(false) })
      : h(Status, { log, link, late, words, pause, take: () => again(true) }),
    log.rows.length > 0
      ? h(Table, { sheet, words: others, rows: log.rows, acts,
                   draws: { ...draws, createdAt: Clock } })
      : link.is === "open" && h("p", { class: "list empty muted" }, words.none),
    log.cut && h("p", { class: "muted" }, fill(words.cut, { n: MOST })));
}

function Status({ log, link, late, words, pause, take }) {
  const seconds = useWait(link);
  const flows = link.is === "open" && !log.paused;

  return h("div", { class: "live" },
    h("p", { class: flows ? "flows" : null, role: "status" }, saidOf({ log, link, late, words })),
    link.is === "open" && h("button", { type: "button", onclick: pause },
      log.paused ? fill(words.goOn, { n: log.behind.length }) : words.pause),
    link.is === "waits" && h("button", { type: "button", onclick: link.hurry },
      fill(words.now, { n: seconds })),
    link.is === "elsewhere" && h("button", { type: "button", onclick: take }, words.take));
}

function saidOf({ log, link: { is, failure }, late, words }) {
  if (is === "waits") {
    return !failure ? words.broken
      : failure.code === "rate_limited" ? words.full : sentence(failure);
  }

  return is !== "open" ? words[is] : log.paused ? words.paused : late ? words.late : words.open;
}

// "2 minutes ago" would have to be said anew each minute.

const clock = new Intl.DateTimeFormat(language, { timeStyle: "medium" });

const isToday = time => new Date(time).toDateString() === new Date().toDateString();

const Clock = ({ createdAt }) => isToday(createdAt)
  && h("time", { datetime: createdAt, title: `${exact(createdAt)} · ${createdAt}` },
       clock.format(new Date(createdAt)));
