// Fields of the forms: codes, names and new passwords.

import { fill, text } from "./page.js";

export const CODE = { name: "code", autocomplete: "one-time-code",
                      autocapitalize: "none", spellcheck: "false" };
const DIGITS = { ...CODE, inputmode: "numeric", pattern: "\\s*[0-9]{6}\\s*",
                 maxlength: "8" };

const RULES = ["requireLower", "requireUpper", "requireDigit", "requireSymbol",
               "rejectBreached", "rejectContextual"];

export const codeOf = values => values.code.trim();
export const digits = () => ({ ...DIGITS, label: text.code });

export const nameField = () => ({
  name: "displayName", label: text.name, autocomplete: "name", maxlength: "64",
});

export const newPassword = policy => ({
  name: "password", label: text.newPassword, type: "password",
  autocomplete: "new-password", maxlength: "256",
  rules: policy && [fill(text.rules.minLength, { n: policy.minLength }),
                    ...RULES.filter(rule => policy[rule])
                            .map(rule => text.rules[rule])],
});
