//! Content of messages and outputs, and what is left out.

use haft_core::{
    Citation, ContentPart, Item, MediaData, MediaPart, Message, ResourceContents, ResourceLinkPart, ResourcePart, Role,
    TextPart, ToolCall, ToolCallOutput,
};
use serde_json::{Value, json};

use super::{dropped, input};

fn base64(data: &str) -> MediaData {
    MediaData::Base64(data.to_owned())
}

fn url(url: &str) -> MediaData {
    MediaData::Url(url.to_owned())
}

fn id(id: &str) -> MediaData {
    MediaData::FileId(id.to_owned())
}

/// A history with one call and its output.
fn returned(output: ToolCallOutput) -> Vec<Item> {
    vec![Item::user("go"), ToolCall::new("c1", "t", "{}").into(), output.into()]
}

/// Parts with the form that each is sent in, or the reason why it is left out.
fn table() -> Vec<(ContentPart, Result<Value, &'static str>)> {
    let text = |text: &str| Ok(json!({"type": "input_text", "text": text}));
    let image = |member: &str, value: &str| Ok(json!({"type": "input_image", "detail": "auto", member: value}));
    let file = |name: &str, data: &str| Ok(json!({"type": "input_file", "filename": name, "file_data": data}));
    let blob = |uri: &str, media_type: &str| {
        ContentPart::Resource(ResourcePart::new(uri, ResourceContents::Blob("aQ==".into())).media_type(media_type))
    };
    let mut detailed = MediaPart::new(url("https://a.example/i.png"));
    detailed.provider_data.insert("openai".into(), json!({"detail": "low", "prompt_cache_breakpoint": {}}));
    let mut marked = TextPart::new("hi");
    marked.provider_data.insert("openai".into(), json!({"prompt_cache_breakpoint": {}, "logprobs": [1]}));
    let mut link = ResourceLinkPart::new("file:///a", "a");
    link.title = Some("A".to_owned());
    link.description = Some("About a.".to_owned());
    let named = MediaPart::new(base64("aQ==")).media_type("application/pdf").name("a.pdf");
    vec![
        (ContentPart::Text(marked), Ok(json!({"type": "input_text", "text": "hi", "prompt_cache_breakpoint": {}}))),
        (ContentPart::refusal("no"), text("no")),
        (ContentPart::image("image/gif", base64("aQ==")), image("image_url", "data:image/gif;base64,aQ==")),
        (ContentPart::Image(MediaPart::new(base64("aQ=="))), image("image_url", "data:image/png;base64,aQ==")),
        (ContentPart::image("image/png", url("https://a.example")), image("image_url", "https://a.example")),
        (ContentPart::image("image/png", id("file_1")), image("file_id", "file_1")),
        (
            ContentPart::Image(detailed),
            Ok(json!({
                "type": "input_image", "detail": "low", "image_url": "https://a.example/i.png",
                "prompt_cache_breakpoint": {},
            })),
        ),
        (ContentPart::File(named), file("a.pdf", "data:application/pdf;base64,aQ==")),
        (ContentPart::file("application/pdf", base64("aQ==")), file("file.pdf", "data:application/pdf;base64,aQ==")),
        (ContentPart::file("text/csv", url("data:text/csv,a")), file("file.csv", "data:text/csv,a")),
        (ContentPart::File(MediaPart::new(base64("aQ=="))), file("file", "data:application/octet-stream;base64,aQ==")),
        (
            ContentPart::file("text/csv", url("https://a.example")),
            Ok(json!({"type": "input_file", "file_url": "https://a.example"})),
        ),
        (ContentPart::file("text/csv", id("file_1")), Ok(json!({"type": "input_file", "file_id": "file_1"}))),
        (ContentPart::resource("file:///a", ResourceContents::Text("b".into())), text("file:///a\n\nb")),
        (blob("file:///a.png", "image/png"), image("image_url", "data:image/png;base64,aQ==")),
        (blob("file:///d/a.pdf", "application/pdf"), file("a.pdf", "data:application/pdf;base64,aQ==")),
        (blob("file:///d/a", "text/csv"), file("file.csv", "data:text/csv;base64,aQ==")),
        (ContentPart::resource_link("file:///a", "a"), text("a: file:///a")),
        (ContentPart::ResourceLink(link), text("A: file:///a\nAbout a.")),
        (ContentPart::audio("audio/wav", base64("aQ==")), Err("audio: the Responses API takes no audio")),
        (blob("file:///a.mp4", "video/mp4"), Err("resource: the Responses API takes no audio and no video")),
        (ContentPart::Unknown(json!({"type": "hologram"})), Err("content: the type of the part is unknown")),
    ]
}

#[test]
fn every_part_has_its_form_in_messages_and_outputs() {
    for (part, form) in table() {
        let parts = vec![ContentPart::text("see"), part.clone(), ContentPart::text("it")];
        let message = vec![Message::new(Role::User, parts.clone()).into()];
        let output = returned(ToolCallOutput::new("c1", parts));
        let see = json!({"type": "input_text", "text": "see"});
        let it = json!({"type": "input_text", "text": "it"});
        let expected: Vec<Value> = [Some(see), form.clone().ok(), Some(it)].into_iter().flatten().collect();
        assert_eq!(input(message.clone())[0]["content"], json!(expected), "{part:?}");
        assert_eq!(input(output.clone())[2]["output"], json!(expected), "{part:?}");
        let reports: Vec<String> = form.err().into_iter().map(ToOwned::to_owned).collect();
        let of_item = |at: usize| reports.iter().map(|report| format!("item {at}: {report}")).collect::<Vec<_>>();
        assert_eq!((dropped(message), dropped(output)), (of_item(0), of_item(2)), "{part:?}");
    }
}

#[test]
fn one_text_is_a_string() {
    let message = |parts: Vec<ContentPart>| input(vec![Message::new(Role::User, parts).into()]);
    assert_eq!(message(vec![ContentPart::text("hi")])[0]["content"], "hi");
    assert_eq!(message(vec![ContentPart::resource_link("u", "a")])[0]["content"], "a: u");
    assert_eq!(message(vec![]), json!([]));
    assert_eq!(message(vec![ContentPart::audio("audio/wav", base64("aQ=="))]), json!([]));
    assert_eq!(input(returned(ToolCallOutput::new("c1", vec![])))[2]["output"], "");
    assert_eq!(input(returned(ToolCallOutput::new("c1", "")))[2]["output"], "");
}

#[test]
fn every_role_is_kept() {
    let history = [Role::System, Role::Developer, Role::User, Role::Assistant]
        .map(|role| Message::text(role, "hi").into())
        .to_vec();
    let sent = input(history);
    let roles: Vec<_> = sent.as_array().unwrap().iter().map(|item| item["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "developer", "user", "assistant"]);
}

#[test]
fn a_message_of_another_model_is_its_text() {
    let mut foreign = Message::new(
        Role::Assistant,
        vec![
            ContentPart::Text(TextPart::new("See ").cite(Citation::url("https://a.example"))),
            ContentPart::image("image/png", base64("aQ==")),
            ContentPart::refusal("no"),
            ContentPart::resource_link("u", "a"),
        ],
    );
    foreign.provider_data.insert("anthropic".into(), json!({"id": "msg_9", "phase": "x"}));
    let history = vec![foreign.into()];
    assert_eq!(input(history.clone()), json!([{"type": "message", "role": "assistant", "content": "See noa: u"}]));
    let reports = dropped(history);
    let parts: Vec<_> = reports.iter().map(|report| report.split(": ").nth(1).unwrap()).collect();
    assert_eq!(parts, ["message data", "citations", "image"]);
    let silent = Message::new(Role::Assistant, vec![ContentPart::image("image/png", base64("aQ=="))]).into();
    assert_eq!(input(vec![silent]), json!([]));
}

#[test]
fn a_failed_call_is_marked_in_its_text() {
    let output = |output: ToolCallOutput| input(returned(output.error()))[2]["output"].clone();
    let failure = |message: &str| json!({"error": {"message": message}}).to_string();
    assert_eq!(output(ToolCallOutput::new("c1", "no \"such\" file")), failure("no \"such\" file"));
    let by_executor = r#"{"error":{"kind":"not_found","message":"gone"}}"#;
    assert_eq!(output(ToolCallOutput::new("c1", by_executor)), by_executor);
    let image = ContentPart::image("image/png", url("https://a.example"));
    let parts = output(ToolCallOutput::new("c1", vec![ContentPart::text("see"), image.clone()]));
    assert_eq!(parts[0], json!({"type": "input_text", "text": failure("the call failed")}));
    assert_eq!((&parts[1]["text"], &parts[2]["image_url"]), (&json!("see"), &json!("https://a.example")));
    let stated = output(ToolCallOutput::new("c1", vec![ContentPart::text(by_executor), image]));
    assert_eq!((&stated[0]["text"], stated.as_array().unwrap().len()), (&json!(by_executor), 2));
}
