// Runs what is under `useChat`: the chat of the AI SDK, without React.
//
// Its argument is the folder of the part. Each line of the input is a command, answered by one line.
//
// - `{"read": TEXT, "message": MESSAGE}` reads a response body into a message, which continues MESSAGE if there is one.
// - `{"open": URL, "id": ID, "messages": [...], "automatic": BOOL}` opens a chat at an endpoint. Automatic chats post when
//   all approvals of the last step have an answer.
// - `{"send": TEXT, "files": [...]}`, `{"approve": ID, "approved": BOOL, "reason": TEXT}`, `{"output": CALL, "value": ANY}`,
//   `{"regenerate": true}`, `{"resume": true}` and `{"stop": true}` are what a user does.
// - `{"settle": true}` waits until the chat is quiet.
//
// The answer is `{messages, status, error, data, fault}`: the messages and errors of the chat, the transient data that it
// received, and what the AI SDK's own validation of the messages finds.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const installed = join(process.argv[2], "node_modules/ai/dist/index.js");
const {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  readUIMessageStream,
  safeValidateUIMessages,
} = await import(pathToFileURL(installed));

class Messages {
  messages = [];
  status = "ready";
  error = undefined;
  pushMessage = (message) => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index, message) => {
    this.messages = this.messages.with(index, message);
  };
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor({ messages, ...init }) {
    const state = new Messages();
    state.messages = messages;
    super({ ...init, state });
  }
}

let chat;
let data = [];
let errors = [];

const busy = () => chat.status === "submitted" || chat.status === "streaming";

/** Waits until nothing is under way: the chat posts by itself a few turns of the event loop later. */
async function settle() {
  for (let quiet = 0; quiet < 10; quiet = busy() ? 0 : quiet + 1) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function report(messages, status) {
  let fault = null;
  if (messages.length > 0) {
    const checked = await safeValidateUIMessages({ messages });
    fault = checked.success ? null : String(checked.error);
  }
  const seen = { messages, status, error: errors.length > 0 ? errors.map(String) : null, data, fault };
  [data, errors] = [[], []];
  return seen;
}

async function read({ read: text, message }) {
  const transport = new DefaultChatTransport({ fetch: async () => new Response(text) });
  const stream = await transport.sendMessages({ chatId: "c", messages: [], trigger: "submit-message" });
  const tap = new TransformStream({
    transform(chunk, controller) {
      if (chunk.transient) data.push(chunk);
      controller.enqueue(chunk);
    },
  });
  let last = null;
  const onError = (error) => errors.push(error);
  for await (const state of readUIMessageStream({ message, stream: stream.pipeThrough(tap), onError })) {
    last = state;
  }
  return report(last === null ? [] : [{ ...last, id: last.id || "read" }], "ready");
}

function open({ open: api, id, messages = [], automatic = false, headers = {} }) {
  chat = new Chat({
    id,
    messages,
    transport: new DefaultChatTransport({ api, headers }),
    onData: (part) => data.push(part),
    onError: (error) => errors.push(error),
    sendAutomaticallyWhen: automatic ? lastAssistantMessageIsCompleteWithApprovalResponses : undefined,
  });
}

async function run(command) {
  if ("read" in command) return read(command);
  if ("open" in command) open(command);
  else if ("send" in command) await chat.sendMessage({ text: command.send, files: command.files });
  else if ("approve" in command) {
    const { approve: id, approved, reason } = command;
    await chat.addToolApprovalResponse({ id, approved, reason });
  } else if ("output" in command) {
    await chat.addToolOutput({ tool: command.tool, toolCallId: command.output, output: command.value });
    await chat.sendMessage();
  } else if ("regenerate" in command) await chat.regenerate();
  else if ("resume" in command) await chat.resumeStream();
  else if ("stop" in command) await chat.stop();
  await settle();
  return report(chat.messages, chat.status);
}

/** Splits the input into lines: the module `readline` also ends one at U+2028, which JSON may contain. */
async function* lines() {
  let rest = "";
  for await (const text of process.stdin.setEncoding("utf8")) {
    const pieces = (rest + text).split("\n");
    rest = pieces.pop();
    yield* pieces;
  }
}

for await (const line of lines()) {
  let answer;
  try {
    answer = await run(JSON.parse(line));
  } catch (error) {
    answer = { thrown: error.stack ?? String(error) };
  }
  console.log(JSON.stringify(answer));
}
process.exit(0);
