// New invitations, many at once.

import { call, Failure, may } from "../ui/call.js";
import { Copy } from "../ui/copy.js";
import { confirm } from "../ui/dialog.js";
import { effect, h, state } from "../ui/draw.js";
import { sentence } from "../ui/fail.js";
import { Form } from "../ui/form.js";
import { forEach } from "../ui/many.js";
import { go, guard, here, Link } from "../ui/place.js";
import { Table } from "../ui/table.js";
import { fill } from "../ui/words.js";
import { addressesOf } from "./addresses.js";
import { at } from "./nav.js";
import { choiceOfRole } from "./people.js";
import { ALL } from "./peoplelists.js";
import { Head } from "./sheet.js";

const MOST = 50;

const FIND_GROUPS = { path: "/admin/groups", list: "groups", id: "id", name: "name" };

function InviteNew({ view, sheet, words, all }) {
  const [sent, setSent] = state(null);
  const [roles, setRoles] = state(null);
  const above = { view, title: words.title };

  effect(() => {
    if (may("roles:manage")) {
      call(ALL).then(({ data }) => setRoles(data), () => {});
    }
  }, []);

  if (sent) {
    return h(Invited, { view, words, above, sent, more: () => setSent(null) });
  }

  const known = roles && choiceOfRole(roles, all.users.acts.role, null);
  const { expiresInDays } = sheet.form;
  const role = { ...sheet.form.role, first: here().query.role ?? sheet.form.role.first };

  const send = ({ emails, ...rest }) => {
    const { addresses: good, others } = addressesOf(emails.join("\n"));
    const addresses = [...new Set([...good, ...others])];

    if (addresses.length > MOST) {
      throw new Failure("invalid_request", fill(words.tooMany, { n: addresses.length }),
                        { member: "emails" });
    }

    setSent({ addresses, rest, keys: new Map(addresses.map(a => [a, crypto.randomUUID()])) });
  };

  return h("div", {},
    h(Head, { title: words.new, above }),
    h("div", { class: "panel" },
      h(Form, {
        fields: {
          emails: { kind: "list", must: true, rows: 6 },
          role: known ? { ...known.field, first: role.first } : role,
          groupIds: { kind: "picks", find: FIND_GROUPS, fixed: !may("groups:manage")
            && fill(words.groupsNeed, { permission: "groups:manage" }) },
          expiresInDays,
        },
        words: { ...words, options: { role: known?.names },
                 help: { ...words.help, role: known ? words.help.roles : words.help.role } },
        verb: words.invite, onsave: send, oncancel: () => go(at(view)),
      })));
}


// What has become of each address.  The links are in this view alone.

const OUTCOMES = {
  id: "email", tones: { outcome: { invited: "good", again: "warn", refused: "bad" } },
};

const outcomesOf = rows => ({
  ...OUTCOMES,
  columns: { email: "text", outcome: "badge",
             ...rows.some(row => row.inviteUrl) && { inviteUrl: "copy" },
             ...rows.some(row => row.why) && { why: "text" } },
});

// Invites them, and says what has come of each: { rows, busy, retry }.

function useInvites(sent, words) {
  const [rows, setRows] = state(() => sent.addresses.map(email => ({ email, outcome: "waiting" })));
  const [round, setRound] = state(0);
  const [busy, setBusy] = state(true);

  const invite = signal => async email => {
    let row, failed = null;

    try {
      const { data, replayed } = await call({
        method: "POST", path: "/admin/invitations", key: sent.keys.get(email),
        body: { email, ...sent.rest },
      });

      row = { ...data, email, outcome: replayed ? "again" : "invited",
              why: replayed ? words.lost : null };

    } catch (e) {
      failed = e;
      row = { email, outcome: "refused", why: [sentence(e), e.message].filter(Boolean).join(" ") };
    }

    if (!signal.aborted) {
      setRows(before => before.map(one => one.email === email ? row : one));
    }

    return failed;
  };

  effect(() => {
    const ended = new AbortController();
    const left = rows.filter(row => row.outcome === "waiting" || row.outcome === "refused");

    setBusy(true);
    forEach(left.map(row => row.email), invite(ended.signal), ended.signal)
      .finally(() => ended.signal.aborted || setBusy(false));

    return () => ended.abort();
  }, [round]);

  return { rows, busy, retry: () => setRound(n => n + 1) };
}

function Invited({ view, words, above, sent, more }) {
  const { rows, busy, retry } = useInvites(sent, words);

  effect(() => busy ? guard(() => confirm({ title: words.leave, verb: words.stop })) : null,
         [busy]);

  const made = rows.filter(row => row.outcome === "invited" || row.outcome === "again");
  const links = rows.filter(row => row.inviteUrl);
  const tried = rows.filter(row => row.outcome !== "waiting");

  return h("div", {},
    h(Head, { title: words.results, above }),
    h("p", { role: "status" }, busy
      ? fill(words.underWay, { n: tried.length, total: rows.length })
      : fill(words.over, { n: made.length, total: rows.length })),
    links.length > 0 && h("p", { class: "muted" }, words.links),
    h("div", { class: "tools" },
      links.length > 1 && h(Copy, {
        label: words.copyAll,
        value: links.map(row => `${row.email}\t${row.inviteUrl}`).join("\n"),
      }),
      !busy && made.length < rows.length && h("button", {
        type: "button", onclick: retry,
      }, words.retry)),
    h(Table, { sheet: outcomesOf(rows), words, rows, loading: false }),
    !busy && h("p", { class: "actions end" },
      h("button", { type: "button", onclick: more }, words.more),
      h(Link, { class: "button primary", to: at(view) }, words.back)));
}


export default { invitations: { New: InviteNew } };
