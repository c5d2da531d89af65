// The sections of the account.  What changes something comes when it is asked for, in
// change.js, factors.js and access.js; and the rows of the last two, in others.js.

import { options } from "../brand.js";
import { usable } from "../passkey.js";
import { late } from "../ui/call.js";
import { effect, h } from "../ui/draw.js";
import { later, Problem } from "../ui/fail.js";
import { about, exact } from "../ui/time.js";
import { fill, language, list, shown, wordOf } from "../ui/words.js";
import { Act, Badge, Row, Rows, Section, learnMore, words } from "./parts.js";

const from = (file, name) => async (...what) => {
  const [module] = await Promise.all([import(`./${file}.js`), learnMore()]);

  return module[name](...what);
};

const rows = name => later(() => late(import("./others.js")).then(
  others => others[name], failure => () => h(Problem, { failure })));

const Linked = rows("Linked");
const Allowed = rows("Allowed");

const change = name => from("change", name);
const factor = name => from("factors", name);
export const access = name => from("access", name);


// --- who it is -----------------------

// Whether mail is sent at all.

const mails = () => Boolean(options.methods.passwordReset);


export function Profile({ part, renew, again }) {
  const w = words.profile;

  return h(Section, { id: "profile", title: w.title, part, again, draw: fail => {
    const profile = part.value;
    const own = profile.source !== "scim";
    const { displayName, firstName, lastName, email, emailVerified, locale, role } = profile;
    const names = [firstName, lastName].filter(Boolean).join(" ");

    return [
      !own && h("p", { class: "muted" }, w.scim),
      h(Rows, {},
        h(Row, { title: shown(displayName || names || w.noName),
                 notes: [displayName && names !== displayName && shown(names),
                         fill(w.language, { value: languageOf(locale) }),
                         fill(w.role, { value: wordOf(words.roles, role) ?? shown(role) })] },
          own && h(Act, { label: words.edit, of: w.title, fail,
                          action: () => change("editProfile")(profile, renew) })),
        h(Row, { title: shown(email), notes: [w.address],
                 badges: emailVerified ? h(Badge, { kind: "good" }, w.verified)
                                       : h(Badge, { kind: "warn" }, w.unverified) },
          !emailVerified && mails()
            && h(Act, { label: w.verify, of: w.address, fail,
                        action: () => change("verifyAddress")(email, renew) }),
          own && mails()
            && h(Act, { label: w.change, of: w.address, fail,
                        action: () => change("changeAddress")(email, renew) }))),
    ];
  } });
}

const languageOf = locale => {
  try {
    return locale ? new Intl.DisplayNames([locale], { type: "language" }).of(locale)
                  : words.profile.asBrowser;

  } catch {
    return shown(locale);
  }
};


// Nothing tells whether somebody has one.  Whose account is of here has; others have, if
// one of their sessions has begun by it.

export function Password({ profile, sessions, renew }) {
  const w = words.password;
  const methods = sessions?.value?.sessions.flatMap(s => s.methods) ?? [];
  const { source, email } = profile.value ?? {};
  const directory = source === "ldap" || methods.includes("ldap");
  const has = ["local", "invitation"].includes(source) || methods.includes("password");

  if (!profile.value) {
    return null;
  }

  return h(Section, {
    id: "password", title: w.title, part: profile,
    draw: fail => directory ? h("p", { class: "muted" }, w.directory)
      : has ? h(Rows, {},
          h(Row, { title: "••••••••", notes: [w.note] },
            h(Act, { label: words.profile.change, of: w.title, fail,
                     action: () => change("changePassword")(email, renew) })))
      : h(Rows, {},
          h(Row, { title: w.none },
            mails() && h(Act, { label: w.link, fail, action: () => change("sendLink")(email) }))),
  });
}



// --- what proves it ------------------

const ofType = (part, type) => part.value.factors.filter(f => f.type === type);


// A factor: when it came, when it was used, and what may be done to it.

const Factor = ({ it, badges, part, renew, fail }) => h(Row, {
  title: shown(it.name), badges,
  notes: [[fill(words.factor.addedAt, { when: about(it.createdAt) }),
           it.lastUsedAt ? fill(words.factor.used, { when: about(it.lastUsedAt) })
                         : words.factor.unused].join(" · ")],
},
  it.confirmed && it.type !== "email" && h(Act, { label: words.rename, of: it.name, fail,
           action: () => factor("rename")(it, renew) }),
  h(Act, { label: words.remove, of: it.name, fail, kind: "danger",
           action: () => factor("remove")(it, part.value.factors, renew) }));


export function Passkeys({ part, renew, again }) {
  const w = words.passkeys;

  return h(Section, { id: "passkeys", title: w.title, note: w.note, part, again, draw: fail => [
    h(Rows, { none: w.none },
      ofType(part, "passkey").map(it => h(Factor, {
        key: it.id, it, part, renew, fail,
        badges: h(Badge, { kind: it.backedUp ? "good" : "info" },
                  it.backedUp ? w.synced : w.bound),
      }))),
    usable() ? h(Act, { label: w.add, fail, action: () => factor("addPasskey")(renew) })
             : h("p", { class: "muted" }, w.unusable),
  ] });
}


export function Factors({ part, profile, renew, again }) {
  const w = words.factors;

  return h(Section, { id: "factors", title: w.title, note: w.note, part, again, draw: fail => {
    const counts = part.value.factors.filter(f => f.confirmed);
    const apps = ofType(part, "totp");

    return [
      counts.length === 0 && h("p", {}, h(Badge, { kind: "warn" }, w.off)),
      h("h3", {}, w.apps),
      h(Rows, { none: w.noApps },
        apps.map(it => h(Factor, {
          key: it.id, it, part, renew, fail,
          badges: !it.confirmed && h(Badge, { kind: "off" }, w.unconfirmed),
        }))),
      h(Act, { label: w.addApp, fail,
               action: () => factor("addApp")(apps.length, renew) }),
      h(Mail, { part, profile, renew, fail }),
      counts.length > 0 && h(Recovery, { left: part.value.recoveryCodesLeft, renew, fail }),
    ];
  } });
}

function Mail({ part, profile, renew, fail }) {
  const w = words.factors;
  const own = ofType(part, "email").filter(it => it.confirmed);
  const { email, emailVerified } = profile?.value ?? {};

  if (own.length === 0 && !mails()) {
    return null;
  }

  return h("div", {},
    h("h3", {}, w.mail),
    own.length > 0 ? h(Rows, {},
        own.map(it => h(Factor, { key: it.id, it: { ...it, name: email ?? it.name }, part,
                                  renew, fail })))
      : emailVerified ? h(Act, { label: w.addMail, fail,
                                 action: () => factor("addMail")(email, renew) })
      : h("p", { class: "muted" }, w.unverified));
}

function Recovery({ left, renew, fail }) {
  const w = words.factors;

  return h("div", {},
    h("h3", {}, w.recovery),
    h(Rows, {},
      h(Row, { title: left > 0 ? fill(w.left, { n: left }) : w.noneLeft,
               badges: left < 3 && h(Badge, { kind: "warn" }, w.few) },
        h(Act, { label: w.fresh, fail, action: () => factor("freshCodes")(left, renew) }))));
}


// Those of a list that are not shown yet.

export const More = ({ total, rows, fail, action }) => total > rows.length
  ? h(Act, { label: fill(words.more, { n: total }), fail, action }) : null;

export const wantsAll = (name, renew) => () => renew([name], 500);


// --- sessions ------------------------

export function Sessions({ part, renew, again }) {
  const w = words.sessions;

  return h(Section, { id: "sessions", title: w.title, note: w.note, part, again, draw: fail => {
    const { sessions, total } = part.value;
    const rows = [...sessions].sort((a, b) => b.current - a.current);

    return [
      h(Rows, {},
        rows.map(it => h(Session, { key: it.id, it, fail, renew }))),
      h("div", { class: "actions" },
        h(More, { total, rows, fail, action: wantsAll("sessions", renew) }),
        total > 1 && h(Act, { label: w.others, fail, kind: "danger",
                              action: () => access("endOthers")(total - 1, renew) })),
    ];
  } });
}

function Session({ it, fail, renew }) {
  const w = words.sessions;
  const name = device(it.userAgent) || shown((it.userAgent ?? "").slice(0, 60)) || w.unknown;
  const methods = list(it.methods.map(m => wordOf(w.methods, m) ?? shown(m)));

  return h(Row, {
    title: h("span", { title: it.userAgent && shown(it.userAgent) }, name),
    badges: it.current && h(Badge, { kind: "good" }, w.current),
    notes: [
      [it.ip, it.country && countryOf(it.country),
       !it.current && fill(w.seen, { when: about(it.lastSeenAt) })].filter(Boolean).join(" · "),
      [fill(w.began, { when: exact(it.createdAt) }),
       methods && fill(w.by, { methods })].filter(Boolean).join(" "),
    ],
  },
    !it.current && h(Act, {
      label: words.end, of: name, fail,
      action: () => access("end")(it, renew),
    }));
}

const countryOf = code => {
  try {
    return new Intl.DisplayNames([language], { type: "region" }).of(code);

  } catch {
    return shown(code);
  }
};



// --- identities of other servers -----

// Without svc_federation nothing is said of "discover".

export const linkable = () => options.methods.discover !== undefined;


// They are read once somebody comes near.

export function Identities({ part, renew, again }) {
  const w = words.identities;

  effect(element => {
    const near = new IntersectionObserver(([{ isIntersecting }]) => {
      if (isIntersecting) {
        near.disconnect();
        again();
      }
    }, { rootMargin: "100px" });

    near.observe(element);

    return () => near.disconnect();
  }, []);

  return h(Section, {
    id: "identities", title: w.title, note: w.note, part, again,
    draw: fail => h(Linked, { ...part.value, renew, fail }),
  });
}


// --- what applications may do --------

export function Consents({ part, scopes, renew, again }) {
  const w = words.consents;

  return h(Section, {
    id: "consents", title: w.title, note: w.note, part, again,
    draw: fail => h(Allowed, { ...part.value, scopes, renew, fail }),
  });
}


// --- what a browser calls itself, in few words

const BROWSERS = [
  [/\bEdgA?\//, "Edge"], [/\bOPR\//, "Opera"], [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"], [/(?:Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"], [/^curl\//, "curl"],
];

const SYSTEMS = [
  [/\bAndroid\b/, "Android"], [/\biPhone\b/, "iPhone"], [/\biPad\b/, "iPad"],
  [/\bWindows\b/, "Windows"], [/\bCrOS\b/, "ChromeOS"], [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

const firstOf = (names, agent) => names.find(([sign]) => sign.test(agent))?.[1];

export const device = agent =>
  [firstOf(BROWSERS, agent ?? ""), firstOf(SYSTEMS, agent ?? "")].filter(Boolean).join(" · ");
