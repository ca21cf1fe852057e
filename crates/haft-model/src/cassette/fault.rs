//! What went otherwise than a cassette holds it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that went otherwise than a cassette holds it, or could not be recorded.
#[derive(Clone, Debug)]
pub struct CassetteFault {
    path: PathBuf,
    faults: Vec<ExchangeFault>,
}

/// One exchange that was not recorded, not played, or not asked for. Exchanges are counted from 1.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeFault {
    /// The exchange could not be written to the file.
    #[error("exchange {exchange} is not recorded: {source}")]
    NotWritten {
        /// The exchange.
        exchange: u64,
        /// What writing it met.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The stream of the exchange is neither over nor dropped, so nothing of it is written.
    #[error("exchange {exchange} is not recorded: its stream is still open")]
    StillOpen {
        /// The exchange.
        exchange: u64,
    },
    /// Something was asked that is not in the recording.
    #[error("{message}")]
    OffScript {
        /// What was recorded, and what came.
        message: String,
    },
    /// The exchange is in the recording and was not played.
    #[error("exchange {exchange} was never asked for")]
    Unplayed {
        /// The exchange.
        exchange: u64,
    },
}

impl CassetteFault {
    pub(super) fn new(path: &Path, faults: Vec<ExchangeFault>) -> Self {
        Self { path: path.to_owned(), faults }
    }

    /// What is wrong, by exchange.
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
