//! Messages as lines of a program's standard input and output.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::message;
use super::slot::Slot;
use super::tap::{EndReason, Tap};

/// The lines of one program.
pub(crate) struct LineTransport<R, W> {
    reader: BufReader<R>,
    /// The beginning of a line. It is kept here because rmcp drops the future of [`Transport::receive`] at any time.
    line: Vec<u8>,
    limit: usize,
    /// `None` after the end.
    writer: Arc<Mutex<Option<W>>>,
    tap: Arc<Tap>,
}

/// A line that can't be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error("a message can't be written as JSON")]
    Encode(#[from] serde_json::Error),
    /// The line was not sent to its end, so the server does not act on it.
    #[error("the server reads no more input")]
    Write(#[from] io::Error),
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(crate) fn new(reader: R, writer: W, limit: usize, tap: Arc<Tap>) -> Self {
        let writer = Arc::new(Mutex::new(Some(writer)));
        Self { reader: BufReader::new(reader), line: Vec::new(), limit, writer, tap }
    }

    /// Reads to the end of a line. Returns `false` at the end of the output.
    async fn read_line(&mut self) -> bool {
        loop {
            // Nothing is consumed if this future is dropped while it waits here, and nothing waits after this.
            let Ok(available) = self.reader.fill_buf().await else { return false };
            if available.is_empty() {
                return false;
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.line.len() + taken > self.limit {
                self.line = Vec::new();
                self.tap.end(EndReason::TooLarge(self.limit));
                return false;
            }
            self.line.extend_from_slice(&available[..taken]);
            self.reader.consume(taken);
            if end.is_some() {
                return true;
            }
        }
    }
}

fn set_sent(slot: Option<&Slot>, is_sent: bool) {
    if let Some(slot) = slot {
        slot.set_sent(is_sent);
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = LineError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let text = self.tap.outgoing(&message);
        let slot = message::slot(&message).map(|(slot, ..)| slot);
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = text?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let open = writer.as_mut().ok_or(io::ErrorKind::BrokenPipe).map_err(io::Error::from)?;
            // If this future is dropped while it writes, nobody knows how much the server got.
            set_sent(slot.as_ref(), true);
            let written = async { open.write_all(&line).await.and(open.flush().await) }.await;
            if written.is_err() {
                set_sent(slot.as_ref(), false);
            }
            Ok(written?)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while self.tap.end_reason().is_none() && self.read_line().await {
            let message = self.tap.incoming(self.line.trim_ascii());
            self.line.clear();
            // One huge line must not keep its memory.
            self.line.shrink_to(64 * 1024);
            if message.is_some() {
                return message;
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.writer.lock().await.take());
        Ok(())
    }
}
