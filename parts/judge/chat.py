"""OpenAI Chat Completions."""

import json

from openai import OpenAI
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)

from . import rule, server
from .shape import Shape
from .transport import answering

# The service rejects longer ids of calls, also those of its own other wire.
ID_LENGTH = 40

_shapes = {}


def validate(body, options):
    """Returns the errors of a request. With `compatible`, by the rules of other servers of this wire; its value may be
    the name of one."""
    errors = _shape(body).errors(server.plain(body, options.get("compatible"))) + list(_rules(body))
    errors += rule.sealed_secrets(body)
    if not options.get("compatible"):
        return errors + list(_own(body))
    return errors + list(_compatible(body)) + list(server.rules(body, options["compatible"]))


def parse(body):
    """Parses a response as the SDK does, and returns it as JSON."""
    client = _client(json.dumps(body).encode(), "application/json")
    return client.chat.completions.create(model="m", messages=[]).to_dict(mode="json", warnings=False)


def accumulate(sse):
    """Feeds a stream through the SDK's accumulator, and returns the final response as JSON."""
    with _client(sse, "text/event-stream").chat.completions.stream(model="m", messages=[]) as stream:
        stream.until_done()
        final = stream.current_completion_snapshot.to_dict(mode="json", warnings=False)
    # The index of a call is a field of chunks, which the SDK leaves in the message.
    for choice in final["choices"]:
        for call in choice["message"].get("tool_calls") or []:
            call.pop("index", None)
    return final


def _client(body, content_type):
    return OpenAI(api_key="none", base_url="http://judge", http_client=answering(body, content_type), max_retries=0)


def _shape(body):
    stream = bool(body.get("stream"))
    if stream not in _shapes:
        _shapes[stream] = Shape(CompletionCreateParamsStreaming if stream else CompletionCreateParamsNonStreaming)
    return _shapes[stream]


def _rules(body):
    if "stream_options" in body and not body.get("stream"):
        yield "/stream_options", "is allowed only with `stream`"
    yield from rule.sampling(body, body.get("reasoning_effort"))
    yield from rule.stops(body)
    yield from rule.settings(body, (body.get("response_format") or {}).get("type") == "json_schema")
    yield from _tools(body)
    pending = {}
    for index, message in rule.objects(body.get("messages")):
        at = f"/messages/{index}"
        if message.get("role") == "tool":
            call = message.get("tool_call_id")
            if pending.pop(call, None) is None:
                yield f"{at}/tool_call_id", f"{call!r} answers no pending call of the assistant message before it"
            continue
        yield from _unanswered(pending)
        pending = {}
        if message.get("role") == "assistant":
            yield from _assistant(message, at, pending)
    yield from _unanswered(pending)


def _assistant(message, at, pending):
    calls = rule.objects(message.get("tool_calls"))
    # An empty text is content.
    has_content = message.get("content") not in (None, [])
    if not calls and not has_content and not any(message.get(key) for key in ("refusal", "audio", "function_call")):
        yield at, "has neither content nor calls"
    if message.get("tool_calls") == []:
        yield f"{at}/tool_calls", "is an empty list, which is rejected"
    for index, call in calls:
        where = f"{at}/tool_calls/{index}"
        if call.get("id") in pending:
            yield f"{where}/id", f"{call['id']!r} is the id of two calls"
        pending[call.get("id")] = f"{where}/id"
        function = call.get("function")
        if isinstance(function, dict):
            yield from rule.tool_names([(f"{where}/function/name", function.get("name"))])


def _own(body):
    """The service takes few stop sequences, metadata only of completions that it stores, short ids of calls, and strict
    schemas of its own form."""
    for index, message in rule.objects(body.get("messages")):
        for number, call in rule.objects(message.get("tool_calls")):
            if len(str(call.get("id"))) > ID_LENGTH:
                yield f"/messages/{index}/tool_calls/{number}/id", f"has more than {ID_LENGTH} characters"
    for index, tool in rule.objects(body.get("tools")):
        function = tool.get("function") or {}
        if function.get("strict"):
            at = f"/tools/{index}/function/parameters"
            yield from rule.strict_schema(function.get("parameters"), at, is_complete=True)
    format_ = (body.get("response_format") or {}).get("json_schema") or {}
    if format_.get("strict"):
        yield from rule.strict_schema(format_.get("schema"), "/response_format/json_schema/schema", is_complete=True)
    if isinstance(body.get("stop"), list) and len(body["stop"]) > 4:
        yield "/stop", "has more than 4 sequences"
    if body.get("metadata") and not body.get("store"):
        yield "/metadata", "is allowed only with `store`"


def _compatible(body):
    """Servers that fill a template with arguments parse them, and fail if they are no JSON object."""
    for index, message in rule.objects(body.get("messages")):
        for number, call in rule.objects(message.get("tool_calls")):
            at = f"/messages/{index}/tool_calls/{number}/function/arguments"
            yield from rule.json_object_text((call.get("function") or {}).get("arguments"), at)


def _unanswered(pending):
    for call, at in pending.items():
        yield at, f"{call!r} has no tool message before the next message"


def _tools(body):
    names = []
    for index, tool in rule.objects(body.get("tools")):
        kind = tool.get("type")
        function = tool.get(kind) if kind in ("function", "custom") else None
        if not isinstance(function, dict):
            continue
        names.append((f"/tools/{index}/{kind}/name", function.get("name")))
        if "parameters" in function:
            yield from rule.object_schema(function["parameters"], f"/tools/{index}/{kind}/parameters")
    yield from rule.tool_names(names)
    if body.get("tools") == []:
        yield "/tools", "is an empty list, which is rejected"
    for key in ("tool_choice", "parallel_tool_calls"):
        if key in body and not body.get("tools"):
            yield f"/{key}", "is allowed only with `tools`"
    offered = {name for _, name in names}
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        chosen = [choice] if choice.get("type") != "allowed_tools" else choice.get("allowed_tools", {}).get("tools", [])
        for one in chosen:
            named = one.get(one.get("type"))
            if isinstance(named, dict) and named.get("name") not in offered:
                yield "/tool_choice", f"{named.get('name')!r} is no tool of this request"
