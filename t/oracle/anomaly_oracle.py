#!/usr/bin/env python3

# What is unusual of agents, told token by token, as the contract says; and random
# histories of agents to compare with.
#
#   anomaly_oracle.py SEED AGENTS START TENANT TOKENS CUTS EXPECTED
#
# START is a midnight of UTC, in seconds.  It writes TOKENS, lines for COPY; CUTS, the
# times up to which a sweep is to go, one after the other, in milliseconds; and EXPECTED,
# a line for each anomaly: agent, type, key, severity, occurrences.

import random
import sys
import uuid

from collections import Counter, defaultdict
from datetime import datetime, timezone

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

LOW, MEDIUM, HIGH = "low", "medium", "high"
RANK = [LOW, MEDIUM, HIGH]


class Token:
    def __init__(self, at, jti, ip, country, subject, chain):
        self.at = at
        self.jti = jti
        self.ip = ip
        self.country = country
        self.subject = subject      # None: it is the agent's own
        self.chain = chain

    def network(self):
        if self.ip is None:
            return None

        if ":" in self.ip:
            return ":".join(self.ip.split(":")[:3]) + "::/48"

        return self.ip.rsplit(".", 1)[0] + ".0/24"


def text(at, form):
    return datetime.fromtimestamp(at / 1000, timezone.utc).strftime(form)


# --- the contract -----------------------------------------------------------

class Agent:
    def __init__(self, name):
        self.name = name
        self.rows = {}              # (type, key): [severity, occurrences]
        self.made = defaultdict(list)   # of a day, the networks with a row
        self.tokens = []
        self.delegated = []
        self.minutes = Counter()
        self.hours = Counter()
        self.new_subjects = Counter()   # of an hour
        self.last = {}              # (kind, value): when

    def raise_(self, kind, key, severity, n=1):
        row = self.rows.setdefault((kind, key), [severity, 0])
        row[0] = max(row[0], severity, key=RANK.index)
        row[1] += n

    # days before the hour

    def unseen(self, kind, value, hour, days):
        last = self.last.get((kind, value))
        self_new = last is None or last < hour - days * DAY
        return value is not None and self_new

    def take(self, t):
        hour = t.at // HOUR * HOUR

        self.place(t, hour)
        self.subject(t, hour)
        self.burst(t, hour)
        self.off_hours(t, hour)

        self.tokens.append(t)
        self.hours[hour] += 1

        for kind, value in (("network", t.network()), ("country", t.country),
                            ("subject", t.subject)):
            self.last[kind, value] = t.at

        if t.subject is not None:
            self.delegated.append(t)

    def place(self, t, hour):
        learned = (len(self.tokens) >= 20
                   and self.tokens[0].at <= t.at - DAY)
        network = t.network()

        if learned and self.unseen("network", network, hour, 90):
            made = self.made[t.at // DAY]

            if ("new_ip", network) in self.rows:
                self.raise_("new_ip", network, LOW)
            elif len(made) < 10:
                made.append(network)
                self.raise_("new_ip", network, LOW)
            else:
                self.raise_("new_ip", made[9], LOW)

        if learned and self.unseen("country", t.country, hour, 180):
            self.raise_("new_country", t.country, MEDIUM)

    def subject(self, t, hour):
        if not self.unseen("subject", t.subject, hour, 90):
            return

        known = sum(1 for (kind, value), at in self.last.items()
                    if kind == "subject" and value is not None
                    and at >= hour - 90 * DAY)

        if (len(self.delegated) >= 20
                and self.delegated[0].at <= t.at - 7 * DAY and known <= 5):
            self.raise_("new_subject", t.subject, MEDIUM)

        self.new_subjects[hour] += 1

        largest = max((n for at, n in self.new_subjects.items()
                       if hour - 7 * DAY <= at < hour), default=0)

        if self.new_subjects[hour] == max(20, 5 * largest):
            block = hour // (6 * HOUR) * (6 * HOUR)
            self.raise_("new_subject", text(block, "%Y-%m-%dT%H/6h"), HIGH)

    def burst(self, t, hour):
        minute = t.at // MINUTE * MINUTE

        self.minutes[minute] += 1

        n = self.minutes[minute]

        if n < 60:
            return

        before = [k for at, k in self.minutes.items()
                  if minute - 7 * DAY <= at < minute]
        active, total = len(before), sum(before)

        def burst(n):
            return n >= 300 if active < 60 else (n >= 60
                                                 and n * active >= 10 * total)

        if burst(n):
            self.raise_("token_burst", text(hour, "%Y-%m-%dT%H"),
                        HIGH if n >= 600 else MEDIUM,
                        0 if burst(n - 1) else 1)

    def off_hours(self, t, hour):
        if hour not in self.hours:
            window = {at: n for at, n in self.hours.items()
                      if hour - 28 * DAY <= at < hour}
            of_day = hour // HOUR % 24
            near = sum(n for at, n in window.items()
                       if (at // HOUR % 24 - of_day) % 24 in (23, 0, 1))
            total = sum(window.values())

            self.unusual = (total >= 200
                            and len({at // DAY for at in window}) >= 14
                            and 100 * near < total)

        if self.unusual:
            self.raise_("off_hours", text(hour, "%Y-%m-%d"), LOW)


# --- histories ----------------------------------------------------------------

# The days of each: some long ago, five weeks of work, and a few in between, so that
# what was seen is forgotten at one of them.

DAYS = [0, 1, 95, 99, 100, 180, 185, 189, 190] + list(range(195, 230))
WORK = [9, 10, 11, 14]


class History:
    def __init__(self, r, start):
        self.r = r
        self.start = start
        self.rate = r.choice([0, 1, 2, 4, 8])
        self.home = [self.address(n) for n in range(r.randint(1, 3))]
        self.countries = r.sample(["FR", "DE", "US", None], r.randint(1, 2))
        self.subjects = [self.person(n) for n in range(r.randint(1, 9))]
        self.delegates = r.choice([0, 0.1, 0.5, 1])
        self.foreign = 100
        self.tokens = []

    def address(self, n):
        if self.r.random() < 0.2:
            return f"2001:db8:{n + 1:x}:{self.r.randint(1, 9)}::1"

        return f"198.{n // 250}.{n % 250}.{self.r.randint(1, 9)}"

    def person(self, n):
        if self.r.random() < 0.2:
            return f"agt_{n:032x}"

        return str(uuid.UUID(int=n + 1, version=4))

    def add(self, at, ip=None, country=None, subject=None):
        r = self.r

        if subject is None and r.random() < self.delegates:
            subject = r.choice(self.subjects)

        self.tokens.append(Token(
            at, str(uuid.UUID(int=r.getrandbits(128), version=4)),
            ip or (r.choice(self.home) if r.random() > 0.05 else None),
            country or r.choice(self.countries), subject,
            r.randint(1, 3) if subject else 0))

    def new_address(self):
        self.foreign += 1
        return self.address(self.foreign)

    # to the edges of what is compared

    def time(self, day, hour):
        within = self.r.choice([0, 1, HOUR - 1, self.r.randrange(HOUR)])
        return self.start + day * DAY + hour * HOUR + within

    def usual(self, day):
        for hour in WORK:
            for _ in range(self.r.randint(0, 2 * self.rate)):
                self.add(self.time(day, hour))

    def burst(self, day):
        r = self.r
        at = self.time(day, r.choice(WORK)) // MINUTE * MINUTE
        n = r.choice([r.randint(55, 65), r.randint(296, 304), r.randint(10, 120),
                      r.randint(595, 605)])

        for _ in range(n):
            self.add(at + r.randrange(MINUTE))

    def night(self, day):
        for _ in range(self.r.randint(1, 4)):
            self.add(self.time(day, 3))

    def travel(self, day):
        r = self.r
        hour = r.choice(WORK)

        for _ in range(r.choice([1, 1, 9, 10, 11, 14])):
            self.add(self.time(day, hour), ip=self.new_address(),
                     country=r.choice([None, None, "BR", "JP", "ZA"]))

    def people(self, day):
        r = self.r
        hour = r.choice(WORK)
        n = r.choice([1, 1, 1, 2, 5, r.randint(18, 22), r.randint(95, 105)])

        for k in range(n):
            self.add(self.time(day, hour),
                     subject=self.person(r.randint(1000, 1400)))

    def make(self):
        r = self.r
        days = DAYS if r.random() < 0.7 else DAYS[r.randrange(len(DAYS)):]

        for day in days:
            self.usual(day)

            for event, chance in ((self.burst, 0.04), (self.night, 0.06),
                                  (self.travel, 0.1), (self.people, 0.1)):
                if r.random() < chance:
                    event(day)

        # two of one moment come from one place

        at = {}

        for t in self.tokens:
            first = at.setdefault(t.at, t)
            t.ip, t.country = first.ip, first.country

        self.tokens.sort(key=lambda t: (t.at, t.jti))


# --- the files ------------------------------------------------------------------

def line(tenant, name, t):
    subject_is_user = t.subject is not None and not t.subject.startswith("agt_")
    chain = [name] + [f"app_{n:032x}" for n in range(1, t.chain)]
    principals = [name] + (chain if t.chain else [])

    if t.subject is not None and not subject_is_user:
        principals.append(t.subject)

    return "\t".join([
        tenant, t.jti, text(t.at, "%Y-%m-%d %H:%M:%S.") + f"{t.at % 1000:03d}+00",
        name, t.subject if subject_is_user else "\\N",
        "{" + ",".join(chain) + "}" if t.chain else "\\N",
        "{" + ",".join(principals) + "}", "x", "{}", "60",
        t.ip or "\\N", t.country or "\\N"])


def main():
    seed, agents, start, tenant, tokens, cuts, expected = sys.argv[1:]
    start = int(start) * 1000
    times = set()

    with open(tokens, "w") as out, open(expected, "w") as rows:
        for n in range(int(agents)):
            history = History(random.Random(f"{seed} {n}"), start)
            agent = Agent(f"agt_{n:032x}")

            history.make()

            for t in history.tokens:
                agent.take(t)
                times.add(t.at)
                print(line(tenant, agent.name, t), file=out)

            for (kind, key), (severity, count) in agent.rows.items():
                print(agent.name, kind, key, severity, count, file=rows)

    # between tokens, at one of them, and far apart

    r = random.Random(f"{seed} cuts")
    times = sorted(times)
    chosen = {r.choice(times) - r.choice([0, 0, 1, MINUTE, HOUR])
              for _ in range(80)} | {times[-1]}

    with open(cuts, "w") as out:
        for at in sorted(chosen):
            print(at, file=out)


main()
