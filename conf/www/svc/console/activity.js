// What somebody or something has done, and what was done to it: a tab of many views.

import { may } from "../ui/call.js";
import { h } from "../ui/draw.js";
import { List } from "../ui/table.js";
import { wordsOf } from "../ui/words.js";
import sheets from "./activity.sheet.js";

const words = await wordsOf("console/activity");

const Activity = ({ q }) => h(List, {
  sheet: { ...sheets.activity, query: { q } }, words: words.activity,
});

// The tab, for whoever may see it.  "id" is the member that the log knows it by.

export const activity = (id = "id") => may("audit:view")
  ? { activity: ({ one }) => h(Activity, { q: one[id] }) } : {};
