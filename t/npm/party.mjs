// What programs of t/lib/SvcTest/Party.pm say, ask for, and are given.

import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// ms that clients wait for an answer, in place of their own 3.5 or 5 seconds: they all
// begin at once, on a machine that runs other tests, too.

export const patience = 20000;

// The program ends when it waits for nothing else.  Answers come in the order of what
// was asked.

let waiting = 0;

async function line() {
    waiting++;
    process.stdin.ref();

    const { value, done } = await lines.next();

    if (--waiting === 0) {
        process.stdin.unref();
    }

    if (done) {
        throw new Error('nobody answers');
    }

    return JSON.parse(value);
}

function say(what) {
    process.stdout.write(`${JSON.stringify(what)}\n`);
}

export const input = await line();

export async function attempt(name, f) {
    try {
        const ok = await f() === true;
        say({ name, ok, why: ok ? '' : 'not as it should be' });

    } catch (e) {
        const why = `${e.stack} ${JSON.stringify(e.cause ?? null)}`;
        say({ name, ok: false, why });
    }
}

export function ask(who, what) {
    say({ ask: who, what });

    return line();
}

// Whether a promise is refused as it should be.

export async function refused(promise, as) {
    try {
        await promise;
        return false;

    } catch (e) {
        if (!as(e)) {
            throw e;
        }

        return true;
    }
}
