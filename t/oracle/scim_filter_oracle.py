#!/usr/bin/env python3

"""Filters of SCIM (RFC 7644, 3.4.2.2) in another language, by the RFC's text.

    scim_filter_oracle.py users SEED N PREFIX   rows of COPY for N users
    scim_filter_oracle.py ask SEED N PREFIX HOST:PORT BASE CASES SECONDS

"ask" makes the same users again, sends CASES random filters, or as many as there
is time for, and compares whom the server finds with whom it finds itself.  The
token comes in SCIM_TOKEN.  The last line of its output says how many filters of
which kind there were; before it stand those that differ.
"""

import datetime
import http.client
import json
import os
import random
import re
import sys
import time
import unicodedata
import urllib.parse

CORE = 'urn:ietf:params:scim:schemas:core:2.0:User'
ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest'

WORDS = ['a', 'A', 'ab', 'Ab', 'b', 'work', 'User', 'x y', 'Zoë', 'zoË', 'ж', 'Ж',
         '100%', '_', '%', '\\', '"', "o'b", '(', ')', ' and ', '1', '王', 'é', '\U0001F600',
         '\t', 'true', 'null', '[', ']', '\x7f']


class Wrong(Exception):
    pass


# --- users ----------------------------------------------------------------------------

def stamp(ms):
    t = datetime.datetime(2026, 1, 1) + datetime.timedelta(milliseconds=ms)
    return t.strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (t.microsecond // 1000)


def users(seed, n, prefix):
    r = random.Random('users %s' % seed)

    def text():
        return ''.join(r.choice(WORDS) for _ in range(r.randint(1, 3))) \
            if r.random() < 0.7 else None

    out = []
    for i in range(n):
        created = r.randrange(0, 40) * 500
        out.append({
            'id': '%s-%04x-4%03x-8000-%012x' % (prefix, r.randrange(65536), i % 4096, i),
            'userName': '%s%d@%s' % (r.choice(['a', 'A', 'ab', 'Zoë', 'ж', 'Ж', 'b_%']), i,
                                     r.choice(['acme.test', 'Work.test'])),
            'externalId': None if r.random() < 0.4 else 'e%s%d' % (r.choice('aAb%'), i),
            'status': r.choice(['active', 'active', 'suspended', 'deactivated']),
            'givenName': text(), 'familyName': text(), 'displayName': text(),
            'title': text(), 'locale': r.choice([None, 'en-GB', 'fr', 'FR']),
            'department': text(),
            'created': created, 'modified': created + r.randrange(0, 20) * 250,
            'deleted': r.random() < 0.1,
        })
    return out


def copy(value):
    if value is None:
        return '\\N'
    for a, b in (('\\', '\\\\'), ('\t', '\\t'), ('\n', '\\n'), ('\r', '\\r')):
        value = value.replace(a, b)
    return value


def rows(all_users):
    for u in all_users:
        print('\t'.join(copy(v) for v in (
            u['id'], u['userName'], u['externalId'],
            'deactivated' if u['deleted'] else u['status'], u['givenName'],
            u['familyName'], u['displayName'], u['title'], u['locale'], u['department'],
            stamp(u['created']), stamp(u['modified']), 't' if u['deleted'] else 'f')))


# --- what a user has: (URN, name, sub) in lower case -> type, values -------------------

def attributes(u, base):
    def one(v):
        return [] if v is None else [v]

    enterprise = u['department'] is not None
    core = {
        ('username', None): ('address', [u['userName']]),
        ('emails', None): ('address', [u['userName']]),
        ('emails', 'value'): ('address', [u['userName']]),
        ('emails', 'type'): ('text', ['work']),
        ('emails', 'primary'): ('bool', [True]),
        ('id', None): ('exact', [u['id']]),
        ('externalid', None): ('exact', one(u['externalId'])),
        ('name', None): ('complex', one(u['givenName']) + one(u['familyName'])),
        ('name', 'givenname'): ('text', one(u['givenName'])),
        ('name', 'familyname'): ('text', one(u['familyName'])),
        ('displayname', None): ('text', one(u['displayName'])),
        ('title', None): ('text', one(u['title'])),
        ('locale', None): ('text', one(u['locale'])),
        ('active', None): ('bool', [u['status'] == 'active']),
        ('meta', None): ('complex', [1]),
        ('meta', 'created'): ('time', [u['created']]),
        ('meta', 'lastmodified'): ('time', [u['modified']]),
        ('meta', 'version'): ('exact', ['W/"' + re.sub('[^0-9]', '', stamp(u['modified'])) + '"']),
        ('meta', 'resourcetype'): ('exact', ['User']),
        ('meta', 'location'): ('exact', [base + '/Users/' + u['id']]),
        ('schemas', None): ('exact', [CORE] + ([ENTERPRISE] if enterprise else [])),
    }
    return core, {('department', None): ('text', one(u['department']))}


# --- the grammar ----------------------------------------------------------------------

NAME = re.compile(r'[A-Za-z][A-Za-z0-9_$-]*')
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
NUMBER = re.compile(r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?')
OPERATORS = ('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le')


def text_of(literal):
    """No half of a surrogate pair, and no NUL: neither is a character of a text."""
    text = json.loads(literal)
    if '\0' in text or re.search('[\ud800-\udfff]', text):
        raise Wrong('character')
    return text


class Parser:
    """Turns a text into nested tuples; raises Wrong."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def parse(self):
        tree = self.disjunction(None)
        self.blanks()
        if self.at != len(self.text):
            raise Wrong('more')
        return tree

    def blanks(self):
        start = self.at
        while self.text.startswith(' ', self.at):
            self.at += 1
        return self.at - start

    def word(self, *words):
        """One of the words between blanks."""
        start = self.at
        if self.blanks():
            m = re.compile('(' + '|'.join(words) + ')(?= )', re.I).match(self.text, self.at)
            if m:
                self.at = m.end()
                self.blanks()
                return True
        self.at = start
        return False

    def disjunction(self, scope):
        tree = self.conjunction(scope)
        while self.word('or'):
            tree = ('or', tree, self.conjunction(scope))
        return tree

    def conjunction(self, scope):
        self.blanks()
        tree = self.term(scope)
        while self.word('and'):
            tree = ('and', tree, self.term(scope))
        return tree

    def group(self, scope):
        if not self.text.startswith('(', self.at):
            raise Wrong('(')
        self.at += 1
        tree = self.disjunction(scope)
        self.blanks()
        if not self.text.startswith(')', self.at):
            raise Wrong(')')
        self.at += 1
        return tree

    def term(self, scope):
        m = re.compile(r'not *(?=\()', re.I).match(self.text, self.at)
        if m:
            self.at = m.end()
            return ('not', self.group(scope))
        if self.text.startswith('(', self.at):
            return self.group(scope)

        path = self.path()
        if scope:
            urn, name, sub = path
            path = (scope[0], scope[1], name) if not urn and not sub else ('', '', None)
        elif self.text.startswith('[', self.at):
            return self.brackets(path)
        return self.comparison(path)

    def path(self):
        m = re.compile(r'((?:[A-Za-z][^\s"()\[\]:]*:[^\s"()\[\]]*(?<!:):)?)([A-Za-z][A-Za-z0-9_$-]*)'
                       r'(?:\.(\$?[A-Za-z][A-Za-z0-9_$-]*))?(?=[ \[])').match(self.text, self.at)
        if not m:
            raise Wrong('attribute')
        self.at = m.end()
        return (m.group(1)[:-1].lower(), m.group(2).lower(), (m.group(3) or '').lower() or None)

    def brackets(self, path):
        if path[2]:
            raise Wrong('sub-attribute')
        self.at += 1
        inner = self.disjunction(path)
        self.blanks()
        if not self.text.startswith(']', self.at):
            raise Wrong(']')
        self.at += 1
        tree = ('path', path, inner)
        if self.text.startswith('.', self.at):
            m = NAME.match(self.text, self.at + 1)
            if not m:
                raise Wrong('sub')
            self.at = m.end()
            tree = ('and', tree, self.comparison((path[0], path[1], m.group().lower())))
        return tree

    def comparison(self, path):
        if not self.blanks():
            raise Wrong('blank')
        m = re.compile(r'[A-Za-z]*').match(self.text, self.at)
        op = m.group().lower()
        self.at = m.end()
        if op == 'pr':
            return ('pr', path)
        if op not in OPERATORS or not self.blanks():
            raise Wrong('operator')
        return (op, path, self.value())

    def value(self):
        m = STRING.match(self.text, self.at)
        if m:
            self.at = m.end()
            return text_of(m.group())
        m = re.compile(r'[^ "()\[\]]*').match(self.text, self.at)
        self.at = m.end()
        literal = {'true': True, 'false': False, 'null': None}
        if m.group().lower() in literal:
            return literal[m.group().lower()]
        if not NUMBER.fullmatch(m.group()):
            raise Wrong('value')
        return float(m.group())


# --- the meaning ----------------------------------------------------------------------

TIME = re.compile(r'(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?'
                  r'(?:[Zz]|([+-])(\d\d):(\d\d))')


def milliseconds(text):
    m = TIME.fullmatch(text)
    if not m:
        raise Wrong('time')
    try:
        t = datetime.datetime(*(int(g) for g in m.groups()[:6]))
    except ValueError:
        raise Wrong('time')
    ms = (t - datetime.datetime(2026, 1, 1)) // datetime.timedelta(milliseconds=1)
    ms += int(((m.group(7) or '0') + '00')[:3])
    if m.group(8):
        shift = (int(m.group(9)) * 60 + int(m.group(10))) * 60000
        ms -= shift if m.group(8) == '+' else -shift
    return ms


def lookup(user, path):
    urn, name, sub = path
    core, enterprise = user
    if urn in ('', CORE.lower()):
        return core.get((name, sub))
    if urn == ENTERPRISE.lower():
        return enterprise.get((name, sub))
    if (urn + ':' + name, sub) == (ENTERPRISE.lower(), None):
        return ('complex', [v for _, values in enterprise.values() for v in values])
    if (urn + ':' + name, sub) == (CORE.lower(), None):
        return ('complex', [1])
    return None


def check(tree, user):
    """Raises Wrong when a comparison makes no sense, whoever the user is."""

    if tree[0] in ('and', 'or'):
        check(tree[1], user)
        check(tree[2], user)
    elif tree[0] == 'not':
        check(tree[1], user)
    elif tree[0] == 'path':
        if lookup(user, tree[1]) and tree[1][1] != 'emails':
            raise Wrong('brackets')
        check(tree[2], user)
    elif tree[0] != 'pr':
        found = lookup(user, tree[1])
        if found:
            check_value(tree[0], found[0], tree[2])


def check_value(op, kind, value):
    equal = op in ('eq', 'ne')
    if kind == 'complex':
        raise Wrong('complex')
    if value is None:
        if not equal:
            raise Wrong('null')
    elif kind == 'bool':
        if not equal:
            raise Wrong('order of booleans')
        if not isinstance(value, bool) and str(value).lower() not in ('true', 'false'):
            raise Wrong('boolean')
    elif not isinstance(value, str):
        raise Wrong('type')
    elif kind == 'time':
        if op in ('co', 'sw', 'ew'):
            raise Wrong('part of a time')
        milliseconds(value)


def holds(tree, user):
    op = tree[0]
    if op == 'and':
        return holds(tree[1], user) and holds(tree[2], user)
    if op == 'or':
        return holds(tree[1], user) or holds(tree[2], user)
    if op == 'not':
        return not holds(tree[1], user)

    found = lookup(user, tree[1])

    if op == 'path':
        return found is not None and holds(tree[2], user)
    if found is None:
        return False

    kind, values = found
    if op == 'pr':
        return bool(values)
    if op == 'ne':
        return not holds(('eq',) + tree[1:], user)

    want = tree[2]
    if want is None:
        return not values
    if kind == 'bool':
        want = want if isinstance(want, bool) else want.lower() == 'true'
    elif kind == 'time':
        want = milliseconds(want)

    fold = {'text': str.lower, 'address': address_key}.get(kind, lambda v: v)

    return any(compare(op, fold(v), fold(want)) for v in values)


def address_key(address):
    """Two addresses are the same one if their keys are."""
    local, at, domain = unicodedata.normalize('NFC', address).partition('@')
    domain = unicodedata.normalize('NFC', domain.lower())
    local = re.sub('[A-Z]+', lambda m: m.group().lower(), local)
    return local + at + '.'.join(
        label if label.isascii() else 'xn--' + label.encode('punycode').decode()
        for label in domain.split('.'))


def compare(op, v, want):
    if isinstance(v, str):
        if op == 'co':
            return want in v
        if op == 'sw':
            return v.startswith(want)
        if op == 'ew':
            return v.endswith(want)
    return {'eq': v == want, 'gt': v > want, 'ge': v >= want, 'lt': v < want,
            'le': v <= want}[op]


# --- random filters -------------------------------------------------------------------

PATHS = ['userName', 'externalId', 'id', 'emails', 'emails.value', 'emails.type',
         'emails.primary', 'name', 'name.givenName', 'name.familyName', 'displayName', 'title',
         'locale', 'active', 'meta', 'meta.created', 'meta.lastModified', 'meta.resourceType',
         'meta.location', 'meta.version', 'schemas', CORE + ':userName', CORE + ':name.familyName',
         ENTERPRISE + ':department', ENTERPRISE, CORE, 'nickName', 'name.formatted', 'groups',
         'emails.display', 'department', 'urn:x:y:title', 'addresses.type']


class Maker:
    def __init__(self, r, all_users, base):
        self.r, self.users, self.base = r, all_users, base

    def cased(self, text):
        return text.swapcase() if self.r.random() < 0.1 else text

    def space(self):
        return ' ' * (1 if self.r.random() < 0.9 else 2)

    def filter(self, depth):
        r = self.r
        x = r.random()
        if depth == 0 or x < 0.35:
            return self.compare(None)
        if x < 0.75:
            join = self.cased(r.choice(['and', 'or']))
            return self.filter(depth - 1) + self.space() + join + self.space() \
                + self.filter(depth - 1)
        if x < 0.85:
            return '(' + self.filter(depth - 1) + ')'
        if x < 0.93:
            return self.cased('not') + r.choice(['', ' ']) + '(' + self.filter(depth - 1) + ')'
        return self.value_path(depth)

    def value_path(self, depth):
        r = self.r
        name = r.choice(['emails'] * 6 + ['addresses', 'name', 'title', CORE + ':emails'])
        inner = self.compare(['type', 'value', 'primary', 'display', 'x'])
        if r.random() < 0.4:
            inner += r.choice([' and ', ' or ']) + self.compare(['type', 'value', 'primary'])
        if r.random() < 0.1:
            inner = 'not (' + inner + ')'
        text = '%s[%s]' % (name, inner)
        if r.random() < 0.5:
            text += '.' + self.compare(['value', 'value', 'type', 'y'])
        return text

    def compare(self, names):
        r = self.r
        path = r.choice(names or PATHS)
        if r.random() < 0.1:
            return self.cased(path) + self.space() + 'pr'
        op = r.choice(OPERATORS)
        if path in ('active', 'emails.primary', 'primary') and r.random() < 0.9:
            op = r.choice(['eq', 'ne'])
        return self.cased(path) + self.space() + self.cased(op) + self.space() \
            + self.literal(path)

    def literal(self, path):
        r = self.r
        x = r.random()
        if x < 0.02:
            return r.choice(['true', 'false', 'null', '1', '-2.5e3', 'True'])
        if x < 0.06:
            return 'null'
        if path in ('active', 'emails.primary', 'primary'):
            return r.choice(['true', 'false', '"true"', '"False"', 'TRUE'])
        if path.startswith('meta.') and path[5] in 'cl' and path != 'meta.location':
            if x < 0.08:
                return '"yesterday"'
            ms = r.choice(self.users)['created'] + r.choice([0, 0, 1, -1])
            text = stamp(ms)
            if r.random() < 0.2:
                text = stamp(ms + 7200000)[:-1] + '+02:00'
            return json.dumps(text)
        return self.string(self.text(path))

    def text(self, path):
        r = self.r
        u = r.choice(self.users)
        known = {'userName': u['userName'], 'value': u['userName'], 'id': u['id'],
                 'externalId': u['externalId'], 'title': u['title'],
                 'displayName': u['displayName'], 'type': 'work', 'emails.type': 'Work',
                 'meta.resourceType': 'User', 'locale': u['locale'],
                 'schemas': r.choice([CORE, ENTERPRISE]),
                 'meta.version': 'W/"' + re.sub('[^0-9]', '', stamp(u['modified'])) + '"',
                 'meta.location': self.base + '/Users/' + u['id'],
                 'name.givenName': u['givenName'], 'name.familyName': u['familyName'],
                 ENTERPRISE + ':department': u['department']}
        text = known.get(path.replace(CORE + ':', '')) \
            or (u['userName'] if 'mails' in path else None)
        if text is None or r.random() < 0.1:
            return r.choice(WORDS + [''])
        if r.random() < 0.4:
            a = r.randrange(len(text))
            text = text[a:a + r.randint(1, 4)] if r.random() < 0.5 else text[:a]
        return self.cased(text)

    def string(self, text):
        return json.dumps(text, ensure_ascii=self.r.random() < 0.5)

    def broken(self, text):
        """Now and then a character is lost, or one too many."""
        r = self.r
        if r.random() < 0.95:
            return text
        a = r.randrange(len(text))
        return text[:a] + r.choice(['', '(', ')', '"', '[', ']', ' ', 'x']) + text[a + 1:]


# --- asking ---------------------------------------------------------------------------

class Server:
    def __init__(self, where, token):
        self.where, self.token, self.connection = where, token, None

    def find(self, text, n):
        """(status, ids, total); a long filter goes in a body."""
        method, path, body = 'GET', '/scim/v2/Users', None
        if len(text) < 600:
            path += '?attributes=id&count=%d&filter=%s' % (n, urllib.parse.quote(text))
        else:
            method, path = 'POST', path + '/.search'
            body = json.dumps({'schemas': [SEARCH], 'attributes': ['id'], 'count': n,
                               'filter': text})
        for _ in range(2):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(self.where, timeout=60)
                self.connection.request(method, path, body, {
                    'Authorization': 'Bearer ' + self.token,
                    'Content-Type': 'application/scim+json'})
                answer = self.connection.getresponse()
                found = json.loads(answer.read())
                break
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
        else:
            return (0, [], 0)
        if answer.status != 200:
            return (answer.status, found.get('scimType'), found.get('detail', ''))
        return (200, [u['id'] for u in found['Resources']], found['totalResults'])


def ask(seed, n, prefix, where, base, cases, seconds):
    all_users = users(seed, n, prefix)
    there = [u for u in all_users if not u['deleted']]
    there.sort(key=lambda u: (u['created'], u['id']))
    seen = [(u['id'], attributes(u, base)) for u in there]
    maker = Maker(random.Random('filters %s' % seed), all_users, base)
    server = Server(where, os.environ['SCIM_TOKEN'])
    counts = {'cases': 0, 'differ': 0, 'refused': 0, 'nobody': 0, 'all': 0, 'some': 0}
    end = time.monotonic() + seconds

    while counts['cases'] < cases and time.monotonic() < end:
        text = maker.broken(maker.filter(maker.r.randint(0, 4)))
        try:
            tree = Parser(text).parse()
            check(tree, seen[0][1])
            ids = [i for i, u in seen if holds(tree, u)]
            want = (200, ids, len(ids))
        except Wrong:
            want = (400, 'invalidFilter', None)

        got = server.find(text, 200)
        counts['cases'] += 1

        if want[:2] != got[:2] or (want[0] == 200 and want[2] != got[2]):
            counts['differ'] += 1
            if counts['differ'] <= 5:
                print('filter: %r\n  want %s\n  got %s' % (text, want, got))

        if want[0] != 200:
            counts['refused'] += 1
        else:
            counts['nobody' if not ids else 'all' if len(ids) == len(seen) else 'some'] += 1

    print(' '.join('%s=%d' % item for item in counts.items()))


def main():
    command, seed, n, prefix = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    if command == 'users':
        rows(users(seed, n, prefix))
    else:
        ask(seed, n, prefix, sys.argv[5], sys.argv[6], int(sys.argv[7]), float(sys.argv[8]))


sys.stdout.reconfigure(encoding='utf-8')
main()
