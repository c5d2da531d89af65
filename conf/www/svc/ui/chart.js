// A bar for each day, and the same in a table.

import { h, state } from "./draw.js";
import { Link } from "./place.js";
import { language, number } from "./words.js";

const HIGH = 100;               // of the picture, whose width is that of its days
const STEPS = [1, 2, 3, 4, 5, 6, 8, 10];

// Days are of UTC, wherever whoever reads them is.

export const dayOf = date => new Intl.DateTimeFormat(language, {
  dateStyle: "medium", timeZone: "UTC",
}).format(new Date(date));

// The number that the scale ends with: the next one that people like.

function topOf(most) {
  const power = 10 ** Math.floor(Math.log10(most));

  return power * STEPS.find(step => step * power >= most);
}


//   label   what it shows
//   days    [{ date, ... }], the first one first
//   series  the members of a day that are shown, one upon the other: [{ name, label }]
//   more    members that the table has besides
//   to      the address of a date; null where there is none
//   words   utc, table, day, none

export function Chart({ label, days, series, more = [], to, words }) {
  const [at, setAt] = state(days.length - 1);
  const sums = days.map(day => series.reduce((sum, { name }) => sum + day[name], 0));
  const most = Math.max(...sums);

  if (most === 0) {
    return h("p", { class: "muted" }, words.none);
  }

  const told = day => [
    dayOf(day.date), ...series.map(one => `${one.label}: ${number(day[one.name])}`),
  ].join(" · ");

  return h("figure", { class: "chart" },
    h(Legend, { series, words }),
    h("div", { class: "plot" },
      h("span", { class: "muted", "aria-hidden": "true" }, number(topOf(most))),
      h(Bars, { label: `${label}, ${words.utc}`, days, series, top: topOf(most), to, told,
                at, setAt }),
      h("span", { class: "muted", "aria-hidden": "true" }, 0)),
    h("p", { class: "muted ends" },
      h("span", {}, dayOf(days[0].date)), h("span", {}, dayOf(days.at(-1).date))),
    h("p", { class: "told", "aria-hidden": "true" }, told(days[at])),
    h("details", {}, h("summary", {}, words.table),
      h(Table, { label, days, columns: [...series, ...more], to, words })));
}

const Legend = ({ series, words }) => h("figcaption", {},
  series.map(({ name, label }) => h("span", { key: name, class: `key ${name}` }, label)),
  h("span", { class: "muted" }, words.utc));


// One stop of the Tab key: arrows go from day to day.

function Bars({ label, days, series, top, to, told, at, setAt }) {
  const onkeydown = event => {
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: days.length - 1 };

    if (Object.hasOwn(next, event.key)) {
      event.preventDefault();
      event.currentTarget.querySelectorAll("a")[next[event.key]]?.focus();
    }
  };

  return h("svg", {
    viewBox: `0 0 ${days.length} ${HIGH}`, preserveAspectRatio: "none", "aria-label": label,
    role: to ? "group" : "img", focusable: "false", onkeydown: to && onkeydown,
  },
    days.map((day, n) => h(to ? Link : "g", {
      key: day.date, to: to?.(day.date), "aria-label": to && told(day),
      tabindex: to && (n === at ? 0 : -1), onfocus: () => setAt(n), onpointerenter: () => setAt(n),
    }, h("rect", { class: "day", x: n, y: 0, width: 1, height: HIGH }),
      h(Bar, { day, n, series, top }))));
}

function Bar({ day, n, series, top }) {
  let below = 0;

  return h("g", {}, series.map(({ name }) => {
    const height = HIGH * day[name] / top;

    below += height;

    return h("rect", { key: name, class: name, x: n + 0.12, y: HIGH - below, width: 0.76,
                       height });
  }));
}


const Table = ({ label, days, columns, to, words }) => h("table", { class: "days" },
  h("caption", { class: "unseen" }, `${label}, ${words.utc}`),
  h("thead", {}, h("tr", {},
    h("th", { scope: "col" }, words.day),
    columns.map(({ name, label }) =>
      h("th", { key: name, scope: "col", class: "number" }, label)))),
  h("tbody", {}, days.toReversed().map(day => h("tr", { key: day.date },
    h("th", { scope: "row" }, to ? h(Link, { to: to(day.date) }, dayOf(day.date))
                                 : dayOf(day.date)),
    columns.map(({ name }) => h("td", { key: name, class: "number" }, number(day[name])))))));
