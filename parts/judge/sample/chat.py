"""Samples of OpenAI Chat Completions."""

import json

from openai.types.chat import ChatCompletion, ChatCompletionChunk

from . import fragments
from ..shape import Shape

BODY = Shape(ChatCompletion, models=True)
_SHAPE = Shape(ChatCompletionChunk, models=True)


class EVENT:
    """The type of the SDK's chunks, and the error that its reader handles before them."""

    @staticmethod
    def errors(event):
        """Returns the errors of an event."""
        return [] if "error" in event else _SHAPE.errors(event)


def samples():
    """Returns the name, the body and the chunks of each sample."""
    paris, tokyo = call(1, "get_weather", '{"city":"Paris"}'), call(2, "get_weather", '{"city":"東京"}')
    cited = {
        "type": "url_citation",
        "url_citation": {"start_index": 0, "end_index": 5, "url": "https://example.com/a", "title": "A"},
    }
    bodies = {
        "text": completion({"content": "Hello, wörld! 👋"}),
        "empty": completion({"content": ""}),
        "call": completion({"content": None, "tool_calls": [paris]}, "tool_calls"),
        "call_without_arguments": completion({"content": None, "tool_calls": [call(1, "now", "{}")]}, "tool_calls"),
        "parallel_calls": completion(
            {"content": "Let me look.", "tool_calls": [paris, tokyo, call(3, "add", '{"a": 1, "b": 2.5}')]},
            "tool_calls",
        ),
        # A forced call ends with `stop`.
        "forced_call": completion({"content": None, "tool_calls": [paris]}, "stop"),
        "refusal": completion({"content": None, "refusal": "I can't help with that."}),
        "citations": completion({"content": "Sunny today.", "annotations": [cited]}),
        "length": completion({"content": "It was a da"}, "length"),
        "length_in_call": completion(
            {"content": None, "tool_calls": [call(1, "get_weather", '{"city":"Par')]}, "length"
        ),
        "content_filter": completion({"content": "It"}, "content_filter"),
        "content_filter_in_call": completion({"content": None, "tool_calls": [paris]}, "content_filter"),
        "white_space": completion({"content": "\n  a\r\n\t"}),
        "custom_call": completion({"content": None, "tool_calls": [_custom_call(1, "run", "a = 1\n")]}, "tool_calls"),
        "audio": completion({"content": None, "audio": _audio()}),
        # Fields that servers of this wire add: vLLM, DeepSeek and llama.cpp send reasoning as text.
        "unknown_reasoning": completion({"content": "4", "reasoning_content": "2 and 2"}),
        "unknown_field": completion({"content": "Hi.", "telepathy": {"a": 1}}) | {"x_server": {"b": 2}},
    }
    for name, body in bodies.items():
        # The chunks of the SDK have no members for these.
        yield name, body, [] if name in ("citations", "custom_call", "audio") else chunks(body)
    yield "interleaved_calls", *_interleaved()
    yield "usage_in_last_choice", *_usage_in_last_choice()
    failed = {"error": {"message": "The server had an error", "type": "server_error", "param": None, "code": None}}
    yield "error", None, [*chunks(completion({"content": "Hello"}))[:2], failed]
    text = completion({"content": "Hi."})
    yield "unknown_finish_reason", (body := completion({"content": "Hi."}, "bored")), chunks(body)
    # A proxy may add events of its own.
    first, *rest = chunks(text)
    yield "unknown_event", text, [first, _head("telepathy.chunk") | {"choices": []}, *rest]


def sse(found):
    """Writes chunks as the service sends them."""
    return "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in found) + "data: [DONE]\n\n"


def completion(message, finish_reason="stop"):
    """Returns a whole completion with one choice."""
    usage = {
        "prompt_tokens": 120,
        "completion_tokens": 45,
        "total_tokens": 165,
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 20, "audio_tokens": 0},
    }
    message = {"role": "assistant", "refusal": None} | message
    choice = {"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}
    return _head("chat.completion") | {"choices": [choice], "usage": usage}


def call(number, name, arguments):
    """Returns a function call."""
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def _custom_call(number, name, text):
    return {"id": f"call_{number}", "type": "custom", "custom": {"name": name, "input": text}}


def _audio():
    return {"id": "audio_1", "data": "UklGRg==", "transcript": "Hello.", "expires_at": 1790000000}


def chunks(body):
    """Returns the chunks that carry a completion, with the usage in a chunk of its own."""
    choice = body["choices"][0]
    message = dict(choice["message"])
    found = [
        _chunk(
            {"role": message.pop("role"), "content": "" if message["content"] is not None else None, "refusal": None}
        )
    ]
    for key in message.keys() - {"content", "refusal", "tool_calls", "annotations"}:
        found.extend(
            [_chunk({key: text}) for text in fragments(message[key])]
            if isinstance(message[key], str)
            else [_chunk({key: message[key]})]
        )
    for key in ("content", "refusal"):
        found.extend(_chunk({key: text}) for text in fragments(message[key] or "") if text)
    for index, one in enumerate(message.get("tool_calls", [])):
        found.append(_call_start(index, one))
        found.extend(_call_delta(index, text) for text in fragments(one["function"]["arguments"]) if text)
    found.append(_chunk({}, choice["finish_reason"]))
    found.append(_head("chat.completion.chunk") | {"choices": [], "usage": body["usage"]})
    extra = {key: value for key, value in body.items() if key.startswith("x_")}
    return [chunk | extra for chunk in found]


def _interleaved():
    calls = [call(1, "get_weather", '{"city":"Paris"}'), call(2, "get_weather", '{"city":"Tokyo"}')]
    body = completion({"content": None, "tool_calls": calls}, "tool_calls")
    found = [_chunk({"role": "assistant", "content": None})]
    found.extend(_call_start(index, one) for index, one in enumerate(calls))
    for pair in zip(*(fragments(one["function"]["arguments"], 4) for one in calls)):
        found.extend(_call_delta(index, text) for index, text in enumerate(pair))
    found.append(_chunk({}, "tool_calls"))
    found.append(_head("chat.completion.chunk") | {"choices": [], "usage": body["usage"]})
    return body, found


def _usage_in_last_choice():
    """Several servers send a whole call in one chunk, and the usage with the finish reason."""
    one = call(1, "get_weather", '{"city":"Paris"}')
    body = completion({"content": None, "tool_calls": [one]}, "tool_calls")
    whole = {"index": 0, **one}
    last = _chunk({}, "tool_calls") | {"usage": body["usage"]}
    return body, [_chunk({"role": "assistant", "content": None, "tool_calls": [whole]}), last]


def _call_start(index, one):
    started = {"index": index, "id": one["id"], "type": "function"}
    return _chunk({"tool_calls": [started | {"function": {"name": one["function"]["name"], "arguments": ""}}]})


def _call_delta(index, text):
    return _chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})


def _chunk(delta, finish_reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
    return _head("chat.completion.chunk") | {"choices": [choice], "usage": None}


def _head(kind):
    own = {"id": "chatcmpl-1", "object": kind, "created": 1790000000, "model": "gpt-5-mini"}
    return own | {"service_tier": "default", "system_fingerprint": "fp_1"}
