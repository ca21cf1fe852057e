//! The macros of haft: `#[tool]`, `toolkit![]`, `#[derive(Services)]` and `#[derive(Failure)]`.
//!
//! Use them through the crate `haft`, where each is shown with examples. What stands here only turns the compiler's
//! tokens into ordinary ones and back; the work is done by functions that tests can call. Macros expand to public API
//! of haft and nothing else.

mod argument;
mod crate_path;
mod diagnostic;
mod documentation;
mod duration;
mod failure;
mod name;
mod nearest;
mod services;
mod tool;
mod toolkit;

use proc_macro::TokenStream;

/// Makes a tool of a function. The arguments:
///
/// | argument | says |
/// |---|---|
/// | `name = "…"` | the name the model calls, in place of the function's |
/// | `title = "…"` | a title for people |
/// | `description = "…"` | what the model reads, in place of the doc comment; an empty one counts as set |
/// | `type = Name` | the name of the generated type |
/// | `readonly`, `destructive`, `idempotent`, `open_world` | the hints, each alone or with `= true` or `= false` |
/// | `strict` | asks for the provider's strict schema mode, or with `= false` refuses it |
/// | `meta = {"key": value}` | free metadata; also an expression that is a JSON map |
/// | `annotate(expression, …)` | annotations of your own types |
/// | `example = expression` | arguments that show how to call it, checked against the parameters; repeatable |
/// | `approval = "always"`, `"never"` | whether each call must be approved |
/// | `approval = function` | the calls for which the path or closure says so, given the parameters and an `ApprovalCx`; the call of a function gives the policy itself |
/// | `failure_mode = "error"`, `"return"` | what a failed call is to the code that called |
/// | `timeout = "30s"`, `idle_timeout = "5s"` | how long a call may take, or stay silent (`ms`, `s`, `m`, `h`) |
/// | `concurrency = 4`, `"exclusive"`, `"shared"` | what may run beside a call |
/// | `concurrency(key = "disk")` | nothing beside it that names the same key |
/// | `emit_buffer = 16`, `"unbounded"` | how many emitted events may wait |
/// | `output_cap = 65536`, `overflow = "truncate"` | the largest output in bytes, and whether a larger one fails (the default) or is cut |
/// | `blocking` | the function blocks its thread: it runs on threads for such work |
/// | `crate = path` | where haft is, if not at `::haft` |
///
/// And the parameters:
///
/// - `cx: &Cx` is the context of the call.
/// - `#[service] key: &ApiKey` is a service; `&dyn Trait` is one, too. Up to twelve.
/// - `#[params] search: Search` takes a type of your own as the parameters, in place of single ones.
/// - Every other parameter is taken by value and is what the model fills in. Its doc comment is its description, and
///   `#[schemars(…)]` and `#[serde(…)]` on it mean what they mean on a field.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(arguments.into(), item.into()).into()
}

/// Puts tools together: types that are tools, `Type = value` for those with state, and after a semicolon an expression
/// of tools made at run time. `toolkit![crate = path; …]` says where haft is, if not at `::haft`.
#[proc_macro]
pub fn toolkit(tools: TokenStream) -> TokenStream {
    toolkit::expand(tools.into()).into()
}

/// Provides every field of a struct as a service.
#[proc_macro_derive(Services, attributes(service))]
pub fn derive_services(item: TokenStream) -> TokenStream {
    services::expand(item.into()).into()
}

/// Makes a type a failure that the model reads.
#[proc_macro_derive(Failure, attributes(failure))]
pub fn derive_failure(item: TokenStream) -> TokenStream {
    failure::expand(item.into()).into()
}
