// What differs between two values of JSON, as a list: where, what it was, what it is.
//
//     h(Diff, { before, after, words: { fields: { rules: "Rules" }, say } })
//
// What is in an array is known again by its id, key or name, wherever it is now; what
// has none by what it is.  Numbers and texts in an array are a set, of which those are
// said that came or went.

import { h } from "./draw.js";
import { styled } from "./style.js";
import { text } from "./text.js";
import { fill, shown, wordOf } from "./words.js";

await styled("/svc/ui/pick.css");

const NAMES = ["id", "key", "groupId", "name"];

const json = value => JSON.stringify(value ?? null);

const isMap = value => typeof value === "object" && value !== null && !Array.isArray(value);

const nameOf = value => {
  const name = isMap(value) && NAMES.find(one => typeof value[one] === "string");

  return name ? value[name] : null;
};


const memberOf = (value, name) => Object.hasOwn(value, name) ? value[name] : undefined;


// Returns [{ path, entries, kind, before, after }].  A path is of members and of names, or
// of places from 1 on; "entries" are the places in the path of what is in an array; kinds
// are "added", "removed", "changed" and "moved", whose before and after are places.

export function differences(before, after, path = [], entries = []) {
  if (json(before) === json(after)) {
    return [];
  }

  if (isMap(before) && isMap(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap(name =>
      differences(memberOf(before, name), memberOf(after, name), [...path, name], entries));
  }

  if (Array.isArray(before) && Array.isArray(after)) {
    return [...before, ...after].every(one => typeof one !== "object" || one === null)
           ? ofSets(before, after, path, entries) : ofLists(before, after, path, entries);
  }

  return [{ path, entries, before, after,
            kind: before === undefined ? "added" : after === undefined ? "removed" : "changed" }];
}

function ofSets(before, after, path, entries) {
  const removed = before.filter(one => !after.includes(one));
  const added = after.filter(one => !before.includes(one));

  return removed.length === 0 && added.length === 0
    ? [{ path, entries, kind: "changed", before, after }]
    : [{ path, entries, before: removed, after: added,
         kind: added.length === 0 ? "removed" : removed.length === 0 ? "added" : "changed" }];
}


function ofLists(before, after, path, above) {
  const entries = [...above, path.length];
  const pairs = pairsOf(before, after);
  const kept = new Set(longest(pairs.filter(([a, b]) => a !== null && b !== null)));

  return pairs.flatMap(pair => {
    const [a, b] = pair;
    const here = [...path, nameOf(before[a]) ?? nameOf(after[b]) ?? String((b ?? a) + 1)];

    if (a === null) {
      return [{ path: here, entries, kind: "added", after: after[b], place: b + 1 }];
    }

    if (b === null) {
      return [{ path: here, entries, kind: "removed", before: before[a] }];
    }

    return [
      ...kept.has(pair) ? []
        : [{ path: here, entries, kind: "moved", before: a + 1, after: b + 1 }],
      ...differences(before[a], after[b], here, entries),
    ];
  });
}


// [place before, place after], null where there is none, in the order of what is there
// after; what was removed comes last.

function pairsOf(before, after) {
  const left = new Set(before.keys());
  const found = after.map(() => null);

  const match = same => after.forEach((value, b) => {
    const a = found[b] === null ? [...left].find(a => same(before[a], value, a, b)) : undefined;

    if (a !== undefined) {
      found[b] = a;
      left.delete(a);
    }
  });

  match((was, is) => json(was) === json(is));
  match((was, is) => nameOf(was) !== null && nameOf(was) === nameOf(is));
  match((was, is, a, b) => a === b && (nameOf(was) === null || likeness(was, is)));

  return [...found.map((a, b) => [a, b]), ...[...left].map(a => [a, null])];
}

// Another name, and all else as it was.

const likeness = (was, is) => isMap(was) && isMap(is)
  && json({ ...was, name: null, key: null }) === json({ ...is, name: null, key: null });


// What has stayed in order is not said to have moved: the longest run of pairs that
// grows.

function longest(pairs) {
  const best = [];              // of each pair: the run that ends with it

  for (const pair of pairs) {
    const run = best.filter(one => one.at(-1)[0] < pair[0])
                    .reduce((a, b) => b.length > a.length ? b : a, []);

    best.push([...run, pair]);
  }

  return best.reduce((a, b) => b.length > a.length ? b : a, []);
}


// --- shown ---------------------------

// "words" may have the names of members, as fields, and "say", which says a value of a
// path in words, or returns null.

export function Diff({ before, after, words = {}, none = text.diff.none }) {
  const all = differences(before, after);

  return all.length === 0 ? h("p", { class: "muted" }, none)
    : h("ul", { class: "diff" }, all.map((one, n) => h(Entry, { key: n, one, words })));
}

function Entry({ one, words }) {
  const { path, entries, kind, before, after, place } = one;
  const said = value => words.say?.(path, value) ?? valueOf(value);

  return h("li", { class: kind },
    h("p", {},
      h("strong", {}, text.diff[kind]), " ",
      path.map((step, n) => [
        n > 0 && h("span", { class: "muted" }, " › "),
        !entries.includes(n) && wordOf(words.fields, step) || shown(step),
      ]),
      kind === "moved" && [" ", fill(text.diff.places, { before, after })],
      place && h("span", { class: "muted" }, " ", fill(text.diff.place, { place }))),
    kind !== "moved" && kind !== "added"
      && h("del", {}, h("span", { class: "unseen" }, text.diff.before, " "), said(before)),
    kind !== "moved" && kind !== "removed"
      && h("ins", {}, h("span", { class: "unseen" }, text.diff.after, " "), said(after)));
}

function valueOf(value) {
  switch (typeof value) {

  case "boolean":
    return value ? text.yes : text.no;

  case "string":
  case "number":
    return shown(value);

  default:
    return value === null || value === undefined || value.length === 0 ? "–"
      : Array.isArray(value) && value.every(one => typeof one !== "object")
        ? value.map(shown).join(", ")
        : h("code", {}, shown(JSON.stringify(value)));
  }
}
