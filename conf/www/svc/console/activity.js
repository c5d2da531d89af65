// What somebody or something has done, and what was done to it: a tab of many views.

import { may } from "../ui/call.js";
import { h } from "../ui/draw.js";
import { List } from "../ui/table.js";
import { wordsOf } from "../ui/words.js";
import sheets from "./activity.sheet.js";

const words = await wordsOf("console/activity");

const Activity = ({ one }) => h(List, {
  sheet: { ...sheets.activity, query: { q: one.id } }, words: words.activity,
});

// the tab, for whoever may see it

export const activity = () => may("audit:view") ? { activity: Activity } : {};
