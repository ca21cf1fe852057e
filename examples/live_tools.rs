//! Live tools under a running loop: tools come and go while a model works. Each turn takes one snapshot, so the model
//! calls the tools that it was shown, and a change counts from the next turn on.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::model::{LoopEvent, LoopOutcome, ScriptedTurn};
use haft::prelude::*;
use haft::run::Dispatch;
use haft::tool::DefinitionError;
use haft::toolkit::{SharedToolkit, ToolSource};

/// Adds two numbers.
#[tool(readonly)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Translates a text, as a plugin would that is loaded later.
fn translate(version: u8) -> Result<Tool, DefinitionError> {
    Tool::new("translate")
        .describe(format!("Translates a text. Version {version}."))
        .handler(move |text: String, _cx| async move { format!("{text} (translated by version {version})") })
}

/// Returns the tool that loads plugins into a source.
fn load_plugin(plugins: &SharedToolkit) -> Result<Tool, DefinitionError> {
    let plugins = plugins.clone();
    Tool::new("load_plugin").describe("Loads a plugin by its name.").try_handler(move |name: String, _cx| {
        let loaded = match name.as_str() {
            "translate" => translate(1).map_err(|error| error.to_string()),
            _ => Err(format!("there is no plugin named `{name}`")),
        };
        let loaded = loaded.and_then(|tool| plugins.add(tool).map_err(|error| error.to_string()));
        async move { loaded.map(|()| "loaded") }
    })
}

fn output(outcome: &LoopOutcome, id: &str) -> Option<String> {
    outcome.state.history().iter().find_map(|item| match item {
        Item::ToolOutput(output) if output.call_id == id => Some(output.output.to_string()),
        _ => None,
    })
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Fixed tools, and plugins in a namespace of their own: a plugin can't replace a tool of the program.
    let plugins = SharedToolkit::default();
    let own: Toolkit = toolkit![Add].with(load_plugin(&plugins)?)?;
    let tools = own.merged(plugins.clone().namespaced("plugin")?);

    // While the model thinks about its third turn, an administrator replaces the plugin; before the fourth it is
    // removed.
    let (update, removal) = (plugins.clone(), plugins.clone());
    let model = ScriptedModel::default()
        .then([ToolCall::new("c1", "load_plugin", r#""translate""#)])
        .then([ToolCall::new("c2", "plugin__translate", r#""hello""#)])
        .then(
            ScriptedTurn::calls([ToolCall::new("c3", "plugin__translate", r#""hello""#)])
                .check(move |_| translate(2).map(|tool| drop(update.replace(tool)))),
        )
        .then(
            ScriptedTurn::calls([ToolCall::new("c4", "plugin__translate", r#""hello""#)])
                .check(move |_| removal.remove("translate").map(drop).ok_or("the plugin is there")),
        )
        .then([ToolCall::new("c5", "plugin__translate", r#""hello""#)])
        .then("The plugin is gone.");
    let agent = TurnLoop::new(model.clone(), tools);

    let mut run = agent.start(TurnRequest::new("any", vec![Item::user("Translate `hello`, five times.")]));
    while let Some(event) = run.next().await {
        if let LoopEvent::Tool(event) = event
            && let Some(result) = event.result()
        {
            println!("{} {}\n  -> {}", result.call_id, result.tool, result.to_model_text());
        }
    }
    let outcome = run.finish().await;

    let offered: Vec<_> = model.requests().iter().map(|request| request.tools.len()).collect();
    println!("tools offered in each turn: {offered:?}");
    assert_eq!(offered, [2, 3, 3, 3, 2, 2]);
    let by = |version: u8| Some(format!("hello (translated by version {version})"));
    assert_eq!(output(&outcome, "c2"), by(1));
    assert_eq!(output(&outcome, "c3"), by(1), "the turn runs the version that it was shown");
    assert_eq!(output(&outcome, "c4"), by(2), "the plugin was removed while this turn was made");
    assert!(output(&outcome, "c5").is_some_and(|output| output.contains("unknown_tool")));
    assert_eq!(outcome.state.text(), "The plugin is gone.");

    // Other readers wait for changes: a server would tell its clients to list the tools again.
    let seen = plugins.snapshot();
    let ((), ()) = tokio::join!(plugins.changed(seen.generation()), async {
        if let Ok(tool) = translate(3) {
            plugins.replace(tool);
        }
    });
    let listed = plugins.list(&RunOptions::new());
    println!("generation {} has {} tool", plugins.snapshot().generation(), listed.len());
    assert_eq!((seen.generation(), plugins.snapshot().generation(), listed.len()), (3, 4, 1));
    Ok(())
}
