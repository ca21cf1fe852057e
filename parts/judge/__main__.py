"""Judges requests and responses with the official SDKs of the providers.

Reads one JSON object per line from standard input and answers each with one line: `{"ok": …}`, or `{"error": "…"}`
if the operation itself failed. It ends when its input ends. SDKs are imported when their wire is first named.

Operations:

- `validate_request {wire, body, model?, beta?, compatible?}`: a list of `{"at", "message"}`, empty for a valid request
- `parse_response {wire, body}`: `body`, the response as the SDK reads it, and `errors`, its faults by the SDK's types
- `accumulate {wire, sse}`: the final response that the SDK makes of a stream
- `sample_responses {wire}`: responses and streams that are built with the SDK's types
"""

import importlib
import json
import os
import sys
import traceback

MODULES = {"openai-responses": "responses", "openai-chat": "chat", "anthropic": "messages", "gemini": "gemini"}


def answer(request):
    wire = importlib.import_module(f".{MODULES[request['wire']]}", __package__)
    match request["op"]:
        case "validate_request":
            return worded(wire.validate(request["body"], request))
        case "parse_response":
            from . import sample

            errors = sample.module(request["wire"]).BODY.errors(request["body"])
            return {"body": wire.parse(request["body"]), "errors": worded(errors)}
        case "accumulate":
            return wire.accumulate(request["sse"].encode())
        case "sample_responses":
            from . import sample

            return sample.of(request["wire"])
        case other:
            raise ValueError(f"no operation {other!r}")


def worded(errors):
    return [{"at": at, "message": message} for at, message in errors]


def main():
    for line in sys.stdin:
        try:
            reply = {"ok": answer(json.loads(line))}
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
# There is nothing to tidy up, and a test that waits for the end of this process waits for nothing.
os._exit(0)
