//! Toolkits as Rust types.
//!
//! A type that represents a toolkit has the names of its tools as constants, so that kits can be compared before
//! anything runs. What runs is always the [`Toolkit`] that the type creates.

use std::sync::Arc;

use crate::toolkit::{Toolkit, ToolkitFault};

/// A toolkit known at compile time: the names of its tools.
///
/// `toolkit! { struct Name = [Tool, …]; }` and `#[tools] impl` write it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kit",
    label = "not the type of a kit",
    note = "write `toolkit! {{ struct Name = [GetWeather, …]; }}` and name that type, or put `#[tools]` on an `impl` block"
)]
pub trait KitType {
    /// The names of its tools, in order.
    const TOOLS: &'static [&'static str];
}

/// A kit whose tools the state `S` can serve: the type alone creates the toolkit.
///
/// ```
/// use haft_executor::{KitType, StaticKit, Tool, Toolkit};
///
/// struct Control;
///
/// impl KitType for Control {
///     const TOOLS: &'static [&'static str] = &["done"];
/// }
///
/// impl<S> StaticKit<S> for Control {
///     fn toolkit() -> Toolkit<S> {
///         Toolkit::from_iter(Tool::signal("done").define())
///     }
/// }
///
/// let kit: Toolkit = Toolkit::new().kit::<Control>();
/// assert_eq!(kit.names().collect::<Vec<_>>(), Control::TOOLS);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kit",
    label = "not the type of a kit",
    note = "write `toolkit! {{ struct Name = [GetWeather, …]; }}` and name that type, or put `#[tools]` on an `impl` block"
)]
pub trait StaticKit<S>: KitType {
    /// Creates the toolkit.
    fn toolkit() -> Toolkit<S>;
}

impl<S> Toolkit<S> {
    /// Adds the tools of a kit, with their services and middleware. A name that is already used is a fault, reported by
    /// [`ensure_runnable`](Toolkit::ensure_runnable); `compose!` rejects it at compile time.
    pub fn kit<K: StaticKit<S>>(self) -> Self {
        self.with_kit(K::toolkit())
    }

    fn with_kit(mut self, other: Self) -> Self {
        let taken: Vec<String> = other.names().filter(|name| self.get(name).is_some()).map(str::to_owned).collect();
        let other = other.filter(|tool| !taken.iter().any(|name| name == tool.name()));
        let set = self.set_mut();
        set.finish_provisioning();
        set.absorb(Arc::unwrap_or_clone(other.set));
        set.rebuild_provisions(Arc::clone);
        set.faults.extend(taken.into_iter().map(|name| ToolkitFault::DuplicateName { name }));
        self.needs.extend(other.needs);
        self
    }
}
