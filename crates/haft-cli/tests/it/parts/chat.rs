//! Conversations with a fake provider on the four wires, with verdicts at the prompt. The official SDKs judge the
//! requests.

use std::fs;

use haft_parts::{Aimock, Judge, WireName};
use serde_json::json;

use crate::pty::{Pty, PtyCommand, key};

/// A verdict at the prompt, and what the model reads then.
struct Verdict {
    choice: &'static str,
    /// The text that is waited for, and the keys after it.
    more: (&'static str, &'static str),
    read: &'static str,
}

const VERDICTS: [Verdict; 3] = [
    Verdict { choice: "ap\r", more: ("", ""), read: "42" },
    Verdict { choice: "d\r", more: ("Reason", "not today\r"), read: "not today" },
    Verdict { choice: "e\r", more: ("as you edited it", "ap\r"), read: "56" },
];

fn model(wire: WireName) -> &'static str {
    match wire {
        WireName::OpenAiResponses => "openai:gpt-4.1",
        WireName::OpenAiChat => "openai-chat:gpt-4.1",
        WireName::Anthropic => "anthropic:claude-sonnet-4-5",
        WireName::Gemini => "gemini:gemini-2.5-flash",
    }
}

fn base_url(wire: WireName, mock: &Aimock) -> String {
    match wire {
        WireName::OpenAiResponses | WireName::OpenAiChat => format!("{}/v1", mock.url()),
        WireName::Anthropic | WireName::Gemini => mock.url().to_owned(),
    }
}

fn start() -> Aimock {
    let call = json!({"name": "calculate", "arguments": "{\"expression\":\"6 * 7\"}", "id": "call_1"});
    let fixtures = json!([
        {"match": {"userMessage": "six times seven", "hasToolResult": false}, "response": {"toolCalls": [call]}},
        {"match": {"userMessage": "six times seven", "hasToolResult": true}, "response": {"content": "That is all I know."}},
    ]);
    Aimock::start_with(&fixtures, &json!({"chunkSize": 5}))
}

fn prompt(pty: &mut Pty) {
    pty.wait_until("the prompt is there", |pty| pty.screen().trim_end().ends_with('>'));
}

/// Has a conversation with each verdict.
fn check(wire: WireName) {
    let mock = start();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("haft.toml"), "[workspace]\nstandard = true\n\n[[approval]]\nask = \"calculate\"\n").unwrap();
    fs::write(file("edit.sh"), "sed 's/6/8/' \"$1\" > new && cat new > \"$1\"\n").unwrap();
    for Verdict { choice, more: (asked, more), read } in VERDICTS {
        let before = mock.requests().len();
        let mut pty = PtyCommand::new(["chat", "--model", model(wire), "--base-url", &base_url(wire, &mock)])
            .folder(folder.path())
            .env("NO_PROXY", "127.0.0.1")
            .env("OPENAI_API_KEY", "key-for-tests")
            .env("ANTHROPIC_API_KEY", "key-for-tests")
            .env("GEMINI_API_KEY", "key-for-tests")
            .env("EDITOR", format!("sh {}", file("edit.sh").display()))
            .size(100, 40)
            .spawn();
        prompt(&mut pty);
        pty.send("what is six times seven?\r");
        pty.wait_for("Approve this call?");
        pty.send(choice);
        if !more.is_empty() {
            pty.wait_for(asked);
            // The last line of either question.
            pty.wait_for("Ctrl-C interrupts");
            pty.send(more);
        }
        pty.wait_for("That is all I know.");
        prompt(&mut pty);
        pty.send(key::CTRL_D);
        assert_eq!(pty.wait_exit(), 0);

        let requests = mock.requests().split_off(before);
        assert_eq!(requests.len(), 2);
        for sent in &requests {
            Judge::shared().assert_valid(wire, &sent.json());
        }
        assert!(requests[1].body.contains(read), "{}", requests[1].body);
    }
}

#[test]
fn openai_responses() {
    check(WireName::OpenAiResponses);
}

#[test]
fn openai_chat() {
    check(WireName::OpenAiChat);
}

#[test]
fn anthropic() {
    check(WireName::Anthropic);
}

#[test]
fn gemini() {
    check(WireName::Gemini);
}

#[test]
fn a_compatible_server_needs_no_key_and_a_server_that_is_gone_is_reported() {
    let mock = start();
    let url = format!("{}/v1", mock.url());
    let run = |url: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(["chat", "--model", "openai-chat:any", "--base-url", url, "--approve", "all"]);
        command
            .args(["--retries", "1", "-p", "what is six times seven?"])
            .env_remove("OPENAI_API_KEY")
            .env("NO_PROXY", "127.0.0.1");
        let state = tempfile::tempdir().unwrap();
        command.env("HAFT_STATE_DIR", state.path()).current_dir(state.path()).output().unwrap()
    };
    let answered = run(&url);
    assert_eq!(String::from_utf8_lossy(&answered.stdout), "That is all I know.\n", "{answered:?}");
    assert!(mock.requests().iter().all(|sent| !sent.headers.contains_key("authorization")));
    drop(mock);
    let gone = run(&url);
    let message = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert_eq!(gone.status.code(), Some(1));
    assert!(message.contains("can be reached") && message.contains("trying again"), "{message}");
}
