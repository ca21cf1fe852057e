//! The lines between the two processes, one JSON value each, and the two ends of a connection.

use std::io::{BufRead, Write};
use std::thread;

use haft::approval::Verdict;
use haft::run::{RunId, ToolCall, ToolEvent};
use haft::tool::ToolDescriptor;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// A line to the process that has the tools. The number of a call identifies it on the connection: ids of calls are
/// unique in a turn only.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Command {
    /// Runs a call. With the id of its run, its idempotency key is the same on both sides.
    Call { number: u64, run_id: RunId, call: ToolCall },
    /// Answers the approval request of a call.
    Verdict { number: u64, response: Verdict },
    /// Reports that the approval request of a call will not be answered.
    NoVerdict { number: u64 },
    /// Cancels a call.
    Cancel { number: u64 },
}

/// A line from the process that has the tools.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Report {
    /// The current tools: the first line, and again when they change.
    Tools { tools: Vec<ToolDescriptor> },
    /// An event of a call. The last one is its output.
    Event { number: u64, event: ToolEvent },
}

/// One end of a connection. The incoming lines end when the other side is gone.
pub(crate) struct Link {
    pub(crate) incoming: UnboundedReceiver<String>,
    pub(crate) outgoing: LineSender,
}

/// The sending half of a connection.
#[derive(Clone)]
pub(crate) struct LineSender(UnboundedSender<OutgoingLine>);

/// A line to be written, and where to report that it was.
pub(crate) struct OutgoingLine {
    pub(crate) text: String,
    pub(crate) written: oneshot::Sender<()>,
}

/// The other side is gone: the line was not written as a whole, so nothing has read it.
#[derive(Debug)]
pub(crate) struct Closed;

impl Link {
    /// Connects to a pair of pipes, with a thread for each.
    pub(crate) fn over(read: impl BufRead + Send + 'static, mut write: impl Write + Send + 'static) -> Self {
        let (received, incoming) = unbounded_channel();
        let (outgoing, mut lines) = LineSender::channel();
        thread::spawn(move || read.lines().map_while(Result::ok).try_for_each(|line| received.send(line)).ok());
        thread::spawn(move || {
            while let Some(OutgoingLine { text, written }) = lines.blocking_recv() {
                if writeln!(write, "{text}").and_then(|()| write.flush()).is_err() {
                    break;
                }
                written.send(()).ok();
            }
        });
        Self { incoming, outgoing }
    }
}

impl LineSender {
    /// Creates a sender, and the receiver for whatever writes the lines.
    pub(crate) fn channel() -> (Self, UnboundedReceiver<OutgoingLine>) {
        let (sender, lines) = unbounded_channel();
        (Self(sender), lines)
    }

    /// Sends a value as one line, and waits until it is written.
    pub(crate) async fn send(&self, value: &impl Serialize) -> Result<(), Closed> {
        self.post(value)?.await.map_err(|_| Closed)
    }

    /// Sends a value as one line. The receiver completes when it is written.
    pub(crate) fn post(&self, value: &impl Serialize) -> Result<oneshot::Receiver<()>, Closed> {
        let text = serde_json::to_string(value).map_err(|_| Closed)?;
        let (written, receiver) = oneshot::channel();
        self.0.send(OutgoingLine { text, written }).map_err(|_| Closed)?;
        Ok(receiver)
    }
}
