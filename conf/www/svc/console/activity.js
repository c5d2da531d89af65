// What was done to somebody or something, and what that has done itself: a tab of many
// views.

import { may } from "../ui/call.js";
import { h } from "../ui/draw.js";
import { change, usePlace } from "../ui/place.js";
import { List } from "../ui/table.js";
import { wordsOf } from "../ui/words.js";
import sheets from "./activity.sheet.js";
import { outcomeOf } from "./cause.js";
import "./names.js";

const words = (await wordsOf("console/activity")).activity;

// what may be shown, by its parameter; and the members that those have who can act

const WAYS = { about: "targetId", by: "actorId", named: "q" };
const ACTING = ["email", "prefix", "clientId"];

const draws = { outcome: outcomeOf(sheets.activity, words) };


function Activity({ id, acts }) {
  const { query } = usePlace();
  const ways = Object.keys(WAYS).filter(way => acts || way !== "by");
  const way = ways.includes(query.show) ? query.show : ways[0];

  return h(List, {
    sheet: { ...sheets.activity, query: { [WAYS[way]]: id } }, words, rounds: way, draws,
  }, h("label", {}, words.show, " ", h("select", {
    value: way,
    onchange: event => change({ show: event.target.value, offset: null }),
  }, ways.map(one => h("option", { key: one, value: one }, words.ways[one])))));
}

// The tab, for whoever may see it.  "id" is the member that the log knows it by.  It is the
// same component each time: another one would be drawn anew, without the focus.

const known = {};

const tabOf = id => known[id] ??= ({ one }) =>
  h(Activity, { id: one[id], acts: ACTING.some(name => name in one) });

export const activity = (id = "id") => may("audit:view") ? { activity: tabOf(id) } : {};
