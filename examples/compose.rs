//! Toolkits from different sources that both have a `search`: composing them is an error that names both, a namespace
//! resolves it, and merging lets the later one win.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;

mod github {
    use haft::prelude::*;

    /// Searches code.
    #[tool(readonly)]
    pub(super) fn search(query: String) -> String {
        format!("3 repositories match {query}")
    }

    /// Opens an issue.
    #[tool]
    pub(super) fn open_issue(title: String) -> String {
        format!("issue: {title}")
    }
}

mod wiki {
    use haft::prelude::*;

    /// Searches the wiki.
    #[tool(readonly)]
    pub(super) fn search(query: String) -> String {
        format!("2 pages mention {query}")
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let github: Toolkit = toolkit![github::Search, github::OpenIssue].label("github");
    let wiki: Toolkit = toolkit![wiki::Search].label("wiki");

    let Err(error) = Toolkit::compose([github.clone(), wiki.clone()]) else { anyhow::bail!("two tools of one name") };
    println!("compose: {error}\n");
    assert_eq!(error.collisions[0].name, "search");
    assert_eq!(error.collisions[0].sources, ["github", "wiki"]);

    let kit = Toolkit::compose([github.clone().namespace("github")?, wiki.clone().namespace("wiki")?])?;
    println!("namespaced: {:?}", kit.names().collect::<Vec<_>>());
    assert_eq!(kit.names().collect::<Vec<_>>(), ["github__search", "github__open_issue", "wiki__search"]);

    let calls = ["github__search", "wiki__search", "search"];
    let calls = calls.map(|name| ToolCall::new(format!("call of {name}"), name, r#"{"query": "haft"}"#));
    let results = kit.run(calls).collect_results().await;
    for result in &results {
        println!("  {}: {}", result.call_id, result.to_call_output().output);
    }
    assert_eq!(results[0].to_call_output().output.to_string(), "3 repositories match haft");
    assert_eq!(results[1].to_call_output().output.to_string(), "2 pages mention haft");
    assert!(!results[2].is_ok(), "an ambiguous name is not resolved");

    let merged = github.merge(wiki);
    println!("\nmerged: {:?}", merged.names().collect::<Vec<_>>());
    for shadowed in merged.shadowed() {
        println!("  {shadowed}");
    }
    let result = merged.run_call(&ToolCall::new("c1", "search", r#"{"query": "haft"}"#)).await;
    assert_eq!(result.to_call_output().output.to_string(), "2 pages mention haft");
    assert_eq!(merged.shadowed().len(), 1);
    Ok(())
}
