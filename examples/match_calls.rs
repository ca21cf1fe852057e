//! Reading what a model did, with Rust types: one enum lists the program's tools, a `match` over the model's calls is
//! exhaustive, and the toolkit is made from the same enum, so neither can lack a tool. Nothing here runs before the
//! program has looked at it.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::conversation::{Finish, Item, Turn};
use haft::prelude::*;
use haft::run::{CallError, ToolCalls, Typed};
use haft::tool::Emits;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Failure)]
enum FileError {
    #[failure(message = "there is no file {0}")]
    NotFound(String),
}

/// Lists the files of a folder.
#[tool(readonly)]
fn list_files(folder: String) -> Vec<String> {
    vec![format!("{folder}/a.txt"), format!("{folder}/b.txt")]
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Erased {
    bytes: u64,
}

/// Deletes a file.
#[tool(emits = Erased)]
async fn delete_file(path: String, cx: &Cx) -> Result<u64, HandlerError<FileError>> {
    if path.ends_with("a.txt") {
        cx.emit(Erased { bytes: 512 }).await?;
        Ok(512)
    } else {
        Err(HandlerError::Declared(FileError::NotFound(path)))
    }
}

/// Every tool that the program knows. A new variant does not compile until each `match` handles it.
#[derive(Debug, ToolCalls)]
enum FileCall {
    List(Typed<ListFiles>),
    Delete(Typed<DeleteFile>),
    /// Tools of others in the same turn, such as those of a provider.
    #[other]
    Other(ToolCall),
}

/// Describes a call to the person who watches.
fn describe(call: &FileCall) -> String {
    match call {
        FileCall::List(typed) => format!("{}: list {}", typed.call_id(), typed.params.folder),
        FileCall::Delete(typed) => format!("{}: delete {}", typed.call_id(), typed.params.path),
        FileCall::Other(call) => format!("{}: {} of somebody else", call.call_id, call.name),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit: Toolkit = FileCall::toolkit();
    let calls = [
        ToolCall::new("c1", "list_files", r#"{"folder": "docs"}"#),
        ToolCall::new("c2", "delete_file", r#"{"path": "docs/a.txt"}"#),
        ToolCall::new("c3", "delete_file", r#"{"path": 7}"#),
        ToolCall::new("c4", "web_search", r#"{"query": "files"}"#),
    ];
    let turn = Turn::new(calls.map(Item::from).to_vec(), Finish::ToolCalls);

    // A call that can't be decoded becomes the result to answer it with.
    let (mut decoded, mut rejected): (Vec<FileCall>, Vec<ToolResult>) = Default::default();
    for call in turn.tool_calls() {
        match FileCall::decode(call) {
            Ok(call) => decoded.push(call),
            Err(error) => rejected.push(error.into()),
        }
    }
    let described: Vec<String> = decoded.iter().map(describe).collect();
    println!("{}", described.join("\n"));
    assert_eq!(described, ["c1: list docs", "c2: delete docs/a.txt", "c4: web_search of somebody else"]);
    println!("{}: {}", rejected[0].call_id, rejected[0].to_model_text());
    assert_eq!((rejected.len(), rejected[0].call_id.as_str()), (1, "c3"));

    // What the program approves of is run, and events and results are read with the types of their tools.
    let deletions = decoded.iter().filter(|call| matches!(call, FileCall::Delete(_)));
    let mut run = kit.run(deletions.map(ToolCalls::call));
    while let Some(event) = run.next().await {
        if let Some(erased) = DeleteFile::read_event(&event) {
            println!("emitted: {:?}", erased?);
        }
        if let Some(result) = event.result() {
            println!("result:  {} bytes", DeleteFile::read(result)?);
        }
    }

    // A declared failure is read as its type as well, and a call of another tool names both.
    let missing = ToolCall::new("c5", "delete_file", r#"{"path": "docs/z.txt"}"#);
    let failed = DeleteFile::read(&kit.run_call(&missing).await);
    println!("failure: {failed:?}");
    assert_eq!(failed, Err(CallError::Declared(FileError::NotFound("docs/z.txt".to_owned()))));
    let Err(other) = ListFiles::decode(&missing) else { anyhow::bail!("a deletion was read as a list") };
    println!("error:   {other}");
    assert_eq!(other.failure().message, "the call is of the tool 'delete_file', not of 'list_files'");
    Ok(())
}
