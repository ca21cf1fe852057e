//! Checking a row of the executor's table with its tools in another process.
//!
//! The clocks of both processes are paused: each advances by itself when its process has nothing to do. That of this
//! process must not advance while the other one works on a line, so the other one reports when it is idle ([`Note`]).
//! Until then a thread waits for it, and tokio advances no paused clock while one of its blocking threads works.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use haft::approval::{ApprovalRequest, Verdict};
use haft::run::{Dispatch, FailureKind, ToolEvent, ToolResult};
use haft::tool::{BoxError, Cx};
use haft::toolkit::{SharedToolkit, ToolSource};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::case::{Case, Ran, read};
use super::client::connect;
use super::process::{Pipes, ToolProcess, serves_tools};
use super::record;
use super::server::serve;
use super::way::{Way, paused};
use super::wire::{LineSender, Link, OutgoingLine};

/// A duration longer than any row takes.
const FOREVER: Duration = Duration::from_secs(100 * 24 * 3600);

/// A line about the process with the tools itself.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Note {
    /// It has nothing more to do, after this many lines.
    Idle { received: u64 },
    /// It ends; the counting handler ran this often.
    Ended { ran: usize },
}

/// The lines that the other process has received and is known to have worked off.
#[derive(Default)]
struct Backlog {
    state: Mutex<BacklogState>,
    changed: Condvar,
}

#[derive(Default)]
struct BacklogState {
    sent: u64,
    /// Unset before the first report.
    worked_off: Option<u64>,
    is_gone: bool,
    is_awaited: bool,
}

/// The moment at which the process with the tools is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    Never,
    /// Before the calls, which use the tools of before.
    Before,
    /// During the calls: after the first line was written to it.
    During,
}

/// The tools of a row in another process.
struct RemoteRow {
    process: Arc<Mutex<ToolProcess>>,
    source: SharedToolkit,
    backlog: Arc<Backlog>,
    connection: JoinHandle<()>,
    writer: JoinHandle<()>,
    ended: oneshot::Receiver<usize>,
}

/// The run of a row, read to its end.
struct Ended {
    case: Case,
    events: Vec<ToolEvent>,
    ran: Ran,
}

/// Checks a row alone, and among its siblings with handlers in tasks; then that each call still has one result, and a
/// true one, if the process is killed.
pub(super) fn hold(test: &str, row: impl Fn(&Ran) -> Case) {
    if serves_tools() {
        return serve_row(&row);
    }
    let [alone, .., among_siblings] = Way::ALL;
    for way in [alone, among_siblings] {
        let Ended { case, events, ran } = run(test, way, Killed::Never, &row);
        case.check(way, &ran, &events);
    }
    for killed in [Killed::Before, Killed::During] {
        let Ended { case, events, .. } = run(test, among_siblings, killed, &row);
        let checked = record::check(&case.all_calls(among_siblings), &events);
        checked.unwrap_or_else(|breach| panic!("{killed:?}: {breach}\n{events:#?}"));
        events.iter().filter_map(ToolEvent::result).for_each(|result| check_killed(killed, result));
    }
}

/// Runs the calls of a row on its tools in another process.
fn run(test: &str, way: Way, killed: Killed, row: impl Fn(&Ran) -> Case) -> Ended {
    let run = async {
        let ran = Ran::default();
        let case = adjusted(test, row(&ran)).ignoring_causes();
        let remote = RemoteRow::start(test, &case, killed).await;
        let tools = remote.source.snapshot();
        if killed == Killed::Before {
            remote.process.lock().unwrap().kill();
            let backlog = Arc::clone(&remote.backlog);
            spawn_blocking(move || backlog.wait(|state| state.is_gone)).await.unwrap();
            remote.source.changed(tools.generation()).await;
        }
        let calls = case.all_calls(way).into_iter().map(Into::into).collect();
        let run = tools.toolkit().run_calls(calls, way.options(case.options.clone()));
        let events = read(run, case.reader.clone()).await;
        remote.end(killed, &ran).await;
        Ended { case, events, ran }
    };
    let ended = paused().block_on(async { timeout(FOREVER, run).await });
    ended.unwrap_or_else(|_| panic!("{way:?}, {killed:?}: the run never ends"))
}

/// Checks the result of a call whose process was killed.
fn check_killed(killed: Killed, result: &ToolResult) {
    let Some(failure) = result.failure() else {
        assert_eq!(killed, Killed::During, "a call without a process succeeded: {result:?}");
        return;
    };
    let (may_have_run, is_unknown) = (killed == Killed::During, failure.kind == FailureKind::OutcomeUnknown);
    assert!(may_have_run || !failure.started, "{failure:?}");
    assert!(!is_unknown || (failure.started && !failure.retryable), "{failure:?}");
}

/// Changes what a row expects where another process makes a difference.
fn adjusted(test: &str, case: Case) -> Case {
    let name = test.rsplit("::").next().unwrap_or_default();
    match name {
        // The other side always has an approver, which is connected to the one here. The words are those of its
        // failure.
        "no_approver" => case.saying(&["approval"]),
        // Concurrency is limited in each run, and the other side has a run for each call.
        "deadline_while_it_waits_for_a_slot" | "cancel_while_it_waits_for_a_slot" => case.gives(()).having_run(1),
        _ => case,
    }
}

/// Serves the tools of a row.
fn serve_row(row: &impl Fn(&Ran) -> Case) {
    paused().block_on(async {
        let ran = Ran::default();
        let case = row(&ran);
        let Link { incoming: mut lines, outgoing } = Link::over(BufReader::new(stdin()), stdout());
        let (notes, (sender, incoming)) = (outgoing.clone(), unbounded_channel());
        tokio::spawn(async move {
            let mut received = 0;
            loop {
                let line = match timeout(FOREVER, lines.recv()).await {
                    Ok(line) => line,
                    Err(_) => {
                        notes.post(&Note::Idle { received }).unwrap();
                        lines.recv().await
                    }
                };
                let Some(line) = line else { return };
                received += 1;
                sender.send(line).unwrap();
            }
        });
        serve(&case.toolkit(), Link { incoming, outgoing: outgoing.clone() }).await;
        outgoing.send(&Note::Ended { ran: ran.times() }).await.unwrap();
    });
}

impl RemoteRow {
    /// Starts the process, and waits for its tools.
    async fn start(test: &str, case: &Case, killed: Killed) -> Self {
        let (process, Pipes { stdin, stdout, stderr }) = ToolProcess::start(test);
        let process = Arc::new(Mutex::new(process));
        thread::spawn(move || stderr.lines().for_each(drop));
        let backlog = Arc::<Backlog>::default();
        backlog.begin(|_| {});
        let (incoming, ended) = read_lines(&backlog, stdout);
        let (outgoing, lines) = LineSender::channel();
        let to_kill = (killed == Killed::During).then(|| Arc::clone(&process));
        let writer = tokio::spawn(write_lines(Arc::clone(&backlog), lines, stdin, to_kill));
        let approver = case.approver.clone();
        let approver = move |request: ApprovalRequest, cx: Cx| match &approver {
            Some(approver) => approver(request, cx),
            None => async { Err::<Verdict, BoxError>("nobody is there".into()) }.boxed(),
        };
        let source = SharedToolkit::default();
        let connection = tokio::spawn(connect(source.clone(), Link { incoming, outgoing }, approver));
        source.changed(0).await;
        Self { process, source, backlog, connection, writer, ended }
    }

    /// Ends the process, and passes on how often the counting handler ran there.
    async fn end(self, killed: Killed, ran: &Ran) {
        let Self { process, source, backlog, connection, writer, ended } = self;
        writer.abort();
        drop(writer.await);
        spawn_blocking(move || {
            backlog.wait(|state| state.is_gone);
            match killed {
                Killed::Never => process.lock().unwrap().wait(),
                Killed::Before | Killed::During => drop(process),
            }
        })
        .await
        .unwrap();
        connection.await.unwrap();
        assert!(source.snapshot().toolkit().is_empty(), "the tools are gone with their process");
        if killed == Killed::Never {
            (0..ended.await.unwrap()).for_each(|_| ran.note());
        }
    }
}

/// Reads the lines of the process, and notes how often the counting handler ran. Notes are not part of the connection.
fn read_lines(
    backlog: &Arc<Backlog>,
    stdout: impl BufRead + Send + 'static,
) -> (UnboundedReceiver<String>, oneshot::Receiver<usize>) {
    let (sender, incoming) = unbounded_channel();
    let (end, ended) = oneshot::channel();
    let backlog = Arc::clone(backlog);
    thread::spawn(move || {
        let mut end = Some(end);
        for line in stdout.lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(Note::Idle { received }) => backlog.change(|state| state.worked_off = Some(received)),
                Ok(Note::Ended { ran }) => drop(end.take().unwrap().send(ran)),
                Err(_) => drop(sender.send(line)),
            }
        }
        drop(sender);
        backlog.change(|state| state.is_gone = true);
    });
    (incoming, ended)
}

/// Writes lines to the process, and kills it after the first one if it is given.
async fn write_lines(
    backlog: Arc<Backlog>,
    mut lines: UnboundedReceiver<OutgoingLine>,
    mut stdin: impl Write,
    mut to_kill: Option<Arc<Mutex<ToolProcess>>>,
) {
    while let Some(OutgoingLine { text, written }) = lines.recv().await {
        backlog.begin(|state| state.sent += 1);
        if writeln!(stdin, "{text}").is_err() {
            return;
        }
        written.send(()).ok();
        if let Some(process) = to_kill.take() {
            process.lock().unwrap().kill();
        }
    }
}

impl Backlog {
    /// Stops the clock until the other process has worked off all lines.
    fn begin(self: &Arc<Self>, change: impl FnOnce(&mut BacklogState)) {
        let mut state = self.state.lock().unwrap();
        change(&mut state);
        if !std::mem::replace(&mut state.is_awaited, true) {
            let backlog = Arc::clone(self);
            spawn_blocking(move || {
                backlog.wait(|state| {
                    let is_idle = state.is_gone || state.worked_off.is_some_and(|count| count >= state.sent);
                    state.is_awaited = !is_idle;
                    is_idle
                });
            });
        }
    }

    fn change(&self, change: impl FnOnce(&mut BacklogState)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    fn wait(&self, mut is_over: impl FnMut(&mut BacklogState) -> bool) {
        drop(self.changed.wait_while(self.state.lock().unwrap(), |state| !is_over(state)).unwrap());
    }
}
