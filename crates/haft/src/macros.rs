//! The documentation of the macros. They expand to items of `macro_support` and of no other module.

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
/// `Result` is shown to the model if it derives [`Failure`](macro@crate::Failure) or is text; any other error is shown to
/// the operator only; [`HandlerError`](crate::tool::HandlerError) can be either. [`Outputs`](crate::tool::Outputs) is a
/// stream of preliminary values that ends with the final one.
///
/// # Parameters
///
/// - `cx: &Cx` is the context of the call.
/// - `#[service] key: &ApiKey` is a service, and so is `&dyn Trait`; at most twelve. A toolkit that lacks a service does
///   not compile.
/// - `#[params] search: Search` takes one type as all parameters. It derives `Deserialize` and `JsonSchema`.
/// - Every other parameter is taken by value and filled in by the model. Its doc comment is its description, and
///   `#[schemars(…)]` and `#[serde(…)]` on it mean the same as on a field. A custom type derives `Deserialize` (to read
///   calls of the model), `Serialize` (to write typed calls of the program) and `JsonSchema` (to describe it).
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
/// `#[service]` marks a service of the toolkit's state, `#[service(run)]` one that each run provides.
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
/// | `refine = function` | a path or closure gets the valid parameters and a [`Cx`](crate::tool::Cx) before any decision about the call, and returns a `Result` of parameters; see [`refine`](crate::tool::ToolBuilder::refine) |
/// | `to_model = function` | a path or closure turns a reference to the success value into the content parts that the model reads |
/// | `failure_mode = "error"`, `"return"` | the form of a failed call for [`try_run_call`](crate::toolkit::Toolkit::try_run_call) |
/// | `timeout = "30s"`, `idle_timeout = "5s"` | the longest a call may take, or be without progress (`ms`, `s`, `m`, `h`); a function that never awaits is not interrupted |
/// | `concurrency = 4`, `"exclusive"`, `"shared"` | the calls that may run concurrently |
/// | `concurrency(key = "disk")` | no concurrent call with the same key |
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
/// snake case; the macro derives the serde traits and the schema. Arguments that concern a handler don't apply.
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
/// private to the module; `#[tools(pub)]` and `#[tools(pub(crate))]` expose them.
///
/// The type is its own state, alone or in an `Arc`, if its tools need no other service. It is also a kit:
/// `toolkit()` creates a toolkit of all its tools, and [`compose!`](macro@crate::compose) takes it. So a type has
/// one such block. `#[tools(crate = path)]` sets the path of haft, if it is not `::haft`.
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

/// Creates a toolkit of kits: types that `toolkit! { struct Name = […]; }` and [`#[tools]`](macro@crate::tools) write.
///
/// Two kits with a tool of the same name do not compile. Where names are known only at run time, use
/// [`Toolkit::compose`](crate::toolkit::Toolkit::compose). `compose![crate = path; …]` sets the path of haft, if it is
/// not `::haft`.
///
/// ```
/// use haft::{compose, tool, toolkit};
/// use haft::toolkit::Toolkit;
///
/// /// The sum of two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 { a.saturating_add(b) }
///
/// /// The end of the conversation.
/// #[tool(signal)]
/// struct Done;
///
/// toolkit! {
///     /// Arithmetic.
///     pub struct Numbers = [Add];
/// }
///
/// toolkit! {
///     struct Control = [Done];
/// }
///
/// let kit: Toolkit = compose![Numbers, Control];
/// assert_eq!(kit.names().collect::<Vec<_>>(), ["add", "done"]);
/// ```
pub use haft_macros::compose;

/// Creates a toolkit of tools.
///
/// Two tools with one name do not compile, whatever their kinds are. A tool with state or settings is written `Type =
/// value` or, as a struct, `Type { … }`; tools created at run time follow a semicolon and make the expression a `Result`. `toolkit![crate = path; …]` sets the path of haft, if it is not `::haft`.
///
/// The result is a [`Toolkit<S>`](crate::toolkit::Toolkit), where `S` is the state that provides the services of the tools.
/// Running it or providing a state determines `S`; otherwise write `let kit: Toolkit = toolkit![…];`.
///
/// ```
/// use haft::{tool, toolkit};
/// use haft::tool::{Cx, Handle, HandlerError, NoFailure, Tool, ToolType};
/// use haft::toolkit::Toolkit;
///
/// /// The sum of two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 { a.saturating_add(b) }
///
/// struct Multiply { by: i64 }
///
/// impl ToolType for Multiply {
///     const NAME: &'static str = "multiply";
///     type Params = i64;
///     type Success = i64;
///     type Failure = NoFailure;
///     type Services = ();
/// }
///
/// impl Handle for Multiply {
///     async fn handle(&self, number: i64, _cx: &Cx) -> Result<i64, HandlerError> { Ok(number.saturating_mul(self.by)) }
/// }
///
/// let kit: Toolkit = toolkit![Add, Multiply = Multiply { by: 3 }];
/// assert_eq!(kit.names().collect::<Vec<_>>(), ["add", "multiply"]);
///
/// let discovered = vec![Tool::new("ping").handler(|(), _cx| async { "pong" })?];
/// let kit: Toolkit = toolkit![Add; discovered]?;
/// assert_eq!(kit.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// As an item, `toolkit! { struct Name = [A, B]; }` writes a type that creates the toolkit, for
/// [`compose!`](macro@crate::compose):
///
/// ```
/// use haft::{tool, toolkit};
/// use haft::toolkit::{KitType, Toolkit};
///
/// /// The sum of two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 { a.saturating_add(b) }
///
/// toolkit! {
///     /// Arithmetic.
///     pub struct Numbers = [Add];
/// }
///
/// let kit: Toolkit = Numbers::toolkit();
/// assert_eq!(kit.names().collect::<Vec<_>>(), Numbers::TOOLS);
/// ```
///
/// The names are compared in constants, so the types can't be generic parameters of the function around it: use
/// [`Toolkit::tool`](crate::toolkit::Toolkit::tool) there.
pub use haft_macros::toolkit;

/// Provides every field of a struct as a service, under the field's type.
///
/// A field written as `Arc<T>` or `Box<T>` is provided as `T` as well. `#[service(as = dyn Trait)]` adds a trait object
/// for a field of a concrete type, and `#[service(skip)]` leaves a field out. `#[service(crate = path)]` on the
/// struct sets the path of haft, if it is not `::haft`.
///
/// ```
/// use std::sync::Arc;
/// use haft::{tool, toolkit};
/// use haft::toolkit::{Provide, Services};
///
/// struct ApiKey(String);
/// trait Clock: Send + Sync { fn now(&self) -> u64; }
/// trait Store: Send + Sync { fn len(&self) -> usize; }
///
/// struct Memory(Vec<u8>);
/// impl Store for Memory { fn len(&self) -> usize { self.0.len() } }
///
/// #[derive(Services)]
/// struct App {
///     key: ApiKey,
///     clock: Arc<dyn Clock>,
///     #[service(as = dyn Store)]
///     memory: Memory,
///     #[service(skip)]
///     password: String,
/// }
///
/// /// Returns the number of stored bytes and the time.
/// #[tool]
/// fn stored(#[service] store: &dyn Store, #[service] clock: &dyn Clock) -> (usize, u64) {
///     (store.len(), clock.now())
/// }
/// # struct Fixed; impl Clock for Fixed { fn now(&self) -> u64 { 7 } }
/// # let key = ApiKey("k".to_owned());
/// # let app = App { key, clock: Arc::new(Fixed), memory: Memory(vec![1]), password: String::new() };
///
/// let kit = toolkit![Stored].provide(app);
/// kit.ensure_runnable()?;
/// # Ok::<_, haft::toolkit::NotRunnable>(())
/// ```
pub use haft_macros::Services;

/// Implements [`Failure`](crate::tool::Failure): the type is a failure that the model reads.
///
/// The type derives `Serialize` and `JsonSchema` too, because the model reads the value beside the message. The message of a
/// struct or a variant is, in this order: `#[failure(message = "…")]`, with fields by name or number; its `Display`,
/// with `#[failure(display)]` on it or on the enum; its doc comment; its name in words.
///
/// `#[failure(retryable)]` marks a failure whose call may succeed later, `#[failure(retry_after = "5s")]` adds the time to
/// wait. Both may be on the enum as well, and those of a variant take precedence. `#[failure(crate = path)]` sets the path
/// of haft, if it is not `::haft`.
///
/// ```
/// use std::time::Duration;
/// use haft::JsonSchema;
/// use haft::tool::Failure;
/// use serde::Serialize;
///
/// #[derive(Debug, Serialize, JsonSchema, Failure)]
/// enum WeatherError {
///     #[failure(message = "there is no city called {name}")]
///     UnknownCity { name: String },
///     /// The station is silent.
///     #[failure(retry_after = "5s")]
///     Silent,
///     OutOfRange(u8),
/// }
///
/// let unknown = WeatherError::UnknownCity { name: "Atlantis".to_owned() };
/// assert_eq!(unknown.message(), "there is no city called Atlantis");
/// assert!(!unknown.retryable());
/// assert_eq!(WeatherError::Silent.message(), "The station is silent.");
/// assert_eq!(WeatherError::Silent.retry_after(), Some(Duration::from_secs(5)));
/// assert_eq!(WeatherError::OutOfRange(3).message(), "out of range");
/// ```
pub use haft_macros::Failure;

/// Implements [`ToolCalls`](crate::run::ToolCalls) for an enum with one variant for each tool, so that a `match` over a
/// model's calls is exhaustive.
///
/// A variant is `Name(Typed<Tool>)`, for any type that is a tool; [`Typed`](crate::run::Typed) holds the call beside its
/// decoded parameters. Two tools with one name do not compile. Calls of other tools go to the variant
/// `#[other] Other(ToolCall)`; without one they are an error, which turns into the result to answer with, as invalid
/// arguments do.
///
/// `toolkit()` on the enum creates the toolkit of its tools, so that neither can lack one. A tool that a value handles is
/// marked `#[handler]`, and the values are the arguments of `toolkit`, in order. As with
/// [`toolkit!`](macro@crate::toolkit), the result is a [`Toolkit<S>`](crate::toolkit::Toolkit) that may still lack its state.
/// `#[tool_calls(crate = path)]` sets the path of haft, if it is not `::haft`.
///
/// ```
/// use haft::prelude::*;
/// use haft::run::{ToolCalls, Typed};
/// use haft::tool::{Handle, NoFailure, ToolType};
///
/// /// Current weather for a city.
/// #[tool]
/// fn get_weather(city: String, #[schemars(range(max = 14))] days: u8) -> String { format!("{city}: {days} sunny days") }
///
/// struct Multiply { by: i64 }
/// # impl ToolType for Multiply {
/// #     const NAME: &'static str = "multiply";
/// #     type Params = i64;
/// #     type Success = i64;
/// #     type Failure = NoFailure;
/// #     type Services = ();
/// # }
/// # impl Handle for Multiply {
/// #     async fn handle(&self, number: i64, _cx: &Cx) -> Result<i64, HandlerError> { Ok(number.saturating_mul(self.by)) }
/// # }
///
/// #[derive(Debug, ToolCalls)]
/// enum AppCall {
///     GetWeather(Typed<GetWeather>),
///     #[handler]
///     Multiply(Typed<Multiply>),
///     #[other]
///     Other(ToolCall),
/// }
///
/// let kit: Toolkit = AppCall::toolkit(Multiply { by: 3 });
/// assert_eq!(kit.names().collect::<Vec<_>>(), ["get_weather", "multiply"]);
///
/// let calls = [
///     ToolCall::new("c1", "get_weather", r#"{"city": "Oslo", "days": 3}"#),
///     ToolCall::new("c2", "search", r#"{"query": "Oslo"}"#),
/// ];
/// for call in &calls {
///     match AppCall::decode(call)? {
///         AppCall::GetWeather(typed) => assert_eq!((typed.call_id().as_str(), typed.params.days), ("c1", 3)),
///         AppCall::Multiply(typed) => unreachable!("{}", typed.params),
///         AppCall::Other(call) => assert_eq!(call.name, "search"),
///     }
/// }
/// let invalid = AppCall::decode(ToolCall::new("c3", "get_weather", "{}")).unwrap_err();
/// assert_eq!(invalid.to_result().failure().unwrap().kind, FailureKind::InputValidationError);
/// # Ok::<_, haft::run::CallDecodeError>(())
/// ```
pub use haft_macros::ToolCalls;
