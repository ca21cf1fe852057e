//! Recording the streams of a model.
//!
//! The recorded stream passes through unchanged. It is written when it ends or is dropped, as one line in one write, on
//! the thread that polls or drops it. A write that fails is reported by `finish` and ends the recording: a line after a
//! partial one could not be separated from it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use haft_core::{Delta, TurnRequest};
use serde::Serialize;

use super::error::CassetteError;
use super::exchange::{Exchange, Header, StreamEnd};
use super::fault::ExchangeFault;
use crate::error::{ModelError, WrittenError};
use crate::model::TurnStream;
use crate::model_info::ModelInfo;

/// The file of a recording in progress.
pub(super) struct Recorder {
    path: PathBuf,
    state: Mutex<RecorderState>,
}

/// The state of a recording in progress.
struct RecorderState {
    file: File,
    /// The number of exchanges that have begun.
    begun: u64,
    /// The exchanges that have begun and not ended.
    open: Vec<u64>,
    /// The exchanges that were not written, with the error.
    lost: Vec<(u64, Arc<io::Error>)>,
}

/// A stream that is recorded while it is read.
pub(super) struct Recording {
    recorder: Arc<Recorder>,
    stream: TurnStream,
    stage: RecordingStage,
}

/// The stage of an exchange that is recorded.
enum RecordingStage {
    /// The stream was not polled yet, so the exchange has no number.
    Unpolled(Box<TurnRequest>),
    /// The stream is read.
    Streaming(Box<Exchange>),
    /// The exchange was passed to the recorder.
    Written,
}

impl Recorder {
    /// Begins a recording and overwrites the file.
    pub(super) fn create(path: &Path, model: ModelInfo) -> Result<Self, CassetteError> {
        let created = File::create(path).and_then(|file| Self::begin(path, file, model));
        created.map_err(|source| CassetteError::Unwritable { path: path.to_owned(), source })
    }

    /// Begins a recording; `None` if the file exists already.
    pub(super) fn create_new(path: &Path, model: ModelInfo) -> Result<Option<Self>, CassetteError> {
        let created = OpenOptions::new().write(true).create_new(true).open(path);
        match created.and_then(|file| Self::begin(path, file, model)) {
            Ok(recorder) => Ok(Some(recorder)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(source) => Err(CassetteError::Unwritable { path: path.to_owned(), source }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn faults(&self) -> Vec<ExchangeFault> {
        let state = self.state();
        let lost = state
            .lost
            .iter()
            .map(|(exchange, source)| ExchangeFault::NotWritten { exchange: *exchange, source: Arc::clone(source) });
        let open = state.open.iter().map(|exchange| ExchangeFault::StillOpen { exchange: *exchange });
        lost.chain(open).collect()
    }

    fn begin(path: &Path, mut file: File, model: ModelInfo) -> io::Result<Self> {
        file.write_all(&line(&Header::new(model))?)?;
        let state = RecorderState { file, begun: 0, open: Vec::new(), lost: Vec::new() };
        Ok(Self { path: path.to_owned(), state: Mutex::new(state) })
    }

    fn number(&self) -> u64 {
        let mut state = self.state();
        state.begun += 1;
        let number = state.begun;
        state.open.push(number);
        number
    }

    fn write(&self, exchange: &Exchange) {
        let line = line(exchange);
        let mut state = self.state();
        state.open.retain(|open| *open != exchange.number);
        let written = match state.lost.last() {
            Some((_, earlier)) => Err(Arc::clone(earlier)),
            None => line.and_then(|line| state.file.write_all(&line)).map_err(Arc::new),
        };
        state.lost.extend(written.err().map(|error| (exchange.number, error)));
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    pub(super) fn new(recorder: Arc<Recorder>, request: TurnRequest, stream: TurnStream) -> Self {
        Self { recorder, stream, stage: RecordingStage::Unpolled(Box::new(request)) }
    }

    fn note(&mut self, delta: &Result<Delta, ModelError>) {
        // By contract nothing follows an error. If something does, it is passed on and not recorded.
        let RecordingStage::Streaming(exchange) = &mut self.stage else { return };
        if exchange.error.is_some() {
            return;
        }
        match delta {
            Ok(delta) => exchange.deltas.push(delta.clone()),
            Err(error) => exchange.error = Some(WrittenError::from(error)),
        }
    }

    fn write(&mut self, end: StreamEnd) {
        if let RecordingStage::Streaming(mut exchange) = std::mem::replace(&mut self.stage, RecordingStage::Written) {
            exchange.end = end;
            self.recorder.write(&exchange);
        }
    }
}

impl Stream for Recording {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let RecordingStage::Unpolled(request) = &self.stage {
            let (number, request, end) = (self.recorder.number(), TurnRequest::clone(request), StreamEnd::Dropped);
            let exchange = Exchange { number, request, deltas: Vec::new(), error: None, end };
            self.stage = RecordingStage::Streaming(Box::new(exchange));
        }
        let delta = ready!(Pin::new(&mut self.stream).poll_next(task));
        match &delta {
            Some(delta) => self.note(delta),
            None => self.write(StreamEnd::Over),
        }
        Poll::Ready(delta)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // A reader that has the turn or the error need not poll for the end of the stream.
        let ended = match &self.stage {
            RecordingStage::Streaming(exchange) => {
                exchange.error.is_some() || matches!(exchange.deltas.last(), Some(Delta::TurnComplete(_)))
            }
            RecordingStage::Unpolled(_) | RecordingStage::Written => false,
        };
        self.write(if ended { StreamEnd::Over } else { StreamEnd::Dropped });
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use haft_core::Item;

    use super::*;
    use crate::model::LanguageModel;
    use crate::scripted::ScriptedModel;

    #[tokio::test]
    async fn a_failed_write_is_reported_and_does_not_fail_the_answer() {
        // Opened for reading, so every write fails.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let state = RecorderState { file: File::open(&path).unwrap(), begun: 0, open: Vec::new(), lost: Vec::new() };
        let recorder = Arc::new(Recorder { path, state: Mutex::new(state) });
        let model = ScriptedModel::new(["one", "two"]);
        let request = TurnRequest::new("m", vec![Item::user("?")]);
        for expected in ["one", "two"] {
            let stream = Recording::new(Arc::clone(&recorder), request.clone(), model.stream_turn(&request));
            assert_eq!(TurnStream::new(stream).into_turn().await.unwrap().text(), expected);
        }
        let faults = recorder.faults();
        assert!(matches!(
            faults.as_slice(),
            [ExchangeFault::NotWritten { exchange: 1, .. }, ExchangeFault::NotWritten { exchange: 2, .. }]
        ));
        assert!(faults[1].to_string().starts_with("exchange 2 is not recorded: "), "{}", faults[1]);
    }
}
