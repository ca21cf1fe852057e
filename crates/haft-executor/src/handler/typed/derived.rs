//! The bounds on the state of a toolkit that `#[derive(ToolCalls)]` creates.
//!
//! A bound on the tool itself would be checked where the enum is defined. These are bounds on the state, a type
//! parameter of `toolkit`, so an enum whose tools have no handlers compiles as long as it only reads calls.

use crate::handler::{IntoTool, StaticTool};
use crate::toolkit::{Serves, Toolkit};

/// A state with which a toolkit can include the tool `T`, which has a handler of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide every service that the tool `{T}` needs",
    label = "the tool `{T}` can't be run with this state",
    note = "for each missing service, derive `Services` on the state or write `impl Provide<Service> for {Self}`",
    note = "pass the state to `provide(state)`; a toolkit without one provides no services"
)]
pub trait OffersTool<T>: Sized {
    /// Adds the tool.
    fn add(kit: Toolkit<Self>) -> Toolkit<Self>;
}

impl<S: Serves<T>, T: StaticTool> OffersTool<T> for S {
    fn add(kit: Toolkit<Self>) -> Toolkit<Self> {
        kit.tool::<T>()
    }
}

/// A state with which a toolkit can include the tool `T`, which a value creates.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide every service that the tool `{T}` needs",
    label = "the tool `{T}` can't be run with this state",
    note = "for each missing service, derive `Services` on the state or write `impl Provide<Service> for {Self}`",
    note = "pass the state to `provide(state)`; a toolkit without one provides no services"
)]
pub trait OffersValue<T>: Sized {
    /// Adds the tool.
    fn add(kit: Toolkit<Self>, value: T) -> Toolkit<Self>;
}

impl<S: Serves<T>, T: IntoTool> OffersValue<T> for S {
    fn add(kit: Toolkit<Self>, value: T) -> Toolkit<Self> {
        kit.tool_from(value)
    }
}
