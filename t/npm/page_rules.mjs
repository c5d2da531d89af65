// The rules of t/console_lint.t for one script; page_lint.mjs has those for all files.

import ts from "typescript";

// --- what is allowed -----------------

// These files alone ask servers, and these make attributes of any name.

const ASKING = ["svc/page.js", "svc/ui/call.js"];
const DRAWING = ["svc/page.js", "svc/ui/draw.js"];

// These functions alone make links of what they are given.

const LINKING = { "svc/ui/place.js": ["Link", "link"], "svc/page.js": ["link"] };

// what a browser keeps: nothing of a person

const KEPT = ["svc-keys", "svc-theme", "svc-checklist", "svc-tenant"];

// names and commands, which are the same in all languages

const NAMES = new Set(["Samsung Internet"]);

// code that has no words of its own; programs to copy are for developers

const SAMPLES = ["svc/console/snippets.js"];
const WORDLESS = /^svc\/(?:console|ui|account)\//;

// --- what is a fault -----------------

const SINKS = new Set(["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe",
                       "parseHTMLUnsafe", "parseFromString", "createContextualFragment",
                       "srcdoc"]);
const CODE = new Set(["eval", "Function"]);
const REQUESTS = new Set(["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon",
                          "importScripts", "Worker", "SharedWorker", "serviceWorker"]);
const STORES = new Set(["sessionStorage", "indexedDB", "caches", "cookieStore"]);
export const ELEMENTS = new Set(["script", "style", "iframe", "frame", "object", "embed", "base"]);

// attributes that people read, and those whose value has blanks and is no text

const READ = new Set(["title", "alt", "placeholder", "aria-label", "aria-description"]);
const TOKENS = new Set(["class", "className", "rel", "autocomplete", "role", "viewBox", "d",
                        "aria-describedby", "aria-labelledby", "aria-controls", "transform",
                        "points", "accept", "sizes", "media"]);
const SELECTING = new Set(["querySelector", "querySelectorAll", "closest", "matches"]);

// what a module may load: a path of these files

export const OURS = /^(?:\.\.?\/|\/svc\/)/;

export const isWords = path => /\.(?:en|fr|de)\.js$/.test(path);
const isSheet = path => path.endsWith(".sheet.js");

export const resolve = (from, path) => new URL(path, `file:///${from}`).pathname.slice(1);

export const isText = ts.isStringLiteralLike;
export const nameOf = node => node && (ts.isIdentifier(node) || isText(node)) ? node.text : null;

// the name of what is called: a function's, or that of a method

export const called = node => ts.isIdentifier(node.expression) ? node.expression.text
  : ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : null;


// --- what scripts give and take ------

const namesOf = ({ name, namedBindings }) => [
  ...name ? ["default"] : [],
  ...(namedBindings?.elements ?? []).map(one => (one.propertyName ?? one.name).text),
];

const has = (node, kind) => node.modifiers?.some(one => one.kind === kind);

function exportsOf(source) {
  const names = new Set();
  const bound = name => ts.isIdentifier(name) ? names.add(name.text)
    : name.elements.forEach(one => one.name && bound(one.name));

  for (const one of source.statements) {
    if (ts.isExportAssignment(one)) {
      names.add("default");

    } else if (ts.isExportDeclaration(one)) {
      one.exportClause?.elements.forEach(part => names.add(part.name.text));

    } else if (has(one, ts.SyntaxKind.ExportKeyword)) {
      one.declarationList?.declarations.forEach(part => bound(part.name));
      names.add(has(one, ts.SyntaxKind.DefaultKeyword) ? "default" : one.name?.text);
    }
  }

  return names;
}


// --- scripts -------------------------

export function lintScript(path, scripts, fault) {
  const source = scripts.get(path);

  const wordless = WORDLESS.test(path) && !SAMPLES.includes(path) && !isWords(path)
                   && !isSheet(path);
  const checks = [markup, evaluation, attributes, storage, requests, links, imports,
                  ...wordless ? [words] : []];

  const visit = node => {
    checks.forEach(check => check(node));
    ts.forEachChild(node, visit);
  };

  source.parseDiagnostics.forEach(d => fault(d.start, `does not parse: ${d.messageText}`));
  visit(source);

  function markup(node) {
    if (nameOf(node) !== null && SINKS.has(node.text)) {
      fault(node, `${node.text} makes HTML of text`);
    }

    if (ts.isPropertyAccessExpression(node) && nameOf(node.expression) === "document"
        && /^write(?:ln)?$/.test(node.name.text))
    {
      fault(node, `document.${node.name.text} makes HTML of text`);
    }

    if (ts.isCallExpression(node)) {
      const n = { h: 0, createElement: 0, createElementNS: 1 }[called(node)];

      if (ELEMENTS.has(nameOf(node.arguments[n])?.toLowerCase())) {
        fault(node, `an element "${node.arguments[n].text}"`);
      }
    }
  }

  function evaluation(node) {
    const name = ts.isIdentifier(node) && !isKey(node) ? node.text : null;

    if (CODE.has(name)) {
      fault(node, `${name} makes code of text`);
    }

    if (ts.isCallExpression(node) && /^set(?:Timeout|Interval)$/.test(called(node))
        && node.arguments[0] && (isText(node.arguments[0])
                                 || ts.isTemplateExpression(node.arguments[0])))
    {
      fault(node, `${called(node)} makes code of text`);
    }

    if (isText(node) && /^\s*javascript:/i.test(node.text)) {
      fault(node, "an address that is code");
    }
  }

  function attributes(node) {
    if (ts.isCallExpression(node)
        && /^(?:set|toggle)Attribute(?:NS)?$/.test(called(node)))
    {
      const name = node.arguments[called(node).endsWith("NS") ? 1 : 0];

      if (name && !isText(name)) {
        return DRAWING.includes(path) || fault(node, "an attribute of any name");
      }

      if (/^(?:style|on.*)$/i.test(name?.text)) {
        fault(node, `an attribute "${name.text}"`);
      }
    }

    if (ts.isPropertyAssignment(node) && ts.isCallExpression(node.parent.parent)
        && called(node.parent.parent) === "h")
    {
      const name = nameOf(node.name) ?? "";

      if (/^style$/i.test(name) || /^on/i.test(name) && isText(node.initializer)) {
        fault(node, `an attribute "${name}" of text`);
      }
    }

    if (ts.isPropertyAccessExpression(node) && node.name.text === "cssText") {
      fault(node, "a style of text");
    }
  }

  function storage(node) {
    if (!ts.isIdentifier(node) || isKey(node)) {
      return;
    }

    if (STORES.has(node.text)) {
      fault(node, `${node.text} keeps something in the browser`);
    }

    if (node.text === "localStorage") {
      const call = node.parent.parent;

      if (!ts.isPropertyAccessExpression(node.parent) || !ts.isCallExpression(call)
          || !/^(?:get|set|remove)Item$/.test(node.parent.name.text)
          || !KEPT.includes(nameOf(call.arguments[0])))
      {
        fault(node, "localStorage has what is not listed");
      }
    }

    if (node.text === "document" && ts.isPropertyAccessExpression(node.parent)
        && node.parent.name.text === "cookie" && isAssigned(node.parent))
    {
      fault(node, "sets a cookie");
    }
  }

  function requests(node) {
    const name = ts.isIdentifier(node) ? node.text : null;

    if (REQUESTS.has(name) && !isKey(node) && !(name === "fetch" && ASKING.includes(path)))
    {
      fault(node, `${name} asks a server`);
    }
  }

  function links(node) {
    const wanted = ts.isPropertyAssignment(node) && nameOf(node.name) === "href"
      ? node.initializer
      : ts.isShorthandPropertyAssignment(node) && node.name.text === "href"
        ? node.name
        : ts.isPropertyAccessExpression(node) && node.name.text === "href" && isAssigned(node)
          ? node.parent.right
          : ts.isCallExpression(node) && called(node) === "setAttribute"
            && nameOf(node.arguments[0]) === "href"
            ? node.arguments[1] : null;

    if (!wanted) {
      return;
    }

    // a style sheet is one of these files: the policy lets in no other

    const styles = ts.isObjectLiteralExpression(node.parent)
      && node.parent.properties.some(p => ts.isPropertyAssignment(p)
                                          && nameOf(p.name) === "rel"
                                          && nameOf(p.initializer) === "stylesheet");

    if (!styles && !isOwn(wanted, scripts) && !inside(node, LINKING[path] ?? [])) {
      fault(node, "a link to what somebody may have written: link() of ui/place.js checks it");
    }
  }

  function imports(node) {
    const from = ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0] : undefined;

    if (!from) {
      return;
    }

    if (!OURS.test((from.head ?? from).text ?? "")) {
      fault(node, "a module that is none of these files");
    }

    const other = node.importClause && scripts.get(resolve(path, from.text));

    if (other) {
      const there = exportsOf(other);

      namesOf(node.importClause).filter(name => !there.has(name))
        .forEach(name => fault(node, `${from.text} has no "${name}"`));
    }
  }

  function words(node) {
    if (isText(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const above = ts.isTemplateSpan(node.parent) ? node.parent.parent : node;

      if (/\p{L}{2,} \p{L}|\p{L} \p{L}{2,}/u.test(node.text) && !NAMES.has(node.text)
          && !isTold(above))
      {
        fault(node, `words of its own: "${node.text}"`);
      }
    }

    if (ts.isCallExpression(node) && called(node) === "h") {
      node.arguments.slice(2).filter(kid => isText(kid) && /\p{L}{2}/u.test(kid.text))
          .forEach(kid => fault(kid, `a word of its own: "${kid.text}"`));
    }

    if (ts.isPropertyAssignment(node) && READ.has(nameOf(node.name))
        && isText(node.initializer) && /\p{L}/u.test(node.initializer.text))
    {
      fault(node, `a word of its own: "${node.initializer.text}"`);
    }
  }

  // Whether a text is for the browser, or says to developers what is wrong.

  function isTold(node) {
    for (let at = node, up = node.parent; up; at = up, up = up.parent) {
      if (ts.isPropertyAssignment(up)) {
        return TOKENS.has(nameOf(up.name));
      }

      if (ts.isBinaryExpression(up) && ts.isPropertyAccessExpression(up.left)
          && isAssigned(up.left))
      {
        return TOKENS.has(up.left.name.text);
      }

      if (ts.isCallExpression(up) && at !== up.expression) {
        return SELECTING.has(called(up))
               || ts.isPropertyAccessExpression(up.expression)
                  && nameOf(up.expression.expression.name) === "classList";
      }

      if (ts.isNewExpression(up)) {
        return /^(?:Failure|\w*Error)$/.test(nameOf(up.expression));
      }

      if (ts.isStatement(up)) {
        return false;
      }
    }

    return false;
  }
}

// Whether it is a path of this origin, or of what the page has made, however the rest of
// it comes about.

function isOwn(node, scripts, depth = 0) {
  const own = other => Boolean(other) && isOwn(other, scripts, depth + 1);

  if (depth > 9) {
    return false;
  }

  if (isText(node) || ts.isTemplateExpression(node)) {
    return /^(?:#|\/(?![\/\\])|data:,$)/.test((node.head ?? node).text);
  }

  if (ts.isParenthesizedExpression(node)) {
    return own(node.expression);
  }

  if (ts.isConditionalExpression(node)) {
    return own(node.whenTrue) && own(node.whenFalse);
  }

  if (ts.isBinaryExpression(node)) {
    return node.operatorToken.kind === ts.SyntaxKind.PlusToken && own(node.left);
  }

  if (ts.isArrowFunction(node)) {
    return !ts.isBlock(node.body) && own(node.body);
  }

  if (ts.isIdentifier(node)) {
    const value = valueOf(node, scripts);

    return value !== null && !ts.isFunctionLike(value) && own(value);
  }

  if (ts.isCallExpression(node)) {
    return ["createObjectURL"].includes(called(node))
           || called(node) === "state" && own(node.arguments[0])
           || ts.isIdentifier(node.expression) && own(valueOf(node.expression, scripts));
  }

  return false;
}

// What a name stands for in its file, or in the one that it is imported from; or null.
// Of state() it is the first value.

function valueOf({ text: name, parent }, scripts) {
  const source = parent.getSourceFile();
  let found = null;

  const visit = node => {
    if (ts.isVariableDeclaration(node) && node.initializer
        && nameOf(ts.isArrayBindingPattern(node.name) ? node.name.elements[0]?.name
                                                      : node.name) === name)
    {
      found = node.initializer;
    }

    if (ts.isImportSpecifier(node) && node.name.text === name) {
      const from = resolve(source.fileName, node.parent.parent.parent.moduleSpecifier.text);
      const there = scripts.get(from);

      found = there ? valueOf({ text: (node.propertyName ?? node.name).text, parent: there },
                              scripts)
                    : null;
    }

    ts.forEachChild(node, visit);
  };

  visit(source);

  return found;
}

const isKey = node => ts.isPropertyAssignment(node.parent) && node.parent.name === node;

const isAssigned = node => ts.isBinaryExpression(node.parent) && node.parent.left === node
  && node.parent.operatorToken.kind >= ts.SyntaxKind.FirstAssignment
  && node.parent.operatorToken.kind <= ts.SyntaxKind.LastAssignment;

// Whether it is in a function of one of these names.

function inside(node, names) {
  for (let at = node; at; at = at.parent) {
    const name = ts.isFunctionDeclaration(at) ? at.name
      : ts.isVariableDeclaration(at) && ts.isFunctionLike(at.initializer ?? at) ? at.name : null;

    if (name && names.includes(nameOf(name))) {
      return true;
    }
  }

  return false;
}
