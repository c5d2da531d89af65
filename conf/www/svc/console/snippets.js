// Programs that people copy.

export const dig = name => `dig +short TXT ${name}`;


// How the receiver of a webhook verifies what it gets.

export const PYTHON = `import hashlib, hmac, os

SECRET = os.environ["SVC_WEBHOOK_SECRET"].encode()

def genuine(headers, body):    # body: bytes, as they came
    given = headers.get("X-Svc-Signature", "")
    expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()

    return hmac.compare_digest(expected.encode(), given.encode())
`;

export const NODE = `import { createHmac, timingSafeEqual } from "node:crypto";

const secret = process.env.SVC_WEBHOOK_SECRET;

export function genuine(headers, body) {    // body: a Buffer, as it came
  const given = Buffer.from(headers["x-svc-signature"] ?? "");
  const expected = Buffer.from(
    "sha256=" + createHmac("sha256", secret).update(body).digest("hex"));

  return given.length === expected.length && timingSafeEqual(given, expected);
}
`;

export const useToken = origin =>
  `curl -H "Authorization: Bearer $SVC_ADMIN_TOKEN" ${origin}/v1/admin/tenant`;
