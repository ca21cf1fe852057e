//! Responses, streams and errors of OpenAI's Responses API.

use std::sync::OnceLock;

use haft_wire::{OpenAiResponses, ReadContext};

use super::{Target, wire};

static CONTEXT: OnceLock<ReadContext> = OnceLock::new();

pub(super) const TARGET: Target = Target {
    name: "responses",
    seeds: &[
        r#"{"id":"resp_1","status":"completed","model":"m","output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}],"encrypted_content":"c"},{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[{"type":"url_citation","url":"u","title":"t","start_index":0,"end_index":1}]},{"type":"refusal","refusal":"no"}]},{"id":"fc_1","type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"a\",\"labels\":[{\"key\":\"a\",\"value\":\"b\"}]}","status":"completed"}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3,"input_tokens_details":{"cached_tokens":1},"output_tokens_details":{"reasoning_tokens":1}}}"#,
        r#"{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"id":"ctc_1","type":"custom_tool_call","call_id":"call_1","name":"run","input":"a"},{"id":"sh_1","type":"shell_call","call_id":"call_2","action":{"commands":["ls"]}},{"id":"cu_1","type":"computer_call","call_id":"call_3","action":{"type":"wait"},"pending_safety_checks":[]},{"id":"ws_1","type":"web_search_call","status":"failed"},{"id":"mcpr_1","type":"mcp_approval_request","server_label":"s","name":"add","arguments":"{}"},{"type":"telepathy","a":1}]}"#,
        r#"[{"type":"response.created","response":{"id":"resp_1","status":"in_progress","output":[]}},{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}},{"type":"response.content_part.added","output_index":0,"content_index":0,"item_id":"msg_1","part":{"type":"output_text","text":"","annotations":[]}},{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_1","delta":"Hi"},{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"item_id":"msg_1","annotation_index":0,"annotation":{"type":"url_citation","url":"u"}},{"type":"response.refusal.delta","output_index":0,"content_index":1,"item_id":"msg_1","delta":"no"},{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}]}},{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}]"#,
        r#"[{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}},{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"item_id":"rs_1","delta":"a"},{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"item_id":"rs_1","delta":"b"},{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"get_weather","arguments":""}},{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"{\"city\":"},{"type":"response.function_call_arguments.done","output_index":1,"item_id":"fc_1","arguments":"{\"city\":\"a\"}"},{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"a\"}"}},{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}]"#,
        r#"[{"type":"error","code":"server_error","message":"a","param":null},{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"a"}}}]"#,
        r#"{"error":{"message":"a","type":"invalid_request_error","param":"b","code":"context_length_exceeded"}}"#,
    ],
    run: |input| wire::run(&OpenAiResponses::new(), &CONTEXT, input),
};
