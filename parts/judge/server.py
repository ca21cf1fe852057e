"""The rules of servers that speak OpenAI Chat Completions and are not OpenAI."""

import re

from . import rule

# The form of the ids of calls at Mistral: "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9."
# https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py
MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")

# The members of messages in which a server takes reasoning back, which OpenAI does not have.
REASONING = {
    # https://openrouter.ai/docs/use-cases/reasoning-tokens
    "openrouter": {"reasoning", "reasoning_details"},
    # https://console.groq.com/docs/reasoning
    "groq": {"reasoning"},
    # https://api-docs.deepseek.com/guides/thinking_mode
    "deepseek": {"reasoning_content"},
    # https://docs.x.ai/docs/guides/reasoning
    "xai": {"reasoning_content"},
    # https://github.com/ollama/ollama/blob/main/openai/openai.go
    "ollama": {"reasoning"},
    # https://docs.vllm.ai/en/latest/features/reasoning_outputs.html
    "vllm": {"reasoning", "reasoning_content"},
    # https://github.com/ggml-org/llama.cpp/blob/master/common/chat.cpp
    "llama.cpp": {"reasoning_content"},
}

# The options of a server, which OpenAI does not have.
OPTIONS = {
    # https://api-docs.deepseek.com/guides/thinking_mode
    "deepseek": {"thinking"},
}

# Members of requests that a server rejects, or documents as not supported.
UNKNOWN = {
    # Unknown members are "Extra inputs are not permitted". https://docs.mistral.ai/api/endpoint/chat
    "mistral": {"stream_options", "max_completion_tokens", "store", "logprobs"},
    # https://console.groq.com/docs/api-reference#chat-create
    "groq": {"metadata", "logit_bias", "store"},
    # https://docs.x.ai/docs/api-reference#chat-completions
    "xai": {"metadata", "store"},
    # https://github.com/ollama/ollama/blob/main/docs/api/openai-compatibility.mdx: ignored, which is no better
    "ollama": {"tool_choice", "parallel_tool_calls", "logit_bias"},
}


def plain(body, server):
    """Returns a request without the members that the server takes and OpenAI does not have."""
    if not isinstance(server, str):
        return body
    known = REASONING.get(server, set())
    body = {key: value for key, value in body.items() if key not in OPTIONS.get(server, ())}
    if not known or not isinstance(body.get("messages"), list):
        return body
    messages = [
        {key: value for key, value in message.items() if key not in known} if isinstance(message, dict) else message
        for message in body["messages"]
    ]
    return {**body, "messages": messages}


def rules(body, server):
    for key in UNKNOWN.get(server, ()):
        if key in body:
            yield f"/{key}", f"is not known to {server}"
    messages = rule.objects(body.get("messages"))
    if server == "mistral":
        yield from _mistral(messages)
    if server == "openrouter":
        yield from _openrouter(messages)
    if server == "deepseek":
        yield from _deepseek(body, messages)
    if server == "llama.cpp" and isinstance(body.get("tool_choice"), dict):
        # Read as a string with the default `auto`. https://github.com/ggml-org/llama.cpp/blob/master/tools/server
        yield "/tool_choice", "a named tool counts as `auto` at llama.cpp"


def _deepseek(body, messages):
    format_ = (body.get("response_format") or {}).get("type")
    if format_ == "json_schema":
        # "This response_format type is unavailable now". https://api-docs.deepseek.com/guides/json_mode
        yield "/response_format/type", "deepseek takes no schema"
    if format_ == "json_object" and not any("json" in str(message.get("content")).lower() for _, message in messages):
        # "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."
        # https://github.com/vercel/ai/issues/7913
        yield "/response_format/type", "is 'json_object', and no message contains the word 'json'"
    if (body.get("thinking") or {}).get("type") == "disabled":
        return
    for index, message in messages:
        # "The `reasoning_content` in the thinking mode must be passed back to the API.", for all turns with calls, also
        # those before the last user message. https://api-docs.deepseek.com/guides/thinking_mode
        if message.get("tool_calls") and message.get("reasoning_content") is None:
            yield f"/messages/{index}/reasoning_content", "is required beside calls in thinking mode"


def _mistral(messages):
    if messages and messages[-1][1].get("role") not in ("user", "tool"):
        # "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
        # https://github.com/langchain-ai/langchain/issues/23703
        yield f"/messages/{messages[-1][0]}/role", "is neither 'user' nor 'tool' in the last message"
    last = None
    for index, message in messages:
        at, role = f"/messages/{index}", message.get("role")
        if last == "tool" and role not in ("tool", "assistant"):
            # "Unexpected role 'user' after role 'tool'", code 3230. https://github.com/langchain-ai/langchain/issues/22928
            yield f"{at}/role", f"{role!r} follows 'tool'"
        last = role
        if "refusal" in message:
            yield f"{at}/refusal", "is not known to mistral"
        ids = [(f"{at}/tool_call_id", message.get("tool_call_id"))] if role == "tool" else []
        ids += [(f"{at}/tool_calls/{n}/id", call.get("id")) for n, call in rule.objects(message.get("tool_calls"))]
        for where, call in ids:
            if not isinstance(call, str) or not MISTRAL_ID.fullmatch(call):
                yield where, f"{call!r} does not match {MISTRAL_ID.pattern}"


def _openrouter(messages):
    """Details are sent back as the whole sequence, unmodified, and not as the fragments of a stream."""
    for index, message in messages:
        seen = set()
        for number, detail in rule.objects(message.get("reasoning_details")):
            key = (detail.get("type"), detail.get("index"))
            # https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
            if detail.get("index") is not None and key in seen:
                yield f"/messages/{index}/reasoning_details/{number}", "is a fragment of the detail with the same index"
            seen.add(key)
