//! `#[tool]` and `#[tools]`.

/// Turns a function into a tool, or a struct into a tool without a handler.
///
/// The function stays callable. The macro adds a type in `PascalCase`, which is the tool and whose fields are the
/// parameters. The model reads the doc comments: that of the function describes the tool, that of a parameter the
/// parameter.
///
/// ```
/// use haft::{JsonSchema, tool, toolkit};
/// use haft::tool::{Cx, StaticTool, ToolType};
/// use haft::toolkit::Provide;
/// use serde::Serialize;
///
/// struct ApiKey(String);
///
/// #[derive(Serialize, JsonSchema)]
/// struct Weather { celsius: f64 }
///
/// /// Current weather for a city.
/// #[tool(readonly, timeout = "10s")]
/// async fn get_weather(
///     /// City name, e.g. "Paris"
///     city: String,
///     /// How many days ahead
///     #[schemars(range(min = 1, max = 14))]
///     days: u8,
///     #[service] key: &ApiKey,
///     cx: &Cx,
/// ) -> Result<Weather, String> {
///     if city.is_empty() { return Err("which city?".to_owned()) }
///     Ok(Weather { celsius: f64::from(days) })
/// }
///
/// let tool = GetWeather::tool()?;
/// assert_eq!(GetWeather::NAME, "get_weather");
/// assert_eq!(tool.description(), Some("Current weather for a city."));
/// assert_eq!(tool.json_schema()["properties"]["days"]["maximum"], 14);
/// # Ok::<_, haft::tool::DefinitionError>(())
/// ```
///
/// The return type decides what the result means, also behind a type alias. A plain value is a success. The error of a
/// `Result` is shown to the model if it derives [`Failure`](macro@crate::Failure) or is text; any other error is shown
/// to the operator only; [`HandlerError`](crate::tool::HandlerError) can be either. [`Outputs`](crate::tool::Outputs)
/// is a stream of preliminary values that ends with the final one.
///
/// # Parameters
///
/// - `cx: &Cx` is the context of the call.
/// - `#[service] key: &ApiKey` is a service of the toolkit's state, and so is `&dyn Trait`; at most twelve. A toolkit that
///   lacks one does not compile. `#[service(run)]` marks a service that each run provides.
/// - `#[params] search: Search` takes one type as all parameters. It derives `Deserialize` and `JsonSchema`.
/// - Every other parameter is taken by value and filled in by the model. Its doc comment is its description, and
///   `#[schemars(…)]` and `#[serde(…)]` on it mean the same as on a field. A custom type derives `Deserialize` (to read
///   calls of the model) and `JsonSchema` (to describe it), and `Serialize` if your program calls the tool by its type.
///
/// The parameters of a signature are closed: an unknown key is rejected. A `#[params]` type, and every struct inside a
/// parameter, follows its own serde attributes; `#[serde(deny_unknown_fields)]` closes it.
///
/// ```
/// use haft::{JsonSchema, tool};
/// use haft::run::ToolCall;
/// use haft::tool::{StaticTool, Tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, Serialize, JsonSchema)]
/// struct Place { city: String }
///
/// #[derive(Deserialize, Serialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Span { days: u8 }
///
/// /// Current weather.
/// #[tool]
/// fn get_weather(place: Place, span: Span) -> String { format!("{} {}", place.city, span.days) }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft::tool::DefinitionError> {
/// async fn is_taken(tool: &Tool, arguments: &str) -> bool {
///     let call = ToolCall::new("c1", "get_weather", arguments);
///     haft::toolkit::Toolkit::from_iter([tool.clone()]).run_call(&call).await.value().is_some()
/// }
///
/// let tool = GetWeather::tool()?;
/// assert!(is_taken(&tool, r#"{"place": {"city": "Paris", "x": 1}, "span": {"days": 3}}"#).await);
/// assert!(!is_taken(&tool, r#"{"place": {"city": "Paris"}, "span": {"days": 3, "x": 1}}"#).await);
/// assert!(!is_taken(&tool, r#"{"place": {"city": "Paris"}, "span": {"days": 3}, "x": 1}"#).await);
/// # Ok(())
/// # }
/// ```
///
/// One type as all parameters:
///
/// ```
/// use haft::{JsonSchema, tool};
/// use haft::tool::StaticTool;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(tag = "by")]
/// enum Search { Title { title: String }, Year { year: u16 } }
///
/// /// Finds books.
/// #[tool(name = "books/find")]
/// async fn find_books(#[params] search: Search) -> Vec<String> {
///     match search {
///         Search::Title { title } => vec![title],
///         Search::Year { year } => vec![format!("Best of {year}")],
///     }
/// }
///
/// assert_eq!(FindBooks::tool()?.name(), "books/find");
/// # Ok::<_, haft::tool::DefinitionError>(())
/// ```
///
/// A plain `fn` runs in place; mark one that blocks its thread:
///
/// ```
/// use haft::tool;
///
/// /// The size of a file, in bytes.
/// #[tool(blocking, readonly)]
/// fn file_size(path: String) -> std::io::Result<u64> {
///     Ok(std::fs::metadata(path)?.len())
/// }
///
/// assert!(file_size("no such file".to_owned()).is_err());
/// ```
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | the name that the model calls, instead of the function's |
/// | `title = "…"` | a title for people |
/// | `description = "…"` | the description for the model, instead of the doc comment; an empty one counts as set |
/// | `type = Name` | the name of the generated type |
/// | `readonly`, `destructive`, `idempotent`, `open_world` | the hints, each alone or with `= true` or `= false` |
/// | `strict` | requests the provider's strict schema mode, or with `= false` rules it out |
/// | `meta = {"key": value}` | free metadata; also an expression that is a JSON map |
/// | `annotate(expression, …)` | annotations of custom types |
/// | `example = expression` | example arguments, checked against the parameters; repeatable |
/// | `approval = "always"`, `"never"` | every call requires approval, or none does |
/// | `approval = function` | a path or closure decides by the parameters and an [`ApprovalCx`](crate::approval::ApprovalCx), with a `bool` or a future of one; a function call returns the policy itself |
/// | `refine = function` | a path or closure of an async function gets the valid parameters and an owned [`Cx`](crate::tool::Cx) before any decision about the call, and returns a `Result` of parameters and a [`RefineError`](crate::tool::RefineError) or what converts into one: an `Issue` or an error type; see [`refine`](crate::tool::ToolBuilder::refine) |
/// | `to_model = function` | a path or closure turns a reference to the success value into the content parts that the model reads |
/// | `failure_mode = "error"`, `"return"` | the form of a failed call for [`try_run_call`](crate::toolkit::Toolkit::try_run_call) |
/// | `timeout = "30s"`, `idle_timeout = "5s"` | the longest a call may take, or be without progress (`ms`, `s`, `m`, `h`); a function that never awaits is not interrupted |
/// | `concurrency = 4`, `"exclusive"`, `"shared"` | the calls of one run that may run concurrently |
/// | `concurrency(key = "disk")` | no concurrent call of the run with the same key; `Lanes` hold across runs |
/// | `emits = Type` | the type of the values that the function emits with [`Cx::emit`](crate::tool::Cx::emit): described, checked, and read with [`Emits::read_event`](crate::tool::Emits::read_event) |
/// | `emit_buffer = 16`, `"unbounded"` | the number of emitted values that may wait to be read |
/// | `output_cap = 65536`, `overflow = "truncate"` | the largest result in bytes, failures included, in place of 256 KiB of text; a larger one fails (the default) or is truncated |
/// | `output_cap = "unlimited"` | no cap on the result |
/// | `blocking` | the function blocks, so it runs on a thread for blocking work |
/// | `provider = "vendor.tool"` | the tool is built into a provider, and the function runs its calls |
/// | `provider_name = "…"` | the name at the provider, instead of the part of the id after the dot |
/// | `args = expression` | the settings of a tool that is built into a provider |
/// | `crate = path` | the path of haft, if it is not `::haft` |
///
/// The function of `approval` takes the generated type, with the parameters as its fields, or the `#[params]` type:
///
/// ```
/// use haft::tool;
/// use haft::approval::ApprovalCx;
/// use haft::run::ToolCall;
/// use haft::tool::StaticTool;
/// use serde_json::json;
///
/// /// Moves money.
/// #[tool(approval = |p: Transfer, _cx| p.cents > 10_000)]
/// fn transfer(to: String, cents: u64) -> String { format!("{cents} to {to}") }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft::tool::DefinitionError> {
/// let policy = Transfer::tool()?.approval().clone();
/// let cx = || ApprovalCx::new(&ToolCall::new("c1", "transfer", "{}"));
/// assert!(policy.needs_approval(&json!({"to": "Ada", "cents": 20_000}), cx()).await.is_needed());
/// assert!(!policy.needs_approval(&json!({"to": "Ada", "cents": 50}), cx()).await.is_needed());
/// # Ok(())
/// # }
/// ```
///
/// # Tools without a handler
///
/// They are structs. The fields of a signal or an interaction are its parameters, and its name is that of the struct in
/// snake case. The macro derives the serde traits and the schema, and an unknown key is rejected, as for a function.
/// Arguments that concern a handler are rejected.
///
/// | argument | meaning |
/// |---|---|
/// | `signal` | the loop reads the call |
/// | `interaction` | the call is answered from outside, later |
/// | `provider = "vendor.tool"` | the provider runs the call; the fields are the settings, and `None` is left out |
/// | `success = Type` | the answer of an interaction, by default any; or the result at the provider, by default `()` |
/// | `params = Type`, `failure = Type` | the parameters and declared failures at the provider, by default none |
///
/// ```
/// use haft::{JsonSchema, tool, toolkit};
/// use haft::tool::{StaticTool, ToolType};
/// use haft::toolkit::Toolkit;
/// use serde::{Deserialize, Serialize};
///
/// /// Asks the user which account to use.
/// #[tool(interaction, success = Chosen)]
/// #[derive(Debug)]
/// struct ChooseAccount {
///     /// All of them.
///     accounts: Vec<String>,
/// }
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Chosen { account: String }
///
/// /// Searches the web.
/// #[tool(provider = "anthropic.web_search_20250305", provider_name = "web_search", params = Query, success = Vec<Hit>)]
/// struct WebSearch {
///     #[schemars(range(min = 1, max = 10))]
///     max_uses: Option<u32>,
/// }
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Query { query: String }
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Hit { url: String }
///
/// /// Runs a command on this machine.
/// #[tool(provider = "anthropic.bash_20250124", provider_name = "bash")]
/// async fn bash(command: String) -> Result<String, String> { Ok(format!("ran {command}")) }
///
/// assert!(ChooseAccount::tool()?.is_interaction());
/// let kit: Toolkit = toolkit![ChooseAccount, WebSearch { max_uses: Some(3) }, Bash];
/// let provider = kit.get(WebSearch::NAME).unwrap().provider_definition().unwrap();
/// assert_eq!(provider.args()["max_uses"], 3);
/// # Ok::<_, haft::tool::DefinitionError>(())
/// ```
pub use haft_macros::tool;

/// Turns methods into tools.
///
/// Each method that is marked `#[tool]` becomes a tool as a function would, with the same arguments; its type stands
/// beside the block. The receiver is `&self`, a service of the block's type: the state must provide it, as it provides
/// other services. A method without a receiver needs none. Other methods stay as they are. The types of the tools are
/// private to the module; `#[tools(pub)]` and `#[tools(pub(crate))]` expose them. `Self` in the arguments of `#[tool]`
/// is the type of the block, so `refine = Self::checked` names a function beside the methods.
///
/// The type is its own state, alone or in an `Arc`, if its tools need no other service. It is also a kit:
/// `toolkit()` creates a toolkit of all its tools, and [`compose!`](macro@crate::compose) takes it. So a type has
/// one such block. `#[tools(crate = path)]` sets the path of haft, if it is not `::haft`.
///
/// With `#[tools(run)]` each run provides the receiver, by [`RunOptions::service`](crate::run::RunOptions::service): the
/// tenant's database, for example. The state has nothing to provide for it then.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use haft::tools;
///
/// #[derive(Default)]
/// struct Desk {
///     tickets: Mutex<Vec<String>>,
/// }
///
/// #[tools]
/// impl Desk {
///     /// Opens a ticket and returns its number.
///     #[tool]
///     async fn open_ticket(
///         &self,
///         /// One line.
///         title: String,
///     ) -> usize {
///         let mut tickets = self.tickets.lock().unwrap();
///         tickets.push(title);
///         tickets.len()
///     }
///
///     fn count(&self) -> usize { self.tickets.lock().unwrap().len() }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let desk = Arc::new(Desk::default());
/// let kit = Desk::toolkit().provide(Arc::clone(&desk));
/// assert_eq!(kit.call(OpenTicket { title: "no light".to_owned() }).await?, 1);
/// assert_eq!(desk.count(), 1);
/// # Ok(())
/// # }
/// ```
pub use haft_macros::tools;
