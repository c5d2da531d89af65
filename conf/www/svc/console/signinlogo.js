// The logo: a file is looked at before it is sent.

import { useAct } from "../ui/act.js";
import { call, Failure, late } from "../ui/call.js";
import { confirm, mayLeave } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { guard } from "../ui/place.js";
import { text } from "../ui/text.js";
import { fill, number, shown } from "../ui/words.js";
import { Picture } from "./logo.js";
import { server } from "./server.js";
import { SIDE, TYPES } from "./signin.sheet.js";


// "draft" is what was chosen and not sent yet, which the preview shows, too.

export function Logo({ path, words, tenant, etag, keep, draft, setDraft, read }) {
  const [wrong, setWrong] = state(null);
  const { busy, failure, run, setFailure } = useAct();
  const { branding } = tenant;
  const there = draft || branding.logoUrl;

  effect(() => draft ? guard(mayLeave) : null, [draft]);

  const choose = async event => {
    const [file] = event.target.files;

    event.target.value = "";

    if (file) {
      const found = await look(file, words.refused);

      setFailure(null);
      setWrong(found.wrong ?? null);
      setDraft(found.wrong ? null : found);
    }
  };

  const send = async (method, body) => {
    const { toast } = await late(import("../ui/toast.js"));
    const { tag, data, etag: next } = await sendOn({ method, path, body, words, read,
                                                     etag, was: branding.logoUrl });
    const { logoUrl } = data.tenant.branding;

    // what else somebody has changed meanwhile the form is told when it is saved

    keep(now => ({
      data: { tenant: { ...now.data.tenant,
                        branding: { ...now.data.tenant.branding, logoUrl } } },
      etag: now.etag === tag ? next : now.etag,
    }));
    setDraft(null);
    toast(body ? words.done : words.removed);

    // the button that was pressed has gone by then

    setTimeout(() => document.querySelector("#logo")?.focus(), 0);
  };

  const remove = async () => await confirm({ title: words.removeTitle, notes: words.removeNotes,
                                             verb: words.remove }) && send("DELETE");

  return h("section", { class: "panel", "aria-busy": busy ? "true" : null },
    h("h2", {}, words.title),
    failure && h(Problem, { failure }),
    there ? h("p", {}, h(Picture, { branding, src: draft?.url, alt: words.alt }))
          : h("p", { class: "muted" }, words.none),
    draft && h("p", { role: "status" }, fill(words.chosen, draft)),
    h(Choose, { words, wrong, busy, choose, there: branding.logoUrl }),
    h(Buttons, {
      words, busy, draft, there: branding.logoUrl, discard: () => setDraft(null),
      use: run(() => send("PUT", draft.file)), remove: run(remove),
    }));
}

const Buttons = ({ words, busy, draft, there, use, discard, remove }) =>
  h("div", { class: "actions" },
    draft && h("button", { type: "button", class: "primary", disabled: busy, onclick: use },
               words.use),
    draft && h("button", { type: "button", disabled: busy, onclick: discard }, text.discard),
    !draft && there && h("button", { type: "button", class: "danger", disabled: busy,
                                     onclick: remove }, words.remove));

const Choose = ({ words, wrong, busy, choose, there }) => h("div", { class: "field" },
  h("label", { for: "logo" }, there ? words.replace : words.choose),
  h("input", {
    id: "logo", type: "file", accept: TYPES.join(","), disabled: busy, onchange: choose,
    "aria-describedby": wrong ? "logo-help logo-wrong" : "logo-help",
    "aria-invalid": wrong ? "true" : null,
  }),
  h("p", { id: "logo-help", class: "muted" },
    fill(words.help, { kb: kilobytes(server.limits.imageBytes), side: SIDE })),
  wrong && h("p", { id: "logo-wrong", class: "wrong", role: "alert" }, wrong));


// Where somebody else has changed the tenant meanwhile, only another logo is a question.

async function sendOn({ method, path, body, words, read, etag, was }) {
  try {
    return { tag: etag, ...await call({ method, path, body, etag }) };

  } catch (e) {
    if (e.code !== "precondition_failed") {
      throw e;
    }
  }

  const now = await read();
  const theirs = now.data.tenant.branding.logoUrl;

  if (theirs !== was && !await confirm({ title: words.other, notes: words.otherNotes,
                                         verb: words.otherVerb }))
  {
    throw new Failure("cancelled", "");
  }

  return sendOn({ method, path, body, words, read, etag: now.etag, was: theirs });
}


// --- a file --------------------------

const MAGIC = [/^\x89PNG\r\n\x1a\n/, /^\xff\xd8\xff/, /^RIFF[^]{4}WEBP/];

const kilobytes = bytes => number(Math.ceil(bytes / 1024));

// Returns what is wrong with it, or what is to be seen of it: "url" is all of it, since the
// page may show nothing else of the browser's.

async function look(file, refused) {
  const most = server.limits.imageBytes;
  const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 12).arrayBuffer()));

  if (!MAGIC.some(one => one.test(head))) {
    return { wrong: file.type === "image/svg+xml" || /^(?:\xef\xbb\xbf)?\s*</.test(head)
                    ? refused.svg : refused.type };
  }

  if (file.size > most) {
    return { wrong: fill(refused.large, { kb: kilobytes(file.size), most: kilobytes(most) }) };
  }

  try {
    const { width, height } = await createImageBitmap(file);

    return (width > SIDE || height > SIDE) && !head.startsWith("RIFF")
      ? { wrong: fill(refused.wide, { width, height, side: SIDE }) }
      : { file, url: await urlOf(file), name: shown(file.name), width, height,
          kb: kilobytes(file.size) };

  } catch {
    return { wrong: refused.broken };
  }
}

const urlOf = file => new Promise((read, failed) => {
  const reader = new FileReader();

  Object.assign(reader, { onload: () => read(reader.result), onerror: failed });
  reader.readAsDataURL(file);
});
