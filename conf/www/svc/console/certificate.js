// What an X.509 certificate says of itself (RFC 5280), for people who look whether it is the
// right one.  Whether it is good is the server's to say.

const BLOCK = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g;

const SEQUENCE = 0x30;
const VERSION = 0xa0;
const UTC_TIME = 0x17;

const CN = "550403";            // 2.5.4.3, in hexadecimal

// Algorithms of keys, by RFC 3279, 4055, 5480 and 8410.

const KINDS = {
  "2a864886f70d010101": "RSA", "2a864886f70d01010a": "RSA", "2a8648ce3d0201": "EC",
  "2b6570": "Ed25519", "2b6571": "Ed448", "2a8648ce380401": "DSA",
};
const SIZES = { Ed25519: 256, Ed448: 456 };
const CURVES = { "2a8648ce3d030107": 256, "2b81040022": 384, "2b81040023": 521 };

const hex = bytes => [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");

export const blocksOf = text => [...text.matchAll(BLOCK)].map(([all]) => `${all.trim()}\n`);


// Returns { subject, end, kind, bits } of each; null for what is none.

export const certificatesOf = text => [...text.matchAll(BLOCK)].map(([, base64]) => {
  try {
    return certificateOf(Uint8Array.from(atob(base64.replace(/\s/g, "")), c => c.charCodeAt(0)));

  } catch {
    return null;
  }
});

function certificateOf(bytes) {
  const [signed] = partsOf(partOf(bytes, 0).bytes);
  const parts = partsOf(signed.bytes);
  const [, , , validity, subject, key] = parts[0].tag === VERSION ? parts.slice(1) : parts;

  return { subject: nameOf(subject), end: timeOf(partsOf(validity.bytes)[1]), ...keyOf(key) };
}


// An element of DER: its tag, its bytes, and where the next one begins.

function partOf(bytes, at) {
  const short = bytes[at + 1];
  const octets = short < 0x80 ? 0 : short - 0x80;
  const size = octets === 0 ? short
    : bytes.slice(at + 2, at + 2 + octets).reduce((sum, byte) => sum * 256 + byte, 0);
  const begin = at + 2 + octets;

  if (!(begin + size <= bytes.length)) {
    throw new RangeError();
  }

  return { tag: bytes[at], bytes: bytes.slice(begin, begin + size), next: begin + size };
}

function partsOf(bytes) {
  const parts = [];

  for (let at = 0; at < bytes.length; at = parts.at(-1).next) {
    parts.push(partOf(bytes, at));
  }

  return parts;
}


// The common name, or else the last value there is.

function nameOf(subject) {
  const values = partsOf(subject.bytes).flatMap(set => partsOf(set.bytes))
    .map(pair => partsOf(pair.bytes));
  const [, value] = values.find(([type]) => hex(type.bytes) === CN) ?? values.at(-1) ?? [];

  return value ? new TextDecoder().decode(value.bytes) : "";
}

// of YYMMDDhhmmssZ, of this century until 2049; or of YYYYMMDDhhmmssZ

function timeOf({ tag, bytes }) {
  const text = new TextDecoder().decode(bytes);
  const whole = tag === UTC_TIME ? (Number(text.slice(0, 2)) < 50 ? "20" : "19") + text : text;
  const [, ...t] = whole.match(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/);

  return `${t[0]}-${t[1]}-${t[2]}T${t[3]}:${t[4]}:${t[5]}Z`;
}

function keyOf(key) {
  const [algorithm, bits] = partsOf(key.bytes);
  const [type, curve] = partsOf(algorithm.bytes);

  const kind = KINDS[hex(type.bytes)] ?? "?";

  if (kind !== "RSA") {
    return { kind, bits: SIZES[kind] ?? CURVES[hex(curve?.bytes ?? [])] ?? null };
  }

  const inner = partOf(bits.bytes.slice(1), 0);
  const [modulus] = inner.tag === SEQUENCE ? partsOf(inner.bytes) : [];
  const first = modulus.bytes.findIndex(byte => byte !== 0);

  return { kind, bits: (modulus.bytes.length - first) * 8
                      - Math.clz32(modulus.bytes[first]) + 24 };
}
