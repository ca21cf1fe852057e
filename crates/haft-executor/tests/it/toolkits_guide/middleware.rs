//! Middleware around the handlers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{FailureKind, Outcome, ToolFailure};
use haft_executor::{Cx, Middleware, Needs, Next, Provide, Request, RunOptions, Services, Tool, Toolkit};
use tokio::time::{sleep, timeout};

use super::{echo, non_local, says};
use crate::executing::{calls, came, kit, tell};

/// A middleware that records calls, under a name.
#[derive(Clone)]
struct Noting {
    name: &'static str,
    notes: Notes,
}

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn under(&self, name: &'static str) -> Noting {
        Noting { name, notes: self.clone() }
    }

    fn add(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Middleware for Noting {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        self.notes.add(format!("{} {}", self.name, request.tool().name()));
        next.run(request).await
    }
}

#[tokio::test]
async fn the_last_one_applied_is_the_outermost() {
    let notes = Notes::default();
    let inner = notes.clone();
    let tool = Tool::new("t").handler(move |(), _cx| {
        let inner = inner.clone();
        async move { inner.add("handler".into()) }
    });
    let kit = kit([tool]).wrap(notes.under("logging")).wrap(notes.under("authorising"));
    assert_eq!(tell(kit.run(calls([("t", "")]))).await, ["c1 output null"]);
    assert_eq!(notes.all(), ["authorising t", "logging t", "handler"]);
}

#[tokio::test]
async fn middleware_does_not_apply_to_kinds_without_a_local_handler() {
    let notes = Notes::default();
    let [provider, signal, interaction] = non_local();
    let kit = kit([provider, signal, interaction, echo("local")]);
    let shown = serde_json::to_string(&kit.descriptors()).unwrap();
    let kit = kit.wrap(notes.under("seen"));
    assert_eq!(serde_json::to_string(&kit.descriptors()).unwrap(), shown);
    let run =
        kit.run(calls([("web_search", "{}"), ("escalate", r#""x""#), ("choose_account", "[]"), ("local", r#""x""#)]));
    let results = run.collect_results().await;
    assert_eq!(
        results.iter().map(came).collect::<Vec<_>>(),
        ["non_local_tool", "non_local_tool", "non_local_tool", "\"x\""]
    );
    assert_eq!(notes.all(), ["seen local"]);
}

#[tokio::test]
async fn calls_that_never_reach_a_tool_are_not_seen() {
    let notes = Notes::default();
    let kit = kit([echo("local")]).wrap(notes.under("seen"));
    let run = kit.run(calls([("ghost", "{}"), ("local", "1"), ("local", "{"), ("local", r#""x""#)]));
    assert_eq!(run.collect_results().await.len(), 4);
    assert_eq!(notes.all(), ["seen local"]);
}

/// The name is that of the tool as it is called now, whether it was wrapped before it got its prefix or after; its id
/// has the prefix too.
#[tokio::test]
async fn the_name_seen_is_the_one_that_is_called() {
    let notes = Notes::default();
    let kit = kit([says("search", "found")]);
    let kit = kit.wrap(notes.under("before")).namespace("github").unwrap().wrap(notes.under("after"));
    assert_eq!(tell(kit.run(calls([("github__search", "")]))).await, ["c1 output \"found\""]);
    assert_eq!(notes.all(), ["after github__search", "before github__search"]);
    assert_eq!(kit.get("github__search").unwrap().id().as_str(), "github__search");
}

#[tokio::test]
async fn a_dry_run_keeps_descriptors_and_middleware_and_replaces_handlers() {
    let notes = Notes::default();
    let send = Tool::new("send_email")
        .describe("Sends an email.")
        .handler(|to: String, _cx| async move { format!("sent to {to}") });
    let kit = kit([send, echo("other")]).wrap(notes.under("seen"));
    let dry =
        kit.clone().with_handler("send_email", |to: String, _cx| async move { format!("dry run to {to}") }).unwrap();

    let face = |kit: &Toolkit| serde_json::to_vec(&kit.descriptors()).unwrap();
    assert_eq!(face(&dry), face(&kit));
    let calls = calls([("send_email", r#""ana""#)]);
    assert_eq!(tell(dry.run(&calls)).await, ["c1 output \"dry run to ana\""]);
    assert_eq!(tell(kit.run(&calls)).await, ["c1 output \"sent to ana\""]);
    assert_eq!(notes.all(), ["seen send_email", "seen send_email"]);
}

#[tokio::test]
async fn input_can_be_changed_and_is_checked_again() {
    let louder = |request: Request, next: Next| async move {
        let text = request.arguments().unwrap().as_str().map(str::to_uppercase);
        let changed = match text {
            Some(text) if text != "BREAK" => serde_json::json!(text),
            _ => serde_json::json!(7),
        };
        next.run(request.with_arguments(&changed)).await
    };
    let kit = kit([echo("echo")]).wrap(louder);
    let results = kit.run(calls([("echo", r#""hi""#), ("echo", r#""break""#)])).collect_results().await;
    assert_eq!(came(&results[0]), "\"HI\"");
    assert_eq!(came(&results[1]), "input_validation_error");
    assert!(!results[1].failure().unwrap().started);
}

#[tokio::test(start_paused = true)]
async fn a_middleware_can_answer_retry_and_time_out() {
    let answer = |request: Request, next: Next| async move {
        match request.raw_arguments() {
            r#""cached""# => request.answer(&"from the cache"),
            _ => next.run(request).await,
        }
    };
    let retry = |request: Request, next: Next| async move {
        let again = request.again();
        match next.run(request).await {
            Outcome::Failed(failure) if failure.retryable => next.run(again).await,
            outcome => outcome,
        }
    };
    let give_up = |request: Request, next: Next| async move {
        match timeout(Duration::from_secs(1), next.run(request)).await {
            Ok(outcome) => outcome,
            Err(_) => ToolFailure::new(FailureKind::TimedOut, "gave up").into(),
        }
    };
    let tool = Tool::new("t").try_handler_mixed(|text: String, cx: Cx| async move {
        match text.as_str() {
            "slow" => sleep(Duration::from_secs(5)).await,
            "flaky" if cx.attempt() == 1 => {
                return Err(haft_executor::HandlerError::<String>::opaque(
                    ToolFailure::new("busy", "busy").retryable(),
                ));
            }
            _ => {}
        }
        Ok(format!("{text} {}", cx.attempt()))
    });
    let kit = kit([tool]).wrap(answer).wrap(retry).wrap(give_up);
    let calls = calls([("t", r#""cached""#), ("t", r#""flaky""#), ("t", r#""slow""#), ("t", r#""plain""#)]);
    let results = kit.run(calls).collect_results().await;
    assert_eq!(
        results.iter().map(came).collect::<Vec<_>>(),
        ["\"from the cache\"", "\"flaky 2\"", "timed_out", "\"plain 1\""]
    );
    assert!(results[2].failure().unwrap().started, "the handler was reached");
}

struct Admins(&'static str);
struct AdminsOnly;

impl Middleware for AdminsOnly {
    type Services = (Needs<Admins>,);

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let is_admin = request
            .cx()
            .service::<Admins>()
            .is_ok_and(|Admins(name)| request.cx().caller().is_some_and(|caller| caller.as_str() == *name));
        if is_admin { next.run(request).await } else { ToolFailure::new("not_admin", "ask an administrator").into() }
    }
}

struct App(Admins);

impl Provide<Admins> for App {
    fn provide(&self) -> &Admins {
        &self.0
    }
}

#[tokio::test]
async fn services_of_a_middleware_are_required_by_the_toolkit() {
    let lacking: Toolkit<App> = Toolkit::new().with(says("reboot", "done").unwrap()).unwrap().wrap(AdminsOnly);
    let kit = lacking.provide(App(Admins("ana")));
    let calls = calls([("reboot", "")]);
    assert_eq!(tell(kit.run_with(&calls, RunOptions::new().caller("ana"))).await, ["c1 output \"done\""]);
    assert_eq!(tell(kit.run_with(&calls, RunOptions::new().caller("bob"))).await, ["c1 output not_admin"]);

    // Around an erased tool it is detected at run time, before anything starts.
    let erased: Toolkit = Toolkit::new().with(says("reboot", "done").unwrap().wrap(AdminsOnly)).unwrap();
    let missing = erased.ensure_runnable().unwrap_err().missing_services;
    assert_eq!(missing.len(), 1);
    assert!(missing[0].service.ends_with("Admins"), "{}", missing[0].service);
    assert_eq!(tell(erased.run_with(&calls, RunOptions::new().caller("ana"))).await, ["c1 output execution_error"]);
    let provided = erased.with_services(Services::new().with(Admins("ana")));
    assert_eq!(tell(provided.run_with(&calls, RunOptions::new().caller("ana"))).await, ["c1 output \"done\""]);
}
