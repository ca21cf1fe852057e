"""Anthropic Messages."""

import json
import re

from anthropic import Anthropic

from . import rule
from .shape import Shape
from .transport import answering

# The form of the ids of calls.
ID = re.compile(r"[a-zA-Z0-9_-]+")
# Models that choose sampling and thinking themselves: the migration guides to Opus 4.7 and to the models after it.
# https://platform.claude.com/docs/en/about-claude/models/migration-guide
SETS_ITSELF = re.compile(r"claude-(opus-4-[78]|(opus|sonnet|haiku|fable|mythos)-5)")
# Models that reject a forced choice: "type "tool" and "any" are not supported for this model".
# https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5#forced-tool-use-is-not-supported
NEVER_FORCED = re.compile(r"claude-(opus-5-5|sonnet-5-5|fable-5-1|mythos-5-1)")
# Models that take one setting of sampling at a time, from Opus 4.1 on: "`temperature` and `top_p` cannot both be specified
# for this model". https://platform.claude.com/docs/en/about-claude/models/migration-guide and
# https://github.com/SalesforceAIResearch/MCP-Universe/issues/49
ONE_SAMPLING = re.compile(r"claude-((opus|sonnet|haiku)-4-[1-9](-|$)|opus-4-1)")
# Models from before structured outputs, which came with Sonnet 4.5 and Opus 4.1.
# https://platform.claude.com/docs/en/build-with-claude/structured-outputs
NO_GRAMMARS = re.compile(r"claude-(3|(opus|sonnet)-4([-@]2|-0))")
# Models that continue no message of their own: "This model does not support assistant message prefill. The conversation
# must end with a user message." https://github.com/ericc-ch/copilot-api/pull/261 and
# https://github.com/cortexkit/magic-context/issues/511
NO_PREFILL = re.compile(r"claude-((opus|sonnet)-4-[678]|(opus|sonnet|haiku|fable|mythos)-5)")
# Models without thinking.
# https://platform.claude.com/docs/en/build-with-claude/extended-thinking#supported-models
NO_THINKING = re.compile(r"claude-3-(?!7)")
# Models whose thinking is bound to the conversation before it.
# https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
BOUND_THINKING = re.compile(r"claude-(opus-5-5|sonnet-5-5|haiku-5-5|fable-5-1)")
# Calls that the server runs: their results are in the same message.
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")

_shapes = {}


def validate(body, options):
    """Returns the errors of a request. With `beta`, the SDK's types of the beta API judge it."""
    return _shape(body, options).errors(body) + list(_rules(body)) + rule.sealed_secrets(body)


def parse(body):
    """Parses a response as the SDK does, and returns it as JSON."""
    client = _client(json.dumps(body).encode(), "application/json")
    message = client.beta.messages.create(model="m", max_tokens=1, messages=[])
    return message.to_dict(mode="json", warnings=False)


def accumulate(sse):
    """Feeds a stream through the SDK's accumulator, and returns the final message as JSON."""
    client = _client(sse, "text/event-stream")
    with client.beta.messages.stream(model="m", max_tokens=1, messages=[]) as stream:
        final = stream.get_final_message().to_dict(mode="json", warnings=False)
    for block in final["content"]:
        block.pop("parsed_output", None)
    return final


def _client(body, content_type):
    return Anthropic(api_key="none", base_url="http://judge", http_client=answering(body, content_type), max_retries=0)


def _shape(body, options):
    stream, beta = bool(body.get("stream")), bool(options.get("beta"))
    if (stream, beta) not in _shapes:
        if beta:
            from anthropic.types.beta import message_create_params as params
        else:
            from anthropic.types import message_create_params as params
        type_ = params.MessageCreateParamsStreaming if stream else params.MessageCreateParamsNonStreaming
        _shapes[stream, beta] = Shape(type_)
    return _shapes[stream, beta]


def _rules(body):
    yield from _tools(body)
    yield from _mcp_servers(body)
    yield from _thinking(body)
    yield from _model(body)
    yield from _binding(body)
    yield from _references(body)
    messages = rule.objects(body.get("messages"))
    if not messages:
        yield "/messages", "at least one message is required"
    elif messages[0][1].get("role") == "assistant":
        yield "/messages/0/role", "the first message is not the user's"
    thinks = (body.get("thinking") or {}).get("type") not in (None, "disabled")
    if messages and (thinks or NO_PREFILL.match(str(body.get("model")))):
        index, last = messages[-1]
        blocks = rule.objects(last.get("content"))
        # What the service runs itself is continued.
        if last.get("role") == "assistant" and (not blocks or blocks[-1][1].get("type") == "text"):
            yield f"/messages/{index}/role", "the model does not continue a message of its own"
    seen, pending = set(), {}
    spoken = max((index for index, message in messages if _is_spoken(message)), default=-1)
    for index, message in messages:
        at = f"/messages/{index}"
        blocks = rule.objects(message.get("content"))
        yield from _results(message, blocks, at, pending)
        pending = {}
        yield from _texts(message, blocks, at)
        yield from _server_results(blocks, at, is_current=index > spoken)
        for number, block in blocks:
            if block.get("type") != "tool_use":
                continue
            where, call = f"{at}/content/{number}", block.get("id")
            if message.get("role") != "assistant":
                yield where, "a `tool_use` stands in an assistant message"
            yield from rule.tool_names([(f"{where}/name", block.get("name"))])
            yield from _id(call, f"{where}/id")
            if call in seen:
                yield f"{where}/id", f"{call!r} is the id of two calls"
            seen.add(call)
            pending[call] = f"{where}/id"
    yield from _unanswered(pending)


def _mcp_servers(body):
    """Every toolset names a server of the request, and every server has one toolset.

    https://docs.claude.com/en/docs/agents-and-tools/mcp-connector#mcp-toolset-configuration
    """
    servers = {server.get("name"): index for index, server in rule.objects(body.get("mcp_servers"))}
    used = set()
    for index, tool in rule.objects(body.get("tools")):
        if tool.get("type") != "mcp_toolset":
            continue
        name = tool.get("mcp_server_name")
        if name not in servers:
            yield f"/tools/{index}/mcp_server_name", f"{name!r} is no server of this request"
        if name in used:
            yield f"/tools/{index}/mcp_server_name", f"{name!r} has two toolsets"
        used.add(name)
    for name, index in servers.items():
        if name not in used:
            yield f"/mcp_servers/{index}", f"{name!r} has no toolset"


def _model(body):
    """What some models reject and others accept."""
    model, choice = str(body.get("model")), body.get("tool_choice")
    for key in ("temperature", "top_p", "top_k"):
        if key in body and SETS_ITSELF.match(model):
            yield f"/{key}", "is deprecated for this model"
    if (body.get("thinking") or {}).get("type") == "enabled" and SETS_ITSELF.match(model):
        yield "/thinking/type", "is not supported for this model, which thinks adaptively"
    if "temperature" in body and "top_p" in body and ONE_SAMPLING.match(model):
        yield "/top_p", "is rejected together with `temperature`"
    if NEVER_FORCED.match(model) and isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        yield "/tool_choice", "a forced choice is not supported for this model"
    if NO_GRAMMARS.match(model):
        for index, tool in rule.objects(body.get("tools")):
            if tool.get("strict"):
                yield f"/tools/{index}/strict", "is not supported for this model"
        if (body.get("output_config") or {}).get("format"):
            yield "/output_config/format", "is not supported for this model"
    if NO_THINKING.match(model):
        for at, _ in _thinking_blocks(body):
            yield at, "thinking is not supported for this model"


def _binding(body):
    """A conversation of a model that binds its thinking says what happens if it has changed. The API itself accepts it
    unsaid, and then rejects thinking behind a change; whether there is one can't be seen here."""
    thinking = body.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if isinstance(thinking, dict) and "block_binding" in thinking and kind not in ("adaptive", "enabled"):
        yield "/thinking/block_binding", f"is not accepted with {kind!r}"
    is_bound = BOUND_THINKING.match(str(body.get("model"))) and kind in (None, "adaptive", "enabled")
    if is_bound and any(True for _ in _thinking_blocks(body)):
        if not isinstance(thinking, dict) or not thinking.get("block_binding"):
            yield "/thinking", "has no `block_binding`, so that thinking of a changed conversation is an error"


def _thinking_blocks(body):
    for index, message in rule.objects(body.get("messages")):
        for number, block in rule.objects(message.get("content")):
            if block.get("type") in ("thinking", "redacted_thinking"):
                yield f"/messages/{index}/content/{number}", block


def _results(message, blocks, at, pending):
    """The results of all calls of a message come first in the user message right after it."""
    results = [(number, block) for number, block in blocks if block.get("type") == "tool_result"]
    for position, (number, block) in enumerate(results):
        where, call = f"{at}/content/{number}", block.get("tool_use_id")
        if message.get("role") != "user":
            yield where, "a `tool_result` stands in a user message"
        if number != position:
            yield where, "a `tool_result` comes before everything else in its message"
        yield from _id(call, f"{where}/tool_use_id")
        # "all content must be type 'text' if 'is_error' is true": https://github.com/vellum-ai/vellum-assistant/pull/18387
        for inner, part in rule.objects(block.get("content")) if block.get("is_error") else ():
            if part.get("type") != "text":
                yield f"{where}/content/{inner}/type", "is not 'text' in the result of a failed call"
        if pending.pop(call, None) is None:
            yield f"{where}/tool_use_id", f"{call!r} is the id of no pending call in the message before"
    yield from _unanswered(pending)


def _unanswered(pending):
    for call, at in pending.items():
        yield at, f"{call!r} has no `tool_result` in the next message"


def _references(body):
    """What a search found earlier is offered in this request as well.

    "Tool reference 'LSP' not found in available tools": https://github.com/anthropics/claude-code/issues/78485
    """
    offered = {tool.get("name") for _, tool in rule.objects(body.get("tools"))}
    for at, reference in _found(body.get("messages"), "/messages"):
        if reference not in offered:
            yield at, f"{reference!r} is no tool of this request"


def _found(value, at):
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _found(item, f"{at}/{index}")
    elif isinstance(value, dict):
        if value.get("type") == "tool_reference":
            yield f"{at}/tool_name", value.get("tool_name")
        for key in ("content", "tool_references"):
            yield from _found(value.get(key), f"{at}/{key}")


def _is_spoken(message):
    """Reports whether the user said something, besides the results of calls."""
    kinds = [block.get("type") for _, block in rule.objects(message.get("content"))]
    return message.get("role") == "user" and (not kinds or any(kind != "tool_result" for kind in kinds))


def _server_results(blocks, at, is_current):
    pending = {}
    for number, block in blocks:
        kind = block.get("type", "")
        if kind in SERVER_CALLS:
            pending[block.get("id")] = f"{at}/content/{number}/id"
        elif kind.endswith("_tool_result"):
            if pending.pop(block.get("tool_use_id"), None) is None:
                yield f"{at}/content/{number}/tool_use_id", "is the id of no server-run call in this message"
    # The server continues its own calls in a turn that is paused, and in one that waits for results of the client.
    for call, where in {} if is_current else pending.items():
        yield where, f"the server-run call {call!r} has no result in this message"


def _texts(message, blocks, at):
    content = message.get("content")
    if content == "" or (content == [] and message.get("role") != "assistant"):
        yield f"{at}/content", "is empty"
    if isinstance(content, str) and content and not content.strip():
        yield f"{at}/content", "is white space only"
    for number, block in blocks:
        if block.get("type") == "text" and not str(block.get("text", "")).strip():
            yield f"{at}/content/{number}/text", "is empty or white space only"


def _id(call, at):
    if isinstance(call, str) and not ID.fullmatch(call):
        yield at, f"{call!r} does not match {ID.pattern}"


def _thinking(body):
    thinking, choice = body.get("thinking"), body.get("tool_choice")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return
    budget, maximum = thinking.get("budget_tokens"), body.get("max_tokens")
    if isinstance(budget, int) and isinstance(maximum, int) and not 1024 <= budget < maximum:
        yield "/thinking/budget_tokens", "is not at least 1024 and less than `max_tokens`"
    if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        yield "/tool_choice", "a forced choice is rejected with thinking"
    for key in ("temperature", "top_k"):
        if body.get(key) not in (None, 1):
            yield f"/{key}", "is rejected with thinking"
    messages = rule.objects(body.get("messages"))
    # The turn that the request continues: its calls follow their thinking.
    for index, message in reversed(messages):
        blocks = rule.objects(message.get("content"))
        if message.get("role") == "user" and not any(block.get("type") == "tool_result" for _, block in blocks):
            return
        kinds = [block.get("type") for _, block in blocks]
        if "tool_use" in kinds and kinds[0] not in ("thinking", "redacted_thinking"):
            yield f"/messages/{index}/content/0", "with thinking, a message with calls begins with a thinking block"


def _tools(body):
    names = []
    for index, tool in rule.objects(body.get("tools")):
        if "name" in tool:
            names.append((f"/tools/{index}/name", tool.get("name")))
        # Anthropic's page on tool search: the service rejects a definition that is both deferred and cached.
        if tool.get("defer_loading") and tool.get("cache_control"):
            yield f"/tools/{index}/cache_control", "is rejected for a tool whose definition is deferred"
        if "input_schema" in tool:
            yield from rule.object_schema(tool["input_schema"], f"/tools/{index}/input_schema")
        if tool.get("strict"):
            yield from rule.strict_schema(tool.get("input_schema"), f"/tools/{index}/input_schema", is_complete=False)
    yield from rule.tool_names(names)
    # "All tools have defer_loading set. At least one tool must be non-deferred."
    # https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#error-handling
    tools = [tool for _, tool in rule.objects(body.get("tools"))]
    if tools and all(tool.get("defer_loading") for tool in tools):
        yield "/tools", "are all deferred, and at least one must not be"
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        if not body.get("tools"):
            yield "/tool_choice", "is allowed only with `tools`"
        elif choice.get("type") == "tool" and choice.get("name") not in {name for _, name in names}:
            yield "/tool_choice/name", f"{choice.get('name')!r} is no tool of this request"
    yield from _programmatic(body)
    marks = _cache_marks(body)
    if marks > 4:
        yield "", f"{marks} blocks have `cache_control`, and at most 4 are allowed"


def _programmatic(body):
    """Anthropic's page on programmatic tool calling, under its limits of tools and of `tool_choice`."""
    called = [
        (index, tool)
        for index, tool in rule.objects(body.get("tools"))
        if any(str(caller).startswith("code_execution") for caller in tool.get("allowed_callers") or [])
    ]
    for index, tool in called:
        if tool.get("strict"):
            yield f"/tools/{index}/strict", "is rejected for a tool that programs call"
    choice = body.get("tool_choice")
    if called and isinstance(choice, dict) and choice.get("disable_parallel_tool_use"):
        yield "/tool_choice/disable_parallel_tool_use", "is rejected with tools that programs call"


def _cache_marks(value):
    if isinstance(value, list):
        return sum(_cache_marks(item) for item in value)
    if not isinstance(value, dict):
        return 0
    own = 1 if value.get("cache_control") else 0
    return own + sum(_cache_marks(value[key]) for key in ("system", "messages", "tools", "content") if key in value)
