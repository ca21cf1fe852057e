//! Toolkits: sets of tools, and the services that their handlers need.
//!
//! ```text
//!   Tool  Tool  Tool        merge, compose, namespace, filter, wrap
//!     └─────┼─────┘                         │
//!       ╔═══▼═════╗  provide(state)  ╔══════▼══╗
//!       ║Toolkit<S>║ ───────────────► ║ Toolkit ║ ─► descriptors for the model
//!       ╚═════════╝                  ╚════╤════╝ ─► run(calls) ─► look up ─► … ─► ToolResult
//! ```
//!
//! A toolkit is a value: combinators return a new one. `Toolkit<S>` still lacks the state `S` that its tools take their
//! services from; [`provide`](Toolkit::provide) turns it into a [`Toolkit`] that runs, and the compiler checks that the
//! state has every service:
//!
//! ```
//! use haft::prelude::*;
//!
//! struct ApiKey(String);
//!
//! #[derive(Services)]
//! struct App {
//!     key: ApiKey,
//! }
//!
//! /// Returns the owner of the key.
//! #[tool(readonly)]
//! async fn whoami(#[service] key: &ApiKey) -> Result<String, String> {
//!     key.0.strip_prefix("user:").map(str::to_owned).ok_or_else(|| "not a user's key".to_owned())
//! }
//!
//! let kit = toolkit![Whoami].provide(App { key: ApiKey("user:ana".into()) });
//! assert_eq!(kit.names().collect::<Vec<_>>(), ["whoami"]);
//! ```
//!
//! The methods of a type become tools with [`#[tools]`](macro@crate::tools), and a list of tools becomes a type with
//! `toolkit! { struct Name = [..]; }`. Both are kits: types with the names of their tools as constants.
//!
//! ```
//! use haft::prelude::*;
//! use haft::{compose, tools};
//! use std::sync::Mutex;
//!
//! struct Desk(Mutex<Vec<String>>);
//!
//! #[tools]
//! impl Desk {
//!     /// Opens a ticket and returns its number.
//!     #[tool]
//!     fn open(&self, title: String) -> usize {
//!         let mut tickets = self.0.lock().unwrap_or_else(|error| error.into_inner());
//!         tickets.push(title);
//!         tickets.len()
//!     }
//! }
//!
//! /// Hand over to a person.
//! #[tool(signal)]
//! struct Escalate {
//!     reason: String,
//! }
//!
//! toolkit! {
//!     struct Control = [Escalate];
//! }
//!
//! let kit = compose![Desk, Control].provide(Desk(Mutex::default()));
//! assert_eq!(kit.names().collect::<Vec<_>>(), ["open", "escalate"]);
//! ```
//!
//! Typed calls find a tool by its type, under any name: [`call`](Toolkit::call) reaches a tool in a namespace as well,
//! and [`call_named`](Toolkit::call_named) chooses between two copies.
//!
//! - [`with`](Toolkit::with) and [`with_all`](Toolkit::with_all) reject a name that is taken. Collecting tools
//!   (`Toolkit::from_iter`) and `merge` let the later tool replace the earlier one, and [`shadowed`](Toolkit::shadowed)
//!   reports it.
//! - [`merge`](Toolkit::merge) lets the later tool win; [`compose`](Toolkit::compose) reports every collision, and
//!   [`compose!`](macro@crate::compose) those of kit types at compile time.
//! - [`namespace`](Toolkit::namespace), [`filter`](Toolkit::filter) and [`wrap`](Toolkit::wrap) apply to all tools;
//!   [`with_handler`](Toolkit::with_handler) replaces one handler and leaves the descriptor as it was, byte for byte.
//! - [`Toolkit::dynamic`] takes definitions that are discovered at run time.
//! - A toolkit that lacks a handler or a service runs nothing: [`ensure_runnable`](Toolkit::ensure_runnable) reports at
//!   start-up everything that is missing.
//! - Where nothing else determines the state of a toolkit, annotate it: `let kit: Toolkit = toolkit![…];`.

#[doc(inline)]
pub use haft_core::{
    AmbiguousTool, ComposeError, Describe, DuplicateToolName, DynamicTools, KitType, MissingToolService,
    NAMESPACE_SEPARATOR, NamespaceError, NamespaceFault, NotRunnable, ReplaceError, Serves, Shadowed, StaticKit,
    Toolkit, ToolkitError, ToolkitFault, Tools,
};
// services
#[doc(inline)]
pub use haft_core::{Dependency, MissingService, Needs, Provide, ProvideAll, ServiceList, Services};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use haft_macros::Services;
