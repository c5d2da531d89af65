// The sheets of the pages, for t/console_sheets.t: reads { root, files }, and writes
// { file: { sheets, operations }, ... }, or { file: { error } }.  The sheets are data, and
// need no browser; what is a function in them is left out.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { json } from "node:stream/consumers";
import { tmpdir } from "node:os";

const { root, files } = await json(process.stdin);
const dir = mkdtempSync(`${tmpdir()}/sheets.`);
const found = {};

// Node.js takes files for modules where a package.json says so.

try {
  cpSync(`${root}/conf/www`, dir, { recursive: true });
  writeFileSync(`${dir}/package.json`, '{ "type": "module" }');

  for (const file of files) {
    try {
      const { default: sheets = {}, operations = [] } = await import(`${dir}/${file}`);

      found[file] = { sheets, operations };

    } catch (e) {
      found[file] = { error: e.message };
    }
  }

} finally {
  rmSync(dir, { recursive: true });
}

console.log(JSON.stringify(found));
