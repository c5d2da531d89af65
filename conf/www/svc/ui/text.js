// The texts that all of ui/ shares, in the language of the page.  They are loaded
// before anything is drawn: tell() fills them.

import { wordsOf } from "./words.js";

export const text = {};

export const tell = async () => Object.assign(text, await wordsOf("ui/text"));
