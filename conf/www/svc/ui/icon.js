// Pictures that stand beside words, and say nothing to whoever hears them.

import { h } from "./draw.js";

const PATHS = {
  find: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10m4-1 3 3",
  lock: "M5 7V5a3 3 0 0 1 6 0v2m-7 0h8v6H4z",
  menu: "M2 4h12M2 8h12M2 12h12",
};

export const Icon = ({ name }) => h("svg", {
  class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false",
}, h("path", { d: PATHS[name] }));
