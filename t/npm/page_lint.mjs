// What the pages of conf/www must not do, for t/console_lint.t: reads { site: { path: text,
// ... }, ... }, paths as below conf/www, and writes { site: [ "path:line: fault", ... ], ... }.
// Scripts are parsed by TypeScript; page_rules.mjs has what holds for each.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

import ts from "typescript";

import {
  called, ELEMENTS, isText, isWords, lintScript, nameOf, OURS, resolve,
} from "./page_rules.mjs";

const PLURALS = new Set(["zero", "one", "two", "few", "many", "other"]);


// --- HTML and CSS --------------------

const TAG = /<([a-z][\w-]*)((?:\s+[^\s=>"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?)*)\s*\/?>/gi;
const ATTRIBUTE = /([^\s=>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/g;

const tagsOf = text => [...text.matchAll(TAG)].map(({ index, 0: all, 1: name, 2: rest }) => ({
  index, end: index + all.length, name: name.toLowerCase(),
  attributes: Object.fromEntries([...rest.matchAll(ATTRIBUTE)].map(([, key, ...values]) =>
    [key.toLowerCase(), values.find(v => v !== undefined) ?? ""])),
}));

function lintPage(text, fault) {
  for (const { index, end, name, attributes } of tagsOf(text)) {
    for (const [key, value] of Object.entries(attributes)) {
      if (/^(?:style|on.*)$/.test(key)) {
        fault(index, `an attribute "${key}"`);
      }

      if (["href", "src", "action"].includes(key) && !/^(?:\/(?![\/\\])|#|data:,$)/.test(value)) {
        fault(index, `an address that is none of these files: "${value}"`);
      }
    }

    if (name === "script" && (!attributes.src || !text.startsWith("</script>", end))) {
      fault(index, "a script within the page");
    }

    if (name !== "script" && ELEMENTS.has(name) || "http-equiv" in attributes) {
      fault(index, `an element "${name}"`);
    }
  }
}

function lintStyle(text, fault) {
  for (const { index, 0: found } of text.matchAll(/@import|url\((?!\s*["']?data:)|expression\(/gi)) {
    fault(index, `"${found}" of a style`);
  }
}


// --- all files together --------------

const staticOf = source => source.statements
  .filter(s => (ts.isImportDeclaration(s) || ts.isExportDeclaration(s)) && s.moduleSpecifier)
  .map(s => s.moduleSpecifier);

function dynamicOf(source) {
  const found = [];

  const visit = node => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        && node.arguments[0] && isText(node.arguments[0]))
    {
      found.push(node.arguments[0]);
    }

    ts.forEachChild(node, visit);
  };

  visit(source);

  return found;
}

function lintGraph(files, scripts, fault) {
  const graph = new Map(), later = new Map();

  for (const [path, source] of scripts) {
    const to = staticOf(source), then = dynamicOf(source);

    graph.set(path, to.map(({ text }) => resolve(path, text)));
    later.set(path, then.map(({ text }) => resolve(path, text)));

    for (const node of [...to, ...then]) {
      if (OURS.test(node.text) && !scripts.has(resolve(path, node.text))) {
        fault(path, node, `there is no "${node.text}"`);
      }
    }
  }

  for (const path of Object.keys(files).filter(path => path.endsWith(".html"))) {
    const tags = tagsOf(files[path]);
    const begun = tags.filter(({ name }) => name === "script")
                      .map(({ attributes }) => attributes.src?.slice(1)).filter(src => src);
    const loaded = tags.filter(({ attributes }) => attributes.rel === "modulepreload")
                       .map(({ attributes }) => attributes.href.slice(1));
    const closure = from => {
      const all = new Set(from);

      all.forEach(module => (graph.get(module) ?? []).forEach(other => all.add(other)));

      return all;
    };

    begun.filter(module => !scripts.has(module))
         .forEach(module => fault(path, 0, `there is no "${module}"`));

    // A page may load ahead what its script imports later, and then with all that this
    // needs.  The pages of sign-in have few modules, which come as fast without.

    const own = closure(begun);
    const whole = [...own].some(module => module.startsWith("svc/ui/"))
                  || loaded.some(module => own.has(module));
    const needed = closure(loaded);

    own.forEach(module => whole && !begun.includes(module) ? needed.add(module)
                                                           : needed.delete(module));

    const reached = new Set(begun);

    reached.forEach(module =>
      [...graph.get(module) ?? [], ...later.get(module) ?? []].forEach(m => reached.add(m)));

    [...needed].filter(module => !loaded.includes(module)).sort()
      .forEach(m => fault(path, 0, `lacks <link rel="modulepreload" href="/${m}">`));
    loaded.filter((m, n) => !reached.has(m) || begun.includes(m) || loaded.indexOf(m) !== n)
      .forEach(m => fault(path, 0, `loads /${m}, which its script does not import`));
  }
}


// The names that code uses of words; and those of whose members it takes any.

function usedIn(scripts) {
  const names = new Set(), open = new Set();

  const visit = node => {
    if (nameOf(node) !== null) {
      names.add(node.text);
    }

    if (ts.isElementAccessExpression(node) && !isText(node.argumentExpression)) {
      open.add(lastOf(node.expression));
    }

    if (ts.isCallExpression(node) && /^(?:keys|values|entries|wordOf)$/.test(called(node))
        && node.arguments[0])
    {
      open.add(lastOf(node.arguments[0]));
    }

    ts.forEachChild(node, visit);
  };

  for (const [path, source] of scripts) {
    if (!isWords(path)) {
      visit(source);
    }
  }

  return { names, open };
}

const lastOf = node => ts.isPropertyAccessExpression(node) ? node.name.text
  : ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) ? lastOf(node.expression)
  : ts.isBinaryExpression(node) ? lastOf(node.left) : nameOf(node);

const isPlural = value => "other" in value && Object.keys(value).every(k => PLURALS.has(k));

// Each text by its path, with the values that it takes.

function textsOf(value, at = []) {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !isPlural(value)) {
    return Object.entries(value).flatMap(([key, v]) => textsOf(v, [...at, key]));
  }

  const takes = new Set(JSON.stringify(value).match(/\{\w+\}/g) ?? []);

  takes.delete("{n}");

  return [{ at, name: at.join("."), takes: [...takes].sort().join(" ") }];
}

// Files of words load others of these at most.

async function lintWords(files, scripts, fault) {
  const dir = mkdtempSync(`${tmpdir()}/words.`);

  try {
    writeFileSync(`${dir}/package.json`, '{ "type": "module" }');

    for (const path of Object.keys(files).filter(isWords)) {
      mkdirSync(dirname(`${dir}/${path}`), { recursive: true });
      writeFileSync(`${dir}/${path}`, files[path]);
    }

    await compareWords(dir, files, scripts, fault);

  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function compareWords(dir, files, scripts, fault) {
  const used = usedIn(scripts);
  const areas = new Set(Object.keys(files).filter(isWords)
                              .map(path => path.replace(/\.\w\w\.js$/, "")));

  for (const area of areas) {
    const texts = {};

    for (const language of ["en", "fr", "de"]) {
      const path = `${area}.${language}.js`;

      if (path in files) {
        try {
          const { default: words } = await import(`${dir}/${path}`);

          texts[language] = new Map(textsOf(words).map(text => [text.name, text]));

        } catch {
          fault(path, 0, "a file of words loads other words alone, and this one fails");
        }

      } else {
        fault(`${area}.en.js`, 0, `there is no ${path}`);
      }
    }

    for (const [language, own] of Object.entries(texts)) {
      const path = `${area}.${language}.js`;

      for (const [name, text] of texts.en ?? []) {
        if (!own.has(name)) {
          fault(path, 0, `lacks "${name}"`);
        } else if (own.get(name).takes !== text.takes) {
          fault(path, 0, `"${name}" takes other values than in English`);
        }
      }

      [...own.keys()].filter(name => texts.en && !texts.en.has(name))
                     .forEach(name => fault(path, 0, `has "${name}", which English lacks`));
    }

    const unused = new Set();

    for (const { at } of texts.en?.values() ?? []) {
      const n = at.findIndex((key, i) =>
        !used.names.has(key) && !(i > 0 && at.slice(0, i).some(above => used.open.has(above))));

      if (n >= 0) {
        unused.add(at.slice(0, n + 1).join("."));
      }
    }

    unused.forEach(name => fault(`${area}.en.js`, 0, `"${name}" is not used`));
  }
}


// --- a site --------------------------

async function lint(files) {
  const faults = [];
  const scripts = new Map(Object.entries(files).filter(([path]) => path.endsWith(".js"))
    .map(([path, text]) =>
      [path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)]));

  const fault = (path, where, what) => {
    const at = typeof where === "number" ? where : where.getStart();

    faults.push(`${path}:${files[path].slice(0, at).split("\n").length}: ${what}`);
  };

  for (const [path, text] of Object.entries(files)) {
    const here = (where, what) => fault(path, where, what);

    if (scripts.has(path)) {
      lintScript(path, scripts, here);
    } else if (path.endsWith(".html")) {
      lintPage(text, here);
    } else if (path.endsWith(".css")) {
      lintStyle(text, here);
    }
  }

  lintGraph(files, scripts, (path, where, what) => fault(path, where, what));
  await lintWords(files, scripts, (path, where, what) => path in files
    ? fault(path, where, what) : faults.push(`${path}: ${what}`));

  return faults;
}

const chunks = [];

for await (const chunk of process.stdin) {
  chunks.push(chunk);
}

const found = {};

for (const [name, files] of Object.entries(JSON.parse(Buffer.concat(chunks).toString()))) {
  found[name] = await lint(files);
}

console.log(JSON.stringify(found));
