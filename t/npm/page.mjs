// Runs the script of a page as a browser would, as far as cookies and origins go:
// fetch() keeps cookies, and the page sees those that are not HttpOnly.
//
// stdin: { base, hash, script }; stdout: what the script returns, as JSON

import { json } from 'node:stream/consumers';

const { base, hash = '', script } = await json(process.stdin);
const jar = new Map();          // name: { value, hidden }

function keep(header) {
    const [, name, value, rest] = header.match(/^([^=]+)=([^;]*)(.*)$/);

    if (/; Max-Age=0\b/i.test(rest)) {
        jar.delete(name);
    } else {
        jar.set(name, { value, hidden: /; HttpOnly\b/i.test(rest) });
    }
}

const text = cookies => cookies.map(([name, { value }]) => `${name}=${value}`)
                               .join('; ');

const document = {
    get cookie() {
        return text([...jar].filter(([, { hidden }]) => !hidden));
    },
};

async function fetchOf(path, init) {
    const r = await fetch(base + path, { ...init, headers: {
        ...init.headers, cookie: text([...jar]),
        'sec-fetch-site': 'same-origin',
    } });

    r.headers.getSetCookie().forEach(keep);

    return r;
}

const location = { pathname: '/reset', hash };
const history = { replaceState: (state, title, path) => {
    location.hash = new URL(path, base).hash;
} };

const AsyncFunction = (async () => {}).constructor;
const run = new AsyncFunction('document', 'fetch', 'location',
                              'history', script);

console.log(JSON.stringify(await run(document, fetchOf, location,
                                     history)));
