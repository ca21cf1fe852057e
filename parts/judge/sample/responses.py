"""Samples of OpenAI Responses."""

import copy
import json

from openai.types.responses import Response, ResponseStreamEvent

from . import fragments
from ..shape import Shape

BODY = Shape(Response, models=True)
EVENT = Shape(ResponseStreamEvent, models=True)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def samples():
    """Returns the name, the body and the events of each sample."""
    for name, body in _bodies().items():
        yield name, body, events(body)
    yield (
        "error",
        None,
        [
            *events(response([message("Hal")]))[:6],
            {
                "type": "error",
                "sequence_number": 6,
                "code": "server_error",
                "message": "The server had an error",
                "param": None,
            },
        ],
    )
    yield "interleaved_calls", *_interleaved()
    body = response([message("Hi.")])
    first, second, *rest = events(body)
    unknown = {"type": "response.telepathy.delta", "sequence_number": 99, "item_id": "zz_1", "delta": "a"}
    yield "unknown_event", body, [first, second, unknown, *rest]


def sse(found):
    """Writes events as the service sends them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in found)


def response(output, status="completed", **more):
    """Returns a whole response with this output."""
    usage = {
        "input_tokens": 120,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
        "output_tokens": 45,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 165,
    }
    return {
        "id": "resp_0a1",
        "object": "response",
        "created_at": 1790000000.0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": "gpt-5",
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": None,
        "metadata": {},
    } | more


def message(text, status="completed", annotations=(), own="msg_1"):
    """Returns an assistant message with one text."""
    part = {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}
    return {"id": own, "type": "message", "role": "assistant", "status": status, "content": [part]}


def call(number, name, arguments):
    """Returns a function call."""
    own = {"id": f"fc_{number}", "type": "function_call", "status": "completed"}
    return own | {"call_id": f"call_{number}", "name": name, "arguments": arguments}


def _bodies():
    reasoning = {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [
            {"type": "summary_text", "text": "**Plan** ask for the weather"},
            {"type": "summary_text", "text": "then add"},
        ],
        "encrypted_content": "gAAAAABencrypted",
    }
    paris, tokyo = call(1, "get_weather", '{"city":"Paris"}'), call(2, "get_weather", '{"city":"東京"}')
    cited = {"type": "url_citation", "start_index": 0, "end_index": 5, "url": "https://example.com/a", "title": "A"}
    search = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
    search["action"] = {"type": "search", "query": "weather", "queries": ["weather"]}
    refusal = message("") | {"content": [{"type": "refusal", "refusal": "I can't help with that."}]}
    interpreter = {
        "id": "ci_1",
        "type": "code_interpreter_call",
        "status": "completed",
        "code": "print(1 + 1)",
        "container_id": "cntr_1",
        "outputs": [{"type": "logs", "logs": "2\n"}],
    }
    image = {"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": PIXEL}
    image |= {"output_format": "png", "revised_prompt": "a dot", "size": "1024x1024"}
    files = {"id": "fs_1", "type": "file_search_call", "status": "completed", "queries": ["a"]}
    files["results"] = [{"file_id": "file_1", "filename": "a.txt", "score": 0.5, "text": "x", "attributes": {}}]
    return {
        "text": response([message("Hello, wörld! 👋")]),
        "empty": response([]),
        "call": response([paris]),
        "call_without_arguments": response([call(1, "now", "{}")]),
        "parallel_calls": response([message("Let me look."), paris, tokyo, call(3, "add", '{"a": 1, "b": 2.5}')]),
        "reasoning": response([reasoning, paris]),
        "reasoning_text": response(
            [reasoning | {"content": [{"type": "reasoning_text", "text": "raw thought"}]}, message("Done.")]
        ),
        "refusal": response([refusal]),
        "citations": response([search, message("Sunny today.", annotations=[cited])]),
        "code_interpreter": response([interpreter, message("2")]),
        "file_search": response([files, message("Found.")]),
        "image": response([image]),
        "length": response(
            [message("It was a da", "incomplete")], "incomplete", incomplete_details={"reason": "max_output_tokens"}
        ),
        "length_in_call": response(
            [call(1, "get_weather", '{"city":"Par') | {"status": "incomplete"}],
            "incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        ),
        "content_filter": response(
            [message("It", "incomplete")], "incomplete", incomplete_details={"reason": "content_filter"}
        ),
        "failed": response([], "failed", error={"code": "server_error", "message": "The model failed"}, usage=None),
        "custom_call": response(
            [{"id": "ctc_1", "type": "custom_tool_call", "call_id": "call_1", "name": "run", "input": "a = 1\n"}]
        ),
        "client_tools": response(_client_tools()),
        "mcp": response(_mcp()),
        "files_cited": response([message("See a and b.", annotations=_file_citations())]),
        "two_parts": response([_two_parts()]),
        "white_space": response([message("\n  a\r\n\t")]),
        "hidden_reasoning": response([reasoning | {"summary": []}, message("Done.")]),
        "phases": response([message("Let me look.") | {"phase": "commentary"}, paris]),
        "refusal_with_text": response([_two_parts() | {"content": [message("Well, ")["content"][0], *refusal["content"]]}]),
        "length_in_reasoning": response([reasoning], "incomplete", incomplete_details={"reason": "max_output_tokens"}),
        "content_filter_in_call": response([paris], "incomplete", incomplete_details={"reason": "content_filter"}),
        "unknown_item": response(
            [{"id": "zz_1", "type": "telepathy_call", "status": "completed", "thought": {"a": 1}}, message("Hi.")]
        ),
    }


def _file_citations():
    file = {"type": "file_citation", "file_id": "file_1", "filename": "a.txt", "index": 5}
    made = {"type": "container_file_citation", "container_id": "cntr_1", "file_id": "cfile_1", "filename": "b.csv"}
    path = {"type": "file_path", "file_id": "file_2", "index": 3}
    return [file, made | {"start_index": 4, "end_index": 5}, path]


def _two_parts():
    one, other = message("First. "), message("Second.")
    return one | {"content": one["content"] + other["content"]}


def _client_tools():
    shell = {
        "id": "sh_1",
        "type": "shell_call",
        "call_id": "call_1",
        "status": "completed",
        "environment": {"type": "local"},
    }
    shell["action"] = {"commands": ["ls"], "timeout_ms": 1000, "max_output_length": 100}
    local = {"id": "lsh_1", "type": "local_shell_call", "call_id": "call_2", "status": "completed"}
    local["action"] = {"type": "exec", "command": ["ls"], "env": {}}
    patch = {"id": "apc_1", "type": "apply_patch_call", "call_id": "call_3", "status": "completed"}
    patch["operation"] = {"type": "update_file", "path": "a.txt", "diff": "@@\n-a\n+b\n"}
    computer = {
        "id": "cu_1",
        "type": "computer_call",
        "call_id": "call_4",
        "status": "completed",
        "pending_safety_checks": [],
    }
    computer["action"] = {"type": "click", "button": "left", "x": 1, "y": 2}
    return [shell, local, patch, computer]


def _mcp():
    tools = [{"name": "add", "input_schema": {"type": "object"}, "description": "Adds", "annotations": None}]
    listed = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "math", "tools": tools, "error": None}
    called = {
        "id": "mcp_1",
        "type": "mcp_call",
        "server_label": "math",
        "name": "add",
        "arguments": '{"a":1}',
        "output": "1",
    }
    asked = {"id": "mcpr_1", "type": "mcp_approval_request", "server_label": "math", "name": "add", "arguments": "{}"}
    return [listed, called | {"status": "completed", "error": None, "approval_request_id": None}, asked]


def events(body):
    """Returns the events that carry a response."""
    stream = _Stream()
    started = body | {"status": "in_progress", "output": [], "usage": None, "error": None, "incomplete_details": None}
    stream.add("response.created", response=started)
    stream.add("response.in_progress", response=started)
    for index, item in enumerate(body["output"]):
        stream.start(index, item)
        stream.fill(index, item)
        stream.add("response.output_item.done", output_index=index, item=item)
    stream.add(f"response.{body['status']}", response=body)
    return stream.events


def _interleaved():
    """Two calls whose arguments arrive in turns."""
    calls = [call(1, "get_weather", '{"city":"Paris"}'), call(2, "get_weather", '{"city":"Tokyo"}')]
    body = response(calls)
    stream = _Stream()
    started = body | {"status": "in_progress", "output": [], "usage": None}
    stream.add("response.created", response=started)
    for index, item in enumerate(calls):
        stream.start(index, item)
    for left, right in zip(*(fragments(item["arguments"], 4) for item in calls)):
        for index, delta in enumerate((left, right)):
            stream.add(
                "response.function_call_arguments.delta", output_index=index, item_id=calls[index]["id"], delta=delta
            )
    for index, item in enumerate(calls):
        stream.add("response.output_item.done", output_index=index, item=item)
    stream.add("response.completed", response=body)
    return body, stream.events


class _Stream:
    def __init__(self):
        self.events = []

    def add(self, kind, **more):
        self.events.append({"type": kind, "sequence_number": len(self.events), **copy.deepcopy(more)})

    def start(self, index, item):
        """Announces an item, with everything empty that the following events fill."""
        empty = {key: value for key, value in item.items()}
        if "status" in item:
            empty["status"] = "in_progress"
        for key, value in {
            "content": [],
            "summary": [],
            "arguments": "",
            "input": "",
            "code": "",
            "outputs": None,
        }.items():
            if key in item and item["type"] != "mcp_approval_request":
                empty[key] = value
        if item["type"] == "reasoning":
            empty.pop("encrypted_content", None)
            empty.pop("content", None)
        if item["type"] == "image_generation_call":
            empty["result"] = None
        if item["type"] == "mcp_call":
            empty["output"] = None
        self.add("response.output_item.added", output_index=index, item=empty)

    def fill(self, index, item):
        """Sends the content of an item."""
        at = {"output_index": index, "item_id": item["id"]}
        match item["type"]:
            case "message":
                for number, part in enumerate(item["content"]):
                    self._part(part, at | {"content_index": number})
            case "function_call":
                self._text("response.function_call_arguments", item["arguments"], at, "arguments")
            case "custom_tool_call":
                self._text("response.custom_tool_call_input", item["input"], at, "input")
            case "mcp_call":
                self.add("response.mcp_call.in_progress", **at)
                self._text("response.mcp_call_arguments", item["arguments"], at, "arguments")
                self.add("response.mcp_call.completed", **at)
            case "mcp_list_tools":
                self.add("response.mcp_list_tools.in_progress", **at)
                self.add("response.mcp_list_tools.completed", **at)
            case "code_interpreter_call":
                self.add("response.code_interpreter_call.in_progress", **at)
                self._text("response.code_interpreter_call_code", item["code"], at, "code")
                self.add("response.code_interpreter_call.interpreting", **at)
                self.add("response.code_interpreter_call.completed", **at)
            case "web_search_call" | "file_search_call" as kind:
                for step in ("in_progress", "searching", "completed"):
                    self.add(f"response.{kind}.{step}", **at)
            case "image_generation_call" as kind:
                self.add(f"response.{kind}.in_progress", **at)
                self.add(f"response.{kind}.generating", **at)
                self.add(
                    f"response.{kind}.partial_image", **at, partial_image_index=0, partial_image_b64=item["result"]
                )
                self.add(f"response.{kind}.completed", **at)
            case "reasoning":
                self._reasoning(item, at)

    def _part(self, part, at):
        kind = part["type"]
        if kind == "refusal":
            self.add("response.content_part.added", **at, part={"type": "refusal", "refusal": ""})
            self._text("response.refusal", part["refusal"], at, "refusal")
        else:
            self.add("response.content_part.added", **at, part=part | {"text": "", "annotations": []})
            for delta in fragments(part["text"]):
                self.add("response.output_text.delta", **at, delta=delta, logprobs=[])
            for number, annotation in enumerate(part["annotations"]):
                self.add("response.output_text.annotation.added", **at, annotation_index=number, annotation=annotation)
            self.add("response.output_text.done", **at, text=part["text"], logprobs=[])
        self.add("response.content_part.done", **at, part=part)

    def _reasoning(self, item, at):
        for number, part in enumerate(item["summary"]):
            here = at | {"summary_index": number}
            self.add("response.reasoning_summary_part.added", **here, part=part | {"text": ""})
            self._text("response.reasoning_summary_text", part["text"], here, "text")
            self.add("response.reasoning_summary_part.done", **here, part=part)
        for number, part in enumerate(item.get("content", [])):
            self._text("response.reasoning_text", part["text"], at | {"content_index": number}, "text")

    def _text(self, kind, text, at, key):
        for delta in fragments(text):
            self.add(f"{kind}.delta", **at, delta=delta)
        self.add(f"{kind}.done", **at, **{key: text})
