// A policy of which there is one: a form, whose changes are reviewed before they are made.

import { call, late } from "../ui/call.js";
import { h, state } from "../ui/draw.js";
import { Loading, Problem } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { styled } from "../ui/style.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { Head } from "./sheet.js";

await styled("/svc/console/policy.css");


// "sheet" has path, section and form; "about" draws what is to be seen of what is typed.

export function Singleton({ sheet, words, about, kids }) {
  const answer = useAnswer({ path: sheet.path }, []);
  const [made, setMade] = state(null);
  const { data, etag } = made ?? answer;

  const save = async (changed, all) => {
    const { review } = await late(import("./review.js"));
    const next = await review({
      section: sheet.section, value: all, etag, was: data,
      mine: theirs => ({ ...theirs, ...changed }),
      words: { ...words.review, diff: words },
      send: tag => call({ method: sheet.change, path: sheet.path, body: changed, etag: tag }),
      read: () => call({ path: sheet.path }),
    });

    if (next) {
      setMade(next);

      const { toast } = await late(import("../ui/toast.js"));

      toast(next.theirs ? words.theirs : text.saved);
    }
  };

  return h("div", {},
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    answer.failure && h(Problem, { failure: answer.failure, again: answer.again }),
    !data && !answer.failure && h(Loading),
    data && h("div", { class: "panel" }, h(Form, {
      key: etag + JSON.stringify(data), fields: sheet.form, value: data, words, about,
      verb: words.review.open, onsave: save,
    })),
    data && kids.map(kid => typeof kid === "function" ? kid(data) : kid));
}
