"""Makes and verifies stored passwords: lines in, lines out.

    argon2 <type> <memory> <iterations> <lanes> <salt> <tag> <password>
    verify <password> <string>
    pbkdf2 <digest> <rounds> <password>
    text <password>

Passwords are in hexadecimal digits.
"""

import base64
import hashlib
import os
import sys
import unicodedata

from argon2.exceptions import VerifyMismatchError
from argon2.low_level import Type, hash_secret, verify_secret

TYPES = {'d': Type.D, 'i': Type.I, 'id': Type.ID}


def argon2(kind, memory, iterations, lanes, salt, tag, password):
    return hash_secret(bytes.fromhex(password), os.urandom(int(salt)),
                       time_cost=int(iterations), memory_cost=int(memory),
                       parallelism=int(lanes), hash_len=int(tag),
                       type=TYPES[kind]).decode()


def verify(password, string):
    try:
        verify_secret(string.encode(), bytes.fromhex(password), Type.ID)
    except VerifyMismatchError:
        return 'no match'

    return 'match'


def ab64(data):
    return base64.b64encode(data, b'./').rstrip(b'=').decode()


def pbkdf2(digest, rounds, password):
    salt = os.urandom(16)
    tag = hashlib.pbkdf2_hmac(digest, bytes.fromhex(password), salt,
                              int(rounds))

    return f'$pbkdf2-{digest}${rounds}${ab64(salt)}${ab64(tag)}'


def text(password):
    points = bytes.fromhex(password).decode()
    kinds = [unicodedata.category(c) for c in points]

    if 'Cn' in kinds:
        return 'unassigned'

    if 'Cc' in kinds:
        return 'refused'

    spaces = ''.join(' ' if kind == 'Zs' else c
                     for c, kind in zip(points, kinds))
    normal = unicodedata.normalize('NFC', spaces)

    return f'{len(normal)} {normal.encode().hex()}'


COMMANDS = {'argon2': argon2, 'verify': verify, 'pbkdf2': pbkdf2, 'text': text}

for line in sys.stdin:
    name, *words = line.split()
    print(COMMANDS[name](*words), flush=True)
