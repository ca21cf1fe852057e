//! Responses, streams and errors of Anthropic's Messages API.

use std::sync::OnceLock;

use haft_wire::{AnthropicMessages, ReadContext};

use super::{Target, wire};

static CONTEXT: OnceLock<ReadContext> = OnceLock::new();

pub(super) const TARGET: Target = Target {
    name: "messages",
    seeds: &[
        r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"a","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"Hi","citations":[{"type":"web_search_result_location","url":"u","title":"t","encrypted_index":"e","cited_text":"c"}]},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"u"}]},{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"a","labels":[{"key":"a","value":"b"}]},"caller":{"type":"direct"}},{"type":"telepathy","a":1}],"stop_reason":"tool_use","stop_sequence":null,"container":{"id":"c1"},"usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}"#,
        r#"{"type":"message","content":[{"type":"text","text":"no"}],"stop_reason":"refusal","stop_details":{"category":"cyber","explanation":"b"}}"#,
        r#"[{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}},{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}},{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a"}},{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}},{"type":"content_block_stop","index":0},{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[]}},{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"c"}}},{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}},{"type":"content_block_stop","index":1},{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}},{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"a\"}"}},{"type":"content_block_stop","index":2},{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}},{"type":"message_stop"}]"#,
        r#"[{"type":"message_start","message":{"id":"m","content":[],"usage":{}}},{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}},{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}},{"type":"content_block_stop","index":0},{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}}},{"type":"content_block_stop","index":1},{"type":"content_block_start","index":2,"content_block":{"type":"telepathy"}},{"type":"content_block_delta","index":2,"delta":{"type":"mood","a":1}},{"type":"ping"},{"type":"message_delta","delta":{"stop_reason":"pause_turn"}},{"type":"message_stop"}]"#,
        r#"[{"type":"error","error":{"type":"overloaded_error","message":"a"}}]"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5 tokens > 4 maximum"}}"#,
    ],
    run: |input| wire::run(&AnthropicMessages::new(), &CONTEXT, input),
};
