// A field that finds one of many by its name: the combobox of the ARIA practices.

import { call } from "./call.js";
import { effect, h, state } from "./draw.js";
import { text } from "./text.js";
import { fill, shown } from "./words.js";

const SHORTEST = 2;             // letters that the server wants


// "type" is that of GET /v1/admin/names; "onpick" gets { id, name, detail }, and may
// return a promise.

export function Pick({ id = "pick", type, label, onpick }) {
  const [typed, setTyped] = state("");
  const [found, setFound] = state(null);
  const [at, setAt] = state(0);
  const open = found !== null && typed.trim().length >= SHORTEST;

  effect(() => {
    const q = typed.trim();

    if (q.length < SHORTEST) {
      return setFound(null);
    }

    const ended = new AbortController();
    const later = setTimeout(async () => {
      try {
        const { data } = await call({ path: "/admin/names", query: { type, q },
                                      signal: ended.signal });

        setAt(0);
        setFound(data.names);

      } catch (e) {
        if (e.code !== "cancelled") {
          setFound([]);
        }
      }
    }, 150);

    return () => {
      clearTimeout(later);
      ended.abort();
    };
  }, [typed]);

  const pick = one => {
    setTyped("");
    setFound(null);

    return onpick(one);
  };

  const keys = {
    ArrowDown: () => setAt(n => (n + 1) % found.length),
    ArrowUp: () => setAt(n => (n + found.length - 1) % found.length),
    Enter: () => found[at] && pick(found[at]),
    Escape: () => setFound(null),
  };

  return h("div", { class: "pick" },
    h("label", { for: id }, label),
    h("input", {
      id, value: typed, role: "combobox", autocomplete: "off", "aria-autocomplete": "list",
      "aria-expanded": String(open), "aria-controls": `${id}-list`,
      "aria-activedescendant": open && found[at] ? `${id}-${at}` : null,
      placeholder: text.find,
      oninput: event => setTyped(event.target.value),
      onblur: () => setFound(null),
      onkeydown(event) {
        if (open && found.length > 0 && keys[event.key]) {
          event.preventDefault();
          keys[event.key]();
        }
      },
    }),
    h("ul", { id: `${id}-list`, role: "listbox", "aria-label": label, hidden: !open },
      open && found.map((one, n) => h("li", {
        key: one.id, id: `${id}-${n}`, role: "option", "aria-selected": String(n === at),
        onmousedown(event) {
          event.preventDefault();
          pick(one);
        },
      }, shown(one.name), one.detail && h("span", { class: "muted" }, " ", shown(one.detail))))),
    h("p", { class: "muted", role: "status" },
      open && (found.length === 0 ? text.none : fill(text.found, { n: found.length }))));
}
