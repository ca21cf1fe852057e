//! Reads from a pipe that may never end.
//!
//! A pipe ends when every process that holds it has closed it. A process that left its command's group can hold it for
//! ever, so reading ends some time after the command has exited. What is in the pipe by then is read to the end: only
//! waiting is limited, however slowly the progress is consumed.

use std::time::Duration;

use haft_executor::Cancellation;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::sleep;

/// The time that a read waits after the pipe was released.
const LAST_WAIT: Duration = Duration::from_millis(50);

/// A pipe from a command, which may be missing.
pub(super) struct PipeReader<P> {
    pub(super) pipe: Option<P>,
    /// Cancelled when nothing is expected any more.
    pub(super) released: Cancellation,
}

impl<P: AsyncRead + Unpin> PipeReader<P> {
    /// Reads into the buffer and returns the number of bytes; zero at the end. A pipe that can't be read has ended.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> usize {
        let Some(pipe) = &mut self.pipe else { return 0 };
        let expired = async {
            self.released.cancelled().await;
            sleep(LAST_WAIT).await;
        };
        tokio::select! {
            biased;
            read = pipe.read(buffer) => read.unwrap_or(0),
            () = expired => 0,
        }
    }
}
