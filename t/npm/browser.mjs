// A browser for t/pages.t: on each line of the input [ what, argument, ... ], on each
// line of the output {"value": ...} or {"error": "..."}.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

import { executablePath } from "./chromium.mjs";

const LIMIT = 1000 * Number(process.argv[2]);

const browser = await chromium.launch({
  executablePath,
  args: [ "--no-sandbox", "--disable-gpu", "--in-process-gpu" ],
});

let context, page, protocol, tabs = [], faults = [], loaded = [], posted = null;

// what is refused is an error of the page that asked, and is in the console

const refused = (text, url) =>
  text.startsWith("Failed to load resource") && new URL(url).pathname.startsWith("/v1/");

// the contexts of as(), by their options

const kept = new Map();

async function begin(options) {
  context = await browser.newContext({ locale: "en", ...options });
  context.setDefaultTimeout(LIMIT);
  tabs = [];
  loaded = [];
  await actions.tab(0);
}

async function watched() {
  const tab = await context.newPage();

  tab.on("pageerror", e => faults.push(String(e)));
  tab.on("console", message => {
    if (message.type() === "error" && !refused(message.text(), message.location().url)
        || message.type() === "warning") {
      faults.push(message.text());
    }
  });
  tab.on("response", r => loaded.push(r));
  tab.on("request", r => {
    if (r.isNavigationRequest() && r.method() === "POST") {
      posted = r;
    }
  });
  await tab.addInitScript(() =>
    addEventListener("securitypolicyviolation", e =>
      console.error(`CSP: ${e.violatedDirective} ${e.blockedURI}`)));

  return tab;
}

// what the thing is called that has the focus

const named = () => {
  const { activeElement: it } = document;

  return it.getAttribute("aria-label") ?? (it.labels?.[0] ?? it).textContent.trim();
};

const actions = {

  async open(options = {}) {
    await context?.close();
    await begin(options);
  },

  // The same for somebody else who has these options, too: each of them has a context,
  // which stays.

  async as(options, url) {
    const name = JSON.stringify(options);

    if (kept.has(name)) {
      ({ context, page, protocol, tabs } = kept.get(name));
      await actions.fresh(url);

    } else {
      await begin(options);
      kept.set(name, { context, page, protocol, tabs });
    }
  },

  // goes on in another tab of the same browser

  async tab(n) {
    page = tabs[n] ??= await watched();
    await page.bringToFront();
    protocol = await context.newCDPSession(page);
  },

  // As in the browser of somebody else: no cookies, no history, no authenticator. A
  // new context, or about:blank on the way, would start another process, which is
  // most of what these tests cost.

  async fresh(url) {
    await context.clearCookies();
    await page.goto(url);
    await protocol.send("WebAuthn.disable");
    await protocol.send("Page.resetNavigationHistory");
    loaded = [];
  },

  // of its developer protocol; "off" takes it away, which signs in whenever it is asked

  async authenticator(off) {
    if (off) {
      return protocol.send("WebAuthn.disable");
    }

    await protocol.send("WebAuthn.enable");
    await protocol.send("WebAuthn.addVirtualAuthenticator", { options: {
      protocol: "ctap2", transport: "internal", hasResidentKey: true,
      hasUserVerification: true, isUserVerified: true,
      automaticPresenceSimulation: true } });
  },

  async go(url) { await page.goto(url, { waitUntil: "load" }); },
  async reload() { await page.reload(); },
  async back() { await page.goBack(); },
  async heading(text) { await page.getByRole("heading", { name: text }).waitFor(); },

  async type(label, text) {
    await page.locator("input, textarea").and(page.getByLabel(label, { exact: true })).fill(text);
  },


  async key(...names) {
    for (const name of names) {
      await page.keyboard.press(name);
    }
  },

  // without a mouse: on to what is called so, which is in the page or in its dialog

  async reach(name) {
    const until = Date.now() + LIMIT / 2;

    while (Date.now() < until) {
      await page.keyboard.press("Tab");

      if (await page.evaluate(named) === name) {
        return;
      }
    }

    throw new Error(`nothing is called ${name}`);
  },

  async write(text) { await page.keyboard.insertText(text); },

  // Where a pointer cannot come, too; but not before it is there.

  async click(selector) {
    await page.locator(selector).first().evaluate(element => element.click());
  },

  async press(name) {
    await page.getByRole("button", { name, exact: true }).click();
  },

  async follow(name) {
    await page.getByRole("link", { name, exact: true }).click();
  },

  // what is in the file that a link leads to

  async download(name) {
    const [file] = await Promise.all([page.waitForEvent("download"), actions.follow(name)]);

    return readFile(await file.path(), "utf8");
  },

  // what is said, once something is

  async said() {
    const alert = page.getByRole("alert").filter({ hasText: /./ });

    await alert.waitFor();

    return alert.innerText();
  },

  async arrives(url) { await page.waitForURL(url); },
  url: () => page.url(),

  // the form that led somewhere last

  async posted() {
    const { origin, referer } = await posted.allHeaders();

    return { url: posted.url(), text: posted.postData(), origin, referer };
  },

  text: selector => page.locator(selector).innerText(),
  count: selector => page.locator(selector).count(),
  attribute: (selector, name) => page.locator(selector).getAttribute(name),
  focus: () => page.evaluate("document.activeElement.id"),
  run: script => page.evaluate(script),

  // what whoever cannot see the page is told of it

  tree: () => page.locator("body").ariaSnapshot(),

  // how many nodes and listeners there are, after what nobody has any more is gone

  async held() {
    await protocol.send("Performance.enable");
    await protocol.send("HeapProfiler.collectGarbage");

    const { metrics } = await protocol.send("Performance.getMetrics");

    return Object.fromEntries(metrics.filter(({ name }) => name === "Nodes"
                                                           || name === "JSEventListeners")
      .map(({ name, value }) => [name, value]));
  },

  // The time of pages from the next one on stands where it is, until it is moved on, by
  // seconds.

  async clock(seconds) {
    await (seconds ? page.clock.fastForward(1000 * seconds) : page.clock.install());
  },

  // a file that is not there any more, or is again

  async without(url, off) {
    await (off ? page.unroute(url) : page.route(url, route => route.fulfill({ status: 404 })));
  },

  // The next request of this address comes to its server, and its answer does not come back.

  async broken(url) {
    await page.route(url, async route => {
      await route.fetch();
      await route.abort();
    }, { times: 1 });
  },

  // for whoever wants to see it

  async shot(path, options = {}) { await page.screenshot({ path, fullPage: true, ...options }); },
  async offline(on) { await context.setOffline(on); },
  async forget() { await context.clearCookies(); },
  async resize(width, height) { await page.setViewportSize({ width, height }); },

  // forgets what was loaded; returns the requests for what is not a file, since then

  calls() {
    return loaded.splice(0).map(r => r.request())
      .map(r => `${r.method()} ${new URL(r.url()).pathname}`)
      .filter(call => call.includes(" /v1/"));
  },

  // of all that came from the server's own files

  async size() {
    const files = loaded.filter(r => !new URL(r.url()).pathname.startsWith("/v1/")
                                     && r.url().startsWith("http") && r.ok()
                                     && r.request().method() === "GET");
    const bodies = await Promise.all(files.map(r => r.body()));

    return bodies.reduce((sum, body) => sum + body.length, 0);
  },

  // Without analyze(), which loads axe twice, for the frames that there are not; and without
  // the styles of shadow roots, which axe would copy to where the policy lets in none.

  async axe() {
    // a list is paler while it is read again

    await page.locator(".stale").first().waitFor({ state: "detached" });

    if (!await page.evaluate(() => "axe" in window)) {
      await page.evaluate(new AxeBuilder({ page }).script());
    }

    const { violations } = await page.evaluate(() =>
      window.axe.run(document, { resultTypes: [ "violations" ], preload: false })
        .then(({ violations }) => ({ violations })));

    return violations.map(v => `${v.id}: ${v.nodes.map(n => n.html).join(" ")}`);
  },

  faults() { return faults.splice(0); },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [ what, ...args ] = JSON.parse(line);

  try {
    console.log(JSON.stringify({ value: await actions[what](...args) ?? null }));
  } catch (e) {
    console.log(JSON.stringify({ error: `${what}: ${e.message}` }));
  }
}

await browser.close();
