// What a phone reads from QR codes that are SVG.
//
// stdin: [ "<svg ...>" ]
// stdout: a line of JSON for each: what was read, or null

import { readFileSync } from 'node:fs';
import jsqr from 'jsqr';

const PIXELS = 4;       // of a module


// Of the one path: M, m and h, with a line as wide as a module.

function modules(svg) {
    const side = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)[1]);
    const path = /<path stroke="#000" d="([^"]*)"/.exec(svg)[1];
    const dark = new Set();
    let x, y;

    for (const [, command, a, b] of
         path.matchAll(/([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?/g))
    {
        const n = Number(a);

        if (command === 'M') {
            x = n;
            y = Math.floor(Number(b));

        } else if (command === 'm') {
            x += n;

        } else {
            for (let i = 0; i < n; i++) {
                dark.add(y * side + x++);
            }
        }
    }

    return { side, dark };
}


for (const svg of JSON.parse(readFileSync(0, 'utf8'))) {
    const { side, dark } = modules(svg);
    const width = side * PIXELS;
    const data = new Uint8ClampedArray(width * width * 4).fill(255);

    for (let y = 0; y < width; y++) {
        for (let x = 0; x < width; x++) {
            if (dark.has(Math.floor(y / PIXELS) * side
                         + Math.floor(x / PIXELS)))
            {
                data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
            }
        }
    }

    const read = jsqr(data, width, width);

    console.log(JSON.stringify(read && Buffer.from(read.binaryData)
                                             .toString()));
}
