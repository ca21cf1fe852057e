"""Responses that exercise a reader, built with the SDKs' own types.

Each sample is one response of a provider and the stream that carries the same response. Both pass the closed types of
the SDK, so a sample contains no field that a provider does not send; only samples whose name begins with `unknown`
contain items of the future, which the SDK reads and its types do not know.
"""

import importlib

MODULES = {"openai-responses": "responses", "openai-chat": "chat", "anthropic": "messages", "gemini": "gemini"}


def of(wire):
    """Returns the samples of a wire: objects with `name`, `body` and `sse`, of which one may be null."""
    found = module(wire)
    return [_checked(found, name, body, events) for name, body, events in found.samples()]


def module(wire):
    """Returns the module of a wire. Its `BODY` and `EVENT` are the closed types of responses and events."""
    return importlib.import_module(f".{MODULES[wire]}", __package__)


def _checked(module, name, body, events):
    if not name.startswith("unknown"):
        found = module.BODY.errors(body) if body is not None else []
        for number, event in enumerate(events):
            found += [(f"event {number}{at}", text) for at, text in module.EVENT.errors(event)]
        if found:
            raise ValueError(f"sample {name}: {found}")
    return {"name": name, "body": body, "sse": module.sse(events) if events else None}


def fragments(text, size=7):
    """Splits a text as a stream does."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]
