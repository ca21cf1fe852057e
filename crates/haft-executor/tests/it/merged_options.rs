//! Options of a conversation, combined with those of the loop or server around it: no check is lost, the stricter limit
//! applies, and other values of the conversation are used.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{ApprovalRequest, Caller, FailureKind, Timestamp, ToolCall, ToolResult};
use haft_executor::{
    ApprovalPolicy, Cancellation, Cx, OnOverflow, OutputCap, Permission, RunOptions, Services, Tool, Toolkit,
};
use haft_schema::{DecodeOptions, DuplicateKeys, Limits, Repairs};
use tokio::time::Instant;

type Set = fn(RunOptions, Duration) -> RunOptions;
type Log = Arc<Mutex<Vec<&'static str>>>;

fn kit() -> Toolkit {
    let tools = [
        Tool::new("who").handler(|(), cx: Cx| async move { cx.caller().map(Caller::to_string) }),
        Tool::new("wait").handler(|(), _cx| std::future::pending::<()>()),
        Tool::new("long").handler(|(), _cx| async { "x".repeat(100) }),
        Tool::new("service").handler(|(), cx: Cx| async move {
            let number = cx.service::<u32>().copied().unwrap_or_default();
            let word = cx.service::<String>().cloned().unwrap_or_default();
            let extension = cx.extension::<char>().copied().unwrap_or('-');
            format!("{number} {word} {extension}")
        }),
        Tool::new("strict").needs_approval(ApprovalPolicy::always()).handler(|(), _cx| async { "done" }),
        Tool::new("run_id").handler(|(), cx: Cx| async move { cx.run_id().to_string() }),
    ];
    tools.into_iter().map(Result::unwrap).collect()
}

async fn result(name: &str, options: &RunOptions) -> ToolResult {
    kit().run_call_with(&ToolCall::new("c1", name, ""), options).await
}

async fn text(name: &str, options: &RunOptions) -> String {
    result(name, options).await.to_model_text()
}

fn kind(result: &ToolResult) -> Option<FailureKind> {
    result.failure().map(|failure| failure.kind.clone())
}

fn noted(log: &Log, word: &'static str) -> impl Fn() + Send + Sync + use<> {
    let log = Arc::clone(log);
    move || log.lock().unwrap().push(word)
}

#[tokio::test(start_paused = true)]
async fn permits_policies_observers_and_auditors_add_up() {
    let log = Log::default();
    let seen = |word| {
        let note = noted(&log, word);
        move |_: &Tool, _: &ToolCall, _: &Cx| {
            note();
            Permission::Allowed
        }
    };
    let options = |permit, observer, auditor| {
        let (observed, audited) = (noted(&log, observer), noted(&log, auditor));
        RunOptions::new().permit(seen(permit)).observe(move |_| observed()).audit(move |_| audited())
    };
    let asked = |request: ApprovalRequest, _: Cx| async move { request.approve() };
    let wide = options("permit 1", "observer 1", "auditor 1").approvals(asked);
    let merged = wide.merge(options("permit 2", "observer 2", "auditor 2"));
    assert_eq!(text("strict", &merged).await, "done");
    let mut words = std::mem::take(&mut *log.lock().unwrap());
    words.dedup();
    for word in ["permit 1", "permit 2", "observer 1", "observer 2", "auditor 1", "auditor 2"] {
        assert!(words.contains(&word), "{word} is missing from {words:?}");
    }
    let first = |word| words.iter().position(|it| *it == word);
    assert!(first("permit 1") < first("permit 2"), "in order: {words:?}");
}

#[tokio::test(start_paused = true)]
async fn a_check_of_either_set_holds() {
    let denies = || RunOptions::new().permit(|_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("no"));
    let requires = || RunOptions::new().policy(ApprovalPolicy::always());
    let none = RunOptions::new;
    for (merged, expected) in [
        (none().merge(none()), None),
        (denies().merge(none()), Some(FailureKind::PermissionDenied)),
        (none().merge(denies()), Some(FailureKind::PermissionDenied)),
        (requires().merge(none()), Some(FailureKind::Denied)),
        (none().merge(requires()), Some(FailureKind::Denied)),
    ] {
        assert_eq!(kind(&result("who", &merged).await), expected);
    }
    // The policies of the tools are disabled if either set disables them.
    let instead = || RunOptions::new().policy_instead(ApprovalPolicy::never());
    for (merged, expected) in [
        (none().merge(none()), Some(FailureKind::Denied)),
        (instead().merge(none()), None),
        (none().merge(instead()), None),
        (instead().merge(requires()), Some(FailureKind::Denied)),
    ] {
        assert_eq!(kind(&result("strict", &merged).await), expected);
    }
}

/// Returns the time that a call takes which never ends by itself.
async fn time_of(options: &RunOptions) -> u64 {
    let start = Instant::now();
    assert_eq!(kind(&result("wait", options).await), Some(FailureKind::TimedOut));
    start.elapsed().as_secs()
}

#[tokio::test(start_paused = true)]
async fn the_stricter_limit_applies() {
    let secs = Duration::from_secs;
    let sets: [Set; 4] =
        [RunOptions::call_timeout, RunOptions::call_idle_timeout, RunOptions::timeout, |options, after| {
            options.deadline(Instant::now() + after)
        }];
    for set in sets {
        for (wide, narrow, expected) in
            [(Some(5), Some(3), 3), (Some(3), Some(5), 3), (Some(4), None, 4), (None, Some(4), 4)]
        {
            let with =
                |limit: Option<u64>| limit.map_or_else(RunOptions::new, |limit| set(RunOptions::new(), secs(limit)));
            assert_eq!(time_of(&with(wide).merge(with(narrow))).await, expected, "{wide:?} {narrow:?}");
        }
    }
    // A moment and a timeout can be compared only when the run starts.
    let at = |limit| RunOptions::new().deadline(Instant::now() + secs(limit));
    let after = |limit| RunOptions::new().timeout(secs(limit));
    assert_eq!(time_of(&at(5).merge(after(3))).await, 3);
    assert_eq!(time_of(&after(5).merge(at(3))).await, 3);
    assert_eq!(time_of(&at(9).merge(after(8)).merge(at(7)).merge(after(6))).await, 6);

    let cap = |bytes| {
        RunOptions::new().output_cap(OutputCap::new(NonZeroUsize::new(bytes).unwrap()).on_overflow(OnOverflow::Fail))
    };
    for (wide, narrow, expected) in [(50, 500, true), (500, 50, true), (500, 600, false)] {
        let failed = kind(&result("long", &cap(wide).merge(cap(narrow))).await) == Some(FailureKind::OutputTooLarge);
        assert_eq!(failed, expected, "{wide} {narrow}");
    }

    let calls = || ["c1", "c2", "c3"].map(|id| ToolCall::new(id, "wait", ""));
    for (wide, narrow, expected) in [(1, 2, 1), (2, 1, 1), (0, 2, 2), (2, 0, 2), (0, 0, 3)] {
        let options = RunOptions::new().concurrency(wide).merge(RunOptions::new().concurrency(narrow)).started_events();
        let mut run = kit().run_with(calls(), options.timeout(secs(1)));
        let mut started = 0;
        while let Some(event) = run.next().await {
            started += u32::from(matches!(event, haft_core::ToolEvent::Started { .. }));
        }
        assert_eq!(started, expected, "{wide} {narrow}: zero means no limit");
    }
}

#[tokio::test(start_paused = true)]
async fn other_values_of_the_narrower_set_replace_those_of_the_wider() {
    let named = |caller| RunOptions::new().caller(caller);
    assert_eq!(text("who", &named("wide").merge(named("narrow"))).await, "narrow");
    assert_eq!(text("who", &named("wide").merge(RunOptions::new())).await, "wide");
    assert_eq!(text("who", &named("wide").merge(RunOptions::new().extension('x'))).await, "wide");

    let wide = RunOptions::new().services(Services::new().with(1_u32).with("wide".to_owned())).extension('w');
    let narrow = RunOptions::new().services(Services::new().with("narrow".to_owned()));
    assert_eq!(text("service", &wide.clone().merge(narrow.clone())).await, "1 narrow w");
    assert_eq!(text("service", &narrow.merge(wide)).await, "1 wide w");

    let identified = |id: &str| RunOptions::new().run_id(id);
    assert_eq!(text("run_id", &identified("wide").merge(identified("narrow"))).await, "narrow");
    assert_eq!(text("run_id", &identified("wide").merge(RunOptions::new())).await, "wide");

    let says = |word: &'static str| {
        RunOptions::new().approvals(move |request: ApprovalRequest, _: Cx| async move { request.deny(word) })
    };
    assert!(text("strict", &says("wide").merge(says("narrow"))).await.contains("narrow"));
    assert!(text("strict", &says("wide").merge(RunOptions::new())).await.contains("wide"));
}

#[tokio::test(start_paused = true)]
async fn the_shorter_lifetime_and_the_narrower_clock_decide_about_expiry() {
    let lives = |millis| RunOptions::new().approval_lifetime(Duration::from_millis(millis));
    let at = |millis| RunOptions::new().approval_clock(move || Timestamp::from_unix_millis(millis));
    for (wide, narrow) in
        [(lives(5).merge(at(1)), lives(9)), (lives(9).merge(at(1)), lives(5)), (at(9).merge(lives(5)), at(1))]
    {
        let seen = Arc::new(Mutex::new(None));
        let expiry = Arc::clone(&seen);
        let asked = move |request: ApprovalRequest, _: Cx| {
            *expiry.lock().unwrap() = request.expires_at;
            async move { request.approve() }
        };
        assert_eq!(text("strict", &wide.merge(narrow).approvals(asked)).await, "done");
        assert_eq!(*seen.lock().unwrap(), Some(Timestamp::from_unix_millis(6)));
    }
}

#[tokio::test(start_paused = true)]
async fn either_cancellation_ends_the_run() {
    for raised in 0..3 {
        let flags: [Cancellation; 3] = Default::default();
        let [first, second, narrow] = flags.clone();
        let wide = RunOptions::new().cancellation(first).cancellation(second);
        let options = wide.merge(RunOptions::new().cancellation(narrow)).timeout(Duration::from_secs(1));
        let (result, ()) = tokio::join!(result("wait", &options), async { flags[raised].cancel() });
        assert_eq!(kind(&result), Some(FailureKind::Cancelled), "{raised}");
        // A run that is created later does not start.
        assert_eq!(kind(&self::result("who", &options).await), Some(FailureKind::Cancelled), "{raised}");
    }
}

#[tokio::test(start_paused = true)]
async fn limits_of_the_text_are_kept_beside_repairs() {
    let decoding = |options| RunOptions::new().decode_options(options);
    let limited = |bytes| decoding(DecodeOptions::default().limits(Limits::default().max_bytes(bytes)));
    let repairing = || decoding(DecodeOptions::default().repairs(Repairs::all()));
    let lenient =
        || decoding(DecodeOptions::default().limits(Limits::default().duplicate_keys(DuplicateKeys::LastWins)));
    let add: Toolkit = Toolkit::from_iter([Tool::new("add").handler(|(n,): (u64,), _cx| async move { n }).unwrap()]);
    for (options, text, is_accepted) in [
        (limited(5).merge(repairing()), "[1234]", false),
        (repairing().merge(limited(5)), "[1234]", false),
        (limited(5).merge(repairing()), r#"["1"]"#, true),
        (repairing().merge(limited(5)), r#"["1"]"#, true),
        (limited(5).merge(limited(9)), "[1234]", false),
        (limited(9).merge(limited(5)), "[1234]", false),
        (limited(5).merge(RunOptions::new()), "[1234]", false),
        (limited(5).merge(lenient()), "[1234]", false),
        (RunOptions::new().merge(limited(5)), "[1234]", false),
        (limited(9).merge(RunOptions::new()), "[1234]", true),
    ] {
        let result = add.run_call_with(&ToolCall::new("c1", "add", text), &options).await;
        assert_eq!(result.is_ok(), is_accepted, "{text} {result:?}");
    }
}

#[tokio::test]
async fn auditors_of_one_set_add_up_too() {
    let log = Log::default();
    let (first, second) = (noted(&log, "first"), noted(&log, "second"));
    let options = RunOptions::new()
        .permit(|_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("no"))
        .audit(move |_| {
            first();
            panic!("an auditor that fails");
        })
        .audit(move |_| second());
    assert_eq!(kind(&result("who", &options).await), Some(FailureKind::PermissionDenied));
    assert_eq!(*log.lock().unwrap(), ["first", "second"]);
}
