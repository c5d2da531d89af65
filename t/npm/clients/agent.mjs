// A browser as far as clients on loopback see it: it keeps cookies, follows redirects
// and posts forms. Where the issuer is, a user goes on: "visit" is asked.

import { ask } from './party.mjs';

export class Agent {
    #jars = new Map();

    constructor(issuer) {
        this.origin = new URL(issuer).origin;
    }

    #jar(url) {
        const { origin } = new URL(url);

        if (!this.#jars.has(origin)) {
            this.#jars.set(origin, new Map());
        }

        return this.#jars.get(origin);
    }

    #keep(url, answer) {
        for (const cookie of answer.headers.getSetCookie()) {
            const [, name, value, rest] = /^([^=]+)=([^;]*)(.*)$/s.exec(cookie);
            const ends = /; *expires=([^;]*)/i.exec(rest);

            if (/; *max-age=0\b/i.test(rest) || (ends && new Date(ends[1]) <= new Date())) {
                this.#jar(url).delete(name);

            } else {
                this.#jar(url).set(name, value);
            }
        }
    }

    // One request, without going on.

    async once(url, form) {
        const cookie = [...this.#jar(url)].map(pair => pair.join('=')).join('; ');
        const answer = await fetch(url, {
            method: form ? 'POST' : 'GET', redirect: 'manual',
            headers: cookie ? { cookie } : {},
            body: form && new URLSearchParams(form) });

        this.#keep(url, answer);

        return answer;
    }

    // To the page that it ends at: its status, its text, and where that is.

    async go(url, form) {
        for (let i = 0; i < 12; i++) {
            if (new URL(url).origin === this.origin) {
                ({ url, form } = await ask('visit', url));
                continue;
            }

            const answer = await this.once(url, form);
            const to = answer.headers.get('location');

            if (!to) {
                return { url, status: answer.status, text: await answer.text() };
            }

            url = new URL(to, url).href;
            form = undefined;
        }

        throw new Error(`it does not end: ${url}`);
    }

    async json(url) {
        const page = await this.go(url);

        if (page.status !== 200) {
            throw new Error(`${page.url}: ${page.status} ${page.text}`);
        }

        return JSON.parse(page.text);
    }
}
