"""What programs of t/lib/SvcTest/Party.pm say, and ask for."""

import json
import sys


def asked():
    return json.loads(sys.stdin.readline())


def say(what):
    print(json.dumps(what), flush=True)


def ask(who, what):
    say({"ask": who, "what": what})

    return asked()


def attempt(name, f):
    try:
        ok, why = f() is True, ""
    except Exception as e:
        ok, why = False, f"{type(e).__name__}: {e}"

    say({"name": name, "ok": ok, "why": why})
