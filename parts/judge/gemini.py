"""Gemini generateContent.

The SDK has no type of the request body: it converts its own types to one. So a body is read into those types, which
reject unknown keys, and then sent through the SDK's client; the body that the SDK sends must be the same.
"""

import base64
import functools
import json
import re
import warnings

import pydantic
from google import genai
from google.genai import types

from . import rule
from .shape import pointer
from .transport import answering

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
# The fields of a body, and the types that the SDK's client takes for them.
FIELDS = {
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "safetySettings": list[types.SafetySetting],
    "cachedContent": str,
    "labels": dict[str, str],
    "serviceTier": types.ServiceTier,
    "store": bool,
}
# The fields of a part of which exactly one is set.
DATA = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)


def validate(body, options):
    """Returns the errors of a request. The option `model` names its model, which decides about signatures."""
    return _shape(body) + list(_rules(body, str(options.get("model", "")))) + rule.sealed_secrets(body)


def parse(body):
    """Parses a response as the SDK does, and returns it as JSON."""
    client = _client(json.dumps(body).encode(), "application/json")
    return _dump(client.models.generate_content(model="m", contents="x"))


def accumulate(sse):
    """Reads a stream with the SDK, and returns one response with all parts, adjacent texts joined.

    The SDK itself joins nothing: it returns each chunk as a response.
    """
    client = _client(sse, "text/event-stream")
    final, merged, parts = {}, None, []
    for chunk in client.models.generate_content_stream(model="m", contents="x"):
        chunk = _dump(chunk)
        for candidate in chunk.pop("candidates", None) or []:
            for part in (candidate.pop("content", None) or {}).get("parts") or []:
                _join(parts, part)
            merged = {**(merged or {}), **candidate}
        final |= chunk
    if merged is not None:
        final["candidates"] = [{"content": {"role": "model", "parts": parts}, **merged}]
    return final


def _join(parts, part):
    last = parts[-1] if parts else None
    is_plain = set(part) <= {"text", "thought"} and "text" in part
    if last is not None and is_plain and set(last) == set(part) and last.get("thought") == part.get("thought"):
        last["text"] += part["text"]
    else:
        parts.append(dict(part))


def _client(body, content_type, sent=None):
    options = types.HttpOptions(httpx_client=answering(body, content_type, sent))
    return genai.Client(api_key="none", http_options=options)


@functools.cache
def _recorder():
    """Returns a client and the list of the requests that it sends. Creating one takes longer than a request."""
    sent = []
    return _client(b"{}", "application/json", sent), sent


def _dump(model):
    dumped = model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    # Not of the service: the SDK adds both.
    dumped.pop("sdkHttpResponse", None)
    dumped.pop("automaticFunctionCallingHistory", None)
    for candidate in dumped.get("candidates", []):
        # The SDK renames this one field of the service.
        if "citations" in candidate.get("citationMetadata", {}):
            candidate["citationMetadata"] = {"citationSources": candidate["citationMetadata"]["citations"]}
    return dumped


class _warnings_as_errors(warnings.catch_warnings):
    """The SDK only warns about a value that is not in one of its enums."""

    def __enter__(self):
        super().__enter__()
        warnings.simplefilter("error", UserWarning)


def _shape(body):
    errors, parsed = [], {}
    for key, value in body.items():
        if key in FIELDS:
            parsed[key] = _read(FIELDS[key], value, [key], errors)
        elif key != "generationConfig":
            errors.append((f"/{key}", "Extra inputs are not permitted"))
    if "contents" not in body:
        errors.append(("/contents", "Field required"))
    settings = body.get("generationConfig", {})
    for key in settings.keys() & FIELDS.keys():
        errors.append((f"/generationConfig/{key}", "Extra inputs are not permitted"))
    _read(types.GenerateContentConfig, settings, ["generationConfig"], errors)
    if "responseSchema" in settings:
        _read(types.Schema, settings["responseSchema"], ["generationConfig", "responseSchema"], errors)
    if errors:
        return errors
    contents = parsed.pop("contents")
    # The SDK calls functions among the tools itself unless told otherwise. There are none, so it must not try.
    calling = types.AutomaticFunctionCallingConfig(disable=True)
    client, sent = _recorder()
    sent.clear()
    try:
        config = types.GenerateContentConfig(**settings, **parsed, automatic_function_calling=calling)
        client.models.generate_content(model="m", contents=contents, config=config)
    except ValueError as error:
        return [("", str(error))]
    return list(_differences(_one_list(body), _one_list(json.loads(sent[0].content)), []))


def _read(type_, value, path, errors):
    """Reads a value with a type of the SDK, by the names that the service uses. Appends what is wrong to `errors`."""
    try:
        with _warnings_as_errors():
            adapter = pydantic.TypeAdapter(type_)
            return adapter.validate_json(json.dumps(value), strict=True, by_alias=True, by_name=False)
    except pydantic.ValidationError as error:
        errors.extend((pointer([*path, *found["loc"]]), found["msg"]) for found in error.errors())
    except UserWarning as warning:
        errors.append((pointer(path), str(warning)))


def _one_list(body):
    """Collects all function declarations in one tool, as the SDK does."""
    functions, tools = [], []
    for tool in body.get("tools", []):
        functions.extend(tool.get("functionDeclarations", []))
        rest = {key: value for key, value in tool.items() if key != "functionDeclarations"}
        tools.extend([rest] if rest else [])
    return {**body, "tools": [*tools, {"functionDeclarations": functions}]}


def _differences(ours, theirs, path):
    """Compares a body with the one that the SDK sends for it."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        # Inside of some fields the SDK writes snake case, which the service reads as well.
        theirs = {key if key in ours else _camel(key): value for key, value in theirs.items()}
        for key in ours:
            if key not in theirs:
                if ours[key] not in ({}, [], None):
                    yield pointer([*path, key]), "the SDK does not send this"
            elif key in ("thoughtSignature", "data") and isinstance(ours[key], str):
                if _bytes(ours[key]) != _bytes(theirs[key]):
                    yield pointer([*path, key]), "is not Base64 that the SDK keeps"
            else:
                yield from _differences(ours[key], theirs[key], [*path, key])
        for key in theirs.keys() - ours.keys():
            if theirs[key] not in ({}, [], None):
                yield pointer([*path, key]), f"the SDK also sends {json.dumps(theirs[key])}"
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (left, right) in enumerate(zip(ours, theirs)):
            yield from _differences(left, right, [*path, index])
    # The names of types are upper case in the SDK; the service reads both.
    elif ours != theirs and not (path[-1:] == ["type"] and str(ours).upper() == str(theirs).upper()):
        yield pointer(path), f"the SDK sends {json.dumps(theirs)}"


def _camel(key):
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), key)


def _bytes(text):
    text = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4))


def _rules(body, model):
    yield from _tools(body)
    contents = rule.objects(body.get("contents"))
    if not contents:
        yield "/contents", "at least one content is required"
    calls, before = [], None
    for index, content in contents:
        at, role = f"/contents/{index}", content.get("role")
        parts = rule.objects(content.get("parts"))
        if role not in ("user", "model"):
            yield f"{at}/role", f"{role!r} is neither 'user' nor 'model'"
        if not parts:
            yield f"{at}/parts", "is empty"
        for number, part in parts:
            fields = [key for key in DATA if part.get(key) is not None]
            if len(fields) != 1:
                yield f"{at}/parts/{number}", f"sets {fields or 'no field'}, and exactly one is allowed"
        yield from _responses(parts, at, role, calls)
        yield from _result_media(parts, at, model)
        calls = [(f"{at}/parts/{number}", part["functionCall"]) for number, part in parts if "functionCall" in part]
        if calls and role != "model":
            yield at, "a `functionCall` stands in a content of the model"
        if calls and before != "user":
            yield at, "a turn with calls comes right after a content of the user or after responses"
        before = role
    for at, call in calls:
        yield at, f"the call of {call.get('name')!r} has no `functionResponse` in the next content"
    if model.startswith("gemini-3"):
        yield from _signatures(contents)
    if re.match(r"gemini-[12][.]", model) and "computer-use" not in model:
        yield from _before_3(body)


def _before_3(body):
    """Combinations that came with Gemini 3.

    "Function calling with a response mime type: 'application/json' is unsupported", and built-in tools beside functions:
    https://ai.google.dev/gemini-api/docs/structured-output and /function-calling, under the tools of Gemini 3.
    """
    tools = rule.objects(body.get("tools"))
    has_functions = any(tool.get("functionDeclarations") for _, tool in tools)
    has_built_in = any(key != "functionDeclarations" for _, tool in tools for key in tool)
    if has_functions and has_built_in:
        yield "/tools", "has functions and built-in tools, which the model does not combine"
    if has_functions and (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
        yield "/generationConfig/responseMimeType", "is unsupported together with functions"


def _responses(parts, at, role, calls):
    """As many responses as calls, in the order of the calls, in one content right after them."""
    found = [(number, part["functionResponse"]) for number, part in parts if "functionResponse" in part]
    if found and role != "user":
        yield at, "a `functionResponse` stands in a content of the user"
    if len(found) != len(calls):
        yield at, f"{len(found)} responses follow {len(calls)} calls"
        return
    for (number, response), (_, call) in zip(found, calls):
        where = f"{at}/parts/{number}/functionResponse"
        if not isinstance(response.get("response"), dict):
            yield f"{where}/response", "is required and an object"
        elif _has_reference(response["response"]):
            yield f"{where}/response", "contains a key `$ref` or `$defs`, which the service reads as a reference"
        if response.get("name") != call.get("name"):
            yield f"{where}/name", f"{response.get('name')!r} answers a call of {call.get('name')!r}"
        if response.get("id") != call.get("id"):
            yield f"{where}/id", f"{response.get('id')!r} answers the call {call.get('id')!r}"


def _result_media(parts, at, model):
    """Files inside responses came with Gemini 3, and with the models that use a computer.

    Google's page on function calling, under multimodal responses. Earlier models take files behind all responses.
    """
    is_earlier = re.match(r"gemini-[12][.]", model) and "computer-use" not in model
    responses = [number for number, part in parts if "functionResponse" in part]
    for number, part in parts:
        if is_earlier and (part.get("functionResponse") or {}).get("parts"):
            yield f"{at}/parts/{number}/functionResponse/parts", "the model takes no files in responses"
        if "functionResponse" not in part and responses and number < responses[-1]:
            yield f"{at}/parts/{number}", "stands before a `functionResponse` of the same content"


def _has_reference(value):
    if isinstance(value, list):
        return any(_has_reference(item) for item in value)
    if not isinstance(value, dict):
        return False
    return any(key in ("$ref", "$defs") or _has_reference(item) for key, item in value.items())


def _signatures(contents):
    """In the turn that the request continues, the first call of each step has its signature."""
    start = 0
    for position, (_, content) in enumerate(contents):
        parts = rule.objects(content.get("parts"))
        if content.get("role") == "user" and not any("functionResponse" in part for _, part in parts):
            start = position
    for index, content in contents[start:]:
        first = next(((n, part) for n, part in rule.objects(content.get("parts")) if "functionCall" in part), None)
        if first is not None and not first[1].get("thoughtSignature"):
            yield f"/contents/{index}/parts/{first[0]}", "the first call of a step has no `thoughtSignature`"


def _tools(body):
    names = []
    for index, tool in rule.objects(body.get("tools")):
        for number, function in rule.objects(tool.get("functionDeclarations")):
            at = f"/tools/{index}/functionDeclarations/{number}"
            names.append((f"{at}/name", function.get("name")))
            if "parameters" in function and "parametersJsonSchema" in function:
                yield at, "`parameters` and `parametersJsonSchema` exclude each other"
            if "parameters" in function:
                yield from rule.object_schema(function["parameters"], f"{at}/parameters")
                if isinstance(function["parameters"], dict) and not function["parameters"].get("properties"):
                    yield f"{at}/parameters", "an object without properties is rejected; omit `parameters`"
    yield from rule.tool_names(names, NAME)
    config = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    allowed = config.get("allowedFunctionNames")
    if allowed is not None:
        if config.get("mode") not in ("ANY", "VALIDATED"):
            yield "/toolConfig/functionCallingConfig", "`allowedFunctionNames` requires the mode ANY or VALIDATED"
        for name in set(allowed) - {name for _, name in names}:
            yield "/toolConfig/functionCallingConfig/allowedFunctionNames", f"{name!r} is no tool of this request"
