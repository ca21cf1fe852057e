"""Rules that several wires share. Each yields errors as pairs of a JSON Pointer and a message."""

import json
import re

# The characters of names and ids on the wires of OpenAI and Anthropic.
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

# OpenAI's models that reason and that do not. A fine-tuned model is named by the one that was tuned.
REASONS = re.compile(r"(ft:)?(o[134]|gpt-5(?!(\.\d+)?-chat))")
DOES_NOT_REASON = re.compile(r"(ft:)?(gpt-3\.5|gpt-4|chatgpt-4o|gpt-5(\.\d+)?-chat)")


def json_object_text(text, at):
    """Arguments are the text of a JSON object."""
    if not isinstance(text, str):
        return
    try:
        value = json.loads(text)
    except ValueError as error:
        yield at, f"is not JSON: {error}"
        return
    if not isinstance(value, dict):
        yield at, "is not the text of a JSON object"


def tool_names(named, pattern=NAME):
    """The names of tools, given with their pointers, are well-formed and unique."""
    seen = set()
    for at, name in named:
        if not isinstance(name, str) or not pattern.fullmatch(name):
            yield at, f"{name!r} does not match {pattern.pattern}"
        if name in seen:
            yield at, f"{name!r} names two tools"
        seen.add(name)


def object_schema(schema, at):
    """The schema of parameters is an object at its root, and no union."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") not in ("object", "OBJECT"):
        yield f"{at}/type", "the root of a tool's parameters is an object"
    for keyword in ("anyOf", "oneOf", "allOf", "enum", "not"):
        if keyword in schema:
            yield f"{at}/{keyword}", "is rejected at the root of a tool's parameters"


def strict_schema(schema, at, is_complete):
    """A strict schema names all keys of its objects. With `is_complete`, all of them are required.

    "additionalProperties: false must always be set in objects" and "all fields must be required":
    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, and without the second one
    https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
    """
    if not isinstance(schema, dict):
        return
    type_, properties = schema.get("type"), schema.get("properties") or {}
    if type_ == "object" or (isinstance(type_, list) and "object" in type_) or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            yield f"{at}/additionalProperties", "is not false in a strict schema"
        for key in properties if is_complete else ():
            if key not in (schema.get("required") or []):
                yield f"{at}/required", f"{key!r} is not required, and strict schemas have no optional keys"
    for keyword in ("properties", "$defs", "definitions"):
        for key, inner in (schema.get(keyword) or {}).items():
            yield from strict_schema(inner, f"{at}/{keyword}/{key}", is_complete)
    yield from strict_schema(schema.get("items"), f"{at}/items", is_complete)
    for keyword in ("anyOf", "allOf"):
        for index, inner in enumerate(schema.get(keyword) or []):
            yield from strict_schema(inner, f"{at}/{keyword}/{index}", is_complete)


def sealed_secrets(value, at=""):
    """No request that is sent contains the text that stands for a secret in settings."""
    if isinstance(value, str) and value.startswith("haft-secret-"):
        return [(at, "stands for a secret that was not filled in")]
    if isinstance(value, dict):
        return [error for key, inner in value.items() for error in sealed_secrets(inner, f"{at}/{key}")]
    if isinstance(value, list):
        return [error for index, inner in enumerate(value) for error in sealed_secrets(inner, f"{at}/{index}")]
    return []


# OpenAI's models from before formats with a schema, and those that make one call at a time.
# https://platform.openai.com/docs/guides/structured-outputs#supported-models
NO_FORMATS = re.compile(r"gpt-3\.5|gpt-4(-0[136]|-1106|-turbo|-32k|$)")
# "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."
# https://github.com/langchain-ai/langchain/issues/29704
ONE_CALL = re.compile(r"o[134](-|$)")


def settings(body, schema_format):
    """Settings that some of OpenAI's models reject."""
    model = str(body.get("model"))
    if schema_format and NO_FORMATS.match(model):
        yield "", "a format with a schema is not supported with this model"
    if "parallel_tool_calls" in body and ONE_CALL.match(model):
        yield "/parallel_tool_calls", "is not supported with this model"


# "Unsupported parameter: 'stop' is not supported with this model." The reference of Chat Completions names o3 and o4-mini.
# https://github.com/huggingface/smolagents/issues/1671 and https://github.com/BerriAI/litellm/pull/15244
NO_STOP = re.compile(r"(ft:)?(o3(?!-mini)|o4|gpt-5(?!(\.\d+)?-chat))")


def stops(body):
    """Sequences that end the answer are rejected by OpenAI's models that reason."""
    if body.get("stop") and NO_STOP.match(str(body.get("model"))):
        yield "/stop", "is not supported with this model"


def sampling(body, effort):
    """Settings of sampling are rejected by OpenAI's models that reason, unless they are asked not to.

    Documented in OpenAI's guide to its latest model, under parameter compatibility: `temperature`, `top_p` and `logprobs`
    raise an error with GPT-5, with earlier models that reason, and with later ones at another effort than `none`.
    """
    if not REASONS.match(str(body.get("model"))) or effort == "none":
        return
    for key in ("temperature", "top_p"):
        if body.get(key) is not None:
            yield f"/{key}", "is rejected by a model that reasons"


def objects(value):
    """Returns the objects of a list with their indices, whatever else the list may contain."""
    if not isinstance(value, list):
        return []
    return [(index, item) for index, item in enumerate(value) if isinstance(item, dict)]
