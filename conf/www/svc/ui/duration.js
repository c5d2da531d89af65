// How long something lasts: seconds, as people say them.

import { text } from "./text.js";
import { fill } from "./words.js";

export const DURATIONS = { second: 1, minute: 60, hour: 3600, day: 86400 };


// In the largest unit in which there is no part of one: { n, unit }.

export function inUnits(seconds) {
  const unit = Object.keys(DURATIONS).findLast(unit => seconds % DURATIONS[unit] === 0);

  return { n: seconds / DURATIONS[unit], unit };
}

export function lasts(seconds) {
  const { n, unit } = inUnits(seconds);

  return fill(text.lasts[unit], { n });
}
