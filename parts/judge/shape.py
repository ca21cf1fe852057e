"""Validation of a JSON value by a type of an SDK, closed at every level.

The SDKs describe requests as TypedDicts. Pydantic reads those leniently: unknown keys pass, an `Iterable` is not
iterated, and a request may contain response models, which accept any key. This module takes the core schema that
pydantic compiles for a type and removes all three, then lets pydantic decide.
"""

import json

from pydantic import TypeAdapter
from pydantic_core import SchemaValidator, ValidationError

# Marks the label of a union's choice inside the location of an error. No key of a request starts with it.
CHOICE = "\x00"
# Schemas of Python objects that no JSON text denotes: open files, paths and instances of response models.
NOT_JSON = {"is-instance", "is-subclass", "function-plain", "lax-or-strict", "model", "callable"}


class Shape:
    """A type of an SDK as a closed validator."""

    def __init__(self, type_, models=False):
        """Compiles a type. With `models`, response models are closed as well; else a value may not contain them."""
        self._models = models
        core = TypeAdapter(type_).core_schema
        definitions = {}
        if core["type"] == "definitions":
            definitions = {definition["ref"]: definition for definition in core["definitions"]}
            core = core["schema"]
        self._definitions = definitions
        self._used = {}
        schema = self._close(core)
        # Closing a definition may use further ones.
        while pending := [ref for ref, closed in self._used.items() if closed is None]:
            for ref in pending:
                self._used[ref] = self._close(definitions[ref]) | {"ref": ref}
        used = list(self._used.values())
        self._validator = SchemaValidator({"type": "definitions", "schema": schema, "definitions": used})

    def errors(self, value):
        """Returns the errors of a value as pairs of a JSON Pointer and a message; none if it is valid."""
        try:
            self._validator.validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            return _worded(error.errors(include_url=False, include_context=False))
        return []

    def _close(self, schema):
        kind = schema["type"]
        if kind == "definition-ref":
            ref = schema["schema_ref"]
            self._used.setdefault(ref, None)
            return {"type": "definition-ref", "schema_ref": ref}
        if kind == "typed-dict":
            return self._object(schema, optional=None)
        if kind == "model" and self._models:
            return self._close(schema["schema"] | {"cls_name": schema["cls"].__name__})
        if kind == "model-fields" and self._models:
            return self._object(schema, optional="default")
        if kind in ("generator", "list"):
            return {"type": "list", "items_schema": self._close(schema.get("items_schema", {"type": "any"}))}
        if kind == "json-or-python":
            return self._close(schema["json_schema"])
        if kind == "nullable":
            return {"type": "nullable", "schema": self._close(schema["schema"])}
        if kind == "dict":
            keys = self._close(schema.get("keys_schema", {"type": "str"}))
            values = self._close(schema.get("values_schema", {"type": "any"}))
            return {"type": "dict", "keys_schema": keys, "values_schema": values}
        if kind == "union":
            return self._union(schema)
        if kind in ("function-wrap", "function-before", "function-after"):
            return self._close(schema["schema"])
        if kind == "default":
            return self._close(schema["schema"])
        if kind in ("str", "int", "float", "bool", "none", "any", "literal", "datetime"):
            return {key: value for key, value in schema.items() if key in ("type", "expected")}
        if kind in NOT_JSON:
            raise NotJson(kind)
        raise TypeError(f"the judge has no rule for core schemas of type {kind}")

    def _object(self, schema, optional):
        fields = {}
        for name, field in schema["fields"].items():
            required = (
                field["schema"]["type"] != optional if optional else field.get("required", schema.get("total", True))
            )
            name = field.get("validation_alias", name)
            fields[name] = {"type": "typed-dict-field", "required": required, "schema": self._close(field["schema"])}
        # A few TypedDicts are open on purpose, such as those that stand for a JSON Schema.
        is_open = optional is None and schema.get("config", {}).get("extra_fields_behavior") == "allow"
        return {"type": "typed-dict", "fields": fields, "extra_behavior": "allow" if is_open else "forbid"}

    def _union(self, schema):
        choices = []
        for number, choice in enumerate(schema["choices"]):
            choice = choice[0] if isinstance(choice, tuple) else choice
            if self._is_python_only(choice):
                continue
            choices.append((self._close(choice), f"{CHOICE}{number}:{self._name(choice)}"))
        return {"type": "union", "choices": choices, "mode": "smart"}

    def _is_python_only(self, schema):
        schema = self._resolved(schema)
        if schema["type"] == "union":
            choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
            return all(self._is_python_only(choice) for choice in choices)
        if schema["type"] == "json-or-python":
            return self._is_python_only(schema["json_schema"])
        if schema["type"] in ("function-wrap", "function-before", "function-after", "default"):
            return self._is_python_only(schema["schema"])
        return schema["type"] in NOT_JSON and not (self._models and schema["type"] == "model")

    def _resolved(self, schema):
        while schema["type"] == "definition-ref":
            schema = self._definitions[schema["schema_ref"]]
        return schema

    def _name(self, schema):
        schema = self._resolved(schema)
        return schema["cls"].__name__ if "cls" in schema else ""


class NotJson(TypeError):
    """A part of a request that only Python code can supply, outside of a union."""


def _worded(errors):
    """Keeps, for each union, the errors of the choice that the value was meant to be, and words them."""
    kept = _of_intended_choice([{**error, "loc": tuple(error["loc"])} for error in errors], 0)
    worded = []
    for error in kept:
        path = [part for part in error["loc"] if not _is_choice(part)]
        names = [name for part in error["loc"] if _is_choice(part) and (name := part.split(":", 1)[1])]
        within = f" in {names[-1]}" if names else ""
        worded.append((pointer(path), error["msg"] + within))
    return sorted(set(worded))


def _is_choice(part):
    return isinstance(part, str) and part.startswith(CHOICE)


def _of_intended_choice(errors, depth):
    """Walks the locations from `depth` on. Errors that share a location up to a union are grouped by its choice."""
    branches = {}
    kept = []
    for error in errors:
        if len(error["loc"]) <= depth:
            kept.append(error)
        else:
            branches.setdefault(error["loc"][depth], []).append(error)
    choices = {part: group for part, group in branches.items() if _is_choice(part)}
    if choices:
        intended = [group for group in choices.values() if not _is_mismatch(group, depth + 1)]
        for group in intended:
            kept.extend(_of_intended_choice(group, depth + 1))
        if not intended:
            first = next(iter(choices.values()))[0]
            kept.append({**first, "loc": first["loc"][:depth], "msg": "is none of the types allowed here"})
    for part, group in branches.items():
        if part not in choices:
            kept.extend(_of_intended_choice(group, depth + 1))
    return kept


def _is_mismatch(group, depth):
    """Reports whether these errors of one choice mean that another choice was intended."""
    for error in group:
        rest = [part for part in error["loc"][depth:] if not _is_choice(part)]
        if not rest and error["type"] != "extra_forbidden":
            return True
        if rest in (["type"], ["role"]) and error["type"] in ("literal_error", "missing", "extra_forbidden"):
            return True
    return False


def pointer(path):
    """Writes a path as a JSON Pointer."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
