// Drives Chromium without a window, over its DevTools pipe: Chromium ends when this process does.
//
// Its argument is a folder for Chromium's files. Each line of the input is a command, answered by one line.
//
// - `{"open": URL}` opens a page and waits until it is loaded.
// - `{"until": EXPRESSION}` waits until the expression holds in the page, and answers its value.
// - `{"run": EXPRESSION}` answers the value of the expression.
// - `{"close": true}` ends Chromium.
//
// The answer is `{value}`.

import { spawn } from "node:child_process";
import { once } from "node:events";

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
const chromium = spawn("chromium", [...flags, "--remote-debugging-pipe", `--user-data-dir=${process.argv[2]}`], {
  stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
});
const [, , , requests, responses] = chromium.stdio;

let last = 0;
const waiting = new Map();
const listeners = new Map();
let rest = "";
responses.setEncoding("utf8").on("data", (text) => {
  const messages = (rest + text).split("\0");
  rest = messages.pop();
  for (const message of messages.map((it) => JSON.parse(it))) {
    const { id, method, error, result } = message;
    if (id === undefined) listeners.get(method)?.(message.params);
    else if (error) waiting.get(id).reject(new Error(JSON.stringify(error)));
    else waiting.get(id).resolve(result);
  }
});

function send(method, params = {}) {
  const id = ++last;
  const { promise, resolve, reject } = Promise.withResolvers();
  waiting.set(id, { resolve, reject });
  requests.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  return promise;
}

const event = (method) => new Promise((resolve) => listeners.set(method, resolve));

let sessionId;
const { targetId } = await send("Target.createTarget", { url: "about:blank" });
({ sessionId } = await send("Target.attachToTarget", { targetId, flatten: true }));
await send("Page.enable");

async function evaluate(expression) {
  const options = { expression, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await send("Runtime.evaluate", options);
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

const until = (expression) => `new Promise((resolve) => {
  const check = () => {
    const value = ${expression};
    if (value) { observer.disconnect(); resolve(value); }
  };
  const observer = new MutationObserver(check);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  check();
})`;

async function run(command) {
  if ("open" in command) {
    // A page whose address differs in the fragment alone would not be loaded again.
    for (const url of ["about:blank", command.open]) {
      const loaded = event("Page.loadEventFired");
      await send("Page.navigate", { url });
      await loaded;
    }
    return null;
  }
  if ("until" in command) return evaluate(until(command.until));
  if ("run" in command) return evaluate(command.run);
  const ended = once(chromium, "exit");
  await send("Browser.close");
  await ended;
  return null;
}

let text = "";
for await (const chunk of process.stdin.setEncoding("utf8")) {
  const lines = (text + chunk).split("\n");
  text = lines.pop();
  for (const line of lines) {
    let answer;
    try {
      answer = { value: (await run(JSON.parse(line))) ?? null };
    } catch (error) {
      answer = { thrown: error.stack ?? String(error) };
    }
    console.log(JSON.stringify(answer));
  }
}
process.exit(0);
