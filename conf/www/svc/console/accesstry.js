// What a sign-in would get, rule by rule, which the page works out; and what those of the
// last days would get, as the server says.

import { call } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { styled } from "../ui/style.js";
import { Table } from "../ui/table.js";
import { localOf } from "../ui/time.js";
import { fill, shown } from "../ui/words.js";
import { Moment } from "./accessreview.js";
import { addressOf, decide, TONES } from "./rules.js";
import { countriesOf, countryOf, sentence } from "./sentence.js";

await styled("/svc/ui/form.css");


export function Try({ words, sheet, policy, dirty }) {
  const [signIn, setSignIn] = state(() => ({ address: "", country: "", at: localOf(Date.now()) }));
  const said = words.try;
  const set = name => event => setSignIn(now => ({ ...now, [name]: event.target.value }));
  const known = countriesOf(words.say);

  return h("div", {},
    h("p", { class: "muted" }, said.note),
    dirty && h("p", { class: "notice" }, said.draft),
    h("div", { class: "beside" },
      h("div", { class: "panel form" },
        h("div", { class: "field" },
          h("label", { for: "try-address" }, said.address),
          h("input", { id: "try-address", value: signIn.address, maxlength: 45, spellcheck: "false",
                       autocomplete: "off", oninput: set("address"),
                       "aria-invalid": signIn.address && !addressOf(signIn.address) ? "true" : null,
                       "aria-describedby": "try-address-help" }),
          h("p", { id: "try-address-help", class: "muted" },
            signIn.address && !addressOf(signIn.address) ? said.noAddress : said.addressHelp)),
        h("div", { class: "field" },
          h("label", { for: "try-country" }, said.country),
          h("select", { id: "try-country", value: signIn.country, onchange: set("country") },
            h("option", { value: "" }, words.say.unknown),
            Object.entries(known).filter(([code]) => code !== "ZZ").map(([code, name]) =>
              h("option", { key: code, value: code }, name)))),
        h("div", { class: "field" },
          h("label", { for: "try-at" }, said.at),
          h("input", { id: "try-at", type: "datetime-local", value: signIn.at,
                       oninput: set("at") })),
        h(Pasted, { said, take: setSignIn })),
      h(Outcome, { words, policy, signIn })),
    h(Recent, { words, policy, sheet, take: setSignIn }));
}


// An entry of the audit log has all that rules look at.

function Pasted({ said, take }) {
  const [typed, setTyped] = state("");
  const [wrong, setWrong] = state(false);

  const read = text => {
    setTyped(text);

    try {
      const { ip, country, createdAt } = JSON.parse(text);
      const time = new Date(createdAt);

      if (!addressOf(ip ?? "") || isNaN(time)) {
        return setWrong(true);
      }

      setWrong(false);
      take({ address: ip, country: country ?? "", at: localOf(time) });

    } catch {
      setWrong(text.trim() !== "");
    }
  };

  return h("details", {},
    h("summary", {}, said.paste),
    h("div", { class: "field" },
      h("label", { for: "try-paste" }, said.entry),
      h("textarea", { id: "try-paste", rows: 4, spellcheck: "false", value: typed,
                      "aria-invalid": wrong ? "true" : null,
                      oninput: event => read(event.target.value) }),
      wrong && h("p", { class: "wrong", role: "alert" }, said.noEntry)));
}


function Outcome({ words, policy, signIn }) {
  const time = new Date(signIn.at);

  if (!addressOf(signIn.address) || isNaN(time)) {
    return null;
  }

  const { action, rule, misses } = decide(policy, { ...signIn, at: time });
  const said = words.try;
  const by = rule < 0 ? said.byDefault
    : fill(said.by, { n: rule + 1, name: shown(policy.rules[rule].name) });

  return h("section", { class: "panel" },
    h("h2", {}, said.outcome),
    h("div", { role: "status" },
      h("p", {}, h(Badge, { value: action, tone: TONES[action], words: words.actions }), " ", by),
      h("p", { class: "muted" }, said.then[action])),
    policy.rules.length > 0 && h("ol", { class: "trace" }, policy.rules.map((one, n) => h("li", {
      key: n, class: n === rule ? "decides" : null,
    },
      h("strong", {}, shown(one.name)), " – ",
      rule >= 0 && n > rule ? said.behind : misses[n] === null ? said.decides
                                          : said.misses[misses[n]],
      h("p", { class: "muted" }, sentence(one, { ...words.say, zone: said.zone }, time))))));
}


// --- sign-ins that there were --------

const SHOWN = 100;

function Recent({ words, policy, sheet, take }) {
  const [found, setFound] = state(null);
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);
  const said = words.try.recent;

  const look = async () => {
    setFailure(null);
    setBusy(true);

    try {
      setFound((await call({ method: "POST", path: `${sheet.path}/simulate`, body: policy }))
        .data.results);

    } catch (e) {
      setFailure(e);

    } finally {
      setBusy(false);
    }
  };

  const choose = ({ ip, country, lastSignInAt }) => {
    take({ address: ip, country: country ?? "", at: localOf(lastSignInAt) });
    document.getElementById("try-address").focus();
  };

  return h("section", { class: "panel" },
    h("h2", {}, said.title),
    h("p", { class: "muted" }, said.note),
    failure && h(Problem, { failure }),
    found?.length === 0 && h("p", {}, words.simulation.empty),
    found?.length > 0 && h(Table, {
      sheet: { id: "ip", columns: { ip: "code", place: "text", users: "number",
                                    lastSignInAt: "time", then: "node" } },
      words: words.simulation,
      rows: found.slice(0, SHOWN).map(one => ({
        ...one, place: one.country && countryOf(one.country, words.say),
        then: h(Badge, { value: one.candidate.action, tone: TONES[one.candidate.action],
                         words: words.actions }),
      })),
      draws: { lastSignInAt: one => h(Moment, { value: one.lastSignInAt }) },
      acts: one => h("button", {
        type: "button", class: "plain", "aria-label": fill(said.tryOne, { ip: one.ip }),
        onclick: () => choose(one),
      }, said.try),
    }),
    h("p", {}, h("button", { type: "button", disabled: busy, onclick: look }, said.look)));
}
