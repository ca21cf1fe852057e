//! A workspace as a file: the standard toolbox, a command and an HTTP tool, permissions and approval rules.
//!
//! `cargo run --example workspace --features workspace`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::Path;

use haft::registry::Executor;
use haft::serde_json::json;
use haft::workspace::{LoadOptions, Trust, TrustStore, load};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("workspace/haft.toml");
    let options = LoadOptions::new(haft::tools::kinds())?;

    // Nobody has trusted this file yet, so that it reaches nothing outside itself: no program, no server.
    let loaded = load(&path, &options).await?;
    let executor = executor(&loaded)?;
    assert!(executor.find("dev/basename").is_err());
    println!("untrusted: {}", loaded.remarks[0].message);
    let sum = executor.run("calculate", json!({"expression": "0.1 + 0.2"})).await?;
    println!("calculate: {sum}");
    let files = executor.run("file_list", json!({})).await?;
    println!("file_list: {files}");

    // A person has read it and accepts it as it is; every change has to be accepted again.
    let folder = std::env::temp_dir().join(format!("haft-example-{}", std::process::id()));
    let store = TrustStore::new(&folder);
    store.trust(&loaded)?;
    let loaded = load(&path, &options.trust(Trust::Recorded(store))).await?;
    let executor = self::executor(&loaded)?;
    let name = executor.run("dev/basename", json!({"path": "docs/first tool.md"})).await?;
    println!("basename: {name}");

    for (name, input) in [
        ("dev/basename", json!({"path": "secrets/mail"})),
        ("dev/publish", json!({"text": "hello"})),
        ("dev/basname", json!({"path": "a"})),
        ("dev/basename", json!({"pth": 7})),
    ] {
        let Err(error) = executor.run(name, input).await else { return Err("the call was not rejected".into()) };
        println!("{name}: {}: {error}", error.kind());
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

fn executor(loaded: &haft::workspace::Loaded) -> Result<Executor, Box<dyn std::error::Error>> {
    Ok(loaded.executor().build(loaded.registry()?.build()?))
}
