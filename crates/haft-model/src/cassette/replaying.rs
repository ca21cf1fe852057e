//! Replaying a recording.
//!
//! The whole file is read and checked before the first answer, so a corrupted line is found immediately and not in the
//! middle of a conversation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::vec;

use futures_core::Stream;
use haft_core::{Delta, TurnRequest};
use haft_executor::BoxError;
use serde_json::Value;

use super::error::CassetteError;
use super::exchange::{Exchange, Header, LineError, StreamEnd, comparable};
use super::fault::ExchangeFault;
use crate::difference::{Difference, Extent, IgnoredPath, difference};
use crate::error::ModelError;
use crate::model_info::ModelInfo;

/// The order in which exchanges are replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The n-th request gets the n-th exchange.
    AsRecorded,
    /// A request gets the first unused exchange that was recorded for it.
    Any,
}

/// The file of a recording that is replayed.
pub(super) struct Player {
    path: PathBuf,
    info: ModelInfo,
    state: Mutex<PlayerState>,
}

/// The state of a replay.
struct PlayerState {
    /// The number of requests so far.
    requests: u64,
    /// The exchanges that were not replayed yet, by number.
    unused: BTreeMap<u64, RecordedExchange>,
    faults: Vec<String>,
}

/// One exchange, ready to be replayed.
struct RecordedExchange {
    number: u64,
    request: Value,
    answer: Vec<Result<Delta, ModelError>>,
}

/// The stream of one recorded answer.
pub(super) enum Replay {
    /// Not polled yet, so no exchange is used yet.
    Unpolled { player: Arc<Player>, request: Box<TurnRequest>, ignored: Arc<Vec<IgnoredPath>>, order: Order },
    /// The recorded answer.
    Playing(vec::IntoIter<Result<Delta, ModelError>>),
}

impl Player {
    pub(super) fn open(path: &Path) -> Result<Self, CassetteError> {
        let text = std::fs::read(path).map_err(|source| CassetteError::Unreadable { path: path.to_owned(), source })?;
        let mut lines = text.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.trim_ascii().is_empty());
        let header = lines.next().map_or(&[][..], |(line, _)| line);
        let header = serde_json::from_slice::<Header>(header).map_err(|source| CassetteError::NotARecording {
            path: path.to_owned(),
            source: LineError::from(source).into(),
        })?;
        let mut unused: BTreeMap<u64, RecordedExchange> = BTreeMap::new();
        for (text, line) in lines {
            let corrupted = |source| CassetteError::Corrupted { path: path.to_owned(), line, source };
            let recorded = RecordedExchange::read(text).map_err(corrupted)?;
            let number = recorded.number;
            if unused.insert(number, recorded).is_some() {
                return Err(corrupted(format!("exchange {number} is also on an earlier line").into()));
            }
        }
        let info = header.model.unwrap_or_else(|| ModelInfo::new("recording"));
        Ok(Self {
            path: path.to_owned(),
            info,
            state: Mutex::new(PlayerState { requests: 0, unused, faults: Vec::new() }),
        })
    }

    pub(super) fn info(&self) -> &ModelInfo {
        &self.info
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn faults(&self) -> Vec<ExchangeFault> {
        let state = self.state();
        let off_script = state.faults.iter().map(|message| ExchangeFault::OffScript { message: message.clone() });
        let unplayed = state.unused.keys().map(|number| ExchangeFault::Unplayed { exchange: *number });
        off_script.chain(unplayed).collect()
    }

    fn answer(
        &self,
        request: &TurnRequest,
        ignored: &[IgnoredPath],
        order: Order,
    ) -> Result<RecordedExchange, ModelError> {
        let unwritable = |error: serde_json::Error| format!("the request can't be written as JSON: {error}");
        let mut state = self.state();
        state.requests += 1;
        let taken = comparable(request).map_err(unwritable).and_then(|request| match order {
            Order::AsRecorded => state.next(&request, ignored),
            Order::Any => state.find(&request, ignored),
        });
        taken.map_err(|message| {
            // The fault of the cassette names the recording once, for all of its faults.
            state.faults.push(message.clone());
            ModelError::OffScript { message: format!("{message} (recording {})", self.path.display()) }
        })
    }

    fn state(&self) -> MutexGuard<'_, PlayerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlayerState {
    /// Takes the next exchange. It is used up even if the request differs.
    fn next(&mut self, request: &Value, ignored: &[IgnoredPath]) -> Result<RecordedExchange, String> {
        let number = self.requests;
        let Some(recorded) = self.unused.remove(&number) else {
            return Err(match self.unused.last_key_value() {
                Some((last, _)) => {
                    format!(
                        "exchange {number} is missing from the recording, whose last exchange is {last}; record again"
                    )
                }
                None => format!("there is no exchange {number}: the recording has ended; delete it to record again"),
            });
        };
        match recorded.difference(request, ignored) {
            None => Ok(recorded),
            Some(difference) => Err(format!(
                "exchange {number} was recorded for another request: {difference}; record again, or exclude the value \
                 with `Cassette::ignore`"
            )),
        }
    }

    /// Takes the first exchange that was recorded for this request.
    fn find(&mut self, request: &Value, ignored: &[IgnoredPath]) -> Result<RecordedExchange, String> {
        let found = self.unused.values().find(|recorded| recorded.difference(request, ignored).is_none());
        let taken = found.map(|recorded| recorded.number).and_then(|number| self.unused.remove(&number));
        taken.ok_or_else(|| {
            let requests = self.requests;
            let first = self.unused.values().next();
            let first = first.and_then(|recorded| Some((recorded.number, recorded.difference(request, ignored)?)));
            match first {
                Some((number, it)) => format!(
                    "no unused exchange was recorded for request {requests}; it differs from exchange {number} {it}"
                ),
                None => format!("every exchange of the recording is used before request {requests}; record again"),
            }
        })
    }
}

impl RecordedExchange {
    fn read(line: &[u8]) -> Result<Self, BoxError> {
        let Exchange { number, request, deltas, error, end } = serde_json::from_slice(line).map_err(LineError::from)?;
        let (received, error) = (deltas.len(), error.map(ModelError::try_from).transpose()?);
        let dropped = (end == StreamEnd::Dropped).then(|| ModelError::OffScript {
            message: format!(
                "the reader dropped exchange {number} after {received} deltas when it was recorded, so the rest is \
                 unknown; record again"
            ),
        });
        let answer = deltas.into_iter().map(Ok).chain(error.or(dropped).map(Err)).collect();
        Ok(Self { number, request: comparable(&request)?, answer })
    }

    fn difference(&self, request: &Value, ignored: &[IgnoredPath]) -> Option<Difference> {
        difference(&self.request, request, Extent::Whole, ignored)
    }
}

impl Replay {
    pub(super) fn new(player: Arc<Player>, request: TurnRequest, ignored: Arc<Vec<IgnoredPath>>, order: Order) -> Self {
        Self::Unpolled { player, request: Box::new(request), ignored, order }
    }
}

impl Stream for Replay {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Self::Unpolled { player, request, ignored, order } = &*self {
            let answer = match player.answer(request, ignored, *order) {
                Ok(recorded) => recorded.answer,
                Err(error) => vec![Err(error)],
            };
            *self = Self::Playing(answer.into_iter());
        }
        match &mut *self {
            Self::Playing(answer) => Poll::Ready(answer.next()),
            Self::Unpolled { .. } => Poll::Ready(None),
        }
    }
}
