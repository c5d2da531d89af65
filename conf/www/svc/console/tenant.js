// Addresses that are blocked, and domains: what their sheets do not say.

import { call, Failure, session } from "../ui/call.js";
import { Code, Id } from "../ui/copy.js";
import { confirm } from "../ui/dialog.js";
import { h, state } from "../ui/draw.js";
import { Loading, Problem, useWait } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { here, link } from "../ui/place.js";
import { useAnswer } from "../ui/table.js";
import { text } from "../ui/text.js";
import { about } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { fill, shown } from "../ui/words.js";
import { activity } from "./activity.js";
import { SheetNew, SheetView } from "./object.js";
import { pathOf } from "./sheet.js";
import { dig } from "./snippets.js";
import { FEDERATION } from "./tenant.sheet.js";


// --- blocked addresses ---------------

const HOURS = [1, 24, 168, 720, "at"];

// "ip" in the address of the page is that of an incident, for example.

function BlockNew(props) {
  const { sheet, words } = props;
  const { ip, reason, expiresAt } = sheet.form;
  const [now] = state(Date.now);        // the same for each attempt
  const { data } = useAnswer({ path: "/auth/sessions", query: { limit: 500 } }, []);
  const own = data?.sessions.find(one => one.current)?.ip;

  return h(SheetNew, {
    ...props,
    words: { ...words, help: { ...words.help,
                               ip: own ? fill(words.help.own, { ip: own }) : words.help.ip } },
    fields: {
      ip: { ...ip, first: here().query.ip }, reason,
      lasts: { kind: "choice", options: HOURS, none: true, first: 24 },
      expiresAt: { ...expiresAt, must: true, when: typed => typed.lasts === "at" },
    },
    bodyOf: ({ lasts, ...block }) => typeof lasts !== "number" ? block
      : { ...block, expiresAt: new Date(now + lasts * 3600000).toISOString() },
  });
}


// --- domains -------------------------

const DomainView = props => h(SheetView, {
  ...props,
  draw: (one, again) => h(Steps, { one, again, words: props.words }),
  tabs: {
    signIn: tab => h(SignIn, { ...tab, words: props.words }),
    ...activity("domain"),
  },
});

const Record = ({ one, words }) => {
  const { name, type, value } = one.verification;

  return h("div", {},
    h("p", {}, words.publishNote),
    h("dl", {},
      h("dt", {}, words.type), h("dd", {}, h("code", {}, type)),
      h("dt", {}, words.name), h("dd", {}, h(Id, { value: name })),
      h("dt", {}, words.value), h("dd", {}, h(Id, { value }))),
    h("p", {}, words.look),
    h(Code, { value: dig(name) }));
};

function Steps({ one, words, again }) {
  return h("div", { class: "panel" }, h("ol", { class: "steps" },
    h("li", { class: one.verified ? "done" : "now" },
      h("h2", {}, words.publish),
      one.verified ? h("details", {}, h("summary", {}, words.record), h(Record, { one, words }))
                   : h(Record, { one, words })),
    h("li", { class: one.verified ? "done" : "now" },
      h("h2", {}, words.verify),
      one.verified
        ? h("p", {}, fill(words.verifiedNote, { verifiedAt: about(one.verifiedAt) }))
        : h(Verify, { one, words, again })),
    h("li", { class: one.verified && "now" },
      h("h2", {}, words.point),
      h("ul", {}, words.pointNotes.map(note => h("li", { key: note }, note))),
      one.verified && link(`https://${one.domain}/login`, {}, words.open))));
}

function Verify({ one, words, again }) {
  const [failure, setFailure] = state(null);
  const [busy, setBusy] = state(false);
  const seconds = useWait(failure);

  const verify = async () => {
    setBusy(true);
    setFailure(null);

    try {
      await call({ method: "POST", path: pathOf("/admin/domains/{domain}/verify", one),
                   body: {} });
      toast(fill(words.verified, { name: shown(one.domain) }));
      again();

    } catch (e) {
      setFailure(e);

    } finally {
      setBusy(false);
    }
  };

  return h("div", {},
    h("p", {}, words.verifyNote),
    h("p", {}, h("button", {
      type: "button", class: "primary", disabled: busy || seconds > 0, onclick: verify,
    }, seconds > 0 ? fill(text.againIn, { n: seconds }) : words.verifyVerb)),
    failure && h(Problem, { failure }));
}


// By which connection alone its people come in.

async function connections() {
  const [social, saml, ldap] = await Promise.all([
    call({ path: "/admin/social/connections", query: { limit: 500 } }),
    call({ path: "/admin/saml" }), call({ path: "/admin/ldap" }),
  ]);

  return { data: [...social.data.connections, saml.data, ldap.data].filter(one => one.enabled) };
}

function SignIn({ one, again, words }) {
  const { data, failure, again: once } = useAnswer(connections, []);
  const [off, setOff] = state(false);
  const said = words.force;
  const isOwner = session.role === "owner";
  const nameOf = found => shown(found?.label ?? found?.connection ?? one.signIn);

  const save = async (changed, all) => {
    const found = data.find(c => c.connection === all.connection);
    const values = { name: shown(one.domain), connection: nameOf(found) };

    if (changed.connection && !await confirm({
      title: fill(said.title, values), verb: said.verb,
      notes: said.notes.map(note => fill(note, values)),
    }))
    {
      throw new Failure("cancelled");
    }

    try {
      await call({ method: "PUT", path: pathOf("/admin/domains/{domain}/sign-in", one),
                   body: all });

    } catch (e) {
      setOff(e.status === 404);
      throw e;
    }

    toast(said.done);
    again();
  };

  if (!data) {
    return failure ? h(Problem, { failure, again: once })
                   : h(Loading);
  }

  const fixed = !one.verified ? said.verifyFirst
              : !isOwner ? fill(said.ownerOnly, { role: shown(session.role) })
              : data.length === 0 && !one.signIn ? said.noConnection : false;

  return h("div", { class: "panel" },
    h("p", {}, said.note),
    h("h2", {}, said.takes),
    h("ul", {}, said.needs.map(need => h("li", { key: need }, need))),
    off && h("p", { class: "problem" }, fill(text.isOff, { directive: FEDERATION })),
    h(SignInForm, { one, data, fixed, words, nameOf, save }));
}

function SignInForm({ one, data, fixed, words, nameOf, save }) {
  const { option, never } = words.force;
  const isNever = key => data.find(c => c.connection === key).linkByEmail === "never";

  return h(Form, {
    key: JSON.stringify(one), verb: text.save, onsave: save,
    value: { connection: one.signIn, includeSubdomains: one.includeSubdomains,
             endSessions: false },
    words: { ...words, options: { connection: Object.fromEntries(data.map(found =>
      [found.connection, fill(isNever(found.connection) ? never : option,
                              { name: nameOf(found) })])) } },
    fields: {
      connection: { kind: "choice", none: true, fixed,
                    options: data.map(found => found.connection),
                    off: key => key !== one.signIn && isNever(key) },
      includeSubdomains: { kind: "switch", fixed: Boolean(fixed) },
      endSessions: { kind: "switch", fixed: Boolean(fixed),
                     when: typed => typed.connection !== "" },
    },
  });
}

export default {
  blocks: { New: BlockNew },
  domains: { View: DomainView },
};
