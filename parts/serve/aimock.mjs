// Serves @copilotkit/aimock on a free port until standard input ends.
//
// The first line of the input is `{"fixtures": [...], "options": {...}}`; the answer is `{"url": "..."}`.

import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

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
