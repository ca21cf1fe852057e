//! No process outlives its call.
//!
//! The scripts write their processes' ids to a file, the command's first. Nothing here depends on how fast they do so:
//! every condition is polled, with a generous limit.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use haft_core::FailureKind;
use haft_executor::{Cancellation, RunOptions};
use haft_tools::command::{CommandTool, StdinFormat};
use serde_json::json;
use tempfile::TempDir;

use super::{call, kit, run, script, text};

/// A process that ignores `SIGTERM` and runs for ever, and starts two more like it.
const STUBBORN: &str = r#"
trap '' TERM
echo $$ >> pids
sh -c 'trap "" TERM; echo $$ >> pids; sh -c "echo \$\$ >> pids; while :; do sleep 100; done" & while :; do sleep 100; done' &
while :; do sleep 100; done
"#;

const LIMIT: Duration = Duration::from_secs(60);

struct Processes {
    folder: TempDir,
}

impl Processes {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn script(&self, text: &str) -> CommandTool {
        script(text).folder(self.folder.path())
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("pids")
    }

    fn ids(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.parse().ok()).collect()
    }

    /// Waits until this many processes run.
    async fn started(&self, count: usize) {
        poll(|| self.ids().len() == count).await;
        assert!(self.ids().iter().all(|&id| is_running(id)));
    }

    /// Waits until no process runs and the command was reaped.
    async fn gone(&self) {
        let ids = self.ids();
        assert!(!ids.is_empty());
        poll(|| !ids.iter().any(|&id| is_running(id)) && state(ids[0]).is_none()).await;
    }
}

async fn poll(condition: impl Fn() -> bool) {
    let polling = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(LIMIT, polling).await.unwrap();
}

/// Returns the state of a process, such as `S`; `None` if there is none.
fn state(id: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// A dead process that is not reaped does not run. The system reaps those that the command has left behind.
fn is_running(id: u32) -> bool {
    state(id).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

#[tokio::test]
async fn a_dropped_call_kills_the_whole_group() {
    for grace in [Duration::ZERO, Duration::from_millis(50)] {
        let processes = Processes::new();
        let kit = kit(processes.script(STUBBORN).grace(grace));
        let mut run = kit.run([call(&json!({}))]);
        tokio::select! {
            event = run.next() => panic!("{event:?}"),
            () = processes.started(3) => {}
        }
        drop(run);
        processes.gone().await;
    }
}

#[tokio::test]
async fn a_cancelled_call_kills_the_whole_group() {
    let processes = Processes::new();
    let kit = kit(processes.script(STUBBORN).grace(Duration::from_millis(50)));
    let cancellation = Cancellation::new();
    let mut run = kit.run_with([call(&json!({}))], RunOptions::new().cancellation(cancellation.clone()));
    tokio::select! {
        event = run.next() => panic!("{event:?}"),
        () = processes.started(3) => {}
    }
    cancellation.cancel();
    let results = run.collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, true));
    processes.gone().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_kills_the_whole_group() {
    let processes = Processes::new();
    let kit = kit(processes.script(STUBBORN));
    let mut run = kit.run([call(&json!({}))]);
    // While a task is ready, the paused clock stands still.
    let busy = async {
        while processes.ids().len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        event = run.next() => panic!("{event:?}"),
        () = busy => {}
    }
    tokio::time::advance(CommandTool::TIMEOUT).await;
    let results = run.collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, true));
    tokio::time::resume();
    processes.gone().await;
}

#[tokio::test]
async fn a_command_that_handles_sigterm_can_clean_up() {
    let processes = Processes::new();
    let command =
        processes.script("trap 'echo cleaned > note; exit 0' TERM; echo $$ >> pids; while :; do sleep 0.01; done");
    let kit = kit(command.grace(LIMIT));
    let mut run = kit.run([call(&json!({}))]);
    tokio::select! {
        event = run.next() => panic!("{event:?}"),
        () = processes.started(1) => {}
    }
    drop(run);
    processes.gone().await;
    assert_eq!(fs::read_to_string(processes.folder.path().join("note")).unwrap(), "cleaned\n");
}

#[test]
fn a_runtime_that_shuts_down_kills_at_once() {
    let processes = Processes::new();
    let kit = kit(processes.script(STUBBORN).grace(LIMIT * 60));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    first.block_on(async {
        let mut run = kit.run([call(&json!({}))]);
        tokio::select! {
            event = run.next() => panic!("{event:?}"),
            () = processes.started(3) => {}
        }
    });
    drop(first);
    // Another runtime reaps what the first one could not.
    runtime().block_on(processes.gone());
}

#[test]
fn a_call_can_be_dropped_outside_of_its_runtime() {
    let processes = Processes::new();
    let kit = kit(processes.script(STUBBORN).grace(Duration::from_millis(50)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = runtime.block_on(async {
        let mut run = kit.run([call(&json!({}))]);
        tokio::select! {
            event = run.next() => panic!("{event:?}"),
            () = processes.started(3) => {}
        }
        run
    });
    drop(run);
    runtime.block_on(processes.gone());
}

#[tokio::test]
async fn a_flood_is_capped_and_killed() {
    let processes = Processes::new();
    let command = processes.script("trap '' PIPE TERM; echo $$ >> pids; while :; do echo flood; done 2> /dev/null");
    let result = run(command.max_stdout(100_000).grace(Duration::from_millis(50)), json!({})).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::OutputTooLarge);
    assert_eq!(state(processes.ids()[0]), None, "it was reaped before the result");
}

#[tokio::test]
async fn a_command_that_neither_reads_nor_ends_is_killed() {
    let processes = Processes::new();
    let kit = kit(processes.script(STUBBORN).stdin(StdinFormat::Json).grace(Duration::ZERO));
    let arguments = json!({"text": "x".repeat(1 << 20)});
    let mut run = kit.run([call(&arguments)]);
    tokio::select! {
        event = run.next() => panic!("{event:?}"),
        () = processes.started(3) => {}
    }
    run.cancel();
    assert_eq!(run.collect_results().await[0].failure().unwrap().kind, FailureKind::Cancelled);
    processes.gone().await;
}

#[tokio::test]
async fn processes_that_are_left_behind_are_killed_and_do_not_delay_the_result() {
    for redirection in ["", "> /dev/null 2>&1"] {
        let processes = Processes::new();
        let left = format!(
            "echo $$ >> pids; sh -c 'echo $$ >> pids; exec sleep 1000' {redirection} & \
             while [ \"$(wc -l < pids)\" -lt 2 ]; do sleep 0.01; done; echo done"
        );
        let result = tokio::time::timeout(LIMIT, run(processes.script(&left), json!({}))).await.unwrap();
        assert_eq!(text(&result), "done");
        processes.gone().await;
    }
}

#[tokio::test]
async fn a_process_that_left_the_group_does_not_delay_the_result() {
    let processes = Processes::new();
    let escaped =
        "setsid sh -c 'echo $$ >> pids; exec sleep 1000' & while [ ! -s pids ]; do sleep 0.01; done; echo done";
    let result = tokio::time::timeout(LIMIT, run(processes.script(escaped), json!({}))).await.unwrap();
    assert_eq!(text(&result), "done");
    // This is the documented limit: the process runs on.
    let id = processes.ids()[0];
    assert!(is_running(id));
    assert!(run(CommandTool::new(["kill", "-9", &id.to_string()]), json!({})).await.is_ok());
    poll(|| !is_running(id)).await;
}
