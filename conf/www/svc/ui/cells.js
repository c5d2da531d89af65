// What a column of a list shows of a row, by its kind.

import { h } from "./draw.js";
import { Link } from "./place.js";
import { text } from "./text.js";
import { Time } from "./time.js";
import { list, number, shown } from "./words.js";

const none = () => h("span", { class: "muted" }, "–");

const isNone = value => value === null || value === undefined || value === "";

// "words" are those of the column's values, "tones" say which are good and which bad

export const Badge = ({ value, tone = "off", words }) =>
  h("span", { class: `badge ${tone}` }, words?.[value] ?? value);

const CELLS = {
  text: value => shown(value),
  code: value => h("code", {}, shown(value)),
  number: value => number(value),
  time: value => h(Time, { value }),
  yes: value => value ? text.yes : text.no,
  list: value => value.length > 0 ? list(value.map(shown)) : none(),
  badge: (value, { tones, words }) => h(Badge, { value, tone: tones?.[value], words }),
  word: (value, { words }) => words?.[value] ?? shown(value),
  link: (value, { to }) => h(Link, { to }, shown(value)),

  // who did it, if anybody is known: {type, id, name}

  actor: value => value.name ? shown(value.name) : h("code", {}, value.id ?? value.type),
};


// "about" is { to, tones, words }.

export const cell = (kind, value, about = {}) =>
  kind !== "yes" && isNone(value) ? none() : CELLS[kind](value, about);

export const isNumber = kind => kind === "number";
