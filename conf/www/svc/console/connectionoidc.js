// Connections with providers, by OpenID Connect or OAuth 2.0.

import { call, session } from "../ui/call.js";
import { Badge } from "../ui/cells.js";
import { h, state } from "../ui/draw.js";
import { none } from "../ui/fields.js";
import { Form, keyOf } from "../ui/form.js";
import { go } from "../ui/place.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import {
  bodyOf, choosing, Covers, differs, flat, keepLinks, mayChange, Page, patchOver, Remove, Urls,
  useConnection, Waiting,
} from "./connectionform.js";
import { domainsOf, titleOf } from "./connectionlist.js";
import { fieldsOf, pathTo } from "./connections.sheet.js";
import { Test } from "./connectiontest.js";
import { useFollow } from "./follow.js";
import { at } from "./nav.js";
import { server } from "./server.js";
import { Head, withLock } from "./sheet.js";

const IDENTITY = ["issuer", "tenantId"];        // other ones are another connection
const SECRET = [...IDENTITY, "clientId"];       // what its secret was given for

// claims that are looked at where no others are named

const USUAL = [["firstName", "given_name"], ["lastName", "family_name"], ["displayName", "name"]];

const PENDING = { pause: 2000, most: 15 };

const base = key => `${server.baseUrl}/v1/tenants/${session.tenant.slug}/federation/${key}`;

// Only a provider that speaks all of OpenID Connect knows the others.

const urlsOf = (kind, of) => [
  ["redirectUri", `${of}/callback`],
  ...kind === "oidc" ? [["initiate", `${of}/initiate`],
                        ["backchannelLogout", `${of}/backchannel-logout`]] : [],
];

const Theirs = ({ kind, of, words }) => h("div", { class: "theirs" },
  h("h2", {}, words.theirs),
  h(Urls, { words, urls: urlsOf(kind, of) }),
  h("p", { class: "muted" }, words.otherHost));

const Guide = ({ kind, words, open }) => h("details", { class: "guide", open },
  h("summary", {}, words.guide),
  h("ol", {}, words.guides[kind].map((step, n) => h("li", { key: n }, step))));


// --- a new one -----------------------

const keyOfNew = ({ key }, kind) => none(key) ? kind : `${kind}-${key}`;

export function New({ view, kind, sheet, words }) {
  const [once] = state(() => crypto.randomUUID());
  const { data: domains, failure, again } =
    useAnswer(async () => ({ data: await domainsOf() }), []);
  const above = { view, title: words.title };
  const title = words.options.kind[kind];

  if (!domains) {
    return h(Waiting, { title, above, failure, again });
  }

  const fields = choosing(fieldsOf(kind), { domains }, words);
  const keyed = kind === "oidc";

  const save = async ({ key, ...given }) => {
    const { data } = await call({
      method: sheet.create, path: sheet.path, key: once,
      body: { ...bodyOf(given), provider: keyOfNew({ key }, kind) },
    });

    toast(fill(words.made, { name: titleOf(data, kind, words) }));
    await go(at(view, data.provider), { sure: true });
  };

  return h("div", {},
    h(Head, { title, above }),
    h("div", { class: "panel" },
      h(Guide, { kind, words, open: true }),
      !keyed && h(Theirs, { kind, words, of: base(kind) }),
      h(Form, {
        words: { ...words, help: helpOf(kind, words) }, verb: withLock(text.create),
        onsave: save, oncancel: () => go(at(view, "new")),
        fields: {
          ...keyed && { key: { kind: "text", max: 30, wrong: ({ key }) =>
            /^[a-z0-9]*$/.test(key) ? null : words.wrongKey } },
          ...fields,
          clientSecret: { ...fields.clientSecret, must: kind !== "oidc" },
        },
        about: all => keyed && h(Theirs, { kind, words, of: base(keyOfNew(all, kind)) }),
      })));
}

const helpOf = (kind, words) => ({
  ...words.help, ...words.helpOf[kind],
  ...Object.fromEntries(USUAL.map(([name, claim]) =>
    [`attributeMapping.${name}`, fill(words.usual, { claim })])),
});


// --- one of them ---------------------

export function View(props) {
  const { view, id, kind, words } = props;
  const { data, failure, again } = useConnection(id);
  const waits = data?.one.enabled && data.one.status === "pending";

  useFollow(waits && server.features.federation, again, PENDING);

  if (!data) {
    return h(Waiting, { title: words.one, above: { view, title: words.title }, failure, again });
  }

  const { one, domains } = data;
  const fields = fieldsFor(kind, data, words);
  const title = titleOf(one, kind, words);

  const patch = async changed => {
    const sent = await patchOver({ path: pathTo(id), data, changed, fields, words });

    again();

    return sent;
  };

  return h(Page, {
    ...props, title, one, failure, again,
    actions: h(Remove, { view, one, title, domains, words }),
    tabs: { test: () => h(Test, { one, title, words }) },
  },
    h(Status, { one, words, again }),
    h(Covers, { one, words, vouch: () => patch({ vouch: true }) }),
    h(Change, { kind, fields, data, words, patch }),
    h("div", { class: "panel" },
      h(Guide, { kind, words }),
      h(Theirs, { kind, words, of: one.redirectUri.replace(/\/callback$/, "") })));
}


function Status({ one, words, again }) {
  return one.status === "ready" ? null : h("div", { class: "panel" },
    h("h2", {}, h(Badge, { value: one.status, words: words.options.status,
                           tone: one.status === "failed" ? "bad" : "info" })),
    h("p", {}, words.statusNote[one.status]),
    one.statusError && h("p", { lang: "en" }, shown(one.statusError)),
    h("p", {}, h("button", { type: "button", onclick: again }, words.look)));
}


function Change({ kind, fields, data, words, patch }) {
  const { one } = data;
  const value = flat(one);

  const save = async ({ secretless, ...changed }) => {
    await mayChange(IDENTITY, changed, data, words);
    await patch({ ...changed, ...secretless && { clientSecret: null } }) && toast(text.saved);
  };

  return h("div", { class: "panel" },
    h(Form, {
      key: keyOf(fields, { ...value, groupMapping: one.groupMapping }), value, fields,
      verb: withLock(text.save), onsave: save,
      words: { ...words, help: {
        ...helpOf(kind, words),
        ...one.secretSet && { clientSecret: words.secretSet },
      } },
    }));
}

function fieldsFor(kind, { one, domains, names }, words) {
  const { clientSecret, ...fields } = choosing(fieldsOf(kind), { domains, names }, words);
  const entries = Object.entries(fields);
  const at = entries.findIndex(([name]) => name === "clientId") + 1;

  const wrong = typed => one.secretSet && none(typed.clientSecret) && differs(SECRET, typed, one)
    ? words.secretAgain : null;

  return Object.fromEntries([
    ...entries.slice(0, at),
    ["clientSecret", { ...clientSecret, wrong, when: typed => !typed.secretless }],
    ...kind === "oidc" && one.secretSet ? [["secretless", { kind: "switch" }]] : [],
    ["keepLinks", keepLinks(IDENTITY, one, words)],
    ...entries.slice(at),
  ]);
}
