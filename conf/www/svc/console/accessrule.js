// A rule of the access policy, in a dialog.  The server judges it before it is taken.

import { Dialog, show } from "../ui/dialog.js";
import { h } from "../ui/draw.js";
import { Form } from "../ui/form.js";
import "../ui/several.js";
import { fill } from "../ui/words.js";
import { planOf, without } from "./review.js";
import { ACTIONS, DAYS } from "./rules.js";
import { countriesOf, dayOf, nowIn } from "./sentence.js";

const ALL = { enabled: true, networks: [], countries: [], timeWindows: [] };

// as the server writes it

const ORDER = ["name", "enabled", "action", "networks", "countries", "timeWindows"];

const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone;


// Returns a promise of the rule, or of null.

export const editRule = props => show(Edit, props);

function Edit({ words, rule, done }) {
  const countries = countriesOf(words.say);
  const days = Object.fromEntries(DAYS.map(day => [day, dayOf(day)]));

  const fields = {
    name: { kind: "text", max: 100, must: true },
    action: { kind: "choice", options: ACTIONS, first: "allow", must: true },
    networks: { kind: "list" },
    countries: { kind: "some", options: Object.keys(countries) },
    timeWindows: {
      kind: "rows",
      fresh: () => ({ days: DAYS, start: "08:00", end: "18:00", timezone: here() }),
      note: ({ timezone }) => nowIn(timezone)
        ? fill(words.now, { zone: timezone, now: nowIn(timezone) })
        : fill(words.noZone, { zone: timezone }),
      fields: {
        days: { kind: "checks", options: DAYS },
        start: { kind: "text", max: 5, must: true },
        end: { kind: "text", max: 5, must: true },
        timezone: { kind: "text", must: true,
                    known: ["UTC", ...Intl.supportedValuesOf("timeZone")] },
      },
    },
    enabled: { kind: "switch", first: true },
  };

  const take = async (changed, all) => {
    const given = { ...ALL, ...rule, ...all, name: all.name.trim() };
    const next = Object.fromEntries(ORDER.map(name => [name, given[name]]));

    try {
      await planOf({ accessPolicy: { rules: [next], defaultAction: "allow" } });

    } catch (e) {
      throw without("accessPolicy.rules[0]", e);
    }

    done(next);
  };

  return h(Dialog, { title: rule ? words.edit : words.add, done: () => done() },
    h(Form, {
      id: "rule", fields, value: rule, verb: rule ? words.take : words.addIt, onsave: take,
      oncancel: () => done(),
      words: {
        ...words, options: { ...words.options, action: words.actions, countries },
        rows: { timeWindows: { ...words.windows, options: { days } } },
      },
    }));
}
