//! Dispatchers: types that list tools and run calls, whatever is behind them.

use std::sync::Arc;

use haft_core::{Caller, ToolCall};
use haft_executor::{
    Changed, Cx, Dispatch, Permission, Permit, Permitting, RequestedCall, RunOptions, Snapshot, Tool, ToolSource,
    Toolkit,
};

use crate::executing::{calls, kit, tell};

fn tools() -> Toolkit {
    kit([
        Tool::new("read").handler(|(), cx: Cx| async move { cx.caller().map(|caller| caller.as_str().to_owned()) }),
        Tool::new("write").handler(|(), _cx| async { "written" }),
        Tool::signal("done").define(),
    ])
}

/// A permit by which every caller may read, and only an administrator sees the other tools.
struct ReadOnly;

impl Permit for ReadOnly {
    fn permit(&self, tool: &Tool, _: &ToolCall, cx: &Cx) -> Permitting {
        assert!(self.sees(tool, cx.caller()));
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        tool.name() == "read" || caller.is_some_and(|caller| caller.as_str() == "admin")
    }
}

/// A stand-in for the client of another machine: a source of one tool that forwards its calls.
struct Remote(Toolkit);

impl Remote {
    fn new() -> Self {
        Self(kit([Tool::new("remote").handler(|(), _cx| async { "from afar" })]))
    }
}

impl ToolSource for Remote {
    fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.0.clone(), 7)
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        Box::pin(async move {
            if after >= 7 {
                std::future::pending::<()>().await;
            }
        })
    }
}

fn requested(calls: Vec<ToolCall>) -> Vec<RequestedCall> {
    calls.into_iter().map(Into::into).collect()
}

fn names(dispatch: &dyn Dispatch, options: &RunOptions) -> Vec<String> {
    dispatch.list(options).iter().map(|descriptor| descriptor.name.clone()).collect()
}

/// Takes any dispatcher, by value.
async fn serve(dispatch: impl Dispatch + 'static, calls: Vec<ToolCall>) -> Vec<String> {
    tell(dispatch.run_calls(requested(calls), RunOptions::new().caller("ana"))).await
}

#[tokio::test]
async fn a_toolkit_dispatches_however_it_is_held() {
    let calls = calls([("read", ""), ("write", ""), ("ghost", "")]);
    let expected = ["c1 output \"ana\"", "c2 output \"written\"", "c3 output unknown_tool"];
    assert_eq!(serve(tools(), calls.clone()).await, expected);
    assert_eq!(serve(Arc::new(tools()), calls.clone()).await, expected);
    let erased: Arc<dyn Dispatch> = Arc::new(tools());
    assert_eq!(serve(erased.clone(), calls.clone()).await, expected);
    assert_eq!(serve(Arc::new(erased), calls.clone()).await, expected);
    let source: Box<dyn ToolSource> = Box::new(tools());
    assert_eq!(serve(source, calls).await, expected);
}

#[tokio::test]
async fn every_source_dispatches() {
    let all: [Arc<dyn Dispatch>; 2] = [Arc::new(tools()), Arc::new(Remote::new())];
    let options = RunOptions::new();
    let listed: Vec<_> = all.iter().flat_map(|dispatch| names(dispatch, &options)).collect();
    assert_eq!(listed, ["read", "write", "done", "remote"]);
    let told = tell(all[1].run_calls(requested(calls([("remote", "{}")])), options)).await;
    assert_eq!(told, ["c1 output \"from afar\""]);
}

#[test]
fn the_list_contains_the_tools_that_the_caller_may_see() {
    let tools = tools();
    let everybody = RunOptions::new().permit(ReadOnly);
    assert_eq!(names(&tools, &RunOptions::new()), ["read", "write", "done"]);
    assert_eq!(names(&tools, &everybody), ["read"]);
    assert_eq!(names(&tools, &everybody.clone().caller("bob")), ["read"]);
    assert_eq!(names(&tools, &everybody.clone().caller("admin")), ["read", "write", "done"]);
    let erased: Arc<dyn Dispatch> = Arc::new(tools);
    assert_eq!(names(&erased, &everybody), ["read"]);
}

/// The list contains the tool's own descriptor, not a copy.
#[test]
fn descriptors_are_shared() {
    let tools = tools();
    for (listed, own) in tools.list(&RunOptions::new()).iter().zip(tools.descriptors()) {
        assert!(Arc::ptr_eq(listed, &own));
    }
}

/// A permit that panics hides the tool.
#[test]
fn a_permit_that_panics_hides_the_tool() {
    struct Breaks;
    impl Permit for Breaks {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
            Permission::Allowed.into()
        }
        fn sees(&self, tool: &Tool, _: Option<&Caller>) -> bool {
            assert!(tool.name() != "write", "can't say");
            true
        }
    }
    assert_eq!(names(&tools(), &RunOptions::new().permit(Breaks)), ["read", "done"]);
}

#[tokio::test]
async fn options_go_with_the_calls() {
    let erased: Arc<dyn Dispatch> = Arc::new(tools());
    let options = RunOptions::new().permit(ReadOnly).caller("bob").concurrency(1);
    let calls = requested(calls([("write", ""), ("wirte", ""), ("read", "")]));
    let results = erased.run_calls(calls, options).collect_results().await;
    for hidden in &results[..2] {
        let message = &hidden.failure().unwrap().message;
        assert!(message.starts_with("there is no tool called"), "{message}");
        assert!(!message.contains("'write'") || hidden.tool == "write", "{message}");
        assert!(!message.contains("done"), "{message}");
    }
    assert_eq!(results[2].value().unwrap().as_str(), "\"bob\"");
}
