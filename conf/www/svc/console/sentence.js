// The rules of an access policy in words.

import { fill, language, shown } from "../ui/words.js";
import { clockOf, DAYS } from "./rules.js";

const MANY = 4;                 // of a list: more are counted

// To make a format takes long.

const formats = new Map();

function kept(name, make) {
  if (!formats.has(name)) {
    formats.set(name, make());
  }

  return formats.get(name);
}

const listOf = type => kept(type, () => new Intl.ListFormat(language, { type }));

// "say" says one of them

function some(values, words, say) {
  const more = values.length - MANY;

  return listOf("disjunction").format(more <= 1 ? values.map(say)
    : [...values.slice(0, MANY).map(say), fill(words.more, { n: more })]);
}


// --- countries -----------------------

const nameOf = code => kept("region", () =>
  new Intl.DisplayNames(language, { type: "region", fallback: "none" })).of(code);

// groups of countries and codes for tests have names, too

const NONE = ["AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"];

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

// Codes of countries that there are no more, or that have another one, as UK.

const isObsolete = code => new Intl.Locale(`und-${code}`).region !== code;

// by code, in the order of their names

export function countriesOf(words) {
  const all = LETTERS.flatMap(a => LETTERS.map(b => a + b))
    .filter(code => !NONE.includes(code) && nameOf(code) && !isObsolete(code))
    .map(code => [code, nameOf(code)])
    .sort((a, b) => a[1].localeCompare(b[1], language));

  return Object.fromEntries([...all, ["ZZ", words.unknown]]);
}

export const countryOf = (code, words) =>
  /^[A-Za-z]{2}$/.test(code) && code.toUpperCase() !== "ZZ"
    ? nameOf(code.toUpperCase()) ?? code : code.toUpperCase() === "ZZ" ? words.unknown : code;


// --- times ---------------------------

export const dayOf = (day, style = "short") => kept(style, () => new Intl.DateTimeFormat(
  language, { weekday: style, timeZone: "UTC" },
)).format(new Date(Date.UTC(1970, 0, 5 + DAYS.indexOf(day))));

const two = n => String(n).padStart(2, "0");

export function nowIn(timezone, at = Date.now()) {
  const clock = clockOf(timezone, at);

  return clock && `${two(Math.trunc(clock.minute / 60))}:${two(clock.minute % 60)}`;
}

function daysOf(days, words) {
  const all = DAYS.filter(day => days.includes(day));

  return all.length === DAYS.length ? words.daily
    : fill(words.on, { days: listOf("conjunction").format(all.map(day => dayOf(day, "long"))) });
}

export function windowOf({ days = DAYS, start, end, timezone = "UTC" }, words, at) {
  const now = nowIn(timezone, at);
  const whole = start === "00:00" && end === "24:00";

  return fill(whole ? words.day : end < start ? words.night : words.window, {
    days: daysOf(days, words), start, end,
    zone: now ? fill(words.zone, { zone: timezone, now }) : timezone,
  });
}


// --- a rule --------------------------

export function sentence(rule, words, at = Date.now()) {
  const { networks = [], countries = [], timeWindows = [] } = rule;
  const conditions = [
    networks.length > 0 && fill(words.from, { networks: some(networks, words, shown) }),
    countries.length > 0 && fill(words.in, {
      countries: some(countries, words, code => countryOf(code, words)) }),
    timeWindows.length > 0 && some(timeWindows, words, one => windowOf(one, words, at)),
  ].filter(Boolean);

  return conditions.length === 0 ? words.everybody[rule.action]
    : fill(words.whoever[rule.action], { conditions: conditions.join(", ") });
}
