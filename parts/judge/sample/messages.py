"""Samples of Anthropic Messages."""

import copy
import json

from anthropic.types import Message, RawMessageStreamEvent

from . import fragments
from ..shape import Shape

BODY = Shape(Message, models=True)
_SHAPE = Shape(RawMessageStreamEvent, models=True)


class EVENT:
    """The types of the SDK's events, and of those that its reader handles before them."""

    @staticmethod
    def errors(event):
        """Returns the errors of an event."""
        return [] if event["type"] in ("ping", "error") else _SHAPE.errors(event)


def samples():
    """Returns the name, the body and the events of each sample."""
    for name, body in _bodies().items():
        yield name, body, events(body)
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    yield "error", None, [*events(message([text("Hello")]))[:4], overloaded]
    yield "eager_call", *_eager()
    body = message([text("Hi.")])
    started, *rest = events(body)
    unknown = [{"type": "telepathy", "a": 1}, {"type": "content_block_delta", "index": 0, "delta": {"type": "mood"}}]
    yield "unknown_event", body, [started, unknown[0], rest[0], unknown[1], *rest[1:]]


def sse(found):
    """Writes events as the service sends them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in found)


def message(content, stop_reason="end_turn", **more):
    """Returns a whole message with this content."""
    usage = {
        "input_tokens": 56,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 64,
        "output_tokens": 45,
        "service_tier": "standard",
    }
    own = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": content}
    return own | {"stop_reason": stop_reason, "stop_sequence": None, "usage": usage} | more


def text(value, citations=None):
    """Returns a text block."""
    return {"type": "text", "text": value, "citations": citations}


def call(number, name, arguments):
    """Returns a call."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def _bodies():
    thinking = {"type": "thinking", "thinking": "The user wants the weather.", "signature": "EqQBCgIYAhIM"}
    redacted = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"}
    paris, tokyo = call(1, "get_weather", {"city": "Paris"}), call(2, "get_weather", {"city": "東京"})
    many = [text("Let me look."), paris, tokyo, call(3, "add", {"a": 1, "b": 2.5})]
    return {
        "text": message([text("Hello, wörld! 👋")]),
        "empty": message([]),
        "call": message([paris], "tool_use"),
        "call_without_arguments": message([call(1, "now", {})], "tool_use"),
        "parallel_calls": message(many, "tool_use"),
        "thinking": message([thinking, redacted, paris], "tool_use"),
        "interleaved_thinking": message(
            [thinking, text("First."), thinking | {"thinking": "Then.", "signature": "Eq2"}, paris], "tool_use"
        ),
        "web_search": message(
            _web_search(), usage=_usage(server_tool_use={"web_search_requests": 1, "web_fetch_requests": 0})
        ),
        "search_error": message(_search_error()),
        "code_execution": message(
            _code_execution(), container={"id": "container_1", "expires_at": "2026-11-16T00:00:00Z", "skills": None}
        ),
        "length": message([text("It was a da")], "max_tokens"),
        "stop_sequence": message([text("one, two")], "stop_sequence", stop_sequence=", three"),
        "pause": message([_server_call(1, "web_search", {"query": "x"})], "pause_turn"),
        "refusal": message([text("I")], "refusal"),
        "refusal_in_call": message([paris], "refusal"),
        "length_in_call": message([text("A"), paris], "max_tokens"),
        "hidden_thinking": message([thinking | {"thinking": ""}, text("Done.")]),
        "white_space": message([text("\n  a\r\n\t")]),
        "documents": message([text("The grass is green.", _documents()), text(" So be it.")]),
        "web_fetch": message(_web_fetch()),
        "tool_search": message([*_tool_search(), paris], "tool_use"),
        "pause_with_calls": message([thinking, _server_call(1, "web_search", {"query": "x"}), paris], "tool_use"),
        "unknown_stop_reason": message([text("Hi.")], "bored"),
        "context_window": message([text("It")], "model_context_window_exceeded"),
        "unknown_block": message([{"type": "telepathy", "thought": {"a": 1}}, text("Hi.")]),
    }


def _usage(**more):
    return message([])["usage"] | more


def _server_call(number, name, arguments):
    return {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": name, "input": arguments}


def _web_search():
    found = {
        "type": "web_search_result",
        "url": "https://example.com/a",
        "title": "A",
        "encrypted_content": "Eo8",
        "page_age": None,
    }
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]}
    cited = {
        "type": "web_search_result_location",
        "url": "https://example.com/a",
        "title": "A",
        "encrypted_index": "Eo9",
        "cited_text": "Sunny",
    }
    return [
        text("I'll search."),
        _server_call(1, "web_search", {"query": "weather"}),
        result,
        text("Sunny", [cited]),
        text(" today."),
    ]


def _search_error():
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": failed}
    return [_server_call(1, "web_search", {"query": "weather"}), result, text("I could not search.")]


def _code_execution():
    ran = {"type": "bash_code_execution_result", "stdout": "2\n", "stderr": "", "return_code": 0, "content": []}
    result = {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": ran}
    return [_server_call(1, "bash_code_execution", {"command": "echo 2"}), result, text("2")]


def _documents():
    cited = {"cited_text": "The grass is green.", "document_index": 0, "document_title": "A", "file_id": None}
    chars = {"type": "char_location", "start_char_index": 0, "end_char_index": 19}
    pages = {"type": "page_location", "start_page_number": 1, "end_page_number": 2}
    blocks = {"type": "content_block_location", "start_block_index": 0, "end_block_index": 1}
    return [cited | chars, cited | pages, cited | blocks]


def _web_fetch():
    source = {"type": "text", "media_type": "text/plain", "data": "A page."}
    document = {"type": "document", "source": source, "title": "A", "citations": None}
    fetched = {"type": "web_fetch_result", "url": "https://example.com/a", "retrieved_at": None, "content": document}
    result = {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_1", "content": fetched}
    return [_server_call(1, "web_fetch", {"url": "https://example.com/a"}), result, text("It says A.")]


def _tool_search():
    found = {"type": "tool_search_tool_search_result"}
    found["tool_references"] = [{"type": "tool_reference", "tool_name": "get_weather"}]
    result = {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": found}
    return [_server_call(1, "tool_search_tool_regex", {"query": "weather"}), result]


def events(body):
    """Returns the events that carry a message."""
    late = ("stop_reason", "stop_sequence", "container")
    started = body | {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": body["usage"] | {"output_tokens": 1},
    }
    started.pop("container", None)
    found = [{"type": "message_start", "message": copy.deepcopy(started)}]
    for index, block in enumerate(body["content"]):
        found.append({"type": "content_block_start", "index": index, "content_block": _started(block)})
        if index == 0:
            found.append({"type": "ping"})
        for delta in _deltas(block):
            found.append({"type": "content_block_delta", "index": index, "delta": delta})
        found.append({"type": "content_block_stop", "index": index})
    usage = {key: body["usage"][key] for key in body["usage"] if key not in ("service_tier",)}
    delta = {key: body[key] for key in late if key in body}
    found.append({"type": "message_delta", "delta": delta, "usage": usage})
    found.append({"type": "message_stop"})
    return found


def _started(block):
    block = copy.deepcopy(block)
    match block["type"]:
        case "text":
            return block | {"text": "", "citations": [] if block["citations"] else None}
        case "thinking":
            return block | {"thinking": "", "signature": ""}
        case "tool_use" | "server_tool_use":
            return block | {"input": {}}
    return block


def _deltas(block):
    match block["type"]:
        case "text":
            for citation in block["citations"] or []:
                yield {"type": "citations_delta", "citation": citation}
            for part in fragments(block["text"]):
                yield {"type": "text_delta", "text": part}
        case "thinking":
            for part in fragments(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": part}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use" | "server_tool_use":
            # The first fragment is always empty, and a call without arguments has no other.
            yield {"type": "input_json_delta", "partial_json": ""}
            arguments = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
            for part in fragments(arguments):
                if part:
                    yield {"type": "input_json_delta", "partial_json": part}


def _eager():
    """A call whose whole input is in its first event."""
    body = message([call(1, "get_weather", {"city": "Paris"})], "tool_use")
    found = events(body)
    found = [event for event in found if event["type"] != "content_block_delta"]
    found[1] = found[1] | {"content_block": body["content"][0]}
    return body, found
