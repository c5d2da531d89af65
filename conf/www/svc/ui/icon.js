// Pictures that stand beside words, and say nothing to whoever hears them.

import { h } from "./draw.js";

const PATHS = {
  apps: "M2 2h5v5H2zm7 0h5v5H9zM2 9h5v5H2zm7 0h5v5H9z",
  find: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10m4-1 3 3",
  lock: "M5 7V5a3 3 0 0 1 6 0v2m-7 0h8v6H4z",
  machines: "M2 3h12v10H2zm3 3 2 2-2 2m4 0h2",
  menu: "M2 4h12M2 8h12M2 12h12",
  overview: "M2 8l6-6 6 6v6H2z",
  people: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6m-6 6a6 4 0 0 1 12 0",
  security: "M8 2l5 2v4q0 4-5 6-5-2-5-6V4z",
  signin: "M8 2h6v12H8M2 8h8M7 5l3 3-3 3",
};

export const Icon = ({ name }) => h("svg", {
  class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false",
}, h("path", { d: PATHS[name] }));
