// What an access policy decides, and which of its rules never do: as the server judges,
// who has the last word.  Nothing of the page is in it.

export const ACTIONS = ["allow", "mfa", "deny"];

export const TONES = { allow: "good", mfa: "warn", deny: "bad" };

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

export const snapshotOf = ({ rules, defaultAction }) => ({ rules, defaultAction });

const NOWHERE = "ZZ";           // the country that is not known


// --- addresses -----------------------

// Returns { bits, value }, or null.  A mapped address is the one of IPv4.

export function addressOf(text) {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) {
    const parts = text.split(".").map(Number);

    return parts.every(part => part <= 255)
      ? { bits: 32, value: parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n) } : null;
  }

  const value = sixOf(text);

  return value === null ? null : value >> 32n === 0xffffn
    ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
}

function sixOf(text) {
  const four = text.match(/^(.*:)(\d{1,3}(?:\.\d{1,3}){3})$/);

  if (four) {
    const { value } = addressOf(four[2]) ?? {};

    return value === undefined ? null
      : sixOf(`${four[1]}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`);
  }

  const halves = text.split("::");
  const [head, tail] = halves.map(half => half === "" ? [] : half.split(":"));
  const there = head.length + (tail?.length ?? 0);

  if (halves.length > 2 || (tail ? there > 7 : there !== 8)
      || ![...head, ...tail ?? []].every(part => /^[0-9a-f]{1,4}$/i.test(part)))
  {
    return null;
  }

  return [...head, ...Array(8 - there).fill("0"), ...tail ?? []]
    .reduce((sum, part) => sum * 65536n + BigInt(`0x${part}`), 0n);
}


// The first and the last address of a network.

export function networkOf(text) {
  const [name, prefix] = text.split("/");
  const address = addressOf(name);

  if (!address) {
    return null;
  }

  const mapped = address.bits === 32 && name.includes(":");
  const given = prefix === undefined ? address.bits : Number(prefix) - (mapped && prefix ? 96 : 0);

  if (!(given >= 0 && given <= address.bits)) {
    return null;
  }

  const size = 1n << BigInt(address.bits - given);
  const first = address.value / size * size;

  return { bits: address.bits, first, last: first + size - 1n };
}


// What networks hold together, by the kind of address: ranges that do not touch.  Each
// rule is looked at beside each other one: what is known of a list is kept with it.

const known = new WeakMap();

function rangesOf(networks) {
  if (!known.has(networks)) {
    const all = networks.map(networkOf).filter(Boolean);

    known.set(networks, [32, 128].map(bits => joined(all.filter(one => one.bits === bits))));
  }

  return known.get(networks);
}

function joined(networks) {
  const ranges = [];

  for (const { first, last } of networks.sort((a, b) => a.first < b.first ? -1 : 1)) {
    const before = ranges.at(-1);

    if (before && first <= before.last + 1n) {
      before.last = last > before.last ? last : before.last;
    } else {
      ranges.push({ first, last });
    }
  }

  return ranges;
}

const within = (inner, outer) => rangesOf(inner).every((ranges, n) => ranges.every(a =>
  rangesOf(outer)[n].some(b => b.first <= a.first && a.last <= b.last)));

const EVERYWHERE = ["0.0.0.0/0", "::/0"];


// --- times ---------------------------

const clocks = new Map();       // by zone: to make one takes long

function clockIn(timezone) {
  if (!clocks.has(timezone)) {
    clocks.set(timezone, new Intl.DateTimeFormat("en", {
      timeZone: timezone, weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
    }));
  }

  return clocks.get(timezone);
}


// The day and the minute there, or null where the zone is not known here.

export function clockOf(timezone, at) {
  try {
    const parts = Object.fromEntries(clockIn(timezone).formatToParts(at)
                                                      .map(({ type, value }) => [type, value]));

    return { day: DAYS.indexOf(parts.weekday.toLowerCase()),
             minute: Number(parts.hour) * 60 + Number(parts.minute) };

  } catch {
    return null;
  }
}

export const minuteOf = text => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

function open({ days = DAYS, start, end, timezone = "UTC" }, at) {
  const there = clockOf(timezone, at);

  if (!there) {
    return false;
  }

  const [from, to] = [minuteOf(start), minuteOf(end)];
  const on = day => days.includes(DAYS[(day + 7) % 7]);
  const { day, minute } = there;

  return from < to ? on(day) && minute >= from && minute < to
                   : on(day) && minute >= from || on(day - 1) && minute < to;
}


// --- decisions -----------------------

// Why a rule does not match: "disabled", "network", "country", "time"; null when it does.

export function missOf(rule, { address, country, at }) {
  const { enabled = true, networks = [], countries = [], timeWindows = [] } = rule;
  const where = addressOf(address);

  if (!enabled) {
    return "disabled";
  }

  if (networks.length > 0 && !networks.map(networkOf).some(one => one && where
      && one.bits === where.bits && one.first <= where.value && where.value <= one.last))
  {
    return "network";
  }

  if (countries.length > 0
      && !countries.some(one => one.toUpperCase() === (country || NOWHERE).toUpperCase()))
  {
    return "country";
  }

  return timeWindows.length > 0 && !timeWindows.some(one => open(one, at)) ? "time" : null;
}


// The first rule that matches decides; -1 is the default action.

export function decide({ rules, defaultAction }, signIn) {
  const misses = rules.map(rule => missOf(rule, signIn));
  const rule = misses.indexOf(null);

  return { rule, misses, action: rule < 0 ? defaultAction : rules[rule].action };
}


// --- rules that never decide ---------

const forAll = ({ networks = [], countries = [], timeWindows = [] }) =>
  countries.length === 0 && timeWindows.length === 0
  && (networks.length === 0 || within(EVERYWHERE, networks));

const among = (inner, outer) => outer.length === 0
  || inner.length > 0 && inner.every(one => outer.includes(one));

// Whether a rule matches whatever another one does.  Of time windows it is sure only
// where they are equal.

const covers = (a, b) =>
  (forAll({ networks: a.networks }) || (b.networks ?? []).length > 0
                                       && within(b.networks, a.networks ?? []))
  && among(b.countries ?? [], a.countries ?? [])
  && among((b.timeWindows ?? []).map(one => JSON.stringify(one)),
           (a.timeWindows ?? []).map(one => JSON.stringify(one)));


// Of each rule: whether it matches everybody, and the place of an earlier one that leaves
// it nothing to decide, or null.

export const marksOf = rules => rules.map((rule, n) => {
  const { enabled = true } = rule;
  const above = enabled ? rules.slice(0, n).findIndex(one => (one.enabled ?? true)
                                                             && covers(one, rule)) : -1;

  return { all: enabled && forAll(rule), above: above < 0 ? null : above };
});
