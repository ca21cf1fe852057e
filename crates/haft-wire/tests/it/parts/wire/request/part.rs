//! Every content part: in user messages, in model messages and in call outputs.

use haft_core::{
    Citation, ContentPart, Item, MediaData, MediaPart, Message, ResourceContents, ResourcePart, Role, TextPart,
    ToolCall, ToolCallOutput,
};
use serde_json::json;

use super::case::RequestCase;

const PNG: &str = "iVBORw0KGgo=";
const WAV: &str = "UklGRg==";
const PDF: &str = "JVBERi0=";

/// The parts, each with its name and the text that shows that it was sent.
fn parts() -> Vec<(&'static str, ContentPart, &'static str)> {
    let base64 = |data: &str| MediaData::Base64(data.to_owned());
    let url = |url: &str| MediaData::Url(url.to_owned());
    let id = |id: &str| MediaData::FileId(id.to_owned());
    let cited = TextPart::new("cited text").cite(Citation::url("https://cited.example").title("A"));
    let named = MediaPart::new(base64(PDF)).media_type("application/pdf").name("named.pdf");
    let blob = ResourcePart::new("file:///blob.pdf", ResourceContents::Blob(PDF.to_owned()));
    vec![
        ("text", ContentPart::text("plain text"), "plain text"),
        ("cited text", ContentPart::Text(cited), "https://cited.example"),
        ("refusal", ContentPart::refusal("I refuse"), "I refuse"),
        ("image", ContentPart::image("image/png", base64(PNG)), PNG),
        ("image without type", ContentPart::Image(MediaPart::new(base64(PNG))), PNG),
        ("image of another type", ContentPart::image("image/tiff", base64("SUkqAA==")), "SUkqAA=="),
        ("image by url", ContentPart::image("image/png", url("https://image.example/a.png")), "https://image.example"),
        ("image by data url", ContentPart::image("image/png", url("data:image/png;base64,iVBORw0KGgo=")), PNG),
        ("image by file url", ContentPart::image("image/png", url("file:///a.png")), "file:///a.png"),
        ("image by file id", ContentPart::image("image/png", id("file-image")), "file-image"),
        ("audio", ContentPart::audio("audio/wav", base64(WAV)), WAV),
        ("audio of another type", ContentPart::audio("audio/ogg", base64("T2dnUw==")), "T2dnUw=="),
        ("audio by url", ContentPart::audio("audio/wav", url("https://audio.example/a")), "https://audio.example"),
        ("audio by file id", ContentPart::audio("audio/wav", id("file-audio")), "file-audio"),
        ("file", ContentPart::file("application/pdf", base64(PDF)), PDF),
        ("file with a name", ContentPart::File(named), PDF),
        ("file without type", ContentPart::File(MediaPart::new(base64(PDF))), PDF),
        // The text `plain file` in base64, which some APIs take as text.
        ("text file", ContentPart::file("text/plain", base64("cGxhaW4gZmlsZQ==")), "ain"),
        ("binary file", ContentPart::file("application/zip", base64("UEsDBA==")), "UEsDBA=="),
        ("image file", ContentPart::file("image/png", base64(PNG)), PNG),
        ("file by url", ContentPart::file("application/pdf", url("https://file.example/a")), "https://file.example"),
        ("file by file id", ContentPart::file("application/pdf", id("file-pdf")), "file-pdf"),
        ("file of google", ContentPart::file("application/pdf", id("files/abc")), "files/abc"),
        (
            "resource",
            ContentPart::resource("file:///a.txt", ResourceContents::Text("text of a resource".to_owned())),
            "text of a resource",
        ),
        ("binary resource", ContentPart::Resource(blob.clone().media_type("application/pdf")), PDF),
        ("binary resource without type", ContentPart::Resource(blob), PDF),
        ("link", ContentPart::resource_link("https://link.example/a", "a link"), "https://link.example/a"),
        ("unknown part", ContentPart::Unknown(json!({"type": "hologram", "depth": "deep"})), "deep"),
        ("empty text", ContentPart::text(""), ""),
        ("white space", ContentPart::text(" \n"), ""),
    ]
}

pub(super) fn cases() -> Vec<RequestCase> {
    let mut cases = Vec::new();
    for (name, part, marker) in parts() {
        let beside = || ContentPart::text("beside it");
        let spoken = Message::new(Role::User, vec![beside(), part.clone()]);
        cases.push(of(format!("{name} of the user"), vec![spoken.into()], marker));
        let alone = vec![Item::user("hi"), Message::new(Role::User, vec![part.clone()]).into()];
        cases.push(of(format!("{name} of the user alone"), alone, marker));
        let ruled = Message::new(Role::System, vec![beside(), part.clone()]);
        cases.push(of(format!("{name} of the system"), vec![ruled.into(), Item::user("hi")], marker));
        let answered = Message::new(Role::Assistant, vec![beside(), part.clone()]);
        let history = vec![Item::user("hi"), answered.into(), Item::user("go on")];
        cases.push(of(format!("{name} of the model"), history, marker));
        for (kind, parts) in [("output", vec![beside(), part.clone()]), ("output alone", vec![part.clone()])] {
            let called = || ToolCall::new("c1", "t", "{}").into();
            let output = ToolCallOutput::new("c1", parts.clone()).tool("t");
            cases.push(of(format!("{name} in an {kind}"), vec![Item::user("hi"), called(), output.into()], marker));
            let failed = ToolCallOutput::new("c1", parts).tool("t").error();
            cases.push(of(
                format!("{name} in a failed {kind}"),
                vec![Item::user("hi"), called(), failed.into()],
                marker,
            ));
        }
    }
    cases
}

fn of(name: String, history: Vec<Item>, marker: &str) -> RequestCase {
    RequestCase::history(name, history).contains(marker)
}
