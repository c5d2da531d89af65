// A page in Debian's chromium, with an authenticator of its developer protocol.
//
// chromium.mjs URL: on each line of the input JavaScript as a JSON string, on each
// line of the output what it gave: {"value": ...} or {"error": "..."}.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const profile = mkdtempSync(join(tmpdir(), "svc-chromium."));

// as root there is no sandbox; the page is our own
const chromium = spawn("chromium", [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
  "--no-first-run", "--accept-lang=en", "--remote-debugging-pipe",
  `--user-data-dir=${profile}`,
  "about:blank",
], { stdio: [ "ignore", "ignore", "ignore", "pipe", "pipe" ] });

const waiting = new Map();
let loaded;
let last = 0, rest = "";

chromium.stdio[4].setEncoding("utf8").on("data", data => {
  const messages = (rest + data).split("\0");

  rest = messages.pop();

  for (const message of messages.map(text => JSON.parse(text))) {
    if (message.method === "Page.loadEventFired") {
      loaded();
    }

    const { resolve, reject } = waiting.get(message.id) ?? {};

    waiting.delete(message.id);

    if (message.error) {
      reject?.(new Error(message.error.message));
    } else {
      resolve?.(message.result);
    }
  }
});

const ended = new Promise(resolve => chromium.on("exit", resolve));
let done = false;

chromium.on("error", e => gone(e.message));
ended.then(code => done || gone(`chromium has ended: ${code}`));

function gone(why) {
  console.error(why);
  process.exit(1);
}

function send(method, params = {}, sessionId) {
  return new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    chromium.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId })
                            + "\0");
  });
}

process.on("exit", () => {
  chromium.kill("SIGKILL");
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
});

const { targetId } = await send("Target.createTarget", { url: "about:blank" });
const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });

await send("WebAuthn.enable", {}, sessionId);
await send("WebAuthn.addVirtualAuthenticator", { options: {
  protocol: "ctap2", transport: "internal", hasResidentKey: true,
  hasUserVerification: true, isUserVerified: true,
  automaticPresenceSimulation: true } }, sessionId);

await send("Page.enable", {}, sessionId);
await Promise.all([ new Promise(resolve => { loaded = resolve; }),
                    send("Page.navigate", { url: process.argv[2] }, sessionId) ]);

for await (const line of createInterface({ input: process.stdin })) {
  const r = await send("Runtime.evaluate", {
    expression: JSON.parse(line), awaitPromise: true, returnByValue: true,
    userGesture: true }, sessionId);

  console.log(JSON.stringify(r.exceptionDetails
    ? { error: r.exceptionDetails.exception?.description
               ?? r.exceptionDetails.text }
    : { value: r.result.value ?? null }));
}

done = true;
send("Browser.close");
await ended;
process.exit(0);
