// Tells whoever has done nothing for long that the session will end, two minutes before
// (WCAG 2.2.1).  Nothing is asked of the server until somebody says so.

import { refresh, seen } from "../ui/call.js";
import { Dialog, show } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Time } from "../ui/time.js";
import { signOut } from "../ui/again.js";
import { text } from "../ui/text.js";

const WARNING = 120;            // seconds
const LONGEST = 2 ** 31 - 1;    // milliseconds that a browser waits

let asked = false;


// Looks at the clock again when it may be time: "idle" is in seconds.

export function watch(idle, words) {
  const end = () => seen + idle * 1000;
  const left = end() - Math.min(WARNING, idle / 2) * 1000 - Date.now();

  if (left > 0) {
    return setTimeout(watch, Math.min(left, LONGEST), idle, words);
  }

  // a session that has ended is for the next request to tell

  if (Date.now() >= end()) {
    return setTimeout(watch, WARNING * 1000, idle, words);
  }

  if (!asked) {
    asked = true;
    show(Idle, { words, until: new Date(end()).toISOString() }).finally(() => {
      asked = false;
      setTimeout(watch, 1000, idle, words);
    });
  }
}


function Idle({ done, words, until }) {
  const [failure, setFailure] = state(null);
  const stay = () => refresh().then(() => done(true), setFailure);

  // somebody does something here, or the session has ended: then the next request says so

  effect(() => {
    const before = seen;
    const timer = setInterval(() => {
      if (seen !== before || Date.now() > new Date(until)) {
        done();
      }
    }, 1000);

    return () => clearInterval(timer);
  }, []);

  return h(Dialog, { title: words.idle, done: stay },
    h("p", {}, words.idleNote, " ", h(Time, { value: until })),
    failure && h(Problem, { failure }),
    h("div", { class: "actions" },
      h("button", { type: "button", onclick: signOut }, text.signOut),
      h("button", { type: "button", class: "primary", autofocus: true, onclick: stay },
        words.stay)));
}
