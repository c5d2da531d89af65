// A list: what the server has, a page of it at a time.  Its search, its filters and
// where it is are in the address.

import { call, queryOf } from "./call.js";
import { cell, isNumber } from "./cells.js";
import { effect, h, state } from "./draw.js";
import { later, Problem } from "./fail.js";
import { change, Link, restore, usePlace } from "./place.js";
import { text } from "./text.js";
import { localOf } from "./time.js";
import { fill, number } from "./words.js";

export const PAGE = 50;

const MANY = 10000;             // where the server stops counting what is searched


// Asks again whenever "on" differs, and ends what is under way.  "request" is that of a
// call, or a function that calls.  Returns what there is, and the function that asks
// again: { data, etag, failure, loading, again }.  Where that one fails there is still what
// was there before: somebody may be editing it.

export function useAnswer(request, on) {
  const [answer, setAnswer] = state({ loading: true });
  const [round, setRound] = state(0);
  const [asked] = state(() => ({ on: null }));

  effect(() => {
    const ended = new AbortController();
    const same = asked.on?.every((value, n) => Object.is(value, on[n]));

    asked.on = on;
    setAnswer(before => ({ ...before, failure: null, loading: true }));

    (typeof request === "function" ? request() : call({ ...request, signal: ended.signal })).then(
      ({ data, etag }) => ended.signal.aborted || setAnswer({ data, etag, loading: false }),
      failure => ended.signal.aborted || setAnswer(before =>
        ({ ...same ? before : {}, failure, loading: false })));

    return () => ended.abort();
  }, [...on, round]);

  return { ...answer, again: () => setRound(n => n + 1) };
}


// "sheet" says what of it is shown: path, list, id, find, filters, columns, tones; and
// the "directive" that turns it on, where the server may have it off.  Filters that are
// "rare" are folded away.
//
//   words    of the sheet: columns, filters, options, empty
//   to       the address of a row; null where there is none
//   acts     draws what may be done with a row; it gets what asks again, too
//   draws    draw what columns show of a row, by their names
//   onkey    a key was pressed within a row
//   picks    what usePicks() returns, where rows may be picked
//   kids     stand beside the search
//   rounds   another one asks again

export function List({ sheet, path = sheet.path, words, to, acts, draws, onkey, picks, kids = [],
                       rounds = 0 }) {
  const { query } = usePlace();
  const names = [sheet.find, ...Object.keys(sheet.filters ?? {})].filter(Boolean);
  const given = Object.fromEntries(names.map(name => [name, query[name]]));
  const offset = Math.max(0, Math.trunc(Number(query.offset) || 0));

  const { data, failure, loading, again } = useAnswer(
    { path, query: { ...given, ...sheet.query, limit: PAGE, offset: offset || null } },
    [path, ...Object.values(given), offset, rounds]);

  const there = data !== undefined;
  const focused = useFocus(nextRow);

  effect(() => there ? restore() : null, [there]);
  effect(() => data && picks?.renew(data[sheet.list]), [data]);

  const asked = Object.values(given).some(Boolean);

  return h("div", { class: "whole-list", onfocusin: focused },
    h(Tools, { sheet, words, query }, kids),
    failure?.status === 404 && sheet.directive
      ? h("p", { class: "list empty" }, fill(text.isOff, { directive: sheet.directive }))
      : failure ? h(Problem, { failure, again })
      : !data ? h("p", { class: "empty muted loading", role: "status" }, text.loading)
      : data[sheet.list].length === 0
        ? h(Empty, { words, asked, first: offset > 0 })
        : h(Table, {
            sheet, words, rows: data[sheet.list], to, draws, picks, loading,
            acts: acts && (row => acts(row, again)),
            onkey: onkey && ((event, row) => onkey(event, row, again)),
          }),
    data && !failure && h(Pager, { data, n: data[sheet.list].length, offset, query, asked }));
}


// --- search and filters --------------

const NAMED = ["user", "application"];  // kinds, which are types of GET /v1/admin/names

// what has an id is found by its name

const Named = later(async () => (await import("./named.js")).Named, () => null);

const small = matchMedia("(width < 40rem)");

// A fold that somebody looks into stays open: what is typed there may be what opened it.

function Fold({ n, narrow, kids }) {
  const some = n > 0 && !narrow;
  const [open, setOpen] = state(some);

  effect(() => some && setOpen(true), [some]);

  return h("details", { open, ontoggle: event => setOpen(event.target.open) },
    h("summary", {}, narrow ? text.allFilters : text.filters, n > 0 && ` (${number(n)})`),
    h("div", { class: "tools" }, kids));
}

// On a small screen all filters are folded away.

export function Tools({ sheet, words, query, kids }) {
  const [narrow, setNarrow] = state(small.matches);
  const filters = Object.entries(sheet.filters ?? {});
  const rare = narrow ? Object.keys(sheet.filters ?? {}) : sheet.rare ?? [];

  effect(() => {
    const look = () => setNarrow(small.matches);

    small.addEventListener("change", look);

    return () => small.removeEventListener("change", look);
  }, []);

  const draw = ([name, kind]) => NAMED.includes(kind)
    ? h(Named, { key: name, name, type: kind, value: query[name], label: words.filters[name] })
    : h("label", { key: name }, words.filters[name], " ",
        h(Filter, { name, kind, value: query[name] ?? "", words: words.options?.[name] }));

  if (!sheet.find && filters.length === 0 && kids.length === 0) {
    return null;
  }

  return h("search", { class: "tools" },
    sheet.find && h(Find, { name: sheet.find, value: query[sheet.find] ?? "" }),
    filters.filter(([name]) => !rare.includes(name)).map(draw),
    rare.length > 0 && h(Fold, { n: rare.filter(name => query[name]).length, narrow },
      filters.filter(([name]) => rare.includes(name)).map(draw)),
    kids);
}


// "kind" is what there is to choose from, or "text", "time" or "check".

export function Filter({ name, kind, value, words }) {
  const set = next => change({ [name]: next, offset: null });

  if (kind === "time") {
    return h("input", {
      type: "datetime-local", value: value && localOf(value),
      onchange: ({ target }) => set(target.value && new Date(target.value).toISOString()),
    });
  }

  if (kind === "check") {
    return h("input", { type: "checkbox", checked: value === "true",
                        onchange: event => set(event.target.checked ? "true" : null) });
  }

  if (kind === "text") {
    return h("input", { value, maxlength: 200, spellcheck: "false",
                        onchange: event => set(event.target.value.trim()) });
  }

  return h("select", { value, onchange: event => set(event.target.value) },
    h("option", { value: "" }, text.all),
    kind.map(one => h("option", { key: one, value: one }, words?.[one] ?? one)));
}

// It waits for whoever types, and does not make an entry of the history of each letter.

function Find({ name, value }) {
  const [typed, setTyped] = state(value);

  effect(() => setTyped(value), [value]);
  effect(() => {
    if (typed === value) {
      return null;
    }

    const later = setTimeout(change, 250, { [name]: typed, offset: null }, { replace: true });

    return () => clearTimeout(later);
  }, [typed]);

  return h("input", {
    type: "search", value: typed, "aria-label": text.find, placeholder: text.find,
    maxlength: 200, oninput: event => setTyped(event.target.value),
  });
}


// --- the focus -----------------------

// Where what had the focus goes away, "next" says what has it then: it gets what went, and
// the element of the component.  Returns the listener that the element needs.

export function useFocus(next) {
  const [kept] = state(() => ({ last: null }));

  effect(element => {
    const { last } = kept;

    if (last && !last.isConnected) {
      kept.last = null;

      if (document.activeElement === document.body) {
        const to = next(element, kept.place);

        to?.focus({ preventScroll: to.tabIndex < 0 });
      }
    }
  });

  return event => {
    kept.last = event.target;
    kept.place = placeOf(event.target);
  };
}

// The number of the row that it is in, if it is in one.

const placeOf = element => element.closest("tbody tr")?.sectionRowIndex;

// Where a row has gone the next one has the focus, and else the heading.

export function nextRow(element, place) {
  const rows = place === undefined ? [] : [...element.querySelectorAll("tbody tr")];
  const row = rows[Math.min(place, rows.length - 1)];

  return row?.querySelector(".acts :is(button, a)") ?? row?.querySelector("a, button, input")
         ?? document.querySelector("main h1");
}


// --- rows ----------------------------

// Rows that are there already.  "picks" is what usePicks() returns, where some may be
// picked.  What has a "between" is no row, but a sentence between them.

export function Table({ sheet, words, rows, to, acts, draws, onkey, picks, loading }) {
  const columns = Object.entries(sheet.columns);

  return h("table", { class: loading ? "list stale" : "list", "aria-label": words.title,
                      "aria-busy": loading && "true" },
    h("thead", {}, h("tr", {},
      picks && h("th", { scope: "col" }, h("input", {
        type: "checkbox", "aria-label": text.pickAll,
        checked: rows.length > 0 && rows.every(row => picks.picked.has(row[sheet.id])),
        onchange: event => picks.set(rows, event.target.checked),
      })),
      columns.map(([name, kind]) => h("th", {
        key: name, scope: "col", class: isNumber(kind) && "number",
      }, words.columns[name])),
      acts && h("th", { scope: "col" }, h("span", { class: "unseen" }, text.acts)))),
    h("tbody", {}, rows.map(row => h("tr", {
      key: row[sheet.id], onkeydown: onkey && (event => onkey(event, row)),
    }, row.between ? h("td", { class: "between", colspan: columns.length + 2 }, row.between) : [
      picks && h("td", {}, h("input", {
        type: "checkbox", checked: picks.picked.has(row[sheet.id]),
        "aria-label": fill(text.pick, { name: String(valueOf(sheet, row, columns[0][0])) }),
        onchange: event => picks.set([row], event.target.checked),
      })),
      columns.map(([name, kind]) => h("td", {
        key: name, class: isNumber(kind) && "number", "data-label": words.columns[name],
      }, draws?.[name]?.(row) || cell(kind, valueOf(sheet, row, name), {
        row, to: to?.(row), tones: sheet.tones?.[name], words: words.options?.[name],
      }))),
      acts && h("td", { class: "acts" }, acts(row)),
    ]))));
}

// A column may be a member of a member.  What there is no value of has that of another
// column, as a name that of an address.

const memberOf = (row, name) => name?.split(".").reduce((of, part) => of?.[part], row);

const valueOf = (sheet, row, name) => memberOf(row, name)
                                      ?? memberOf(row, sheet.instead?.[name]);


// The rows that are picked, by id: MOST_PICKED at most, whatever page they are of.

export const MOST_PICKED = 500;

export function usePicks(id) {
  const [picked, setPicked] = state(() => new Map());

  return {
    picked,
    clear: () => setPicked(new Map()),

    // as they are now, of which some have changed

    renew: rows => setPicked(before => rows.some(row => before.has(row[id]))
      ? new Map([...before].map(([key, row]) => [key, rows.find(one => one[id] === key) ?? row]))
      : before),

    set: (rows, yes) => setPicked(before => {
      const after = new Map(before);

      rows.forEach(row => !yes ? after.delete(row[id])
                               : after.size < MOST_PICKED && after.set(row[id], row));

      return after;
    }),
  };
}

function Empty({ words, asked, first }) {
  if (asked || first) {
    return h("div", { class: "list empty" },
      h("p", {}, text.none),
      h("p", {}, h(Link, { to: location.pathname }, text.showAll)));
  }

  return h("div", { class: "list empty" }, [words.empty].flat().map(p => h("p", {}, p)));
}


// --- pages ---------------------------

function Pager({ data, n, offset, query, asked }) {
  const { total } = data;
  const many = asked && total >= MANY;
  const last = offset + n >= total;

  if (total === 0 || offset === 0 && last) {
    return null;
  }

  const at = offset => `${location.pathname}${queryOf({ ...query, offset: offset || null })}`;

  return h("nav", { class: "pager", "aria-label": text.pages },
    h("span", { class: "muted", role: "status" },
      fill(many ? text.many : text.from, { from: offset + 1, to: offset + n, total }),
      many && last && ` ${text.narrow}`),
    offset > 0 && h(Link, { class: "button", to: at(Math.max(0, offset - PAGE)) },
                    text.previous),
    !last && h(Link, { class: "button", to: at(offset + PAGE) }, text.next));
}
