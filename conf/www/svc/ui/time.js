// Times: relative where they are near, and always exact for whoever points at them.

import { h } from "./draw.js";
import { language } from "./words.js";

const UNITS = [
  ["minute", 60], ["hour", 3600], ["day", 86400],
];

const DAY = 86400;


// Within a week as "3 hours ago"; else the day, of this browser's zone.

export function about(value, now = Date.now()) {
  const time = new Date(value);
  const seconds = (time - now) / 1000;
  const size = Math.abs(seconds);

  if (size >= 7 * DAY) {
    return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(time);
  }

  const [unit, length] = UNITS.findLast(([, length]) => size >= length) ?? ["second", 1];

  return new Intl.RelativeTimeFormat(language, { numeric: "auto" })
    .format(unit === "second" ? 0 : Math.round(seconds / length), unit);
}

export const exact = value => new Intl.DateTimeFormat(language, {
  dateStyle: "long", timeStyle: "medium",
}).format(new Date(value));


// "none" is what there is instead of a time.

export const Time = ({ value, none = "–" }) => value
  ? h("time", { datetime: value, title: `${exact(value)} · ${value.replace(/\.\d+Z$/, "Z")}` },
      about(value))
  : h("span", { class: "muted" }, none);


// What a field of a day and a time has, of this browser's zone.

export const localOf = value => {
  const time = new Date(value);

  return new Date(time - time.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
};
