// The e-mail addresses in what somebody has pasted: one a line, or separated, or with names
// around them, as mails and tables have them.

const ENTRY = /(?:"(?:[^"\\]|\\.)*"|[^",;])+/g;     // a comma within quotes ends none
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
const WITH_NAME = /<([^<>\s]+@[^<>\s]+)>/g;
const ADDRESS = /^[^\s@<>"]+@[^\s@<>"]+$/;
const MOST = 254;               // bytes of an address

const isAddress = part =>
  ADDRESS.test(part) && new TextEncoder().encode(part).length <= MOST;


// A name may have an address in it, or something in brackets, and is a name all the same.

const partsOf = entry => {
  const named = [...entry.replace(QUOTED, " ").matchAll(WITH_NAME)].at(-1)?.[1];

  return named ? [named] : entry.split(/[\s,;"]+/);
};


// Returns { addresses, others }: each address once, and the lines and parts that are none.
// What stands beside an address in its line, and has no "@", is taken for a name.

export function addressesOf(pasted) {
  const found = new Map();
  const others = [];

  for (const line of pasted.split(/[\n\r]+/)) {
    const parts = (line.match(ENTRY) ?? []).flatMap(partsOf)
      .map(part => part.replace(/^mailto:/i, "")).filter(Boolean);
    const marked = parts.filter(part => part.includes("@"));

    if (marked.length === 0 && parts.length > 0) {
      others.push(line.trim());
    }

    marked.forEach(part => isAddress(part) ? found.set(part.toLowerCase(), part)
                                           : others.push(part));
  }

  return { addresses: [...found.values()], others };
}
