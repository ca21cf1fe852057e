//! Arguments that name resources: one spelling for everything that decides about a call, and for what runs.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, FailureKind, ToolCall, ToolOutput, ToolResult};
use haft_executor::{
    ApprovalPolicy, CallArguments, Cx, DefinitionError, ForwardCx, Next, Permission, Permit, Permitting, RefineError,
    Request, RunOptions, Suspend, Tool, Toolkit, VerdictFault,
};
use haft_schema::{DecodeOptions, Repairs};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::approval::bench::{Journal, Way, all_came};
use crate::executing::{calls, came, kit};
use crate::seeded::for_all;

/// Returns the shortest spelling of a path: no `.`, no `..`, no empty names. A path that leads out has none.
fn shortest(written: &str) -> Result<String, &'static str> {
    let mut names = Vec::new();
    for name in written.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop().ok_or("must not lead out")?),
            name => names.push(name),
        }
    }
    Ok(names.join("/"))
}

/// A tool that reads a path, and records what reaches its handler.
fn reading(journal: &Journal) -> Result<Tool, DefinitionError> {
    let journal = journal.clone();
    let tool = Tool::new("read").handler(move |path: (String,), _cx| {
        journal.note(format!("run {}", path.0));
        ready(path.0)
    })?;
    tool.canonical_argument("/0", shortest)
}

fn failing(journal: &Journal, policy: ApprovalPolicy) -> Result<Tool, DefinitionError> {
    reading(journal)?.set_needs_approval(policy)
}

/// A permit that denies one path, and records the call as it came, its arguments, and the call that they belong to.
struct NoSecret(Journal);

impl Permit for NoSecret {
    fn permit(&self, _: &Tool, call: &ToolCall, _: &Cx) -> Permitting {
        self.0.note(format!("permit {}", call.arguments));
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, call: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        let (path,) = arguments.decode::<(String,)>().unwrap();
        assert_eq!(call.arguments, json!([path]).to_string());
        self.0.note(format!("permits {path}"));
        if path == "secret" { Permission::denied("no").into() } else { Permission::Allowed.into() }
    }
}

/// Runs one call alone, in a run and in a spawned task.
async fn every_way(kit: &Toolkit, call: &ToolCall, options: &RunOptions) -> Vec<ToolResult> {
    let mut results = vec![kit.run_call_with(call, options).await];
    results.extend(kit.run_with([call], options.clone()).collect_results().await);
    results.extend(kit.run_with([call], options.clone().spawned()).collect_results().await);
    results
}

fn read(path: &str) -> ToolCall {
    ToolCall::new("c1", "read", json!([path]).to_string())
}

#[tokio::test]
async fn everybody_sees_the_canonical_spelling() {
    let journal = Journal::default();
    let noted = journal.clone();
    let policy = ApprovalPolicy::when(move |path: (String,), _| {
        noted.note(format!("policy {}", path.0));
        true
    });
    let noted = journal.clone();
    let wrapped = move |request: Request, next: Next| {
        noted.note(format!("middleware {}", request.raw_arguments()));
        next.run(request)
    };
    let kit = kit([failing(&journal, policy).map(|tool| tool.wrap(wrapped))]);
    let noted = journal.clone();
    let approve = move |request: ApprovalRequest, _: Cx| {
        noted.note(format!("asked {}", request.arguments));
        ready(request.approve())
    };
    let options = RunOptions::new().permit(NoSecret(journal.clone())).approvals(approve);
    for result in every_way(&kit, &read("./a//x/../b/"), &options).await {
        assert_eq!(result.value().unwrap().as_str(), "\"a/b\"");
    }
    let once = [
        r#"permit ["./a//x/../b/"]"#,
        "permits a/b",
        "policy a/b",
        r#"asked ["a/b"]"#,
        r#"middleware ["a/b"]"#,
        "run a/b",
    ];
    assert_eq!(journal.lines(), [once; 3].concat());
}

/// A tool that needs nothing else would take the fast path, which knows no canonical spelling.
#[tokio::test]
async fn no_path_to_a_handler_skips_the_canonical_spelling() {
    let journal = Journal::default();
    let plain = reading(&journal).unwrap();
    let renamed = plain.with_name("other").unwrap();
    let kit: Toolkit = Toolkit::from_iter([plain, renamed]).namespace("files").unwrap();
    for name in ["files__read", "files__other"] {
        let call = ToolCall::new("c1", name, r#"["a/./b"]"#);
        for result in every_way(&kit, &call, &RunOptions::new()).await {
            assert_eq!(result.value().unwrap().as_str(), "\"a/b\"");
        }
        let handled = kit.try_run_call(&call, RunOptions::new()).await.unwrap();
        assert_eq!(handled.encoded.as_str(), "\"a/b\"");
    }
    assert!(journal.lines().iter().all(|line| line == "run a/b"));
}

#[tokio::test]
async fn a_forwarded_call_has_the_canonical_spelling() {
    let forwarded = Tool::dynamic("read").params::<(String,)>().define().unwrap();
    let forwarded = forwarded.with_forward(|_: Tool, call: ToolCall, _: ForwardCx| async move {
        Ok(ToolOutput::from(json!(call.arguments)))
    });
    let kit = kit([forwarded.unwrap().canonical_argument("/0", shortest)]);
    for result in every_way(&kit, &read("a/."), &RunOptions::new()).await {
        assert_eq!(result.value().unwrap().as_str(), r#""[\"a\"]""#);
    }
}

#[tokio::test]
async fn no_decision_is_made_about_an_argument_without_canonical_spelling() {
    let journal = Journal::default();
    let kit = kit([failing(&journal, ApprovalPolicy::always())]);
    let options = RunOptions::new().permit(NoSecret(journal.clone()));
    for result in every_way(&kit, &read("../x"), &options).await {
        let failure = result.failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::InputValidationError, false));
        let issue = &failure.issues.as_slice()[0];
        assert_eq!((issue.pointer.as_str(), issue.keyword.as_str()), ("/0", "canonical"));
        assert_eq!(issue.message, "must not lead out");
    }
    assert_eq!(journal.lines(), [r#"permit ["../x"]"#; 3]);
}

/// A person approves exactly the spelling that runs, however the verdict arrives: during the run, from a queue, for a
/// plan, or for a suspended run.
#[tokio::test]
async fn approved_and_edited_calls_run_with_the_canonical_spelling() {
    for way in Way::ALL {
        let journal = Journal::default();
        let kit = kit([failing(&journal, ApprovalPolicy::always())]);
        let options = RunOptions::new().permit(NoSecret(Journal::default()));
        let approve = |request: &ApprovalRequest| {
            assert_eq!(request.arguments, r#"["a/b"]"#);
            request.approve()
        };
        assert_eq!(all_came(&way.results(&kit, &options, &[read("a//b")], approve).await), ["\"a/b\""], "{way:?}");
        let edit = |request: &ApprovalRequest| request.edit(json!(["a/../c/."]));
        assert_eq!(all_came(&way.results(&kit, &options, &[read("a//b")], edit).await), ["\"c\""], "{way:?}");
        // The rules apply to edited arguments as well.
        let edit = |request: &ApprovalRequest| request.edit(json!(["a/../secret/"]));
        let results = way.results(&kit, &options, &[read("a//b")], edit).await;
        assert_eq!(all_came(&results), ["permission_denied"], "{way:?}");
        assert!(journal.lines().iter().all(|line| ["run a/b", "run c"].contains(&line.as_str())), "{way:?}");
    }
}

#[tokio::test]
async fn an_edit_without_canonical_spelling_is_returned_to_its_author() {
    let kit = kit([failing(&Journal::default(), ApprovalPolicy::always())]);
    let run = kit.run_with([read("a")], RunOptions::new().approvals(Suspend));
    let suspended = run.collect_or_suspend().await.unwrap_err();
    let request = suspended.pending().next().unwrap();
    let fault = kit.check_verdict(&RunOptions::new(), request, &request.edit(json!([".."]))).unwrap_err();
    let VerdictFault::Invalid { issues } = fault else { panic!("{fault:?}") };
    assert_eq!(issues.as_slice()[0].message, "must not lead out");
    assert!(kit.check_verdict(&RunOptions::new(), request, &request.edit(json!(["b/"]))).is_ok());
}

/// An approval is for a resource: if the same text names another one by now, nothing runs.
#[tokio::test]
async fn an_approval_does_not_hold_for_a_resource_that_was_exchanged() {
    let (journal, is_exchanged) = (Journal::default(), Arc::new(AtomicBool::new(false)));
    let exchanged = Arc::clone(&is_exchanged);
    let follow = move |written: &str| match written {
        "link" if exchanged.load(Ordering::SeqCst) => Ok("secret".to_owned()),
        "link" => Ok("public".to_owned()),
        other => Ok::<_, String>(other.to_owned()),
    };
    let tool = failing(&journal, ApprovalPolicy::always()).unwrap().canonical_argument("/0", follow);
    let kit = kit([tool]);
    let run = kit.run_with([read("link")], RunOptions::new().approvals(Suspend));
    let suspended = run.collect_or_suspend().await.unwrap_err();
    is_exchanged.store(true, Ordering::SeqCst);
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let results = kit.resume(*suspended, verdicts).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["denied"]);
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test]
async fn refined_arguments_are_canonical_before_and_after() {
    let journal = Journal::default();
    let noted = journal.clone();
    let refined = Tool::new("read").refine(move |path: (String,), _| {
        noted.note(format!("refine {}", path.0));
        async move { Ok::<_, RefineError>((format!("{}/../{}", path.0, path.0.replace("up", "..")),)) }
    });
    let refined = refined.handler(|path: (String,), _| async move { path.0 }).unwrap();
    let kit = kit([refined.canonical_argument("/0", shortest)]);
    for result in every_way(&kit, &read("./a"), &RunOptions::new().permit(NoSecret(journal.clone()))).await {
        assert_eq!(came(&result), "\"a\"");
    }
    assert_eq!(journal.lines(), [[r#"permit ["./a"]"#, "refine a", "permits a"]; 3].concat());
    // What the function returned is its author's, and no fault of the model's.
    for result in every_way(&kit, &read("up"), &RunOptions::new()).await {
        assert_eq!(came(&result), "execution_error");
    }
}

/// An inner middleware and the handler get the canonical spelling of what an outer middleware wrote.
#[tokio::test]
async fn arguments_of_a_middleware_are_canonical() {
    let changing = |to: &'static str| {
        move |request: Request, next: Next| async move { next.run(request.with_arguments(&json!([to]))).await }
    };
    for (to, expected) in [("b//./c", "\"b/c\""), ("..", "input_validation_error"), ("a/x/..", "\"a\"")] {
        let journal = Journal::default();
        let noted = journal.clone();
        let noting = move |request: Request, next: Next| {
            noted.note(format!("saw {:?}", request.peek_arguments().map(ToString::to_string)));
            next.run(request.again())
        };
        let wrapped = reading(&journal).map(|tool| tool.wrap(noting).wrap(changing(to)));
        for result in every_way(&kit([wrapped]), &read("a"), &RunOptions::new()).await {
            assert_eq!(came(&result), expected);
        }
        let seen = shortest(to).ok().map(|path| json!([path]).to_string());
        assert_eq!(journal.lines()[0], format!("saw {seen:?}"));
    }
    // A call that was decided on may be spelled anew, and not changed.
    for (to, expected) in [("b", "denied"), ("./a/", "\"a\"")] {
        let journal = Journal::default();
        let wrapped = reading(&journal).map(|tool| tool.wrap(changing(to)));
        let options = RunOptions::new().permit(NoSecret(Journal::default()));
        for result in every_way(&kit([wrapped]), &read("a"), &options).await {
            assert_eq!(came(&result), expected);
        }
    }
}

#[tokio::test]
async fn signals_and_interactions_surface_with_the_canonical_spelling() {
    let signal = Tool::signal("read").params::<(String,)>().define().unwrap().canonical_argument("/0", shortest);
    let kit = kit([signal]);
    let options = RunOptions::new().permit(NoSecret(Journal::default()));
    for (path, expected) in
        [("x/../secret", "permission_denied"), ("a/.", "non_local_tool"), ("..", "input_validation_error")]
    {
        for result in every_way(&kit, &read(path), &options).await {
            assert_eq!(came(&result), expected);
        }
    }
    let tool = kit.get("read").unwrap();
    assert_eq!(tool.decode_args::<(String,)>(&read("a/.")).unwrap().0, "a");
    assert_eq!(tool.argument_tree(&read("a/.")).unwrap(), json!(["a"]));
    assert_eq!(tool.decode_args::<(String,)>(&read("..")).unwrap_err().kind, FailureKind::InputValidationError);
    let mut run = kit.run([read("a/.")]);
    while run.next().await.is_some() {}
    assert_eq!(run.decode_args::<(String,)>(0).unwrap().0, "a");
    assert_eq!(run.argument_tree(0).unwrap(), json!(["a"]));
}

#[tokio::test]
async fn lists_and_missing_arguments_are_covered() {
    let tool = Tool::new("t").handler(|arguments: BTreeMap<String, Value>, _| async move { json!(arguments) }).unwrap();
    let kit = kit([tool.canonical_argument("/a/b", shortest).and_then(|tool| tool.canonical_argument("/c", shortest))]);
    for (written, expected) in [
        (
            json!({"a": {"b": "x/.", "d": "x/."}, "c": ["y/.", ["./z", 1, null]]}),
            json!({"a": {"b": "x", "d": "x/."}, "c": ["y", ["z", 1, null]]}),
        ),
        (json!({}), json!({})),
        (json!({"a": [{"b": "x/."}], "c": {"c": "x/."}}), json!({"a": [{"b": "x/."}], "c": {"c": "x/."}})),
    ] {
        let result = kit.run_call(&ToolCall::new("c1", "t", written.to_string())).await;
        assert_eq!(result.value().unwrap().to_value(), expected);
    }
    let result = kit.run_call(&ToolCall::new("c1", "t", json!({"a": {"b": ".."}, "c": ["y", ".."]}).to_string())).await;
    let pointers: Vec<_> = result.failure().unwrap().issues.iter().map(|issue| issue.pointer.clone()).collect();
    assert_eq!(pointers, ["/a/b", "/c/1"]);
}

#[tokio::test]
async fn repairs_are_reported_once() {
    let options = RunOptions::new().decode_options(DecodeOptions::default().repairs(Repairs::all()));
    let tool = Tool::new("read").handler(|(path, n): (String, u8), _| async move { format!("{path} {n}") }).unwrap();
    let kit = kit([tool.canonical_argument("/0", shortest)]);
    for path in ["a", "a/."] {
        let call = ToolCall::new("c1", "read", json!([path, "5"]).to_string());
        for result in every_way(&kit, &call, &options).await {
            assert_eq!((came(&result), result.repairs.len()), ("\"a 5\"", 1));
        }
    }
}

#[test]
fn a_pointer_to_nothing_is_a_fault() {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "in": {"type": "object", "properties": {"a~b/c": {}}, "additionalProperties": false}},
        "additionalProperties": false,
    });
    let tool = Tool::dynamic("t").params_json(schema).define().unwrap();
    for pointer in ["/path", "/in/a~0b~1c", ""] {
        assert!(tool.canonical_argument(pointer, shortest).is_ok(), "{pointer}");
    }
    for pointer in ["/paht", "path", "/in/b", "/path~"] {
        let error = tool.canonical_argument(pointer, shortest).unwrap_err().to_string();
        assert!(error.contains(&format!("no argument at `{pointer}`")), "{error}");
    }
}

#[tokio::test]
async fn a_function_that_panics_fails_its_call_alone() {
    let panics = |written: &str| if written == "x" { panic!("secret") } else { Ok::<_, String>(written.to_owned()) };
    let kit = kit([reading(&Journal::default()).unwrap().canonical_argument("/0", panics)]);
    for result in every_way(&kit, &read("x"), &RunOptions::new()).await {
        let failure = result.failure().unwrap();
        assert!(!failure.started && !failure.message.contains("secret"), "{failure}");
    }
    let both = kit.run(calls([("read", r#"["x"]"#), ("read", r#"["y"]"#)])).collect_results().await;
    assert_eq!(all_came(&both)[1], "\"y\"");
}

/// However a path is spelled: the same verdict, the same digest, and the handler gets the same text.
#[test]
fn no_two_spellings_of_one_resource_are_decided_differently() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let segment = prop::sample::select(vec!["a", "secret", ".", "..", "", "b"]);
    for_all(300, prop::collection::vec(segment, 1..8), |segments| {
        let written = segments.join("/");
        let canonical = shortest(&written);
        let digests = Arc::new(Mutex::new(Vec::new()));
        let journal = Journal::default();
        let kit = kit([failing(&journal, ApprovalPolicy::always())]);
        let kept = Arc::clone(&digests);
        let approve = move |request: ApprovalRequest, _: Cx| {
            kept.lock().unwrap().push(request.digest.clone());
            ready(request.approve())
        };
        let options = RunOptions::new().permit(NoSecret(Journal::default())).approvals(approve);
        let results = |path: &str| runtime.block_on(every_way(&kit, &read(path), &options));
        let of_written = results(&written);
        match canonical {
            Err(_) => prop_assert_eq!(all_came(&of_written), ["input_validation_error"; 3]),
            Ok(canonical) => {
                prop_assert_eq!(shortest(&canonical).unwrap(), canonical.clone());
                let of_canonical = results(&canonical);
                prop_assert_eq!(all_came(&of_written), all_came(&of_canonical));
                digests.lock().unwrap().dedup();
                prop_assert!(digests.lock().unwrap().len() <= 1);
                let run = format!("run {canonical}");
                prop_assert!(journal.lines().iter().all(|line| *line == run));
            }
        }
        Ok(())
    });
}
