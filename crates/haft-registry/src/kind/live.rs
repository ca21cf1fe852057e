//! Live sources: imports whose tools change while they are used.
//!
//! A kind for a server whose tools may change yields a source instead of a list. The source looks after itself: it
//! connects when it is first needed, lists again when the server says that its tools changed, and ends what it started.
//! Nothing here drives it, and no task is spawned for it.

use std::fmt;
use std::pin::Pin;

use haft_executor::{BoxError, Services, ToolSource};

/// The future that [`LiveSource::refresh`] returns.
pub type Refreshing<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;

/// The future that [`LiveSource::close`] returns.
pub type Closing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A source of tools that connects, lists and closes itself. A kind yields one by [`Built::live`](super::Built::live).
///
/// - [`snapshot`](ToolSource::snapshot) returns what is known now, and neither waits nor connects: before the first
///   connection these are the tools from a stored list, or none. Handlers connect when a tool is called.
/// - [`changed`](ToolSource::changed) completes when the tools are others, whatever the reason.
/// - Dropping the source and all its tools ends everything that it started. [`close`](Self::close) does so in order.
///
/// Building it starts nothing, as for every kind: the entry's author may not be trusted yet.
pub trait LiveSource: ToolSource + 'static {
    /// Lists the tools anew, connecting if necessary, with the services that calls get. Programs call it to have current
    /// tools before their first call; nothing here does. It sets its own time limit.
    fn refresh(&self, services: Services) -> Refreshing<'_>;

    /// Ends connections and programs in order, and completes when they have ended. Calls under way get a result, and
    /// later calls fail. It sets its own time limit, and closing twice is fine.
    fn close(&self) -> Closing<'_>;
}

/// Formats the source without reading it: that is user code.
impl fmt::Debug for dyn LiveSource + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveSource(..)")
    }
}
