//! The real model answers on its three wires.

use haft_parts::{Llama, post};
use serde_json::json;

#[test]
fn three_wires_answer_whole_and_streamed() {
    let llama = Llama::start();
    let said = json!([{ "role": "user", "content": "Say hi" }]);
    let requests = [
        (
            "/v1/chat/completions",
            json!({ "model": "m", "messages": said, "max_tokens": 12 }),
            "/choices/0/message/content",
        ),
        ("/v1/responses", json!({ "model": "m", "input": said, "max_output_tokens": 12 }), "/output/0/content/0/text"),
        ("/v1/messages", json!({ "model": "m", "messages": said, "max_tokens": 12 }), "/content/0/text"),
    ];
    for (path, mut body, text) in requests {
        let whole = post(llama.url(), path, &body);
        assert_eq!(whole.status, 200, "{path}: {}", whole.body);
        let text = whole.json().pointer(text).and_then(|text| text.as_str().map(str::to_owned));
        assert!(text.is_some_and(|text| !text.is_empty()), "{path}: {}", whole.body);
        body["stream"] = json!(true);
        let streamed = post(llama.url(), path, &body);
        assert!(streamed.body.lines().filter(|line| line.starts_with("data: {")).count() > 4, "{}", streamed.body);
    }
}
