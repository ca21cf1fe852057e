"""Samples of Gemini generateContent."""

import json
import warnings

import pydantic
from google.genai import types

from . import fragments
from ..shape import pointer


class BODY:
    """The SDK's type of a response, by the names that the service uses. It is closed by itself.

    A stream may end with an error instead, which the SDK's client handles.
    """

    @staticmethod
    def errors(body):
        """Returns the errors of a response."""
        if "error" in body:
            return []
        # The SDK renames this one field of the service.
        text = json.dumps(body).replace('"citationSources"', '"citations"')
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)
                types.GenerateContentResponse.model_validate_json(text, strict=True, by_alias=True, by_name=False)
        except pydantic.ValidationError as error:
            return [(pointer(found["loc"]), found["msg"]) for found in error.errors()]
        except UserWarning as warning:
            return [("", str(warning))]
        return []


EVENT = BODY

SIGNATURE = "CtwBAVSoXO4="
PIXEL = "iVBORw0KGgo="


def samples():
    """Returns the name, the body and the chunks of each sample."""
    for name, body in _bodies().items():
        yield name, body, chunks(body)
    yield "whole_in_one_chunk", (body := response([call("get_weather", {"city": "Paris"})])), [body]
    # The last chunk has only a signature, on an empty text.
    signed = response([{"text": "Hello"}, {"text": "", "thoughtSignature": SIGNATURE}])
    yield "signature_at_the_end", signed, chunks(signed)
    failed = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    yield "error", None, [chunks(response([{"text": "Hello"}, {"text": "x"}]))[0], failed]
    for reason in types.FinishReason:
        if reason.value not in ("STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"):
            yield f"finish_{reason.value.lower()}", (body := response([{"text": "It"}], reason.value)), chunks(body)


def sse(found):
    """Writes chunks as the service sends them."""
    return "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n" for chunk in found)


def response(parts, finish_reason="STOP", **more):
    """Returns a whole response with one candidate."""
    usage = {
        "promptTokenCount": 120,
        "cachedContentTokenCount": 64,
        "candidatesTokenCount": 25,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 165,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 120}],
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish_reason, "index": 0} | more
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro", "responseId": "r1"}


def call(name, arguments, **more):
    """Returns a part with a call."""
    return {"functionCall": {"name": name, "args": arguments} | more}


def _bodies():
    paris, tokyo = call("get_weather", {"city": "Paris"}), call("get_weather", {"city": "東京"})
    signed = paris | {"thoughtSignature": SIGNATURE}
    thought = {"text": "The user wants the weather.", "thought": True}
    code = {"executableCode": {"language": "PYTHON", "code": "print(1 + 1)"}}
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2\n"}}
    grounding = {
        "webSearchQueries": ["weather"],
        "groundingChunks": [{"web": {"uri": "https://example.com/a", "title": "A"}}],
        "groundingSupports": [{"segment": {"endIndex": 5, "text": "Sunny"}, "groundingChunkIndices": [0]}],
    }
    rating = {"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH", "blocked": True}
    blocked = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4},
    }
    unknown = response([{"telepathy": {"a": 1}}, {"text": "Hi."}])
    return {
        "text": response([{"text": "Hello, wörld! 👋"}]),
        "call": response([paris]),
        "call_with_id": response([call("get_weather", {"city": "Paris"}, id="call_1")]),
        "call_without_arguments": response([{"functionCall": {"name": "now", "args": {}}}]),
        "call_without_args_key": response([{"functionCall": {"name": "now"}}]),
        "parallel_calls": response([{"text": "Let me look."}, paris, tokyo, call("add", {"a": 1, "b": 2.5})]),
        "thinking": response([thought, signed, tokyo]),
        "signed_text": response([thought, {"text": "Done.", "thoughtSignature": SIGNATURE}]),
        "search": response([{"text": "Sunny today."}], groundingMetadata=grounding),
        "citations": response(
            [{"text": "Sunny"}],
            citationMetadata={"citationSources": [{"startIndex": 0, "endIndex": 5, "uri": "https://example.com/a"}]},
        ),
        "code_execution": response([code, ran, {"text": "2"}]),
        "server_tools": response(_server_tools()),
        "signed_calls": response([signed, tokyo | {"thoughtSignature": "DtwB"}]),
        "thoughts_between": response([thought, {"text": "First."}, thought | {"text": "Then."}, paris]),
        "white_space": response([{"text": "\n  a\r\n\t"}]),
        "empty": response([{"text": ""}]),
        "url_context": response(
            [{"text": "It says A."}],
            urlContextMetadata={
                "urlMetadata": [
                    {"retrievedUrl": "https://example.com/a", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}
                ]
            },
        ),
        "image": response([{"inlineData": {"mimeType": "image/png", "data": PIXEL}}]),
        "length": response([{"text": "It was a da"}], "MAX_TOKENS"),
        "safety": response([{"text": "It"}], "SAFETY", safetyRatings=[rating]),
        "malformed_call": response(
            [], "MALFORMED_FUNCTION_CALL", finishMessage="Malformed function call: get_weather("
        ),
        "blocked_prompt": blocked | {"modelVersion": "gemini-3-pro", "responseId": "r1"},
        "unknown_part": unknown,
        "unknown_finish_reason": response([{"text": "Hi."}], "BORED"),
    }


def _server_tools():
    called = {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["weather"]}}}
    answered = {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"a": [1]}}}
    call_ = call("get_weather", {"city": "Paris"}, id="c1")
    signed = {"thoughtSignature": SIGNATURE}
    return [called | signed, answered | signed, {"text": "Sunny."}, call_ | signed]


def chunks(body):
    """Returns the chunks that carry a response: texts in fragments, every other part whole."""
    if "candidates" not in body:
        return [body]
    candidate = body["candidates"][0]
    parts = []
    for part in candidate["content"]["parts"]:
        if set(part) <= {"text", "thought"} and part.get("text"):
            parts.extend(part | {"text": text} for text in fragments(part["text"]))
        else:
            parts.append(part)
    found = []
    for part in parts:
        found.append(body | {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]})
    ended = {key: value for key, value in candidate.items() if key != "content"}
    if not found:
        return [body | {"candidates": [ended]}]
    found[-1] = body | {"candidates": [found[-1]["candidates"][0] | ended]}
    return found
