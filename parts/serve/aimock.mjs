// Serves @copilotkit/aimock on a free port until standard input ends.
//
// The first line of the input is `{"fixtures": [...], "options": {...}}`; the answer is `{"url": "..."}`.
//
// The journal of aimock has every request converted to the form of Chat Completions. So this program keeps the
// requests as they arrive as well, and returns them at `/__parts/requests`.

import { Server } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const requests = [];
const emit = Server.prototype.emit;

Server.prototype.emit = function (event, request, response) {
  if (event !== "request" || request.url.startsWith("/__aimock/")) {
    return emit.apply(this, arguments);
  }
  if (request.url === "/__parts/requests") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(requests));
    return true;
  }
  // The parser pushes each chunk of the body; reading it in another way would take it from aimock.
  const kept = { method: request.method, path: request.url, headers: request.headers, body: "" };
  const push = request.push;
  request.push = function (chunk, encoding) {
    kept.body += chunk === null ? "" : chunk.toString("utf8");
    return push.call(this, chunk, encoding);
  };
  requests.push(kept);
  return emit.apply(this, arguments);
};

const installed = join(process.argv[2], "node_modules/@copilotkit/aimock/dist/index.js");
const { LLMock } = await import(pathToFileURL(installed));

const lines = createInterface({ input: process.stdin });
lines.on("close", () => process.exit(0));
lines.once("line", async (line) => {
  try {
    const { fixtures, options } = JSON.parse(line);
    const mock = new LLMock({ port: 0, strict: true, logLevel: "silent", ...options });
    mock.addFixturesFromJSON(fixtures);
    console.log(JSON.stringify({ url: await mock.start() }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
});
