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
use haft::approval::{ApprovalRequest, ApprovalResponse};
use haft::run::Dispatch;
use haft::tool::{BoxError, Cx};
use haft::toolkit::{SharedToolkit, ToolSource};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::case::{Case, Ran, read};
use super::client::connect;
use super::process::{Pipes, ToolProcess, serves_tools};
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

/// The tools of a row in another process.
struct RemoteRow {
    process: ToolProcess,
    source: SharedToolkit,
    backlog: Arc<Backlog>,
    connection: JoinHandle<()>,
    writer: JoinHandle<()>,
    ended: oneshot::Receiver<usize>,
}

/// Checks a row alone, and among its siblings with handlers in tasks.
pub(super) fn hold(test: &str, row: impl Fn(&Ran) -> Case) {
    if serves_tools() {
        return serve_row(&row);
    }
    let [alone, .., among_siblings] = Way::ALL;
    for way in [alone, among_siblings] {
        let ran = Ran::default();
        let run = async {
            let case = adjusted(test, row(&ran)).ignoring_causes();
            let remote = RemoteRow::start(test, &case).await;
            let calls = case.all_calls(way).into_iter().map(Into::into).collect();
            let run = remote.source.run_calls(calls, way.options(case.options.clone()));
            let events = read(run, case.reader.clone()).await;
            for _ in 0..remote.end().await {
                ran.note();
            }
            (case, events)
        };
        let ended = paused().block_on(async { timeout(FOREVER, run).await });
        let (case, events) = ended.unwrap_or_else(|_| panic!("{way:?}: the run never ends"));
        case.check(way, &ran, &events);
    }
}

/// Changes what a row expects where another process makes a difference.
fn adjusted(test: &str, case: Case) -> Case {
    let name = test.rsplit("::").next().unwrap_or_default();
    match name {
        // The other side always has an approver, which is connected to the one here. The words are those of its failure.
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
    async fn start(test: &str, case: &Case) -> Self {
        let (process, Pipes { stdin, stdout, stderr }) = ToolProcess::start(test);
        thread::spawn(move || stderr.lines().for_each(drop));
        let backlog = Arc::<Backlog>::default();
        backlog.begin(|_| {});
        let (link, writer, ended) = link(&backlog, stdin, stdout);
        let approver = case.approver.clone();
        let approver = move |request: ApprovalRequest, cx: Cx| match &approver {
            Some(approver) => approver(request, cx),
            None => async { Err::<ApprovalResponse, BoxError>("nobody is there".into()) }.boxed(),
        };
        let source = SharedToolkit::default();
        let connection = tokio::spawn(connect(source.clone(), link, approver));
        source.changed(0).await;
        Self { process, source, backlog, connection, writer, ended }
    }

    /// Ends the process, and returns how often the counting handler ran.
    async fn end(self) -> usize {
        let Self { mut process, source, backlog, connection, writer, ended } = self;
        writer.abort();
        drop(writer.await);
        spawn_blocking(move || {
            backlog.wait(|state| state.is_gone);
            process.wait();
        })
        .await
        .unwrap();
        connection.await.unwrap();
        assert!(source.snapshot().toolkit().is_empty(), "the tools are gone with their process");
        ended.await.unwrap()
    }
}

/// Connects to the process. Notes about it are not part of the connection.
fn link(
    backlog: &Arc<Backlog>,
    mut stdin: impl Write + Send + 'static,
    stdout: impl BufRead + Send + 'static,
) -> (Link, JoinHandle<()>, oneshot::Receiver<usize>) {
    let (sender, incoming) = unbounded_channel();
    let (end, ended) = oneshot::channel();
    let reported = Arc::clone(backlog);
    thread::spawn(move || {
        let mut end = Some(end);
        for line in stdout.lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(Note::Idle { received }) => reported.change(|state| state.worked_off = Some(received)),
                Ok(Note::Ended { ran }) => drop(end.take().unwrap().send(ran)),
                Err(_) => drop(sender.send(line)),
            }
        }
        drop(sender);
        reported.change(|state| state.is_gone = true);
    });
    let (outgoing, mut lines) = LineSender::channel();
    let backlog = Arc::clone(backlog);
    let writer = tokio::spawn(async move {
        while let Some(OutgoingLine { text, written }) = lines.recv().await {
            backlog.begin(|state| state.sent += 1);
            if writeln!(stdin, "{text}").is_err() {
                return;
            }
            written.send(()).ok();
        }
    });
    (Link { incoming, outgoing }, writer, ended)
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
