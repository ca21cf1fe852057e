// Serves oauth2-mock-server on a free port until standard input ends.
//
// It prints `{"url": "..."}`. Each line of the input is answered by the token requests since the last one.

import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const installed = join(process.argv[2], "node_modules/oauth2-mock-server/dist/index.mjs");
const { OAuth2Server } = await import(pathToFileURL(installed));

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
let requests = [];
server.service.on("beforeResponse", (response, request) => {
  requests.push({
    authorization: request.headers.authorization ?? null,
    body: request.body,
    token: response.body.access_token,
  });
});
await server.start(0, "127.0.0.1");
const { port } = server.address();

const lines = createInterface({ input: process.stdin });
lines.on("close", () => process.exit(0));
lines.on("line", () => {
  console.log(JSON.stringify({ requests }));
  requests = [];
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
