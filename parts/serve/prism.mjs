// Serves OpenAPI documents with @stoplight/prism on free ports until standard input ends.
//
// Each line of the input is `{"document": "..."}`, the path of a document; the answer is `{"url": "..."}`. The answers
// that a server has given are listed at `/__parts/answers`.

import { Server } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.argv[2], "package.json"));
const { createLogger } = require("@stoplight/prism-core");
const { getHttpOperationsFromSpec } = require("@stoplight/prism-http");
const { createServer } = require("@stoplight/prism-http-server");

const answers = new Map();
const emit = Server.prototype.emit;

Server.prototype.emit = function (event, request, response) {
  if (event !== "request") {
    return emit.apply(this, arguments);
  }
  const port = this.address().port;
  const list = answers.get(port) ?? [];
  answers.set(port, list);
  if (request.url === "/__parts/answers") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(list));
    return true;
  }
  const answer = { request: `${request.method} ${request.url}`, status: 0, body: "" };
  list.push(answer);
  const end = response.end;
  response.end = function (body) {
    answer.status = response.statusCode;
    answer.body = String(body ?? "").slice(0, 4000);
    return end.apply(this, arguments);
  };
  return emit.apply(this, arguments);
};

const config = {
  isProxy: false,
  validateRequest: true,
  validateResponse: false,
  checkSecurity: true,
  errors: true,
  mock: { dynamic: false },
};

async function serve(document) {
  const operations = await getHttpOperationsFromSpec(document);
  const components = { logger: createLogger("prism", { level: "silent" }) };
  return createServer(operations, { cors: false, config, components }).listen(0, "127.0.0.1");
}

const lines = createInterface({ input: process.stdin });
lines.on("close", () => process.exit(0));
lines.on("line", async (line) => {
  try {
    console.log(JSON.stringify({ url: await serve(JSON.parse(line).document) }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
});
