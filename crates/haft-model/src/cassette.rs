//! Recording the answers of a model and replaying them.
//!
//! A cassette is a file of JSON lines: a header, then one line per exchange, written when the exchange ends. So the
//! file survives a crash, can be read and compared line by line, and can be edited by hand. Recording passes every
//! delta on; it must never change, delay or drop one, and a file that can't be written is reported at the end instead
//! of failing the answer. Replaying must never ask a model or invent an answer.

mod error;
mod exchange;
mod fault;
mod recording;
mod replaying;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use haft_core::TurnRequest;

pub use self::error::CassetteError;
pub use self::fault::{CassetteFault, ExchangeFault};
use self::recording::{Recorder, Recording};
use self::replaying::{Order, Player, Replay};
use crate::difference::IgnoredPath;
use crate::model::{LanguageModel, TurnStream};
use crate::model_info::ModelInfo;

/// A model that records the answers of another one, or replays recorded answers.
///
/// A test against a real model is recorded once, with its file stored beside the test, and from then on runs without
/// the model, the network and a key:
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_model::{Cassette, LanguageModel, ModelError, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = std::env::temp_dir().join(format!("haft-cassette-{}.jsonl", std::process::id()));
/// # let _ = std::fs::remove_file(&file);
/// let real = ScriptedModel::new(["Hello."]); // stands for a real one here
/// let request = TurnRequest::new("some-model", vec![Item::user("Hi!")]);
///
/// // The file does not exist yet: the real model answers, and the file is written.
/// let cassette = Cassette::auto(&file, real.clone())?;
/// assert_eq!(cassette.stream_turn(&request).into_turn().await?.text(), "Hello.");
/// cassette.finish()?;
///
/// // The file exists now: the real model is not asked.
/// let cassette = Cassette::auto(&file, real)?;
/// assert_eq!(cassette.stream_turn(&request).into_turn().await?.text(), "Hello.");
/// cassette.finish()?;
///
/// // A request that differs is an error.
/// let other = TurnRequest::new("some-model", vec![Item::user("Bye!")]);
/// let error = Cassette::replay(&file)?.stream_turn(&other).into_turn().await.unwrap_err();
/// assert!(error.to_string().contains(r#"at /history/0/content/0/text expected "Hi!", found "Bye!""#));
/// # std::fs::remove_file(&file)?;
/// # Ok(())
/// # }
/// ```
///
/// Requests are compared as a model reads them: settings of a tool that only this side uses may change, such as how a
/// schema is enforced and the annotations of the application.
///
/// A clone is another handle of the same cassette. An exchange begins when its stream is first polled, and the
/// exchanges are numbered in that order, from 1. The file contains complete requests and answers, so keep secrets out
/// of them; keys and headers of a provider are part of neither, and secrets in the settings of tools are sealed.
///
/// Opening a cassette and appending a line to it block the thread that polls or drops the stream. That
/// is a short write, which suits a test and not a server.
#[derive(Clone)]
pub struct Cassette {
    mode: CassetteMode,
    ignored: Arc<Vec<IgnoredPath>>,
    order: Order,
}

/// The mode of a cassette.
#[derive(Clone)]
enum CassetteMode {
    Record { recorder: Arc<Recorder>, model: Arc<dyn LanguageModel> },
    Replay(Arc<Player>),
}

impl Cassette {
    /// Records the answers of `model`. An existing file is overwritten; its folder must exist.
    pub fn record(path: impl AsRef<Path>, model: impl LanguageModel + 'static) -> Result<Self, CassetteError> {
        let recorder = Recorder::create(path.as_ref(), model.info())?;
        Ok(Self::new(CassetteMode::Record { recorder: Arc::new(recorder), model: Arc::new(model) }))
    }

    /// Replays recorded answers, in order, to the requests that they were recorded for.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let player = Player::open(path.as_ref())?;
        Ok(Self::new(CassetteMode::Replay(Arc::new(player))))
    }

    /// Replays the file if it exists, else records it. To record again, delete the file.
    pub fn auto(path: impl AsRef<Path>, model: impl LanguageModel + 'static) -> Result<Self, CassetteError> {
        match Recorder::create_new(path.as_ref(), model.info())? {
            Some(recorder) => {
                Ok(Self::new(CassetteMode::Record { recorder: Arc::new(recorder), model: Arc::new(model) }))
            }
            None => Self::replay(path),
        }
    }

    /// Ignores these locations when requests are compared: JSON Pointers, in which `*` matches any key or
    /// index and the leading slash is optional. The recording is not changed.
    ///
    /// ```
    /// # use haft_model::{Cassette, CassetteError, ScriptedModel};
    /// # fn main() -> Result<(), CassetteError> {
    /// # let file = std::env::temp_dir().join(format!("haft-cassette-ignore-{}.jsonl", std::process::id()));
    /// # let _ = Cassette::record(&file, ScriptedModel::default())?;
    /// let cassette = Cassette::replay(&file)?.ignore(["/metadata", "/tools/*/description"]);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ignore<P: AsRef<str>>(mut self, pointers: impl IntoIterator<Item = P>) -> Self {
        let pointers = pointers.into_iter().map(|pointer| IgnoredPath::new(pointer.as_ref()));
        Arc::make_mut(&mut self.ignored).extend(pointers);
        self
    }

    /// Answers each request with the first unused exchange that was recorded for an equal one, for
    /// concurrent requests.
    #[must_use]
    pub fn in_any_order(mut self) -> Self {
        self.order = Order::Any;
        self
    }

    /// Checks that every exchange was written, or that every exchange was replayed. Call it at the end of a test.
    pub fn finish(&self) -> Result<(), CassetteFault> {
        let faults = match &self.mode {
            CassetteMode::Record { recorder, .. } => recorder.faults(),
            CassetteMode::Replay(player) => player.faults(),
        };
        if faults.is_empty() { Ok(()) } else { Err(CassetteFault::new(self.path(), faults)) }
    }

    /// Reports whether this cassette replays its file. Otherwise it records.
    #[must_use]
    pub fn is_replaying(&self) -> bool {
        matches!(self.mode, CassetteMode::Replay(_))
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.mode {
            CassetteMode::Record { recorder, .. } => recorder.path(),
            CassetteMode::Replay(player) => player.path(),
        }
    }

    fn new(mode: CassetteMode) -> Self {
        Self { mode, ignored: Arc::default(), order: Order::AsRecorded }
    }
}

impl LanguageModel for Cassette {
    /// Returns the names of the model that is recorded, or was when the file was written. The provider of a recording
    /// that does not name it is `recording`.
    fn info(&self) -> ModelInfo {
        match &self.mode {
            CassetteMode::Record { model, .. } => model.info(),
            CassetteMode::Replay(player) => player.info().clone(),
        }
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        match &self.mode {
            CassetteMode::Record { recorder, model } => {
                TurnStream::new(Recording::new(Arc::clone(recorder), request.clone(), model.stream_turn(request)))
            }
            CassetteMode::Replay(player) => {
                let ignored = Arc::clone(&self.ignored);
                TurnStream::new(Replay::new(Arc::clone(player), request.clone(), ignored, self.order))
            }
        }
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = if self.is_replaying() { "replay" } else { "record" };
        let mut shown = f.debug_struct("Cassette");
        shown.field("mode", &mode).field("path", &self.path()).field("order", &self.order).finish_non_exhaustive()
    }
}
