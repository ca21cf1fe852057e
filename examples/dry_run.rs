//! A dry run: one tool gets another handler, and the model can't tell. Its descriptor stays the same, to the byte, and
//! so do the checks of its arguments.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::atomic::{AtomicU32, Ordering};

use haft::prelude::*;

/// The number of mails that were really sent.
static SENT: AtomicU32 = AtomicU32::new(0);

/// Sends a mail.
#[tool(open_world)]
fn send_mail(
    /// The receiver's address
    #[schemars(regex(pattern = "@"))]
    to: String,
    text: String,
) -> String {
    SENT.fetch_add(1, Ordering::Relaxed);
    format!("sent {} characters to {to}", text.len())
}

/// Looks up an address by name.
#[tool(readonly)]
fn find_address(name: String) -> String {
    format!("{}@a.example", name.to_lowercase())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![FindAddress, SendMail];
    // The handler takes the same parameters: the type that is generated for the function.
    let dry = kit.clone().with_handler("send_mail", |mail: SendMail, _cx| async move {
        format!("would send {} characters to {}", mail.text.len(), mail.to)
    })?;

    let (before, after) = (serde_json::to_vec(&kit.descriptors())?, serde_json::to_vec(&dry.descriptors())?);
    println!("the model sees {} bytes before, {} after: equal is {}\n", before.len(), after.len(), before == after);
    assert_eq!(before, after);

    let calls = [
        ToolCall::new("c1", "find_address", r#"{"name": "Ana"}"#),
        ToolCall::new("c2", "send_mail", r#"{"to": "ana@a.example", "text": "Hello!"}"#),
        ToolCall::new("c3", "send_mail", r#"{"to": "ana", "text": "Hello!"}"#),
    ];
    let mut answers = Vec::new();
    for (name, kit) in [("for real", &kit), ("dry", &dry)] {
        println!("{name}:");
        for result in kit.run(&calls).collect_results().await {
            println!("  {}: {}", result.call_id, result.to_call_output().output);
            answers.push(result.to_call_output().output.to_string());
        }
    }
    assert_eq!(answers[1], "sent 6 characters to ana@a.example");
    assert_eq!(answers[4], "would send 6 characters to ana@a.example");
    assert_eq!((&answers[0], &answers[2]), (&answers[3], &answers[5]), "everything else is the same");
    assert_eq!(SENT.load(Ordering::Relaxed), 1);

    let misspelled = kit.with_handler("send_mial", |_: SendMail, _cx| async {});
    println!("\nwith_run(\"send_mial\"): {}", misspelled.err().map(|error| error.to_string()).unwrap_or_default());
    Ok(())
}
