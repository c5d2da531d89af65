#!/usr/bin/env python3

# An access policy evaluated as its contract says, word for word, by the
# standard library alone; and random policies and cases to compare with.
#
#   access_oracle.py SEED CASES ZONEINFO QUESTIONS ANSWERS
#
# writes QUESTIONS, lines of JSON (a policy, a case of the policy before it, or
# a time zone and times), and ANSWERS: for each policy a line that says whether
# it admits anybody; for each case one of the action and the index of the rule
# or -1; for each time one of the zone and its offset.

import ipaddress
import json
import random
import sys
import zoneinfo

from datetime import datetime, timedelta, timezone

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
ACTIONS = ["allow", "mfa", "deny"]
COUNTRIES = ["FR", "DE", "US", "ZZ", "AA", "XK", "AZ", "ZA"]

ZONES = [
    "Europe/Paris", "America/New_York", "Australia/Lord_Howe",
    "America/Sao_Paulo", "Africa/Casablanca", "Asia/Kathmandu",
    "Pacific/Apia", "Europe/Dublin", "UTC", "America/Nuuk",
    "Asia/Gaza", "America/St_Johns", "Antarctica/Troll", "Pacific/Kiritimati",
]

FIRST = datetime(1970, 1, 1, tzinfo=timezone.utc)
LAST = datetime(2100, 12, 31, tzinfo=timezone.utc)


# --- the contract -----------------------------------------------------------

def unmap_address(address):
    ip = ipaddress.ip_address(address)

    if ip.version == 6 and ip.ipv4_mapped is not None:
        return ip.ipv4_mapped

    return ip


# A bare address is a network of itself; host bits are masked; a network of
# mapped addresses is the IPv4 one, as the addresses are.

def network_of(text):
    net = ipaddress.ip_network(text, strict=False)

    if net.version == 6 and net.prefixlen >= 96:
        mapped = net.network_address.ipv4_mapped

        if mapped is not None:
            return ipaddress.ip_network((mapped, net.prefixlen - 96))

    return net


def in_window(window, now):
    local = datetime.fromtimestamp(
        now, zoneinfo.ZoneInfo(window.get("timezone", "UTC")))
    days = window.get("days", DAYS)
    m = local.hour * 60 + local.minute
    today = DAYS[local.weekday()]
    yesterday = DAYS[(local.weekday() - 1) % 7]

    start, end = (int(t[:2]) * 60 + int(t[3:])
                  for t in (window["start"], window["end"]))

    if start < end:
        return today in days and start <= m < end

    return (today in days and m >= start) or (yesterday in days and m < end)


def evaluate(policy, networks, address, country, now):
    ip = unmap_address(address)

    for i, rule in enumerate(policy["rules"]):
        if not rule.get("enabled", True):
            continue

        if networks[i] and not any(net.version == ip.version and ip in net
                                   for net in networks[i]):
            continue

        countries = [c.upper() for c in rule.get("countries", [])]

        if countries and (country or "ZZ") not in countries:
            continue

        windows = rule.get("timeWindows", [])

        if windows and not any(in_window(w, now) for w in windows):
            continue

        return rule["action"], i

    return policy["defaultAction"], -1


# Whether nobody is admitted, from anywhere, ever; and the index of the rule that
# denies, or -1.

def denies_all(policy, networks):
    for i, rule in enumerate(policy["rules"]):
        if not rule.get("enabled", True):
            continue

        if rule["action"] in ("allow", "mfa"):
            return False, -1

        if rule.get("countries") or rule.get("timeWindows"):
            continue

        if not networks[i] or covers_all(networks[i]):
            return True, i

    return policy["defaultAction"] == "deny", -1


def covers_all(networks):
    return all(
        [net.prefixlen for net in ipaddress.collapse_addresses(
            net for net in networks if net.version == version)] == [0]
        for version in (4, 6))


# --- random policies and cases ----------------------------------------------

# The instants at which a zone's clock changes, to the second: those that are
# farther apart than so many days.

def changes(name, days):
    zone = zoneinfo.ZoneInfo(name)
    found = []
    before = FIRST
    step = timedelta(days=days)

    while before < LAST:
        after = before + step

        if (before.astimezone(zone).utcoffset()
                != after.astimezone(zone).utcoffset()):
            low, high = int(before.timestamp()), int(after.timestamp())
            offset = before.astimezone(zone).utcoffset()

            while high - low > 1:
                middle = (low + high) // 2

                if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
                    low = middle
                else:
                    high = middle

            found.append(high)

        before = after

    return found


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.changes = {name: changes(name, 7) for name in ZONES}
        # not a name of the database, but this machine's

        self.all = sorted(zoneinfo.available_timezones() - {"localtime"})

    def address4(self):
        r = self.r
        return ipaddress.IPv4Address(
            r.choice([0x0a000000, 0xc0000200, 0xcb007100, 0xffffff00, 0])
            + r.choice([0, 1, 127, 128, 255, r.randrange(256)]))

    def address6(self):
        r = self.r
        base = r.choice(["2001:db8::", "fe80::", "::", "2001:db8:ffff::",
                         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff00",
                         "2001:db8:0:0:ffff:ffff:ffff:ff00"])
        return ipaddress.IPv6Address(
            int(ipaddress.IPv6Address(base))
            + r.choice([0, 1, 127, 255, r.randrange(256)]))

    def network(self):
        r = self.r
        kind = r.random()

        if kind < 0.5:
            ip, bits = self.address4(), r.choice(
                [0, 1, 8, 23, 24, 25, 30, 31, 32, r.randrange(33)])
        elif kind < 0.9:
            ip, bits = self.address6(), r.choice(
                [0, 1, 32, 48, 63, 64, 65, 120, 127, 128, r.randrange(129)])
        else:
            ip = ipaddress.IPv6Address("::ffff:%s" % self.address4())
            bits = r.choice([96, 104, 120, 128, r.randrange(96, 129)])

        text = ip.exploded if r.random() < 0.2 else str(ip)

        if r.random() < 0.2:
            return text

        return "%s/%d" % (text, bits)

    # all addresses of a family, or nearly

    def halves(self, low, high):
        r = self.r
        return r.choice([["%s/0" % low], ["%s/0" % high], ["%s/1" % high],
                         ["%s/1" % low, "%s/1" % high],
                         ["%s/2" % low, "%s/1" % high]])

    # in or at the edge of one of the policy's networks, or anywhere

    def address(self, networks):
        r = self.r
        nets = [net for some in networks for net in some]

        if nets and r.random() < 0.8:
            net = r.choice(nets)
            first, last = int(net[0]), int(net[-1])
            n = r.choice([first, last, first - 1, last + 1,
                          r.randint(first, last)])
            n = min(max(n, 0), 2 ** net.max_prefixlen - 1)
            ip = type(net.network_address)(n)
        else:
            ip = r.choice([self.address4, self.address6])()

        if ip.version == 4 and r.random() < 0.25:
            return "::ffff:%s" % ip

        return str(ip)

    def instant(self):
        r = self.r

        if r.random() < 0.8:
            name = r.choice(ZONES)

            if self.changes[name]:
                return name, r.choice(self.changes[name])

        name = r.choice(self.all)
        return name, r.randrange(int(FIRST.timestamp()),
                                 int(LAST.timestamp()))

    def window(self, focus):
        r = self.r
        name, now = focus
        window = {}

        if r.random() < 0.2:
            name = r.choice(ZONES + self.all)

        local = datetime.fromtimestamp(now - r.randrange(2),
                                       zoneinfo.ZoneInfo(name))
        m = local.hour * 60 + local.minute
        start = (m + r.choice([0, 0, 1, -1, 30, -30, 60, -60,
                               r.randrange(1440)])) % 1440
        end = (m + r.choice([0, 1, -1, 30, 60, 120, -60,
                             r.randrange(1440)])) % 1440 or 1440

        if start == end:
            end = end % 1440 + 1

        window["start"] = "%02d:%02d" % divmod(start, 60)
        window["end"] = "%02d:%02d" % divmod(end, 60)

        if r.random() < 0.7:
            window["days"] = r.sample(DAYS, r.randint(1, 7))

        if name != "UTC" or r.random() < 0.5:
            window["timezone"] = name

        return window

    def rule(self, i, focus, wide):
        r = self.r
        rule = {"name": "rule %d" % i, "action": r.choice(ACTIONS)}

        if r.random() < 0.3:
            rule["enabled"] = r.random() < 0.5

        if wide or r.random() < 0.6:
            rule["networks"] = [self.network()
                                for _ in range(r.choice([0, 1, 2, 5, 20]))]

            if r.random() < 0.2:
                rule["networks"] += self.halves("0.0.0.0", "128.0.0.0")
                rule["networks"] += self.halves("::", "8000::")

        if r.random() < 0.5:
            rule["countries"] = [
                c.lower() if r.random() < 0.3 else c
                for c in r.choices(COUNTRIES, k=r.choice([0, 1, 3]))]

        if wide or r.random() < 0.7:
            rule["timeWindows"] = [self.window(focus)
                                   for _ in range(r.choice([0, 1, 1, 2, 4]))]

        return rule

    def policy(self, focus):
        r = self.r
        n = 100 if r.random() < 0.01 else r.choice([0, 1, 2, 3, 5, 8])
        return {"rules": [self.rule(i, focus, n == 100) for i in range(n)],
                "defaultAction": r.choice(ACTIONS)}

    # around all changes of a zone, and far from them

    def times(self, name):
        at = [t + d for t in changes(name, 20) for d in (-1, 0, 1)]
        at += [self.r.randrange(0, int(LAST.timestamp())) for _ in range(20)]
        return at

    def case(self, focus, networks):
        r = self.r
        now = focus[1] + r.choice([
            0, -1, 1, 59, 60, -60, -61, r.randint(-7200, 7200),
            r.randint(-86400, 86400), r.randint(-8 * 86400, 8 * 86400)])
        country = r.choice(COUNTRIES + [None, None])
        return {"address": self.address(networks), "country": country,
                "now": now}


def main():
    seed, cases, directory, questions, answers = sys.argv[1:]
    zoneinfo.reset_tzpath(to=[directory])

    generator = Generator(int(seed))
    left = int(cases)

    with open(questions, "w") as q, open(answers, "w") as a:
        while left > 0:
            focus = generator.instant()
            policy = generator.policy(focus)
            networks = [[network_of(t) for t in rule.get("networks", [])]
                        for rule in policy["rules"]]

            all_denied, rule = denies_all(policy, networks)

            q.write(json.dumps(policy) + "\n")
            a.write("%s %d\n" % ("none" if all_denied else "some", rule))

            for _ in range(min(left, 40)):
                case = generator.case(focus, networks)
                q.write(json.dumps(case) + "\n")
                a.write("%s %d\n" % evaluate(policy, networks, **case))

            left -= 40

        for name in generator.all:
            zone = zoneinfo.ZoneInfo(name)
            at = generator.times(name)
            q.write(json.dumps({"zone": name, "at": at}) + "\n")

            for t in at:
                local = datetime.fromtimestamp(t, zone)
                a.write("%s %d\n"
                        % (name, local.utcoffset().total_seconds()))


if __name__ == "__main__":
    main()
