// Tells whoever has done nothing for long that the session will end.

import { refresh, seen, signOut } from "../ui/call.js";
import { Dialog, show } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { Time } from "../ui/time.js";
import { text } from "../ui/text.js";

// Returns a promise of when that has been answered; "end" is in milliseconds.

export const warn = (words, end) => show(Idle, { words, until: new Date(end).toISOString() });

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
