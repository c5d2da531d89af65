// Texts in the language of whoever reads them.

const LANGUAGES = ["en", "fr", "de"];

const knownOf = locales => locales.map(l => l.slice(0, 2).toLowerCase())
                                  .find(l => LANGUAGES.includes(l));

export let language = knownOf(navigator.languages) ?? "en";

let plural, numbers, lists;


// Speaks the language of a locale, if it is one that is known, to whoever reads from
// now on.

export function speak(locale) {
  language = knownOf([locale ?? ""]) ?? language;
  document.documentElement.lang = document.documentElement.dataset.language = language;

  plural = new Intl.PluralRules(language);
  numbers = new Intl.NumberFormat(language);
  lists = new Intl.ListFormat(language);
}

speak();


// Loads the texts of a folder's area, as wordsOf("account/account").

export const wordsOf = async area =>
  (await import(`../${area}.${language}.js`)).default;


// Puts values where a text has {name}.  A text of several forms has those of
// Intl.PluralRules, and {n} is the number.

export function fill(text, values = {}) {
  const form = typeof text === "string" ? text
                                        : text[plural.select(values.n)] ?? text.other;

  return form.replace(/\{(\w+)\}/g, (all, name) =>
    typeof values[name] === "number" ? number(values[name]) : values[name] ?? all);
}

// The word for a name, or undefined.  People choose names, and one may be "constructor".

export const wordOf = (words, name) =>
  words && Object.hasOwn(words, name) ? words[name] : undefined;

export const number = value => numbers.format(value);

export const list = values => lists.format(values);


// What people and servers have written may hold signs that nobody sees, or that turn
// the text around: they are shown, but where they are a part of an emoji.

export const shown = text => String(text).replace(
  /(\p{ExtPict}[\ufe0e\ufe0f\p{EMod}]?(?:\u200d(?=\p{ExtPict}))?)|[\p{Cc}\p{Zl}\p{Zp}\p{DI}\u2800]/gu,
  (sign, emoji) => emoji
    ?? `\u27e8U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
