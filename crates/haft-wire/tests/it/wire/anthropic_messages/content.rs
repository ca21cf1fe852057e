//! Content of messages and outputs, and what is left out.

use haft_core::{
    Citation, ContentPart, Item, MediaData, MediaPart, Message, ProviderCall, Reasoning, ResourceContents,
    ResourceLinkPart, ResourcePart, Role, TextPart, ToolCall, ToolCallOutput,
};
use serde_json::{Value, json};

use super::{dropped, messages};

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

/// Parts with the block that each is sent as, or the reason why it is left out.
fn table() -> Vec<(ContentPart, Result<Value, &'static str>)> {
    let document = |source: Value| Ok(json!({"type": "document", "source": source}));
    let image = |source: Value| Ok(json!({"type": "image", "source": source}));
    let png = json!({"type": "base64", "media_type": "image/png", "data": "aQ=="});
    let pdf = json!({"type": "base64", "media_type": "application/pdf", "data": "aQ=="});
    let text = json!({"type": "text", "media_type": "text/plain", "data": "hi"});
    let blob = |media_type: &str| {
        ContentPart::Resource(
            ResourcePart::new("file:///a", ResourceContents::Blob("aQ==".into())).media_type(media_type),
        )
    };
    let search = json!({"type": "search_result", "source": "s", "title": "t", "content": []});
    vec![
        (ContentPart::text("hi"), Ok(json!({"type": "text", "text": "hi"}))),
        (ContentPart::image("image/png", base64("aQ==")), image(png.clone())),
        (ContentPart::image("image/PNG; q=1", base64("aQ==")), image(png.clone())),
        (
            ContentPart::image("image/jpg", base64("aQ==")),
            image(json!({"type": "base64", "media_type": "image/jpeg", "data": "aQ=="})),
        ),
        (ContentPart::image("", url("data:image/png;base64,aQ==")), image(png.clone())),
        (
            ContentPart::image("image/x", url("HTTPS://a.example/b")),
            image(json!({"type": "url", "url": "HTTPS://a.example/b"})),
        ),
        (
            ContentPart::image("image/x", MediaData::FileId("f1".into())),
            image(json!({"type": "file", "file_id": "f1"})),
        ),
        (ContentPart::image("image/tiff", base64("aQ==")), Err("image: the API takes JPEG")),
        (ContentPart::Image(MediaPart::new(base64("aQ=="))), Err("image: the API takes JPEG")),
        (ContentPart::image("image/png", url("file:///etc/passwd")), Err("image: the API fetches web addresses only")),
        (ContentPart::file("application/pdf", base64("aQ==")), document(pdf.clone())),
        (ContentPart::file("", url("data:application/pdf;base64,aQ==")), document(pdf.clone())),
        (
            ContentPart::file("application/pdf", url("https://a.example/b")),
            document(json!({"type": "url", "url": "https://a.example/b"})),
        ),
        (ContentPart::file("text/csv", url("https://a.example/b")), Err("file: the API fetches images and PDF")),
        (ContentPart::file("text/csv; charset=utf-8", base64("aGk=")), document(text.clone())),
        (ContentPart::file("application/vnd.a+json", base64("aGk=")), document(text.clone())),
        (ContentPart::file("text/plain", base64("/w==")), Err("file: its content is not UTF-8")),
        (ContentPart::file("image/png", base64("aQ==")), image(png.clone())),
        (ContentPart::file("", url("data:image/png;base64,aQ==")), image(png.clone())),
        (
            ContentPart::file("application/pdf", MediaData::FileId("f1".into())),
            document(json!({"type": "file", "file_id": "f1"})),
        ),
        (ContentPart::file("video/mp4", base64("aQ==")), Err("file: the API takes PDF and text")),
        (
            ContentPart::File(MediaPart::new(base64("aQ==")).media_type("application/pdf").name("a.pdf")),
            Ok(json!({"type": "document", "source": pdf, "title": "a.pdf"})),
        ),
        (ContentPart::audio("audio/wav", base64("aQ==")), Err("audio: the API takes no audio")),
        (
            ContentPart::resource("file:///a", ResourceContents::Text("hi".into())),
            Ok(json!({"type": "document", "source": text, "title": "file:///a"})),
        ),
        (blob("image/png"), image(png)),
        (blob("application/pdf"), Ok(json!({"type": "document", "source": pdf, "title": "file:///a"}))),
        (blob("application/zip"), Err("resource: the API takes PDF and text")),
        (link(), Ok(json!({"type": "text", "text": "The A: file:///a\ntext/plain\nAbout A."}))),
        (ContentPart::Unknown(search.clone()), Ok(search)),
        (ContentPart::Unknown(json!({"type": "hologram"})), Err("content: the API takes no content of this type")),
    ]
}

fn link() -> ContentPart {
    let mut link = ResourceLinkPart::new("file:///a", "a");
    link.title = Some("The A".to_owned());
    link.description = Some("About A.".to_owned());
    link.media_type = Some("text/plain".to_owned());
    ContentPart::ResourceLink(link)
}

#[test]
fn every_part_of_a_message_is_a_block_or_reported() {
    for (part, expected) in table() {
        let history = said(vec![part.clone()]);
        let (blocks, reports) = (messages(history.clone())[0]["content"].clone(), dropped(history));
        match expected {
            Ok(block) => assert_eq!((&blocks[1], reports.len()), (&block, 0), "{part:?}"),
            Err(reason) => {
                assert_eq!(blocks.as_array().unwrap().len(), 1, "{part:?}");
                assert!(reports[0].starts_with(&format!("item 1: {reason}")), "{reports:?}");
            }
        }
    }
}

#[test]
fn every_part_of_an_output_is_a_block_or_reported() {
    for (part, expected) in table() {
        let history = returned(ToolCallOutput::new("c1", vec![ContentPart::text("see"), part.clone()]));
        let content = messages(history.clone())[2]["content"][0]["content"].clone();
        match expected {
            Ok(block) => assert_eq!(content[1], block, "{part:?}"),
            Err(reason) => {
                assert_eq!(content.as_array().unwrap().len(), 1, "{part:?}");
                assert!(dropped(history)[0].starts_with(&format!("item 2: {reason}")), "{part:?}");
            }
        }
    }
}

#[test]
fn outputs_have_their_forms() {
    let result = |output: ToolCallOutput| messages(returned(output))[2]["content"][0].clone();
    let plain = |content: Value| json!({"type": "tool_result", "tool_use_id": "c1", "content": content});
    assert_eq!(result(ToolCallOutput::new("c1", "done")), plain(json!("done")));
    let failed = json!({"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": true});
    assert_eq!(result(ToolCallOutput::new("c1", "no").error()), failed);
    let empty = json!({"type": "tool_result", "tool_use_id": "c1"});
    assert_eq!(result(ToolCallOutput::new("c1", " ")), empty);
    assert_eq!(result(ToolCallOutput::new("c1", vec![ContentPart::text("")])), empty);
    for nothing in [ToolCallOutput::new("c1", ""), ToolCallOutput::new("c1", Vec::<ContentPart>::new())] {
        let failed = result(nothing.error());
        assert_eq!(
            (&failed["content"], &failed["is_error"]),
            (&json!("The call failed without a message."), &json!(true))
        );
    }
}

#[test]
fn what_failed_calls_return_besides_text_follows_all_results() {
    let image = || ContentPart::image("image/png", base64("aQ=="));
    let history = vec![
        Item::user("go"),
        ToolCall::new("c1", "shop/look", "{}").into(),
        ToolCall::new("c2", "listen", "{}").into(),
        ToolCallOutput::new("c1", vec![ContentPart::text("too dark"), image()]).error().into(),
        ToolCallOutput::new("c2", vec![image()]).into(),
        Item::user("go on"),
    ];
    let png = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aQ=="}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let failed = json!({"type": "tool_result", "tool_use_id": "c1", "content": [text("too dark")], "is_error": true});
    let seen = json!({"type": "tool_result", "tool_use_id": "c2", "content": [png]});
    let expected = json!([failed, seen, text("Returned by the call of `shop--look`:"), png, text("go on")]);
    assert_eq!((&messages(history.clone())[2]["content"], dropped(history).len()), (&expected, 0));
    let search = ContentPart::Unknown(json!({"type": "search_result", "source": "s", "title": "t", "content": []}));
    let history = returned(ToolCallOutput::new("c1", vec![search]).error());
    assert_eq!(messages(history.clone())[2]["content"][0]["content"], "The call failed without a message.");
    assert_eq!(dropped(history), ["item 2: content: the API takes only text in the result of a failed call"]);
}

#[test]
fn data_of_the_provider_is_added_to_blocks() {
    let cached = json!({"cache_control": {"type": "ephemeral"}});
    let mut text = TextPart::new("hi");
    text.provider_data.insert("anthropic".to_owned(), cached.clone());
    text.provider_data.insert("openai".to_owned(), json!({"x": 1}));
    let sent = messages(said(vec![ContentPart::Text(text)]));
    assert_eq!(sent[0]["content"][1], json!({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}));
    let output = ToolCallOutput::new("c1", "done").provider_data("anthropic", cached);
    assert_eq!(messages(returned(output))[2]["content"][0]["cache_control"]["type"], "ephemeral");
}

#[test]
fn an_assistant_has_text_only() {
    let parts = vec![
        ContentPart::text("a"),
        ContentPart::text(""),
        ContentPart::refusal("I won't."),
        ContentPart::image("image/png", base64("aQ==")),
        ContentPart::audio("audio/wav", base64("aQ==")),
        ContentPart::Text(TextPart::new("b").cite(Citation::url("https://a.example"))),
        link(),
        ContentPart::Unknown(json!({"type": "search_result"})),
    ];
    let history = vec![Item::user("x"), Message::new(Role::Assistant, parts).into(), Item::user("y")];
    let texts: Vec<_> = messages(history.clone())[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| (block["text"].as_str().unwrap().to_owned(), block.get("citations").is_some()))
        .collect();
    let expected = [("a", false), ("I won't.", false), ("b", false), ("The A: file:///a\ntext/plain\nAbout A.", false)];
    assert_eq!(texts, expected.map(|(text, cited)| (text.to_owned(), cited)));
    let parts: Vec<_> = dropped(history).iter().map(|report| report.split(": ").nth(1).unwrap().to_owned()).collect();
    assert_eq!(parts, ["image", "audio", "citations", "content"]);
}

#[test]
fn arguments_that_are_no_object_keep_their_text() {
    for (arguments, input, reports) in [
        (r#"{"a": 1e2}"#, json!({"a": 100.0}), 0),
        ("", json!({}), 0),
        ("  ", json!({}), 0),
        ("{", json!({"arguments": "{"}), 1),
        ("[1]", json!({"arguments": "[1]"}), 1),
        ("5", json!({"arguments": "5"}), 1),
        ("{} {}", json!({"arguments": "{} {}"}), 1),
    ] {
        let history = vec![
            Item::user("go"),
            ToolCall::new("c1", "t", arguments).into(),
            ToolCallOutput::new("c1", "invalid").error().into(),
        ];
        assert_eq!(messages(history.clone())[1]["content"][0]["input"], input, "{arguments}");
        assert_eq!(dropped(history).len(), reports, "{arguments}");
    }
}

#[test]
fn what_belongs_to_another_provider_is_reported_and_not_sent() {
    let foreign = ToolCall::new("c9", "web", "{}").executed_by_provider();
    let mut unsigned = Reasoning::text("unsigned");
    unsigned.provider = Some("anthropic".to_owned());
    let history = vec![
        Item::user("go"),
        Reasoning::text("secret").signed("google", "U0lH").into(),
        Reasoning::encrypted("openai", "RU5D").into(),
        Reasoning::text("unsigned").into(),
        unsigned.into(),
        ProviderCall::new("openai", "web_search", json!({"id": "ws_SECRET"})).call_id("ws").into(),
        ProviderCall::new("anthropic", "web_search", Value::Null).into(),
        foreign.into(),
        ToolCallOutput::new("c9", "SECRET").into(),
        Item::Unknown(json!({"type": "openai.item", "provider": "openai", "item": {"x": "SECRET"}})),
        Item::assistant("done"),
        Item::user("thanks"),
    ];
    let sent = messages(history.clone());
    assert_eq!(sent.as_array().unwrap().len(), 3);
    for secret in ["secret", "SECRET", "U0lH", "RU5D", "unsigned"] {
        assert!(!sent.to_string().contains(secret), "{secret}: {sent}");
    }
    let items: Vec<_> = dropped(history).iter().map(|report| report.split(": ").next().unwrap().to_owned()).collect();
    assert_eq!(items, (1..=9).map(|at| format!("item {at}")).collect::<Vec<_>>());
}

#[test]
fn reasoning_at_the_end_of_a_message_is_left_out() {
    let history = vec![
        Item::user("go"),
        Reasoning::text("hm").signed("anthropic", "c2ln").into(),
        Reasoning::encrypted("anthropic", "ZW5j").into(),
        Item::user("well?"),
    ];
    let sent = messages(history.clone());
    assert_eq!((sent.as_array().unwrap().len(), sent[0]["content"].as_array().unwrap().len()), (1, 2));
    assert_eq!(dropped(history), ["item 2: reasoning: nothing follows it, as the turn ended early"]);
}

#[test]
fn server_calls_that_were_cut_off_are_left_out() {
    let block = |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "gone", "content": []});
    let open: Item = ProviderCall::new("anthropic", "web_search", vec![block("s1")]).call_id("s1").into();
    let cut = vec![
        Item::user("go"),
        Item::assistant("searching"),
        open.clone(),
        ProviderCall::new("anthropic", "web_search", result).into(),
        Item::user("well?"),
    ];
    assert_eq!(messages(cut.clone())[1]["content"].as_array().unwrap().len(), 1);
    assert_eq!(dropped(cut).len(), 2);
    let paused = messages(vec![Item::user("go"), open]);
    assert_eq!(paused[1]["content"], json!([block("s1")]));
}
