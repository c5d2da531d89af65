#!/usr/bin/python3
"""Keys and signatures by python3-jwcrypto and python3-jwt.

A JSON object with one member on each line of the input, an answer on each line of
the output.  "by" is "jwcrypto" or "jwt".

    {"new": "EC" | "OKP" | "RSA"}               {"private": {}, "public": {}, "thumbprint"}
    {"thumbprint": {}}                  of a JWK
    {"sign": {"by", "key": {}, "header": {}, "payload": {}}}    a JWS
    {"verify": {"by", "key": {}, "jws"}}    {"header": {}, "payload": {}}, or null
"""

import json
import sys

import jwt
from jwcrypto import jwk, jws
from jwcrypto.common import JWException

ALGORITHMS = {'EC': 'ES256', 'OKP': 'EdDSA', 'RSA': 'RS256'}
SIZES = {'EC': {'crv': 'P-256'}, 'OKP': {'crv': 'Ed25519'},
         'RSA': {'size': 2048}}


def new(kty):
    key = jwk.JWK.generate(kty=kty, **SIZES[kty])

    return {'private': key.export_private(as_dict=True),
            'public': key.export_public(as_dict=True),
            'thumbprint': key.thumbprint()}


def thumbprint(key):
    return jwk.JWK(**key).thumbprint()


def pyjwt_key(key):
    kind = {'EC': jwt.algorithms.ECAlgorithm, 'OKP': jwt.algorithms.OKPAlgorithm,
            'RSA': jwt.algorithms.RSAAlgorithm}

    return kind[key['kty']].from_jwk(json.dumps(key))


def sign(by, key, header, payload):
    if by == 'jwt':
        alg = header['alg']
        header = {k: v for k, v in header.items() if k != 'alg'}

        return jwt.encode(payload, pyjwt_key(key), algorithm=alg,
                          headers=header)

    token = jws.JWS(json.dumps(payload).encode())
    token.add_signature(jwk.JWK(**key), protected=json.dumps(header))

    return token.serialize(compact=True)


def verify(by, key, text):
    algorithm = ALGORITHMS[key['kty']]

    if by == 'jwt':
        try:
            payload = jwt.decode(text, pyjwt_key(key), algorithms=[algorithm],
                                 options={'verify_aud': False,
                                          'verify_exp': False,
                                          'verify_nbf': False,
                                          'verify_iat': False})
        except jwt.InvalidTokenError:
            return None

        return {'header': jwt.get_unverified_header(text), 'payload': payload}

    token = jws.JWS()
    token.allowed_algs = [algorithm]

    try:
        token.deserialize(text, jwk.JWK(**key))
    except JWException:
        return None

    return {'header': token.jose_header, 'payload': json.loads(token.payload)}


def answer(question):
    (what, of), = question.items()

    if what == 'new':
        return new(of)

    if what == 'thumbprint':
        return thumbprint(of)

    if what == 'sign':
        return sign(of['by'], of['key'], of['header'], of['payload'])

    return verify(of['by'], of['key'], of['jws'])


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
