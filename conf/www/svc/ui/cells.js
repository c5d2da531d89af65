// What a column of a list shows of a row, by its kind; and pictures.

import { h } from "./draw.js";
import { Id } from "./copy.js";
import { Link } from "./place.js";
import { text } from "./text.js";
import { Time } from "./time.js";
import { fill, list, number, shown, wordOf } from "./words.js";

// A picture stands beside words, and says nothing to whoever hears them.

const PATHS = {
  apps: "M2 2h5v5H2zm7 0h5v5H9zM2 9h5v5H2zm7 0h5v5H9z",
  find: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10m4-1 3 3",
  lock: "M5 7V5a3 3 0 0 1 6 0v2m-7 0h8v6H4z",
  machines: "M2 3h12v10H2zm3 3 2 2-2 2m4 0h2",
  menu: "M2 4h12M2 8h12M2 12h12",
  overview: "M2 8l6-6 6 6v6H2z",
  people: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6m-6 6a6 4 0 0 1 12 0",
  security: "M8 2l5 2v4q0 4-5 6-5-2-5-6V4z",
  signin: "M8 2h6v12H8M2 8h8M7 5l3 3-3 3",
};

export const Icon = ({ name }) => h("svg", {
  class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false",
}, h("path", { d: PATHS[name] }));


const DAY = 86400000;
const UNUSED = 90 * DAY;        // after that it may not be needed any more
const SOON = 14 * DAY;

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const briefly = id => UUID.test(id) ? `${id.slice(0, 8)}…` : id;

const none = () => h("span", { class: "muted none" }, "–");

const isNone = value => value === null || value === undefined || value === "";

// "words" are those of the column's values, "tones" say which are good and which bad

export const Badge = ({ value, tone = "off", words }) =>
  h("span", { class: `badge ${tone}` }, wordOf(words, value) ?? value);

// Who did it, if anybody is known: {type, id, name}.  People choose their names, and two may
// have one: "detail" is what tells a user from others, and what is no user is said.

export function Actor({ type, id, name, detail }) {
  const kind = type === "user" ? detail : wordOf(text.actors, type);
  const of = name ? shown(name) : id && h("code", {}, shown(briefly(id)));

  return h("span", { title: id }, of ?? kind ?? type,
    of && kind && kind !== name && [" ", h("span", { class: "muted" }, shown(kind))]);
}

// Whoever knows how to show more of a kind than this puts another one here.

export const CELLS = {
  text: value => shown(value),
  code: value => h("code", {}, shown(value)),
  number: value => number(value),
  time: value => h(Time, { value }),
  yes: value => value ? text.yes : text.no,
  on: value => h(Badge, { value: value ? text.on : text.off, tone: value ? "good" : "off" }),
  tags: value => value.length > 0 ? h("span", { class: "tags" }, value.map(one =>
    h("code", { key: one }, shown(one)))) : none(),
  list: value => value.length > 0 ? list(value.map(shown)) : none(),
  badge: (value, { tones, words }) => h(Badge, { value, tone: wordOf(tones, value), words }),
  word: (value, { words }) => wordOf(words, value) ?? shown(value),
  node: value => value,         // drawn already
  link: (value, { to }) => to ? h(Link, { to }, shown(value)) : shown(value),
  count: value => value.length > 0 ? number(value.length) : none(),
  some: value => value > 0 ? h(Badge, { value: number(value), tone: "warn" }) : none(),
  ms: value => fill(text.ms, { n: value }),
  copy: value => h(Id, { value }),

  actor: value => h(Actor, value),

  // whose it is, and whether that user is still there: {id, email, active}

  person: value => h("span", {},
    shown(value.email ?? value.id),
    value.active === false && [" ", h(Badge, { value: text.left, tone: "warn" })]),

  // when it was last used, and whether that is long ago

  used: (value, { row }) => h("span", {},
    h(Time, { value, none: text.never }),
    isLive(row) && Date.now() - new Date(value ?? row.createdAt) > UNUSED
      && [" ", h(Badge, { value: text.unused, tone: "warn" })]),

  // until when it is good, unless that is over

  end: (value, { row }) => OVER.includes(row.status) ? none() : value ? h("span", {},
    h(Time, { value }),
    isLive(row) && new Date(value) - Date.now() < SOON
      && [" ", h(Badge, { value: text.soon, tone: "warn" })])
    : h("span", { class: "muted" }, text.endless),
};

const OVER = ["accepted", "revoked"];
const SAYS_NONE = ["yes", "used", "end"];

const isLive = row => !row.revokedAt && (row.status ?? "active") === "active";


// "about" is { row, to, tones, words }.

export const cell = (kind, value, about = {}) =>
  !SAYS_NONE.includes(kind) && isNone(value) ? none() : CELLS[kind](value, about);

export const isNumber = kind => ["number", "count", "some", "ms"].includes(kind);
