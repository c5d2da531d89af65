// How many tokens an application got, by days: the chart comes when it is looked at.

import { queryOf } from "../ui/call.js";
import { Chart } from "../ui/chart.js";
import { h } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Link, usePlace } from "../ui/place.js";
import { styled } from "../ui/style.js";
import { useAnswer } from "../ui/table.js";
import { fill } from "../ui/words.js";
import { at } from "./nav.js";

await styled("/svc/console/overview.css");

const PERIODS = [7, 30, 90];    // in days

// the chart's names are those of what is well and of what is not

const barsOf = series => series.map(({ date, issued, refused }) =>
  ({ date, success: issued, failure: refused }));

export function Usage({ one, words }) {
  const { query } = usePlace();
  const days = PERIODS.find(n => String(n) === query.days) ?? 30;
  const { data, failure, again } = useAnswer(
    { path: `/applications/${encodeURIComponent(one.clientId)}/usage`, query: { days } },
    [one.clientId, days]);

  return h("section", { class: "panel" },
    h("h2", {}, words.title),
    h("nav", { class: "periods", "aria-label": words.period }, PERIODS.map(n => h(Link, {
      key: n, to: at("applications", one.clientId, "usage") + queryOf({ days: n }),
      "aria-current": n === days ? "true" : null,
    }, fill(words.days, { n })))),
    failure ? h(Problem, { failure, again })
      : !data ? h(Loading)
      : h("div", {},
          h("p", { class: "muted" }, fill(words.sums, data), " ", words.note),
          h(Chart, { key: data.series.length, label: words.title, days: barsOf(data.series),
                     series: [{ name: "success", label: words.issued },
                              { name: "failure", label: words.refused }],
                     words: words.chart })));
}
