"""Rules that several wires share. Each yields errors as pairs of a JSON Pointer and a message."""

import json
import re

# The characters of names and ids on the wires of OpenAI and Anthropic.
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


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


def objects(value):
    """Returns the objects of a list with their indices, whatever else the list may contain."""
    if not isinstance(value, list):
        return []
    return [(index, item) for index, item in enumerate(value) if isinstance(item, dict)]
