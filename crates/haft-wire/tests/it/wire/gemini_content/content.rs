//! Content of messages and results, and what is left out.

use haft_core::{
    ContentPart, Item, MediaData, MediaPart, Message, ProviderCall, RefusalPart, ResourceContents, ResourceLinkPart,
    ResourcePart, Role, ToolCall, ToolCallOutput, TurnRequest,
};
use haft_wire::{Delivery, GeminiContent, ModelTable, Wire};
use serde_json::{Value, json};

use super::{MODEL, OLD_MODEL, body_of, contents, dropped, send};

fn base64(data: &str) -> MediaData {
    MediaData::Base64(data.to_owned())
}

fn url(url: &str) -> MediaData {
    MediaData::Url(url.to_owned())
}

fn said(parts: Vec<ContentPart>) -> Vec<Item> {
    vec![Item::user("see"), Message::new(Role::User, parts).into()]
}

/// A history with one call and its output.
fn returned(output: ToolCallOutput) -> Vec<Item> {
    vec![Item::user("go"), ToolCall::new("c1", "t", "{}").into(), output.into()]
}

fn inline(mime_type: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": mime_type, "data": data}})
}

fn blob(media_type: &str) -> ContentPart {
    ContentPart::Resource(ResourcePart::new("file:///a", ResourceContents::Blob("aQ==".into())).media_type(media_type))
}

fn link() -> ContentPart {
    let mut link = ResourceLinkPart::new("file:///a", "a");
    link.title = Some("The A".to_owned());
    link.description = Some("About A.".to_owned());
    ContentPart::ResourceLink(link)
}

fn refusal() -> ContentPart {
    let mut refusal = RefusalPart::default();
    "No.".clone_into(&mut refusal.text);
    ContentPart::Refusal(refusal)
}

/// Parts with the form in which each is sent, or the reason why it is left out.
fn table() -> Vec<(ContentPart, Result<Value, &'static str>)> {
    let file = |data: Value| Ok(json!({"fileData": data}));
    vec![
        (ContentPart::text("hi"), Ok(json!({"text": "hi"}))),
        (refusal(), Ok(json!({"text": "No."}))),
        (ContentPart::image("image/png", base64("aQ==")), Ok(inline("image/png", "aQ=="))),
        (ContentPart::image("image/jpg", base64("aQ==")), Ok(inline("image/jpeg", "aQ=="))),
        (ContentPart::image("", base64("iVBORw0KGgoAAA")), Ok(inline("image/png", "iVBORw0KGgoAAA"))),
        (ContentPart::Image(MediaPart::new(base64("/9j/4AAQ"))), Ok(inline("image/jpeg", "/9j/4AAQ"))),
        (ContentPart::Image(MediaPart::new(base64("aQ=="))), Err("image: Gemini requires the MIME type")),
        (ContentPart::image("", url("data:image/png;base64,aQ==")), Ok(inline("image/png", "aQ=="))),
        (ContentPart::image("image/gif", url("data:;base64,aQ==")), Ok(inline("image/gif", "aQ=="))),
        (ContentPart::image("", url("data:image/png;charset=x;base64,aQ==")), Ok(inline("image/png", "aQ=="))),
        (ContentPart::image("", url("data:text/plain,hi")), Err("image: the `data:` URL is not in base64")),
        (ContentPart::image("", url("data:text/plain")), Err("image: the `data:` URL has no content")),
        (ContentPart::audio("audio/wav", base64("aQ==")), Ok(inline("audio/wav", "aQ=="))),
        (ContentPart::audio("audio/L16;rate=24000", base64("aQ==")), Ok(inline("audio/L16;rate=24000", "aQ=="))),
        (ContentPart::file("video/mp4", base64("aQ==")), Ok(inline("video/mp4", "aQ=="))),
        (
            ContentPart::file("video/mp4", url("HTTPS://a.example/b")),
            file(json!({"mimeType": "video/mp4", "fileUri": "HTTPS://a.example/b"})),
        ),
        (ContentPart::file("", url("gs://bucket/b")), file(json!({"fileUri": "gs://bucket/b"}))),
        (ContentPart::file("text/plain", url("file:///etc/passwd")), Err("file: Gemini fetches web addresses")),
        (
            ContentPart::file("application/pdf", MediaData::FileId("files/x1".into())),
            file(json!({
                "mimeType": "application/pdf",
                "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x1",
            })),
        ),
        (
            ContentPart::file("application/pdf", MediaData::FileId("https://a.example/files/x".into())),
            file(json!({"mimeType": "application/pdf", "fileUri": "https://a.example/files/x"})),
        ),
        (ContentPart::file("application/pdf", MediaData::FileId("file-1".into())), Err("file: the file id is not one")),
        (ContentPart::resource("file:///a", ResourceContents::Text("hi".into())), Ok(json!({"text": "hi"}))),
        (blob("image/png"), Ok(inline("image/png", "aQ=="))),
        (blob(""), Err("resource: Gemini requires the MIME type")),
        (link(), Ok(json!({"text": "[The A](file:///a): About A."}))),
        (ContentPart::Unknown(json!({"type": "hologram"})), Err("content: it is of an unknown kind")),
    ]
}

#[test]
fn every_part_of_a_message_is_sent_or_reported() {
    for (part, expected) in table() {
        let history = said(vec![part.clone()]);
        let (parts, reports) = (contents(history.clone())[0]["parts"].clone(), dropped(history));
        match expected {
            Ok(sent) => assert_eq!((&parts[1], reports.len()), (&sent, 0), "{part:?}"),
            Err(reason) => {
                assert_eq!(parts.as_array().unwrap().len(), 1, "{part:?}");
                assert!(reports[0].starts_with(&format!("item 1: {reason}")), "{reports:?}");
            }
        }
    }
}

#[test]
fn every_part_of_a_result_is_sent_or_reported() {
    let outside = "results of Gemini";
    for (part, expected) in [
        (ContentPart::text("hi"), Ok((json!({"output": "hi"}), Value::Null))),
        (refusal(), Ok((json!({"output": "No."}), Value::Null))),
        (link(), Ok((json!({"output": "[The A](file:///a): About A."}), Value::Null))),
        (
            ContentPart::image("image/png", base64("aQ==")),
            Ok((json!({"output": ""}), json!([inline("image/png", "aQ==")]))),
        ),
        (
            ContentPart::image("Image/PNG; q=1", base64("aQ==")),
            Ok((json!({"output": ""}), json!([inline("Image/PNG; q=1", "aQ==")]))),
        ),
        (blob("application/pdf"), Ok((json!({"output": ""}), json!([inline("application/pdf", "aQ==")])))),
        (ContentPart::image("image/gif", base64("aQ==")), Err(("image", outside))),
        (ContentPart::audio("audio/wav", base64("aQ==")), Err(("audio", outside))),
        (ContentPart::file("application/pdf", url("https://a.example")), Err(("file", outside))),
        (ContentPart::Unknown(json!({"type": "hologram"})), Err(("content", "it is of an unknown kind"))),
    ] {
        let history = returned(ToolCallOutput::new("c1", vec![part.clone()]));
        let (result, reports) =
            (contents(history.clone())[2]["parts"][0]["functionResponse"].clone(), dropped(history));
        match expected {
            Ok((response, parts)) => {
                assert_eq!((&result["response"], &result["parts"]), (&response, &parts), "{part:?}");
                assert_eq!(reports.len(), 0);
            }
            Err((name, reason)) => {
                assert_eq!(result["response"], json!({"output": ""}), "{part:?}");
                assert!(reports[0].starts_with(&format!("item 2: {name}: {reason}")), "{reports:?}");
            }
        }
    }
}

#[test]
fn results_are_objects_without_a_change_of_their_meaning() {
    for (text, response) in [
        ("plain", json!({"output": "plain"})),
        ("", json!({"output": ""})),
        (r#"{"a":1}"#, json!({"a": 1})),
        (r#"{"output":1}"#, json!({"output": {"output": 1}})),
        (r#"{"error":"x"}"#, json!({"output": {"error": "x"}})),
        ("[1,2]", json!({"output": [1, 2]})),
        ("null", json!({"output": null})),
        ("true", json!({"output": true})),
        ("\"quoted\"", json!({"output": "quoted"})),
        ("1.10", json!({"output": "1.10"})),
        ("9007199254740993", json!({"output": "9007199254740993"})),
        (r#"{"id":9007199254740993}"#, json!({"output": r#"{"id":9007199254740993}"#})),
        (r##"{"$ref":"#/a"}"##, json!({"output": r##"{"$ref":"#/a"}"##})),
        ("{broken", json!({"output": "{broken"})),
    ] {
        let result = |output| contents(returned(output))[2]["parts"][0]["functionResponse"]["response"].clone();
        assert_eq!(result(ToolCallOutput::new("c1", text)), response, "{text}");
        let failed = result(ToolCallOutput::new("c1", text).error());
        assert_eq!(failed.as_object().unwrap().keys().collect::<Vec<_>>(), ["error"], "{text}");
    }
    for (text, response) in [
        ("plain", json!({"error": "plain"})),
        (r#"{"a":1}"#, json!({"error": {"a": 1}})),
        (r#"{"error":{"kind":"denied"}}"#, json!({"error": {"kind": "denied"}})),
        (r#"{"error":1,"a":2}"#, json!({"error": {"error": 1, "a": 2}})),
        (r#"[{"error":1}]"#, json!({"error": [{"error": 1}]})),
        (r#"{"output":1}"#, json!({"error": {"output": 1}})),
    ] {
        let sent = contents(returned(ToolCallOutput::new("c1", text).error()));
        assert_eq!(sent[2]["parts"][0]["functionResponse"]["response"], response, "{text}");
    }
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let history = returned(ToolCallOutput::new("c1", deep.as_str()));
    assert_eq!(contents(history.clone())[2]["parts"][0]["functionResponse"]["response"]["output"], deep);
    assert_eq!(dropped(history), ["item 2: structure: the result is sent as text: it nests too deeply"]);
}

#[test]
fn several_texts_of_a_result_are_joined() {
    let parts = vec![ContentPart::text("a"), ContentPart::image("image/png", base64("aQ==")), ContentPart::text("{}")];
    let result = contents(returned(ToolCallOutput::new("c1", parts)))[2]["parts"][0]["functionResponse"].clone();
    assert_eq!(result["response"], json!({"output": "a\n{}"}));
    assert_eq!(result["parts"], json!([inline("image/png", "aQ==")]));
}

#[test]
fn models_that_take_no_files_in_results_get_them_behind_all_results() {
    let image = || ContentPart::image("image/png", base64("aQ=="));
    let history = vec![
        Item::user("look"),
        ToolCall::new("c1", "shoot", "{}").into(),
        ToolCall::new("c2", "read", "{}").into(),
        ToolCallOutput::new("c1", vec![ContentPart::text("a"), image(), image()]).into(),
        ToolCallOutput::new("c2", vec![ContentPart::file("application/pdf", url("https://a.example/b.pdf"))]).into(),
        Item::user("well?"),
    ];
    let sent = send(&TurnRequest::new(OLD_MODEL, history.clone())).unwrap();
    assert_eq!((sent.dropped.len(), sent.warnings.len()), (0, 0), "{:?}", sent.dropped);
    let body: Value = serde_json::from_str(&sent.body).unwrap();
    let file = json!({"fileData": {"mimeType": "application/pdf", "fileUri": "https://a.example/b.pdf"}});
    let parts = json!([
        {"functionResponse": {"name": "shoot", "response": {"output": "a"}}},
        {"functionResponse": {"name": "read", "response": {"output": ""}}},
        {"text": "Returned by the call of `shoot`:"}, inline("image/png", "aQ=="), inline("image/png", "aQ=="),
        {"text": "Returned by the call of `read`:"}, file,
    ]);
    assert_eq!(body["contents"][2], json!({"role": "user", "parts": parts}));
    assert_eq!(body["contents"][3], json!({"role": "user", "parts": [{"text": "well?"}]}));
    let wire = GeminiContent::new().models(ModelTable::empty());
    let inside = wire.request(&TurnRequest::new(OLD_MODEL, history), Delivery::Whole).unwrap();
    assert!(!inside.body.contains("Returned by the call"), "{}", inside.body);
}

#[test]
fn arguments_are_objects() {
    for (arguments, args, is_reported) in [
        ("", json!({}), false),
        (" \n", json!({}), false),
        (r#" {"a":1} "#, json!({"a": 1}), false),
        ("[1]", json!({"arguments": "[1]"}), true),
        ("oops", json!({"arguments": "oops"}), true),
        ("{\"a\":", json!({"arguments": "{\"a\":"}), true),
        ("{} {}", json!({"arguments": "{} {}"}), true),
    ] {
        let history = vec![
            Item::user("go"),
            ToolCall::new("c1", "t", arguments).into(),
            ToolCallOutput::new("c1", "done").into(),
        ];
        assert_eq!(contents(history.clone())[1]["parts"][0]["functionCall"]["args"], args, "{arguments}");
        assert_eq!(dropped(history).len(), usize::from(is_reported), "{arguments}");
    }
}

#[test]
fn what_belongs_to_another_provider_is_reported() {
    let history = vec![
        Item::user("go"),
        ProviderCall::new("openai", "web_search", json!({"type": "web_search_call"})).into(),
        ProviderCall::new("google", "code_execution", json!("no list")).into(),
        ToolCall::new("s1", "search", "{}").executed_by_provider().into(),
        Item::Unknown(json!({"type": "openai.thing", "provider": "openai", "item": {}})),
    ];
    assert_eq!(
        dropped(history.clone()),
        [
            "item 1: provider call: `web_search` was executed by openai",
            "item 2: provider call: its payload is no list of parts",
            "item 3: provider call: `search` was executed by another provider",
            "item 4: item: it is of an unknown kind",
        ]
    );
    let body = body_of(&send(&TurnRequest::new(MODEL, history)).unwrap());
    assert_eq!(body["contents"], json!([{"role": "user", "parts": [{"text": "go"}]}]));
}
