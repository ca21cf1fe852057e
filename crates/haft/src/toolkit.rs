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
//! Annotate the toolkit if nothing else determines its state: `let kit: Toolkit = toolkit![…];`.
//!
//! # Kits
//!
//! The methods of a type become tools with [`#[tools]`](macro@crate::tools), and a list of tools becomes a type with
//! `toolkit! { struct Name = […]; }`. Both are kits: types with the names of their tools as constants.
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
//! # Services of a run
//!
//! A service that differs from run to run, such as the database of a tenant, is marked `#[service(run)]`. The state
//! need not have it: each run provides it with [`RunOptions::service`](crate::run::RunOptions::service), or a
//! middleware does with [`Request::with_service`](crate::middleware::Request::with_service) and declares it in
//! [`provides`](crate::middleware::Middleware::provides). A run without it starts nothing;
//! [`ensure_runnable_with`](Toolkit::ensure_runnable_with) reports it before.
//!
//! # Combining
//!
//! - [`with`](Toolkit::with) and [`with_all`](Toolkit::with_all) reject a name that is taken. Collecting tools
//!   (`Toolkit::from_iter`) and [`merge`](Toolkit::merge) let the later tool replace the earlier one, and
//!   [`shadowed`](Toolkit::shadowed) reports it.
//! - [`compose`](Toolkit::compose) reports every collision of several toolkits, and [`compose!`](macro@crate::compose)
//!   those of kit types at compile time.
//! - [`namespace`](Toolkit::namespace), [`filter`](Toolkit::filter) and [`wrap`](Toolkit::wrap) apply to all tools;
//!   [`with_handler`](Toolkit::with_handler) replaces one handler and leaves the descriptor as it was, byte for byte.
//!   However a tool was changed, [typed calls](Toolkit::call) find it by its type;
//!   [`call_named`](Toolkit::call_named) chooses between two copies.
//! - [`Toolkit::dynamic`] takes definitions that are discovered at run time. Its
//!   [`forward`](DynamicTools::forward) is for tools that another process or server executes.
//! - A toolkit that lacks a handler or a service runs nothing: [`ensure_runnable`](Toolkit::ensure_runnable) reports at
//!   start-up everything that is missing. [`Dispatch`](crate::run::Dispatch) runs the tools that lack nothing.
//!
//! # Tools that change
//!
//! A [`ToolSource`] is a live set of tools: it returns a [`Snapshot`], which is a toolkit and its generation, and
//! reports changes. A [`SharedToolkit`] is one that the program itself changes; a registry or the client of another
//! server implements the trait. A [`Toolkit`] is a source that never changes. [`TurnLoop`](crate::model::TurnLoop)
//! takes any source, and [`Dispatch`](crate::run::Dispatch) lists the tools and runs calls on any.
//!
//! ```
//! use haft::prelude::*;
//! use haft::run::Dispatch;
//! use haft::toolkit::{SharedToolkit, ToolSource};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 { a + b }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let own: Toolkit = toolkit![Add];
//! let plugins = SharedToolkit::default();
//! let all = own.merged(plugins.clone().namespaced("plugin")?);
//!
//! let seen = all.snapshot();
//! plugins.add(Tool::new("ping").handler(|(), _cx| async { "pong" })?)?;
//! all.changed(seen.generation()).await;
//! assert_eq!(all.list(&RunOptions::new()).len(), 2);
//!
//! let run = all.run_calls(vec![ToolCall::new("c1", "plugin__ping", "").into()], RunOptions::new());
//! plugins.remove("ping");
//! assert_eq!(run.collect_results().await[0].to_model_text(), "pong");
//! # Ok(())
//! # }
//! ```
//!
//! - A run uses one snapshot to the end, and a turn of a loop does: what was shown to the model is what runs. A change
//!   counts for the next run and the next turn.
//! - A call that was suspended is resumed with the current tools. If the definition is the one that approval was
//!   requested for, an approved call runs; if it has changed, approval is requested again; if the tool is gone, the call
//!   fails with `unknown_tool`.
//! - [`merged`](ToolSource::merged), [`composed`](ToolSource::composed), [`namespaced`](ToolSource::namespaced),
//!   [`filtered`](ToolSource::filtered), [`wrapped`](ToolSource::wrapped) and [`mapped`](ToolSource::mapped) make sources
//!   of sources. They derive the tools once for each generation. A tool that can't be part of the result (its name is
//!   taken, or too long in the namespace) is left out, and [`Snapshot::faults`] reports it; the others stay.
//! - A tool that lacks a handler or a service does not affect the other tools of its source: it is not listed, and its
//!   calls fail with `execution_error`. [`Snapshot::runnable_with`] reports it, and a loop does with
//!   [`LoopEvent::ToolLeftOut`](crate::model::LoopEvent::ToolLeftOut). A loop that is *started* with such a tool ends with
//!   [`LoopError::NotRunnable`](crate::model::LoopError::NotRunnable).
//! - Put sources that are not trusted in a namespace: a tool of a merged source replaces one with the same name.

#[doc(inline)]
pub use haft_core::{Describe, NAMESPACE_SEPARATOR};
#[doc(inline)]
pub use haft_executor::{
    AmbiguousTool, ComposeError, DuplicateToolName, DynamicTools, KitType, MissingToolService, NamespaceError,
    NamespaceFault, NotRunnable, ReplaceError, ServedLater, Serves, Shadowed, StaticKit, Toolkit, ToolkitError,
    ToolkitFault, Tools,
};
// live sets of tools
#[doc(inline)]
pub use haft_executor::{Changed, Mapped, Merged, SharedToolkit, Snapshot, SourceFault, ToolSource};
// services
#[doc(inline)]
pub use haft_executor::{
    Dependency, MissingService, Needs, PerRun, Provide, ProvideAll, Satisfies, ServiceList, ServiceNeed, ServiceSource,
    Services,
};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use haft_macros::Services;
