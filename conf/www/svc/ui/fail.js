// What there is in place of what was asked for: that it comes, or what went wrong.

import { effect, h, state } from "./draw.js";
import { text } from "./text.js";
import { fill, shown } from "./words.js";

export const Loading = () => h("p", { class: "muted loading", role: "status" }, text.loading);


// A component that is loaded when it is drawn first: "load" returns a promise of it.  Whoever
// is above says what has failed.

export function later(load, Until = Loading) {
  let known = null;

  return ({ kids, ...props }) => {
    const [{ view, failure }, setFound] = state({ view: known });

    effect(() => {
      view || load().then(loaded => setFound({ view: known = loaded }),
                          failed => setFound({ failure: failed }));
    }, []);

    if (failure) {
      throw failure;
    }

    return view ? h(view, props, kids) : h(Until);
  };
}


// --- what went wrong -----------------

export const sentence = failure =>
  fill(text.errors[failure.code] ?? text.errors.other,
       { n: Math.max(1, Math.ceil((failure.seconds ?? 60) / 60)) });

// The server says more, in English; nothing of it where our own sentence is all.

const OWN = ["network", "cancelled", "unavailable", "rate_limited", "not_found", "not_loaded"];

const Nothing = () => null;

const Copy = later(() => import("./copy.js").then(({ Copy }) => Copy, () => Nothing), Nothing);

export function Problem({ failure, again }) {
  const seconds = useWait(failure);
  const stale = failure.code === "not_loaded";

  return h("div", { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, sentence(failure))),
    failure.message && !OWN.includes(failure.code)
      && h("p", { lang: "en" }, shown(failure.message)),
    failure.id && h("p", { class: "muted" }, `${text.requestId} `, h("code", {}, failure.id), " ",
                    h(Copy, { value: failure.id })),
    stale ? h("button", { type: "button", onclick: () => location.reload() }, text.again)
      : again && h("button", {
          type: "button", onclick: again, disabled: seconds > 0, "aria-live": "off",
        }, seconds > 0 ? fill(text.againIn, { n: seconds }) : text.tryAgain));
}


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
