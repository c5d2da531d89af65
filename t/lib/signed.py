"""Keys, and what they sign (RFC 7515, 7517, 7518), for programs that tests drive."""

import base64
import hashlib
import hmac
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import (
    ec, ed25519, padding, rsa, utils)

RAW = serialization.Encoding.Raw, serialization.PublicFormat.Raw


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(n, size):
    return b64(n.to_bytes(size, "big"))


def new(alg, bits=2048):
    if alg in ("EdDSA", "Ed25519"):
        return ed25519.Ed25519PrivateKey.generate()

    if alg in ("RS256", "PS256"):
        return rsa.generate_private_key(65537, bits)

    return ec.generate_private_key(ec.SECP256R1())


def public(key):
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return {"crv": "Ed25519", "kty": "OKP",
                "x": b64(key.public_key().public_bytes(*RAW))}

    n = key.public_key().public_numbers()

    if isinstance(key, rsa.RSAPrivateKey):
        return {"e": number(n.e, 3), "kty": "RSA",
                "n": number(n.n, key.key_size // 8)}

    return {"crv": "P-256", "kty": "EC", "x": number(n.x, 32),
            "y": number(n.y, 32)}


def pem(key):
    return key.private_bytes(serialization.Encoding.PEM,
                             serialization.PrivateFormat.PKCS8,
                             serialization.NoEncryption()).decode()


def sign(key, alg, data):
    if alg == "HS256":
        secret = json.dumps(public(key)).encode()
        return hmac.new(secret, data, hashlib.sha256).digest()

    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(data)

    if isinstance(key, rsa.RSAPrivateKey):
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)

        return key.sign(data, pss if alg == "PS256" else padding.PKCS1v15(),
                        hashes.SHA256())

    r, s = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def changed(members, changes):
    members.update(changes)
    return {k: v for k, v in members.items() if v is not None}


def jws(key, alg, header, payload, flip=0):
    """payload: members, or the text itself; flip: bits of the signature that are
    others."""

    text = payload if isinstance(payload, str) else json.dumps(payload)
    signed = b64(json.dumps(header).encode()) + "." + b64(text.encode())
    signature = bytearray(sign(key, alg, signed.encode()))
    signature[-1] ^= flip

    return signed + "." + b64(bytes(signature))
