//! Deviations from a recording.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All deviations from a recording, and exchanges that could not be recorded.
#[derive(Clone, Debug)]
pub struct CassetteFault {
    path: PathBuf,
    faults: Vec<ExchangeFault>,
}

/// One exchange that was not recorded, not replayed or not expected. Exchanges are counted from 1.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeFault {
    /// The exchange could not be written to the file.
    #[error("exchange {exchange} is not recorded: {source}")]
    NotWritten {
        /// The exchange.
        exchange: u64,
        /// The error of writing it.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The stream of the exchange is still open, so nothing of it is written.
    #[error("exchange {exchange} is not recorded: its stream is still open")]
    StillOpen {
        /// The exchange.
        exchange: u64,
    },
    /// A request is not in the recording.
    #[error("{message}")]
    OffScript {
        /// The recorded and the actual request.
        message: String,
    },
    /// The exchange is in the recording and was not replayed.
    #[error("exchange {exchange} was never requested")]
    Unplayed {
        /// The exchange.
        exchange: u64,
    },
}

impl CassetteFault {
    pub(super) fn new(path: &Path, faults: Vec<ExchangeFault>) -> Self {
        Self { path: path.to_owned(), faults }
    }

    /// Returns the faults, by exchange.
    #[must_use]
    pub fn faults(&self) -> &[ExchangeFault] {
        &self.faults
    }
}

impl fmt::Display for CassetteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentences: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        write!(f, "the recording {}: {}", self.path.display(), sentences.join("; "))
    }
}

impl std::error::Error for CassetteFault {}
