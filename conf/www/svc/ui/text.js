// The texts that all of ui/ shares, in the language of the page.  They are loaded before
// anything is drawn: tell() fills them, with those of other areas, too.

import { wordsOf } from "./words.js";

export const text = {};

export async function tell(...areas) {
  const all = await Promise.all(["ui/text", ...areas].map(wordsOf));

  Object.assign(text, ...all, { errors: Object.assign({}, ...all.map(words => words.errors)) });
}
