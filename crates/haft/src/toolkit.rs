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
//! A service that differs from run to run, such as the database of a tenant, is marked `#[service(run)]`. The state need not
//! have it: each run provides it with [`RunOptions::service`](crate::run::RunOptions::service), or a middleware does with
//! [`Request::with_service`](crate::middleware::Request::with_service) and declares it in
//! [`provides`](crate::middleware::Middleware::provides). A run without it starts nothing;
//! [`ensure_runnable_with`](Toolkit::ensure_runnable_with) reports it before.
//!
//! - [`with`](Toolkit::with) and [`with_all`](Toolkit::with_all) reject a name that is taken. Collecting tools
//!   (`Toolkit::from_iter`) and `merge` let the later tool replace the earlier one, and [`shadowed`](Toolkit::shadowed)
//!   reports it.
//! - [`merge`](Toolkit::merge) lets the later tool win; [`compose`](Toolkit::compose) reports every collision.
//! - [`namespace`](Toolkit::namespace), [`filter`](Toolkit::filter) and [`wrap`](Toolkit::wrap) apply to all tools;
//!   [`with_handler`](Toolkit::with_handler) replaces one handler and leaves the descriptor as it was, byte for byte.
//! - [`Toolkit::dynamic`] takes definitions that are discovered at run time.
//! - A toolkit that lacks a handler or a service runs nothing: [`ensure_runnable`](Toolkit::ensure_runnable) reports at
//!   start-up everything that is missing.
//! - Where nothing else determines the state of a toolkit, annotate it: `let kit: Toolkit = toolkit![…];`.

#[doc(inline)]
pub use haft_core::{
    ComposeError, Describe, DuplicateToolName, DynamicTools, MissingToolService, NAMESPACE_SEPARATOR, NamespaceError,
    NamespaceFault, NotRunnable, ReplaceError, Serves, Shadowed, Toolkit, ToolkitError, ToolkitFault, Tools,
};
// services
#[doc(inline)]
pub use haft_core::{
    Dependency, MissingService, Needs, PerRun, Provide, ProvideAll, Satisfies, ServiceList, ServiceNeed, ServiceSource,
    Services,
};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use haft_macros::Services;
