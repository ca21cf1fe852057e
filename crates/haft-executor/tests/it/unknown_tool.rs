//! The message that a model reads when it calls a tool that does not exist.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{Caller, ToolCall};
use haft_executor::{
    Cx, ExecutionLimits, OnOverflow, OutputCap, Permission, Permit, Permitting, RunOptions, Tool, Toolkit,
};

/// A permit that reveals tools by their name, and counts how often it was called.
struct Showing {
    likes: fn(&str) -> bool,
    asked: Arc<AtomicUsize>,
}

impl Permit for Showing {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, _: Option<&Caller>) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        (self.likes)(tool.name())
    }
}

fn kit<'a>(names: impl IntoIterator<Item = &'a str>) -> Toolkit {
    names.into_iter().map(|name| Tool::new(name).handler(|(), _| async {}).unwrap()).collect()
}

/// Creates this many tools, none with a name similar to another word.
fn crowd(count: usize) -> Toolkit {
    let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
    kit(names.iter().map(String::as_str))
}

/// Returns the message for a name, which is the same in a run and as a single call.
async fn said(kit: &Toolkit, name: &str, options: &RunOptions) -> String {
    let call = ToolCall::new("c1", name, "{}");
    let alone = kit.run_call_with(&call, options).await;
    let in_run = kit.run_with([&call], options.clone()).collect_results().await;
    assert_eq!(alone, in_run[0]);
    alone.failure().unwrap().message.clone()
}

/// Returns the message under a permit, and how often the permit was called for it.
async fn said_under(kit: &Toolkit, name: &str, likes: fn(&str) -> bool) -> (String, usize) {
    let asked = Arc::new(AtomicUsize::new(0));
    let message = said(kit, name, &RunOptions::new().permit(Showing { likes, asked: Arc::clone(&asked) })).await;
    // Once in the run, once as a single call.
    (message, asked.load(Ordering::Relaxed) / 2)
}

#[tokio::test]
async fn an_unknown_name_without_a_similar_one_lists_the_tools() {
    for (names, message) in [
        (&["read", "write", "browse"][..], "there is no tool called 'xyz'; the tools are 'read', 'write', 'browse'"),
        (&["read"], "there is no tool called 'xyz'; the only tool is 'read'"),
        (&[], "there is no tool called 'xyz'; there are no tools"),
    ] {
        let kit = kit(names.iter().copied());
        assert_eq!(said(&kit, "xyz", &RunOptions::new()).await, message);
        assert_eq!(said_under(&kit, "xyz", |_| true).await.0, message);
    }
}

#[tokio::test]
async fn a_long_list_ends_with_the_number_of_the_others() {
    let twelve = "'n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', 'n9', 'n10', 'n11'";
    let told = |end: &str| format!("there is no tool called 'weather'; the tools are {twelve}{end}");
    assert_eq!(said(&crowd(12), "weather", &RunOptions::new()).await, told(""));
    assert_eq!(said(&crowd(15), "weather", &RunOptions::new()).await, told(" and 3 more"));
    // Counting would mean calling the permit for all of them.
    assert_eq!(said_under(&crowd(500), "weather", |_| true).await, (told(" and more"), 13));
    assert_eq!(said_under(&crowd(12), "weather", |_| true).await, (told(""), 12));
}

#[tokio::test]
async fn only_tools_that_the_caller_may_see_are_listed() {
    let kit = kit(["read", "write", "browse"]);
    let (message, _) = said_under(&kit, "xyz", |name| name == "write").await;
    assert_eq!(message, "there is no tool called 'xyz'; the only tool is 'write'");
    let (message, _) = said_under(&kit, "xyz", |_| false).await;
    assert_eq!(message, "there is no tool called 'xyz'; there are no tools");
    let (message, _) = said_under(&kit, "write", |name| name == "read").await;
    assert_eq!(message, "there is no tool called 'write'; the only tool is 'read'");
}

#[tokio::test]
async fn a_permit_is_called_only_for_names_that_would_be_suggested() {
    let near = ["search", "searches", "searched", "searcher", "searching"];
    let kit = crowd(300).merge(kit(near));
    let (message, asked) = said_under(&kit, "serch", |_| true).await;
    assert_eq!((message.as_str(), asked), ("there is no tool called 'serch'; the nearest is 'search'", 1));
    let (message, asked) = said_under(&kit, "searchess", |_| true).await;
    assert!(message.ends_with("the nearest are 'searches', 'searched', 'searcher'"), "{message}");
    assert_eq!(asked, 3, "best first, until there are enough");
    let (message, asked) = said_under(&kit, "searchess", |name| name != "searches").await;
    assert!(message.ends_with("the nearest are 'searched', 'searcher', 'search'"), "{message}");
    assert_eq!(asked, 4);
}

/// The output cap of a hidden tool must not affect the message for one that does not exist.
#[tokio::test]
async fn the_limits_of_a_hidden_tool_have_no_effect() {
    for rule in [OnOverflow::Fail, OnOverflow::Truncate] {
        let cap = OutputCap::new(NonZeroUsize::MIN).on_overflow(rule);
        let hidden =
            Tool::new("hidden").limits(ExecutionLimits::new().output_cap(cap)).handler(|(), _| async {}).unwrap();
        let names: Vec<String> = (0..12).map(|n| format!("{n}").repeat(40)).collect();
        let seen = kit(names.iter().map(String::as_str));
        let with = seen.clone().with(hidden).unwrap();
        let (there, _) = said_under(&with, "hidden", |name| name != "hidden").await;
        assert_eq!(there, said_under(&seen, "hidden", |_| true).await.0);
        assert!(there.len() > 400, "{there}");
    }
}

/// A tool that is called directly names only itself.
#[tokio::test]
async fn a_tool_that_is_called_by_another_name_reports_its_own() {
    let tool = Tool::new("read").handler(|(), _| async {}).unwrap();
    let message = |name: &str| tool.decode_args::<()>(&ToolCall::new("c1", name, "{}")).unwrap_err().message;
    assert_eq!(message("raed"), "there is no tool called 'raed'; the nearest is 'read'");
    assert_eq!(message("weather"), "there is no tool called 'weather'; the only tool is 'read'");
}
