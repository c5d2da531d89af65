// What all pages have in common: the address, the calls, and the one form.

export const fragment = takeFragment();
export const query = new URLSearchParams(location.search);

export const names = { tenant: query.get("tenant") || undefined };
export const text = await words();

let part = partOf(document);

const stages = {};
let busy = false;


// The token of a link: nobody reads it over a shoulder, or from the history.

function takeFragment() {
  const values = new URLSearchParams(location.hash.slice(1));

  if (location.hash) {
    history.replaceState(null, "", location.pathname + location.search);
  }

  addEventListener("hashchange", () => location.reload());

  return values;
}


function partOf(place) {
  const [error, view] = ["#error, .error", "#view, .view"].map(s => place.querySelector(s));

  return { main: view?.parentNode, error, view, whole: place === document };
}


// Has the steps go into a part of another page, whose CSRF token "token" returns.  Returns
// what puts all back.

export function into(place, token) {
  const before = part;

  part = { ...partOf(place), token };

  return () => {
    part = before;
  };
}


// Another page may know its user's language.

async function words() {
  const known = ["en", "fr", "de"];
  const root = document.documentElement;
  const language = [root.dataset.language ?? "", ...navigator.languages]
    .map(l => l.slice(0, 2).toLowerCase()).find(l => known.includes(l)) ?? "en";

  root.lang = language;

  return (await import(`./text.${language}.js`)).default;
}


export const pageOf = (name, hash = "") => `/${name}`
  + (names.tenant ? `?tenant=${encodeURIComponent(names.tenant)}` : "") + hash;


export const csrfToken = () => part.token?.()
  ?? document.cookie.match(/(?:^|; )(?:__Host-)?svc_csrf=([^;]*)/)?.[1];


export async function call(method, path, body) {
  const r = await fetch(path, {
    method,
    headers: method === "GET" ? {} : {
      "X-CSRF-Token": csrfToken() ?? "",
      "Accept-Language": document.documentElement.lang,
    },
    body: body && JSON.stringify(body),
  });
  const answer = r.status === 204 ? null : await r.json();

  if (r.ok) {
    return answer;
  }

  throw Object.assign(new Error(answer.error.message), {
    code: answer.error.code,
    seconds: Number(r.headers.get("Retry-After")),
  });
}

export const post = (path, body = {}) => call("POST", `/v1${path}`, body);


// An element; what is a function listens.  Strings are text, and never HTML.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);

  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value !== undefined) {
      element.setAttribute(name, value);
    }
  }

  element.append(...children.filter(child => child));

  return element;
}

export const note = (...children) => h("p", { class: "note" }, ...children);
export const link = (href, label) => h("p", {}, h("a", { href }, label));

export const button = (label, action) =>
  h("button", { type: "button", click: () => run(action) }, label);


// A field: its name, and the attributes of the input.

function field({ name, label, rules, ...attributes }) {
  const described = (rules ? "rules " : "") + part.error.id;

  return [
    h("label", { for: name }, label),
    h("input", { id: name, name, required: "", "aria-describedby": described,
                 ...attributes }),
    rules && h("ul", { id: "rules", class: "rules" },
               ...rules.map(rule => h("li", {}, rule))),
  ];
}

export function form(fields, label, action) {
  return h("form", {
    submit(event) {
      event.preventDefault();
      run(() => action(Object.fromEntries(new FormData(event.target))));
    },
  }, ...fields.flatMap(field), h("button", { type: "submit" }, label));
}


// What it is about comes first, and what there is to fill in has the focus.

export function show(title, ...children) {
  const { error, view, whole } = part;
  const head = h("h1", { tabindex: "-1" }, title);

  if (whole) {
    document.title = names.name ? `${title} – ${names.name}` : title;
  }

  error.replaceChildren();
  view.replaceChildren(head, ...children.filter(child => child));
  (view.querySelector("input:not([readonly])") ?? head).focus();
}


export const fill = (words, values) =>
  words.replace(/\{(\w+)\}/g, (all, name) => values[name]);


// One at a time.  What an answer's code leads to is said, or is another view.

export async function run(action) {
  if (busy) {
    return;
  }

  const { main, error } = part;

  busy = true;
  main.setAttribute("aria-busy", "true");
  error.replaceChildren();

  try {
    await action();

  } catch (e) {
    await failed(e);

  } finally {
    busy = false;
    main.removeAttribute("aria-busy");
  }
}

export const onCode = table => Object.assign(stages, table);

async function failed(e) {
  const next = stages[e.code];

  if (!next) {
    return say(e);
  }

  try {
    await next(e);
  } catch (other) {
    say(other);
  }
}


// The server's own message is in English.

export function say(e) {
  const known = text.errors[e.code] ?? text.errors[e.name] ?? text.failed;
  const more = ["password_rejected", "invalid_request"].includes(e.code);

  part.error.replaceChildren(
    fill(known, { minutes: Math.max(1, Math.ceil((e.seconds || 60) / 60)) }),
    ...(more ? [" ", h("span", { lang: "en" }, e.message)] : []));

  part.view.querySelector("[type=password], [autocomplete=one-time-code]")?.select();
}
