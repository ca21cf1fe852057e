//! Permits that stay with their tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{Caller, FailureKind, ToolCall, ToolResult};
use haft_executor::{
    Ambient, CallArguments, Cx, Dispatch, Permission, Permit, Permitting, RunOptions, Tool, ToolSource, Toolkit,
};

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// Denies arguments above a limit, and hides the tool from callers other than `ana`, if asked to.
struct AtMost {
    limit: u64,
    visible_to: Option<&'static str>,
    asked: Arc<AtomicUsize>,
}

impl Permit for AtMost {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        let decide = |n: u64| {
            let is_small = n <= self.limit;
            if is_small { Permission::Allowed } else { Permission::denied("too large").by_rule("at-most") }
        };
        arguments.decode().map(decide).into()
    }

    fn sees(&self, _: &Tool, caller: Option<&Caller>) -> bool {
        self.visible_to.is_none_or(|name| caller.is_some_and(|caller| caller.as_str() == name))
    }
}

fn guarded(limit: u64, visible_to: Option<&'static str>) -> (Tool, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let tool = Tool::new("echo").handler(|n: u64, _| async move { n }).unwrap();
    (tool.guard(AtMost { limit, visible_to, asked: Arc::clone(&asked) }), asked)
}

fn kind(result: &ToolResult) -> Option<FailureKind> {
    result.failure().map(|failure| failure.kind.clone())
}

#[tokio::test]
async fn every_way_to_run_a_tool_asks_its_permit() {
    let (tool, asked) = guarded(5, None);
    let renamed = tool.with_name("other").unwrap();
    let kit: Toolkit = Toolkit::from_iter([tool, renamed]);
    let kit = kit.namespace("ns").unwrap();
    for name in ["ns__echo", "ns__other"] {
        let before = asked.load(Ordering::Relaxed);
        let (small, large) = (call("c1", name, "5"), call("c2", name, "6"));
        assert_eq!(kit.run_call(&small).await.value().unwrap().as_str(), "5");
        let denied = [
            kit.run_call(&large).await,
            kit.run([large.clone()]).collect_results().await.remove(0),
            kit.run_calls(vec![large.clone().into()], RunOptions::new().spawned()).collect_results().await.remove(0),
        ];
        for result in denied {
            let failure = result.failure().unwrap();
            assert_eq!((&failure.kind, failure.message.as_str()), (&FailureKind::PermissionDenied, "too large"));
            assert!(std::error::Error::source(failure).unwrap().to_string().contains("`at-most`"));
        }
        assert_eq!(asked.load(Ordering::Relaxed) - before, 4);
    }
}

#[tokio::test]
async fn a_tool_that_its_permit_hides_is_unknown() {
    let kit: Toolkit = Toolkit::from_iter([guarded(5, Some("ana")).0]);
    let (ana, bob) = (RunOptions::new().caller("ana"), RunOptions::new().caller("bob"));
    assert_eq!((kit.list(&ana).len(), kit.list(&bob).len()), (1, 0));
    let (exact, near) = (call("c1", "echo", "5"), call("c2", "ecko", "5"));
    assert!(kit.run_call_with(&exact, &ana).await.is_ok());
    let hidden = kit.run_call_with(&exact, &bob).await;
    assert_eq!(kind(&hidden), Some(FailureKind::UnknownTool));
    let unknown = kit.run_call_with(&near, &bob).await;
    assert!(!unknown.failure().unwrap().message.contains("echo"), "{unknown:?}");
    let suggested = kit.run_call_with(&near, &ana).await;
    assert!(suggested.failure().unwrap().message.contains("'echo'"), "{suggested:?}");
}

#[tokio::test]
async fn permits_of_the_tool_and_of_the_run_must_all_allow() {
    let (tool, _) = guarded(5, None);
    let kit: Toolkit = Toolkit::from_iter([tool.guard(|_: &Tool, _: &ToolCall, cx: &Cx| match cx.caller() {
        Some(_) => Permission::Allowed,
        None => Permission::denied("unknown caller"),
    })]);
    let message = async |options: RunOptions, arguments: &str| {
        let result = kit.run_call_with(&call("c1", "echo", arguments), &options).await;
        result.failure().map(|failure| failure.message.clone())
    };
    assert_eq!(message(RunOptions::new(), "5").await.as_deref(), Some("unknown caller"));
    assert_eq!(message(RunOptions::new().caller("ana"), "6").await.as_deref(), Some("too large"));
    assert_eq!(message(RunOptions::new().caller("ana"), "5").await, None);
    let never = |_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("never");
    assert_eq!(message(RunOptions::new().caller("ana").permit(never), "5").await.as_deref(), Some("never"));
}

/// Denies calls unless the ambient `u8` is 7.
fn ambient_tool() -> Tool {
    let is_seven = || Ambient::current().get::<u8>() == Some(&7);
    let tool = Tool::new("seven").handler(move |(), _| async move { is_seven() }).unwrap();
    tool.guard(
        move |_: &Tool, _: &ToolCall, _: &Cx| {
            if is_seven() { Permission::Allowed } else { Permission::denied("not seven") }
        },
    )
}

#[tokio::test]
async fn a_run_carries_the_ambient_values_of_its_start() {
    let kit: Toolkit = Toolkit::from_iter([ambient_tool()]);
    let seven = || Ambient::current().with(7_u8);
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let start = || kit.run_with([call("c1", "seven", "")], options.clone());
        let value = |results: Vec<ToolResult>| results[0].value().map(|value| value.as_str().to_owned());
        // Created in the scope and polled outside, and the other way round.
        let created = seven().sync_scope(start);
        assert_eq!(value(created.collect_results().await).as_deref(), Some("true"));
        assert_eq!(value(seven().scope(start().collect_results()).await).as_deref(), Some("true"));
        // The values of the first poll replace those of the creation, type by type.
        let created = seven().sync_scope(start);
        assert_eq!(value(Ambient::default().with('a').scope(created.collect_results()).await).as_deref(), Some("true"));
        let created = seven().sync_scope(start);
        assert_eq!(value(Ambient::default().with(8_u8).scope(created.collect_results()).await), None);
        assert_eq!(value(start().collect_results().await), None);
    }
}

#[tokio::test]
async fn a_permit_stays_with_the_tools_of_a_source() {
    let kit: Toolkit = Toolkit::from_iter([guarded(5, None).0]);
    let source = kit.namespaced("a").unwrap().filtered(|_| true);
    let run = source.run_calls(vec![call("c1", "a__echo", "6").into()], RunOptions::new());
    assert_eq!(kind(&run.collect_results().await[0]), Some(FailureKind::PermissionDenied));
}
