// A filter by the id of somebody or something, which is found by its name.

import { h, state } from "./draw.js";
import { Pick } from "./pick.js";
import { change } from "./place.js";
import { useAnswer } from "./table.js";
import { text } from "./text.js";
import { fill, shown } from "./words.js";


export function Named({ name, type, value, label }) {
  const [chosen, setChosen] = state(null);
  const id = `filter-${name}`;
  const { data } = useAnswer(value && chosen?.id !== value
    ? { path: "/admin/names", query: { type, ids: value } } : async () => ({}), [value]);
  const one = chosen?.id === value ? chosen : data?.names?.[0];

  const set = async next => {
    setChosen(next);
    await change({ [name]: next?.id ?? null, offset: null });
    setTimeout(() => document.getElementById(id)?.focus());
  };

  return !value ? h(Pick, { id, type, label, onpick: set })
    : h("span", { class: "named" }, label, " ", h("strong", {}, shown(one?.name ?? value)),
        h("button", { id, type: "button", class: "plain", onclick: () => set(null),
                      "aria-label": fill(text.removeOne, { name: label }) }, "×"));
}
