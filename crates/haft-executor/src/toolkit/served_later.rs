//! Toolkits that find their services where they are added.

use crate::service::Provide;
use crate::toolkit::Toolkit;

/// The state of a toolkit whose services come from elsewhere: an executor, or each run. It has no values, so it provides
/// every service by its type and none in fact: the compiler asks for nothing, and a call whose service is missing fails
/// before it starts.
///
/// A function that takes a `Toolkit<ServedLater>` accepts every toolkit without its state.
///
/// ```
/// use haft_executor::{ServedLater, Tool, Toolkit};
///
/// let tools: Toolkit<ServedLater> = Toolkit::from_iter([Tool::new("mail").depends_on::<String>().define()?]);
/// assert_eq!(Toolkit::from(tools).ensure_runnable().unwrap_err().missing_services.len(), 1);
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum ServedLater {}

impl<T: ?Sized> Provide<T> for ServedLater {
    fn provide(&self) -> &T {
        match *self {}
    }
}

impl From<Toolkit<ServedLater>> for Toolkit {
    fn from(tools: Toolkit<ServedLater>) -> Self {
        Self { set: tools.set, needs: Vec::new() }
    }
}
