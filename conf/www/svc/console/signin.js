// Branding and what else of sign-in is the tenant's own.

import { call, Failure, late, session, take } from "../ui/call.js";
import { sendOver } from "../ui/conflict.js";
import { effect, h, state } from "../ui/draw.js";
import { later, Loading, Problem } from "../ui/fail.js";
import { kinds, none } from "../ui/fields.js";
import { Form, keyOf } from "../ui/form.js";
import "../ui/kinds.js";
import { styled } from "../ui/style.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { fill } from "../ui/words.js";
import { dress } from "./logo.js";
import { server } from "./server.js";
import { Head } from "./sheet.js";
import { Logo } from "./signinlogo.js";

await styled("/svc/console/signin.css");

const BELOW = "branding.";

const keyIn = name => name.slice(BELOW.length);
const isMap = value => typeof value === "object" && value !== null && !Array.isArray(value);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);


// What the logo changes stays apart from what the form is based on.

function Branding({ sheet, words }) {
  const answer = useAnswer({ path: sheet.path }, []);
  const [made, setMade] = state(null);
  const { data, etag } = made ?? answer;
  const keep = change => setMade(now => change(now ?? { data, etag }));

  return h("div", {},
    h(Head, { title: words.title }),
    h("p", { class: "muted" }, words.note),
    answer.failure && h(Problem, { failure: answer.failure, again: answer.again }),
    !data && !answer.failure && h(Loading),
    data && h(Editor, { sheet, words, tenant: data.tenant, etag, keep }));
}

function Editor({ sheet, words, tenant, etag, keep }) {
  const was = flat(sheet.form, tenant);
  const [typed, setTyped] = state(was);
  const [found, setFound] = state(null);
  const [draft, setDraft] = state(null);
  const { name, branding } = tenant;

  effect(() => {
    dress(branding);

    if (name !== session.tenant.name) {
      take({ ...session, tenant: { ...session.tenant, name } });
    }
  }, [name, branding]);

  const fields = fieldsOf(sheet.form, found);

  const save = async changed => {
    const sent = await send({ sheet, words, etag, was, changed, fields });
    const now = await call({ path: sheet.path });

    keep(() => now);

    if (sent) {
      const { toast } = await late(import("../ui/toast.js"));

      toast(text.saved);
    }
  };

  return h("div", { class: "branding" },
    h("div", {},
      h(Logo, { path: `${sheet.path}/logo`, words: words.logo, tenant, etag, keep, draft,
                setDraft, read: () => call({ path: sheet.path }) }),
      h("div", { class: "panel" }, h(Form, {
        key: keyOf(was, was), fields, value: was, verb: text.save, onsave: save,
        words: server.features.mail ? words
          : { ...words, help: { ...words.help, "branding.allowPasswordless": words.noMail } },
        beside: name => fields[name].kind === "color" ? beside({ name, typed, found, words })
                                                      : null,
        about: all => h(Told, { all, told: setTyped }),
      }))),
    h(Preview, {
      words, told: setFound, name: typed.name, logo: draft?.url,
      theme: themeOf(typed, branding.logoUrl),
      signUp: typed["branding.allowSelfSignup"], byMail: typed["branding.allowPasswordless"],
    }));
}

// What it is made of comes after the form: that of the pages of sign-in.

const Drawn = later(async () => (await import("./signinpreview.js")).Preview,
                    () => h("section", { class: "panel preview" }, h(Loading)));

const Preview = props => h(Drawn, props);

Preview.failed = () => h("section", { class: "panel preview" },
  h("p", { role: "alert" }, text.errors.not_loaded));

// A form keeps what is typed; this tells it to whoever else shows it.

function Told({ all, told }) {
  effect(() => told(all), [JSON.stringify(all)]);

  return null;
}


// --- a tenant, as a form has it ------

// What has no field of its own is of applications, and published nowhere.

function flat(form, { name, branding }) {
  const names = Object.keys(form).filter(one => one.startsWith(BELOW));
  const { logoUrl, ...more } = branding;

  names.forEach(one => delete more[keyIn(one)]);

  return {
    name,
    ...Object.fromEntries(names.map(one => {
      const value = branding[keyIn(one)] ?? null;

      return [one, typeof value === "number" ? String(value) : value];
    })),
    more: Object.keys(more).length > 0 ? more : null,
  };
}

// An empty field shows what the page has of its own.

const fieldsOf = (form, found) => ({
  ...Object.fromEntries(Object.entries(form).map(([name, field]) =>
    [name, field.kind === "color" && found ? { ...field, own: hexOf(found.own[keyIn(name)]),
                                               now: hexOf(found.given[keyIn(name)]) } : field])),
  more: { kind: "json", part: "more" },
});

// What a merge makes the one of the other by (RFC 7396).

const patchOf = (before, after) => Object.fromEntries(
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter(key => !same(before[key], after[key]))
    .map(key => [key, isMap(before[key]) && isMap(after[key]) ? patchOf(before[key], after[key])
                      : after[key] ?? null]));

function bodyOf({ name, more, ...changed }, before) {
  const branding = {
    ...more !== undefined && patchOf(before.more ?? {}, more ?? {}),
    ...Object.fromEntries(Object.entries(changed).map(([one, value]) => [keyIn(one), value])),
  };

  return { ...name !== undefined && { name },
           ...Object.keys(branding).length > 0 && { branding } };
}

// Of what somebody else has added to those values the dialog has told whoever sends.

async function send({ sheet, words, etag, was, changed, fields }) {
  const { more } = changed;
  const taken = [...Object.keys(sheet.form), ...sheet.leaves];
  let before = was;

  if (more && (!isMap(more) || Object.keys(more).some(key => taken.includes(BELOW + key)))) {
    throw new Failure("invalid_request", words.noObject, { member: "more" });
  }

  return sendOver({
    etag, path: sheet.path, was, changed, fields, words,
    of({ tenant }) {
      before = flat(sheet.form, tenant);

      return before;
    },
    send: tag => call({ method: sheet.change, path: sheet.path, etag: tag,
                        body: bodyOf(changed, before) }),
  });
}


// --- colours -------------------------

const hexOf = rgb => `#${rgb.map(v => v.toString(16).padStart(2, "0")).join("")}`;

const isLength = value => /^\d{1,3}(?:\.\d+)?(?:px|rem|em|%)?$/.test(value);

const isColor = (name, value) => CSS.supports("color", value)
                                 && (name !== "branding.primary" || value.startsWith("#"));

// What the server would refuse the page has not.

const themeOf = (typed, logoUrl) => ({
  logoUrl,
  ...Object.fromEntries(Object.entries(typed)
    .filter(([name, value]) => name.startsWith(BELOW) && !none(value)
      && (name === "branding.radius" ? isLength(value) : isColor(name, value)))
    .map(([name, value]) => [keyIn(name), value])),
});

Object.assign(kinds, { color: {
  of: value => value ?? "",
  to: typed => none(typed) ? null : typed.trim(),
  empty: none,
  draw: ({ id, name, field, typed, set, words, attributes }) => h("span", { class: "color" },
    h("input", {
      ...attributes, id, name, value: typed, placeholder: field.own, maxlength: 64,
      autocomplete: "off", spellcheck: "false", oninput: event => set(event.target.value),
    }),
    h("input", {
      type: "color", value: field.now ?? "#000000", disabled: attributes.disabled,
      "aria-label": fill(words.choose, { name: words.fields[name] }),
      oninput: event => set(event.target.value),
    })),
} });


// The contrast of a text stands beside its colour; that of a button under the pointer
// beside the one that it has then.

const fieldOf = ({ text, ground }) => BELOW + (ground === "primaryHover" ? ground : text);

function beside({ name, typed, found, words }) {
  const value = typed[name];
  const pair = found?.pairs.find(one => fieldOf(one) === name);

  return !none(value) && !isColor(name, value) ? h("p", { class: "muted" }, words.noColor)
    : pair ? h(Contrast, { ...pair, is: found.colors[pair.gives], words: words.contrast }) : null;
}

// It is never said to be more than it is.

function Contrast({ ground, ratio, gives, instead, is, words }) {
  const known = instead ?? (is?.[0] ? "white" : "black");

  return h("p", { class: "contrast" },
    h("span", { class: gives ? "badge warn" : "badge good" },
      fill(words.ratio, { ratio: Math.floor(ratio * 10) / 10 })),
    " ", words.on[ground], " ",
    gives ? fill(words.low, { instead: words.instead[known] }) : words.fine);
}


export default { branding: { List: Branding } };
