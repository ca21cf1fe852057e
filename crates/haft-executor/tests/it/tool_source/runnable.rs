//! Sources with tools that can't run: the other tools are not affected.

use std::error::Error;
use std::task::{Context, Waker};

use haft_core::{Caller, ToolCall, ToolResult};
use haft_executor::{
    Cx, Dispatch, Handle, HandlerError, NoFailure, NotRunnable, Permission, Permit, Permitting, RunOptions, Services,
    SharedToolkit, Snapshot, SourceFault, Tool, ToolSource, ToolType, Toolkit,
};

use super::{generation, left_out, named, tool};
use crate::executing::{calls, came};

struct Mailer;

/// A tool whose service nobody provides.
fn needy(name: &str) -> Tool {
    Tool::new(name).depends_on::<Mailer>().handler(|(), _cx| async { "sent" }).unwrap()
}

/// A tool without a handler.
fn bare(name: &str) -> Tool {
    Tool::new(name).define().unwrap()
}

fn shared(tools: impl IntoIterator<Item = Tool>) -> SharedToolkit {
    SharedToolkit::new(Toolkit::from_iter(tools))
}

fn listed(source: &impl Dispatch, options: &RunOptions) -> Vec<String> {
    source.list(options).iter().map(|descriptor| descriptor.name.clone()).collect()
}

async fn results<const N: usize>(
    source: &impl Dispatch,
    names: [&str; N],
    options: impl Into<RunOptions>,
) -> Vec<ToolResult> {
    let calls = calls(names.map(|name| (name, ""))).into_iter().map(Into::into);
    source.run_calls(calls.collect(), options.into()).collect_results().await
}

async fn outcomes<const N: usize>(
    source: &impl Dispatch,
    names: [&str; N],
    options: impl Into<RunOptions>,
) -> Vec<String> {
    results(source, names, options).await.iter().map(|result| came(result).to_owned()).collect()
}

/// Returns the problems of a tool that was left out.
fn problems(fault: &SourceFault) -> &NotRunnable {
    fault.cause.downcast_ref::<NotRunnable>().unwrap()
}

#[tokio::test]
async fn a_tool_that_can_not_run_does_not_affect_the_others() {
    let tools = shared([tool("one", 1)]);
    tools.add(needy("mail")).unwrap();
    tools.add(bare("later")).unwrap();
    tools.add(tool("two", 2)).unwrap();
    let options = RunOptions::new();
    assert_eq!(listed(&tools, &options), ["one", "two"]);

    let all = results(&tools, ["one", "mail", "later", "two", "ghost"], options.clone()).await;
    let came: Vec<_> = all.iter().map(came).collect();
    assert_eq!(came, ["1", "execution_error", "execution_error", "2", "unknown_tool"]);
    let failure = all[1].failure().unwrap();
    assert!(!failure.started);
    let problems = failure.source().unwrap().downcast_ref::<NotRunnable>().unwrap();
    assert!(problems.missing_handlers.is_empty(), "only its own problems: {problems:?}");
    assert_eq!(problems.missing_services[0].tool, "mail");
    let cause = all[2].failure().unwrap().source().unwrap().to_string();
    assert_eq!(cause, "`later` has no handler: attach one, for example with `with_handler`");
    assert!(!all[4].to_model_text().contains("mail"), "{}", all[4].to_model_text());

    assert_eq!(
        outcomes(&tools, ["mail", "later"], options.clone().service(Mailer)).await,
        ["\"sent\"", "execution_error"]
    );
    tools.remove("later");
    assert_eq!(listed(&tools, &options.service(Mailer)), ["one", "mail", "two"]);
}

#[tokio::test]
async fn a_toolkit_that_the_application_runs_itself_runs_nothing() {
    let tools = shared([tool("one", 1), needy("mail")]);
    let kit = tools.snapshot().into_toolkit();
    let run = kit.run_with(calls([("one", ""), ("mail", "")]), RunOptions::new());
    let came: Vec<_> = run.collect_results().await.iter().map(|result| came(result).to_owned()).collect();
    assert_eq!(came, ["execution_error", "execution_error"]);
    assert_eq!(outcomes(&kit, ["one", "mail"], RunOptions::new()).await, ["1", "execution_error"]);
}

#[test]
fn the_runnable_part_reports_what_it_leaves_out() {
    let base = Snapshot::new(Toolkit::from_iter([needy("mail"), tool("one", 1), bare("later")]), 7);
    let base = base.with_faults([SourceFault::new("taken", "the name is taken")]);
    let options = RunOptions::new();
    let runnable = base.runnable_with(&options);
    assert_eq!((named(&runnable), runnable.generation()), (vec!["one".to_owned()], 7));
    assert_eq!(left_out(&runnable), ["taken", "mail", "later"]);
    assert_eq!(problems(&runnable.faults()[1]).missing_services.len(), 1);
    assert_eq!(problems(&runnable.faults()[2]).missing_handlers, ["later"]);
    assert_eq!(
        runnable.faults()[2].to_string(),
        "the tool `later` is left out: `later` has no handler: attach one, for example with `with_handler`"
    );
    runnable.toolkit().ensure_runnable_with(&options).unwrap();
    let again = runnable.runnable_with(&options);
    assert_eq!((named(&again), left_out(&again)), (named(&runnable), left_out(&runnable)));

    let served = base.runnable_with(options.service(Mailer));
    assert_eq!(
        (named(&served), left_out(&served)),
        (vec!["mail".to_owned(), "one".to_owned()], vec!["taken".to_owned(), "later".to_owned()])
    );
    assert_eq!(named(&base), ["mail", "one", "later"], "it is a value");
}

#[test]
fn a_service_of_each_run_is_checked() {
    let whose = Tool::new("whose").depends_on_run::<Mailer>().handler(|(), _cx| async {}).unwrap();
    let tools = shared([tool("one", 1), whose]);
    let served = tools.mapped(|kit| kit.with_services(Services::new().with(Mailer)));
    assert_eq!(listed(&served, &RunOptions::new()), ["one"], "the toolkit's service does not count");
    assert_eq!(listed(&served, &RunOptions::new().service(Mailer)), ["one", "whose"]);
}

/// A definition that was rejected when it was added by type is reported, and a name that two tools have is left out.
#[tokio::test]
async fn invalid_definitions_are_left_out() {
    let kit: Toolkit = Toolkit::new().tool_from(Named::<0>).tool_from(Named::<1>).tool_from(Named::<1>);
    let kit = kit.tool_from(Named::<2>);
    assert_eq!(kit.ensure_runnable().unwrap_err().faults.len(), 2);
    let source = kit.merged(shared([tool("one", 1)]));
    assert_eq!(listed(&source, &RunOptions::new()), ["fine", "one"]);
    let runnable = source.snapshot().runnable_with(RunOptions::new());
    assert_eq!(left_out(&runnable), ["twice", ""]);
    runnable.toolkit().ensure_runnable().unwrap();
    assert_eq!(outcomes(&source, ["fine", "twice", "one"], RunOptions::new()).await, ["null", "execution_error", "1"]);
}

/// A tool that is defined by a type, with one of three names.
struct Named<const N: usize>;

impl<const N: usize> ToolType for Named<N> {
    const NAME: &'static str = ["fine", "twice", ""][N];
    type Params = ();
    type Success = ();
    type Failure = NoFailure;
    type Services = ();
}

impl<const N: usize> Handle for Named<N> {
    async fn handle(&self, _params: (), _cx: &Cx) -> Result<(), HandlerError> {
        Ok(())
    }
}

/// A permit that hides a tool.
struct Hiding(&'static str);

impl Permit for Hiding {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, _: Option<&Caller>) -> bool {
        tool.name() != self.0
    }
}

#[tokio::test]
async fn a_caller_does_not_learn_of_a_hidden_tool_that_can_not_run() {
    let tools = shared([needy("mail"), tool("one", 1)]);
    let options = RunOptions::new().permit(Hiding("mail"));
    assert_eq!(outcomes(&tools, ["mail", "one"], options).await, ["unknown_tool", "1"]);
}

#[tokio::test]
async fn a_suspended_call_is_resumed_beside_a_tool_that_can_not_run() {
    use haft_executor::{ApprovalPolicy, Suspend};

    let pay = || Tool::new("pay").needs_approval(ApprovalPolicy::always());
    let tools = shared([pay().handler(|(), _cx| async { "paid" }).unwrap()]);
    let calls = vec![ToolCall::new("c1", "pay", "").into()];
    let suspended =
        tools.run_calls(calls, RunOptions::new().approvals(Suspend)).collect_or_suspend().await.unwrap_err();
    let verdict = || suspended.pending().map(haft_core::ApprovalRequest::approve).collect::<Vec<_>>();

    tools.add(needy("mail")).unwrap();
    let resumed = tools.resume_calls((*suspended).clone(), verdict(), RunOptions::new()).collect_results().await;
    assert_eq!(resumed.iter().map(came).collect::<Vec<_>>(), ["\"paid\""]);

    // The definition is the same, but it lacks a service: the approved call fails, and nothing runs.
    tools.replace(pay().depends_on::<Mailer>().handler(|(), _cx| async { "paid" }).unwrap());
    let resumed = tools.resume_calls((*suspended).clone(), verdict(), RunOptions::new()).collect_results().await;
    assert_eq!(resumed.iter().map(came).collect::<Vec<_>>(), ["execution_error"]);
}

#[tokio::test]
async fn a_snapshot_is_a_source_that_never_changes() {
    let tools = shared([tool("one", 1)]);
    tools.add(tool("two", 2)).unwrap();
    let snapshot = tools.snapshot();
    tools.remove("one");
    assert_eq!(generation(&snapshot), 1);
    assert_eq!(listed(&snapshot, &RunOptions::new()), ["one", "two"]);
    assert_eq!(outcomes(&snapshot, ["one"], RunOptions::new()).await, ["1"]);
    snapshot.changed(0).await;
    let later = snapshot.changed(1).as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(later.is_pending());
}
