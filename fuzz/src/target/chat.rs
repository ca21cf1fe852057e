//! Responses, streams and errors of the Chat Completions API.

use std::sync::OnceLock;

use haft_wire::{OpenAiChat, ReadContext};

use super::{Target, wire};

static CONTEXT: OnceLock<ReadContext> = OnceLock::new();

pub(super) const TARGET: Target = Target {
    name: "chat",
    seeds: &[
        r#"{"id":"c1","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"Hi","refusal":"no","reasoning_content":"a","annotations":[{"type":"url_citation","url_citation":{"url":"u","title":"t","start_index":0,"end_index":1}}],"audio":{"id":"a","data":"AA==","transcript":"t"},"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"a\",\"labels\":null}"},"extra_content":{"google":{"thought_signature":"s"}}},{"id":"call_2","type":"custom","custom":{"name":"run","input":"a"}}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":{"reasoning_tokens":1}}}"#,
        r#"{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"type":"text","text":"b"}]},{"type":"image","data":"c"},{"type":"refusal","refusal":"d"},7],"reasoning":"e","reasoning_details":[{"type":"reasoning.text","text":"e"}]}}]}"#,
        r#"[{"id":"c1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"H"},"finish_reason":null}]},{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"i"},{"type":"file","x":1}],"reasoning":"a"}}]},{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{"}},{"index":1,"function":{"arguments":"}"}}]}}]},{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"id":"call_2","function":{"name":"b"}}],"audio":{"id":"a","data":"AA=="}}}]},{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]},{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}},"[DONE]"]"#,
        "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n{\"type\":\"ping\"}\n[DONE]",
        r#"{"error":{"message":"a","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        r#"{"object":"error","message":{"detail":[{"loc":["a"],"msg":"b"}]},"code":429}"#,
    ],
    run: |input| wire::run(&OpenAiChat::compatible("acme"), &CONTEXT, input),
};
