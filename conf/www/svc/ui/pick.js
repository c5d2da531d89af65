// A field that finds one of many by its name: the combobox of the ARIA practices.

import { call } from "./call.js";
import { effect, h, state } from "./draw.js";
import { sentence } from "./fail.js";
import { styled } from "./style.js";
import { text } from "./text.js";
import { fill, shown } from "./words.js";

await styled("/svc/ui/pick.css");

const SHORTEST = 2;             // letters that the server wants
const MOST = 20;


// "type" is that of GET /v1/admin/names; "find" is another list to look in, as a sheet
// has it: { path, list, id, name }.  "onpick" gets { id, name, detail }, and may return a
// promise.  A "bare" one has its label elsewhere.

export const Pick = ({ type, find, ...props }) => h(Combo, {
  ...props,
  async find(q, signal) {
    if (q.length < SHORTEST) {
      return null;
    }

    const { data } = await call({
      path: find?.path ?? "/admin/names", signal,
      query: find ? { q, limit: MOST } : { type, q },
    });

    return !find ? data.names : data[find.list].map(one =>
      ({ id: one[find.id], name: one[find.name] }));
  },
});


// "find" gets what is typed, and returns a promise of what there is to choose from, or
// of null where it is too early to tell.  "now" tells at once, of what is known here.  "first"
// is typed already.

export function Combo({ id = "pick", label, find, now, onpick, bare, first = "", ...attributes }) {
  const [typed, setTyped] = state(first);
  const { found, setFound, at, setAt, failure } = useFound({ typed, find, now });
  const open = found !== null;

  const pick = one => {
    setTyped("");
    setFound(null);

    return onpick(one);
  };

  const keys = {
    ArrowDown: () => setAt(n => (n + 1) % found.length),
    ArrowUp: () => setAt(n => (n + found.length - 1) % found.length),
    Enter: () => found[at] && pick(found[at]),
  };

  return h("div", { class: "pick" },
    !bare && h("label", { for: id }, label),
    h("input", {
      placeholder: text.find, ...attributes,
      id, value: typed, role: "combobox", autocomplete: "off", "aria-autocomplete": "list",
      "aria-expanded": String(open), "aria-controls": `${id}-list`,
      "aria-activedescendant": open && found[at] ? `${id}-${at}` : null,
      oninput: event => setTyped(event.target.value),
      onblur: () => now || setFound(null),
      onkeydown(event) {
        const key = open && found.length > 0 && keys[event.key];

        // Enter is for the list, and never for the form around it

        if (key || event.key === "Enter") {
          event.preventDefault();
          key && key();
        }
      },
    }),
    h("ul", { id: `${id}-list`, role: "listbox", "aria-label": label,
              hidden: !open || found.length === 0 },
      open && found.map((one, n) => h("li", {
        key: one.id, id: `${id}-${n}`, role: "option", "aria-selected": String(n === at),
        onmousedown(event) {
          event.preventDefault();
          pick(one);
        },
      }, shown(one.name), one.detail && h("span", { class: "muted" }, " ", shown(one.detail))))),
    h("p", { class: "muted", role: "status" },
      failure ? sentence(failure)
        : open && (found.length === 0 ? text.none : fill(text.found, { n: found.length }))));
}


// What there is to choose from for what is typed, and which of it is marked.

function useFound({ typed, find, now }) {
  const [found, setFound] = state(null);
  const [at, setAt] = state(0);
  const [failure, setFailure] = state(null);

  effect(() => {
    const q = typed.trim();
    const ended = new AbortController();

    setAt(0);
    setFailure(null);
    setFound(now ? now(q) : null);

    const later = setTimeout(async () => {
      const known = now?.(q) ?? [];

      try {
        const more = await find(q, ended.signal);

        if (!ended.signal.aborted && more !== null) {
          setFound([...known, ...more]);
        }

      } catch (e) {
        setFailure(ended.signal.aborted ? null : e);
      }
    }, 150);

    return () => {
      clearTimeout(later);
      ended.abort();
    };
  }, [typed]);

  return { found, setFound, at, setAt, failure };
}
