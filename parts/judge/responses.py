"""OpenAI Responses."""

import json

from openai import OpenAI
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)

from . import rule
from .shape import Shape
from .transport import answering

# Calls that the client runs, and the items with their outputs.
OUTPUT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
CALL_OF = {output: call for call, output in OUTPUT_OF.items()}
# The service rejects an item whose id has another prefix.
ID_PREFIX = {"function_call": "fc", "message": "msg", "reasoning": "rs", "custom_tool_call": "ctc"}
# "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16".
# https://github.com/UKGovernmentBEIS/inspect_evals/issues/694
LEAST_OUTPUT = 16
# Items that the model did not write.
WRITTEN_BY_CLIENT = set(CALL_OF) | {"mcp_approval_response", "item_reference", "compaction_trigger", "additional_tools"}

_shapes = {}


def validate(body, _options):
    """Returns the errors of a request."""
    return _shape(body).errors(body) + list(_rules(body)) + rule.sealed_secrets(body)


def parse(body):
    """Parses a response as the SDK does, and returns it as JSON."""
    client = _client(json.dumps(body).encode(), "application/json")
    return client.responses.create(model="m", input="").to_dict(mode="json", warnings=False)


def accumulate(sse):
    """Feeds a stream through the SDK's accumulator, and returns the final response as JSON."""
    last = None
    with _client(sse, "text/event-stream").responses.stream(model="m", input="") as stream:
        for event in stream:
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                last = event.response
    if last is None:
        raise ValueError("the stream has no final response")
    final = last.to_dict(mode="json", warnings=False)
    # What the SDK parsed out of arguments and texts is no part of the response.
    for item in final["output"]:
        item.pop("parsed_arguments", None)
        for part in item.get("content") or []:
            part.pop("parsed", None)
    return final


def _client(body, content_type):
    return OpenAI(api_key="none", base_url="http://judge", http_client=answering(body, content_type), max_retries=0)


def _shape(body):
    stream = bool(body.get("stream"))
    if stream not in _shapes:
        _shapes[stream] = Shape(ResponseCreateParamsStreaming if stream else ResponseCreateParamsNonStreaming)
    return _shapes[stream]


def _rules(body):
    for key in ("model", "input"):
        if key not in body:
            yield f"/{key}", "is required"
    if "stream_options" in body and not body.get("stream"):
        yield "/stream_options", "is allowed only with `stream`"
    if isinstance(body.get("max_output_tokens"), int) and body["max_output_tokens"] < LEAST_OUTPUT:
        yield "/max_output_tokens", f"is less than {LEAST_OUTPUT}"
    yield from _tools(body)
    yield from rule.sampling(body, (body.get("reasoning") or {}).get("effort"))
    yield from rule.settings(body, ((body.get("text") or {}).get("format") or {}).get("type") == "json_schema")
    format_ = (body.get("text") or {}).get("format") or {}
    if format_.get("strict"):
        yield from rule.strict_schema(format_.get("schema"), "/text/format/schema", is_complete=True)
    items = rule.objects(body.get("input"))
    # Calls may precede the input if the service holds the conversation.
    is_continued = any(body.get(key) for key in ("previous_response_id", "conversation"))
    yield from _calls(items, is_continued)
    yield from _identity(items)
    yield from _reasoning(items, body)


def _kind(item):
    return item.get("type", "message" if "role" in item else None)


def _calls(items, is_continued):
    pending, answered, seen = {}, set(), set()
    for index, item in items:
        kind, at = _kind(item), f"/input/{index}"
        # The output of a local shell call names its call by `id`.
        call = item.get("id") if kind == "local_shell_call_output" else item.get("call_id")
        if kind in OUTPUT_OF:
            if call in seen:
                yield f"{at}/call_id", f"{call!r} is the id of two calls"
            seen.add(call)
            pending[call] = (kind, f"{at}/call_id")
            yield from _call_id(call, f"{at}/call_id")
        elif kind in CALL_OF:
            found = pending.pop(call, None)
            if found is not None and OUTPUT_OF[found[0]] != kind:
                yield f"{at}/type", f"{kind} answers a {found[0]}"
            elif found is None and not (is_continued and call not in seen):
                reason = "is answered twice" if call in answered else "is the id of no call before it"
                yield f"{at}/call_id", f"{call!r} {reason}"
            answered.add(call)
    for call, (kind, at) in pending.items():
        yield at, f"the {kind} {call!r} has no output"


def _call_id(call, at):
    if isinstance(call, str) and not 1 <= len(call) <= 64:
        yield at, "is not 1 to 64 characters long"


def _identity(items):
    seen = set()
    for index, item in items:
        kind, at, own = _kind(item), f"/input/{index}/id", item.get("id")
        if kind == "function_call":
            yield from rule.tool_names([(f"/input/{index}/name", item.get("name"))])
        if own is None or kind == "item_reference":
            continue
        prefix = ID_PREFIX.get(kind)
        if prefix and not str(own).startswith(prefix):
            yield at, f"the id {own!r} of a {kind} does not begin with {prefix!r}"
        if own in seen:
            yield at, f"{own!r} is the id of two items"
        seen.add(own)


def _reasoning(items, body):
    # The service answers "Encrypted content is not supported with this model", and rejects reasoning of another model
    # as well: reported for fine-tuned models and for gpt-4o in the issues of the SDKs of OpenAI, Vercel and LangChain.
    reasons = not rule.DOES_NOT_REASON.match(str(body.get("model")))
    if not reasons and "reasoning.encrypted_content" in (body.get("include") or []):
        yield "/include", "the model does not reason"
    for position, (index, item) in enumerate(items):
        if _kind(item) != "reasoning":
            continue
        at = f"/input/{index}"
        if not reasons:
            yield at, "is sent to a model that does not reason"
        after = items[position + 1][1] if position + 1 < len(items) else None
        is_followed = after is not None and _kind(after) not in WRITTEN_BY_CLIENT
        is_followed = is_followed and not (_kind(after) == "message" and after.get("role") != "assistant")
        if not is_followed:
            yield at, "is not directly followed by the item that it belongs to"
        if body.get("store") is False and not item.get("encrypted_content"):
            yield at, "has no `encrypted_content`, and with `store: false` the service keeps no copy"


def _tools(body):
    names, inner = [], {}
    tools = rule.objects(body.get("tools"))
    for index, tool in tools:
        at = f"/tools/{index}"
        if tool.get("type") in ("function", "custom", "namespace"):
            names.append((f"{at}/name", tool.get("name")))
        yield from _function(tool, at)
        if tool.get("type") == "namespace":
            functions = rule.objects(tool.get("tools"))
            if not functions:
                yield f"{at}/tools", "is empty"
            # The guide to tool search: the model sees only name and description of a namespace until it searches.
            if not str(tool.get("description", "")).strip():
                yield f"{at}/description", "is empty"
            for number, function in functions:
                yield from _function(function, f"{at}/tools/{number}")
            inner[tool.get("name")] = [(f"{at}/tools/{number}/name", one.get("name")) for number, one in functions]
    yield from rule.tool_names(names)
    for functions in inner.values():
        yield from rule.tool_names(functions)
    yield from _deferred(tools)
    # A function in a namespace can't be chosen by its name: the choices of the API have no member for the namespace.
    offered = {name for _, name in names} - set(inner)
    kinds = {tool.get("type") for _, tool in tools}
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        chosen = choice.get("tools", []) if choice.get("type") == "allowed_tools" else [choice]
        for one in chosen:
            if one.get("type") in ("function", "custom"):
                if one.get("name") not in offered:
                    yield "/tool_choice", f"{one.get('name')!r} is no tool of this request"
            elif one.get("type") not in kinds:
                yield "/tool_choice", f"{one.get('type')!r} is no tool of this request"
    if choice == "required" and not body.get("tools"):
        yield "/tool_choice", "requires a tool, and there is none"


def _function(tool, at):
    if tool.get("type") == "function" and tool.get("parameters") is not None:
        yield from rule.object_schema(tool["parameters"], f"{at}/parameters")
    if tool.get("type") == "function" and tool.get("strict"):
        yield from rule.strict_schema(tool.get("parameters"), f"{at}/parameters", is_complete=True)
    # A program passes what it has computed, which no grammar holds to a schema. Anthropic documents the same error.
    if tool.get("strict") and "programmatic" in (tool.get("allowed_callers") or []):
        yield f"{at}/strict", "is rejected for a tool that programs call"


def _deferred(tools):
    """The guide to tool search: a tool whose definition is deferred is found by `tool_search` alone."""
    if any(tool.get("type") == "tool_search" for _, tool in tools):
        return
    for index, tool in tools:
        for number, function in rule.objects(tool.get("tools")) or [(None, tool)]:
            if function.get("defer_loading"):
                inside = "" if number is None else f"/tools/{number}"
                yield f"/tools/{index}{inside}/defer_loading", "is allowed only with the tool `tool_search`"
