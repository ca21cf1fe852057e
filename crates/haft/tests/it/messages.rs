//! Every message that a model or a person reads, each provoked through the public API, to be read in one place.
//!
//! The snapshots are the texts. Each line of a table is a situation and, indented, what is reported in it. A message
//! that is added or reworded shows up as a difference of one of the two snapshots.

mod approval;
mod call;
mod definition;
mod descriptor;
mod issue;
mod model_error;
mod output;
mod turn_loop;
mod verdict;

use std::collections::HashSet;
use std::error::Error;
use std::fmt::{self, Display, Write as _};

use haft::prelude::*;

/// Situations and the messages that they result in.
#[derive(Default)]
struct Messages {
    text: String,
    situations: HashSet<String>,
    /// The kinds of the failures that calls ended with.
    kinds: HashSet<String>,
}

impl Messages {
    /// Begins a group of situations.
    fn section(&mut self, title: &str) {
        let _ = writeln!(self.text, "\n# {title}\n");
        self.situations.clear();
    }

    /// Adds a situation and its message. Within a section no situation occurs twice.
    fn add(&mut self, situation: &str, message: impl Display) {
        let message = message.to_string();
        assert!(!message.trim().is_empty(), "{situation}");
        assert!(self.situations.insert(situation.to_owned()), "{situation} occurs twice");
        let _ = writeln!(self.text, "{situation}\n    {}", message.replace('\n', "\n    "));
    }

    /// Adds a failed call: the kind and the message, as the model reads them.
    fn failure(&mut self, situation: &str, failure: &ToolFailure) {
        self.kinds.insert(failure.kind.to_string());
        self.add(situation, failure);
    }

    /// Adds a failed call and the cause, which only the operator can see.
    fn caused(&mut self, situation: &str, failure: &ToolFailure) {
        self.add(situation, failure.source().unwrap());
    }
}

impl Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim())
    }
}

#[tokio::test(start_paused = true)]
async fn messages_to_the_model() {
    let mut messages = Messages::default();
    call::kinds(&mut messages);
    call::unknown_tools(&mut messages).await;
    call::not_run_here(&mut messages).await;
    issue::of_text(&mut messages);
    issue::of_values(&mut messages);
    issue::of_numbers(&mut messages);
    issue::of_objects(&mut messages);
    issue::of_forms(&mut messages);
    issue::of_types(&mut messages);
    approval::permits(&mut messages).await;
    approval::denials(&mut messages).await;
    approval::verdicts(&mut messages).await;
    approval::remembered(&mut messages).await;
    call::handlers(&mut messages).await;
    output::invalid(&mut messages).await;
    output::too_large(&mut messages).await;
    call::timeouts(&mut messages).await;
    call::cancellations(&mut messages).await;
    turn_loop::rejected_calls(&mut messages).await;
    turn_loop::ended_calls(&mut messages).await;
    model_error::corrections(&mut messages).await;
    output::whole_texts(&mut messages);

    for kind in FailureKind::ALL {
        assert!(messages.kinds.contains(kind.as_str()), "no call in the table fails with {kind}");
    }
    insta::assert_snapshot!("to_the_model", messages);
}

#[tokio::test(start_paused = true)]
async fn messages_to_people() {
    let mut messages = Messages::default();
    definition::tools(&mut messages);
    definition::provider_tools(&mut messages);
    descriptor::stored(&mut messages);
    descriptor::dialects(&mut messages);
    definition::schemas(&mut messages);
    definition::patterns(&mut messages);
    definition::toolkits(&mut messages);
    definition::services(&mut messages);
    call::causes(&mut messages).await;
    call::errors(&mut messages).await;
    verdict::rejected(&mut messages).await;
    verdict::signatures(&mut messages);
    verdict::suspended(&mut messages);
    verdict::histories(&mut messages);
    verdict::stored_values(&mut messages);
    model_error::models(&mut messages);
    model_error::objects(&mut messages).await;
    model_error::scripts(&mut messages).await;
    model_error::script_files(&mut messages);
    model_error::cassettes(&mut messages).await;
    turn_loop::errors(&mut messages).await;
    turn_loop::model_turns(&mut messages).await;
    turn_loop::states(&mut messages).await;
    insta::assert_snapshot!("to_people", messages);
}

/// Runs calls with options and returns the results.
async fn run(kit: &Toolkit, calls: impl IntoIterator<Item = ToolCall>, options: RunOptions) -> Vec<ToolResult> {
    kit.run_with(calls, options).collect_results().await
}

/// Runs one call of a tool with options and returns its failure.
async fn failed_with(tool: Tool, arguments: &str, options: RunOptions) -> ToolFailure {
    let call = ToolCall::new("c1", tool.name(), arguments);
    failure_of(&run(&Toolkit::from_iter([tool]), [call], options).await[0])
}

/// Runs one call of a tool and returns its failure.
async fn failed(tool: Tool, arguments: &str) -> ToolFailure {
    failed_with(tool, arguments, RunOptions::new()).await
}

fn failure_of(result: &ToolResult) -> ToolFailure {
    result.failure().unwrap_or_else(|| panic!("{result:?}")).clone()
}
