// Serves OpenAPI documents with @stoplight/prism on free ports until standard input ends.
//
// Each line of the input is `{"document": "..."}`, the path of a document; the answer is `{"url": "..."}`. The answers
// that a server has given are listed at `/__parts/answers`. With `"requests": true` the document is served without its
// responses: reading those of large documents takes more than ten minutes, and requests are judged without them.

import { readFileSync } from "node:fs";
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

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

// Returns a document's operations without their responses, and all that they refer to.
function withoutResponses(document) {
  const paths = {};
  for (const [path, item] of Object.entries(document.paths)) {
    paths[path] = { ...item };
    for (const method of methods.filter((method) => item[method])) {
      paths[path][method] = { ...item[method], responses: { 200: { description: "accepted" } }, callbacks: undefined };
    }
  }
  const kept = { openapi: document.openapi, info: document.info, servers: document.servers, paths };
  kept.security = document.security;
  const components = { securitySchemes: document.components?.securitySchemes ?? {}, schemas: {} };
  const names = new Map();
  const copy = (value) => {
    if (Array.isArray(value)) return value.map(copy);
    if (value === null || typeof value !== "object") return value;
    const copied = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member)]));
    if (typeof value.$ref === "string" && value.$ref.startsWith("#/")) copied.$ref = refer(value.$ref);
    return copied;
  };
  const refer = (reference) => {
    if (!names.has(reference)) {
      const tokens = decodeURIComponent(reference).slice(2).split("/");
      const target = tokens.reduce((at, token) => at?.[token.replaceAll("~1", "/").replaceAll("~0", "~")], document);
      const isComponent = tokens.length === 3 && tokens[0] === "components";
      const [group, name] = isComponent ? tokens.slice(1) : ["schemas", `referred-${names.size}`];
      names.set(reference, isComponent ? reference : `#/components/schemas/${name}`);
      components[group] ??= {};
      components[group][name.replaceAll("~1", "/").replaceAll("~0", "~")] = copy(target);
    }
    return names.get(reference);
  };
  kept.paths = copy(paths);
  return { ...kept, components };
}

async function serve({ document, requests }) {
  const source = requests ? withoutResponses(JSON.parse(readFileSync(document, "utf8"))) : document;
  const operations = await getHttpOperationsFromSpec(source);
  const components = { logger: createLogger("prism", { level: "silent" }) };
  return createServer(operations, { cors: false, config, components }).listen(0, "127.0.0.1");
}

const lines = createInterface({ input: process.stdin });
lines.on("close", () => process.exit(0));
lines.on("line", async (line) => {
  try {
    console.log(JSON.stringify({ url: await serve(JSON.parse(line)) }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
});
