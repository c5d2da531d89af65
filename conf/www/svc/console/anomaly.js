// Something unusual that an agent did.

import { h } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Link } from "../ui/place.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { shown } from "../ui/words.js";
import { SmallAct } from "./acts.js";
import { acknowledge } from "./agentacts.js";
import { Known } from "./agentlists.js";
import { Facts } from "./facts.js";
import { at } from "./nav.js";
import { Head } from "./sheet.js";


// Links to one of them stay good when somebody has looked.  The list finds it by its id.

function AnomalyView({ view, id, sheet, words }) {
  const { data, failure, again } = useAnswer(
    { path: sheet.path, query: { q: id, all: "true", limit: 1 } }, [id]);
  const above = { view, title: words.title };
  const one = data?.anomalies.find(anomaly => anomaly.id === id);

  if (!one) {
    return h("div", {}, h(Head, { title: words.one, above }),
      failure ? h(Problem, { failure, again })
        : data ? h("p", { class: "muted", role: "status" }, text.none)
        : h(Loading));
  }

  const look = async () => {
    await acknowledge({ one, sheet, words });
    again();
  };

  return h("div", {},
    h(Head, { title: shown(one.agentName), above },
      h(Link, { class: "button", to: at("agents", one.clientId) }, words.columns.agentName),
      !one.acknowledged && h(SmallAct, { verb: words.ack, act: look })),
    h("div", { class: "object" },
      h("div", { class: "panel" }, h(Known, { one, words })),
      h(Facts, { sheet, words, one })));
}


export default { anomalies: { View: AnomalyView } };
