// Where to, by a few letters: views, what may be made, and whatever has a name or an id.

import { call, queryOf } from "../ui/call.js";
import { Dialog, show } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { Combo } from "../ui/pick.js";
import { go } from "../ui/place.js";
import { allowed, at, groups } from "./nav.js";

// What is searched by a name, each by a request of its own.  "detail" tells those apart that
// have one name.

const SEARCHED = [
  { view: "users", path: "/admin/users", list: "users", id: "id", name: ["displayName", "email"],
    detail: "email" },
  { view: "groups", path: "/admin/groups", list: "groups", id: "id", name: ["name"] },
  { view: "applications", path: "/applications", list: "applications", id: "clientId",
    name: ["name"] },
  { view: "agents", path: "/admin/agents", list: "agents", id: "clientId", name: ["name"] },
];

// what an id looks like, and where that leads

const SHAPES = [
  [/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/, "users", q => at("users", q)],
  [/^app_[0-9a-f]{32}$/, "applications", q => at("applications", q)],
  [/^agt_[0-9a-f]{32}$/, "agents", q => at("agents", q)],
  [/^[0-9a-f]{32}$/, "audit", q => at("audit") + queryOf({ requestId: q })],
  [/^(?:\d+\.){3}\d+$|^[0-9a-f:]*:[0-9a-f:]+$/i, "audit", q => at("audit") + queryOf({ q })],
];


// "typed" was typed before it was here.

export const open = (words, typed) => show(Palette, { words, typed });

function Palette({ done, words, typed }) {
  const all = groups.flatMap(([, names]) => names).filter(allowed);

  const now = q => [
    ...SHAPES.filter(([shape, view]) => shape.test(q) && allowed(view))
      .map(([, view, to]) => ({ id: `id ${view}`, name: q, detail: words.views[view], to: to(q) })),
    ...all.filter(view => words.views[view].toLowerCase().includes(q.toLowerCase()))
      .map(view => ({ id: `view ${view}`, name: words.views[view], to: at(view) })),
  ];

  const find = async (q, signal) => {
    if (q.length < 2) {
      return [];
    }

    const found = await Promise.all(SEARCHED.filter(({ view }) => allowed(view))
      .map(one => search(one, q, signal).catch(() => [])));

    return found.flat();
  };

  const search = async ({ view, path, list, id, name, detail }, q, signal) => {
    const { data } = await call({ path, query: { q, limit: 5 }, signal });

    return data[list].map(row => {
      const label = name.map(n => row[n]).find(Boolean) ?? row[id];

      return {
        id: `${view} ${row[id]}`, name: label, to: at(view, row[id]),
        detail: row[detail] && row[detail] !== label ? row[detail] : words.views[view],
      };
    });
  };

  return h(Dialog, { title: words.palette, done },
    h(Combo, { id: "palette", label: words.paletteNote, find, now, first: typed,
               autofocus: true,
               onpick({ to }) {
                 done();
                 go(to);
               } }));
}
