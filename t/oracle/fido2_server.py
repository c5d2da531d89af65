#!/usr/bin/python3
"""Whether python3-fido2's server takes what an authenticator has answered.

A JSON object on each line of the input, a line of the output for each: "ok", or
why not.

    {"rpId", "origin", "challenge", "credential"}

challenge in base64url; credential: a RegistrationResponseJSON, or an
AuthenticationResponseJSON, whose passkey must have been registered by an earlier
line.
"""

import base64
import json
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cose
from fido2.server import Fido2Server

try:                                    # 0.9
    from fido2.client import ClientData
    from fido2.ctap2 import AttestationObject, AuthenticatorData
    from fido2.webauthn import PublicKeyCredentialRpEntity

    def entity(rp_id):
        return PublicKeyCredentialRpEntity(rp_id, rp_id)

except ImportError:                     # 1.0 and newer
    from fido2.webauthn import (
        AttestationObject, AuthenticatorData, CollectedClientData as ClientData,
        PublicKeyCredentialRpEntity)

    def entity(rp_id):
        return PublicKeyCredentialRpEntity(name=rp_id, id=rp_id)


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


if not hasattr(cose, "ES384"):          # 0.9

    class ES384(cose.CoseKey):
        ALGORITHM = -35

        def verify(self, message, signature):
            ec.EllipticCurvePublicNumbers(
                int.from_bytes(self[-2], "big"),
                int.from_bytes(self[-3], "big"), ec.SECP384R1(),
            ).public_key().verify(signature, message,
                                  ec.ECDSA(hashes.SHA384()))


registered = {}


def check(asked):
    credential = asked["credential"]
    response = credential["response"]
    client = ClientData(unb64(response["clientDataJSON"]))
    state = {"challenge": asked["challenge"], "user_verification": "required"}

    server = Fido2Server(entity(asked["rpId"]),
                         verify_origin=lambda o: o == asked["origin"])

    if "attestationObject" in response:
        data = server.register_complete(
            state, client, AttestationObject(unb64(
                response["attestationObject"])))
        registered[credential["id"]] = data.credential_data

        return

    server.authenticate_complete(
        state, [registered[credential["id"]]], unb64(credential["rawId"]),
        client, AuthenticatorData(unb64(response["authenticatorData"])),
        unb64(response["signature"]))


for line in sys.stdin:
    try:
        check(json.loads(line))
        print("ok", flush=True)
    except Exception as e:
        print("%s: %s" % (type(e).__name__, e), flush=True)
