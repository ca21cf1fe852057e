//! The lines between the two processes, one JSON value each, and the two ends of a connection.

use std::io::{BufRead, Write};
use std::thread;

use haft::approval::ApprovalResponse;
use haft::run::{ToolCall, ToolEvent};
use haft::tool::ToolDescriptor;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A line to the process that has the tools.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Command {
    /// Asks for the tools.
    List,
    /// Runs a call. The number identifies it on the connection: ids of calls are unique in a turn only.
    Call { number: u64, call: ToolCall },
    /// Answers the approval request of a call.
    Verdict { number: u64, response: ApprovalResponse },
    /// Cancels a call.
    Cancel { number: u64 },
}

/// A line from the process that has the tools.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Report {
    /// The tools, as an answer to [`Command::List`].
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
pub(crate) struct LineSender(UnboundedSender<String>);

/// The other side is gone: the line was not sent.
#[derive(Debug)]
pub(crate) struct Closed;

impl Link {
    /// Connects to a pair of pipes, with a thread for each.
    pub(crate) fn over(read: impl BufRead + Send + 'static, mut write: impl Write + Send + 'static) -> Self {
        let (received, incoming) = unbounded_channel();
        let (outgoing, mut to_send) = unbounded_channel::<String>();
        thread::spawn(move || read.lines().map_while(Result::ok).try_for_each(|line| received.send(line)).ok());
        thread::spawn(move || {
            while let Some(line) = to_send.blocking_recv() {
                if writeln!(write, "{line}").and_then(|()| write.flush()).is_err() {
                    break;
                }
            }
        });
        Self { incoming, outgoing: LineSender(outgoing) }
    }
}

impl LineSender {
    /// Sends a value as one line.
    pub(crate) fn send(&self, value: &impl Serialize) -> Result<(), Closed> {
        let line = serde_json::to_string(value).map_err(|_| Closed)?;
        self.0.send(line).map_err(|_| Closed)
    }
}
