// What this page has asked the server, as a script would.

import { hear } from "../ui/call.js";
import { Copy } from "../ui/copy.js";
import { Dialog, show } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { text } from "../ui/text.js";
import { Time } from "../ui/time.js";
import { HIDDEN, sent } from "./server.js";

const quoted = value => `'${value.replaceAll("'", "'\\''")}'`;

// Secrets come from the environment: what stands for one leaves the quotes.

export const curlOf = ({ method, path, body, file, etag, key }) => [
  `curl ${method === "GET" ? "" : `-X ${method} `}"$SVC_BASE_URL"${quoted(path)}`,
  `-H "Authorization: Bearer $SVC_ADMIN_TOKEN"`,
  ...etag ? [`-H ${quoted(`If-Match: ${etag}`)}`] : [],
  ...key ? [`-H ${quoted(`Idempotency-Key: ${key}`)}`] : [],
  ...file === undefined ? [] : [`--data-binary ${quoted(`@${file}`)}`],
  ...body === undefined ? [] : [`-d ${quoted(body).replaceAll(HIDDEN, `'"$SECRET"'`)}`],
].join(" \\\n     ");


export const open = words => show(Drawer, { words });

function Drawer({ done, words }) {
  const [, setCount] = state(0);

  effect(() => hear("sent", () => setCount(n => n + 1)), []);

  return h(Dialog, { title: words.drawer, done, wide: true },
    h("p", { class: "muted" }, words.drawerNote),
    sent.length === 0 ? h("p", {}, text.empty) : h("table", { "aria-label": words.drawer },
      h("thead", {}, h("tr", {}, words.drawerColumns.map(name =>
        h("th", { key: name, scope: "col" }, name)))),
      h("tbody", {}, sent.map((one, n) => h("tr", { key: `${one.at} ${n}` },
        h("td", {}, h("code", {}, `${one.method} ${one.path}`)),
        h("td", { class: "number" }, one.status ?? "–"),
        h("td", { class: "number" }, one.ms),
        h("td", {}, h(Time, { value: one.at })),
        h("td", {}, one.id && h("code", {}, one.id.slice(0, 8))),
        h("td", {}, h(Copy, { value: curlOf(one), label: words.copyCurl })))))),
    h("div", { class: "actions" }, h("button", { type: "button", onclick: () => done() },
                                     text.close)));
}
