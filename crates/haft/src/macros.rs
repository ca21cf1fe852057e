//! The macros, each with what it is for. All of them expand to the public names of this crate.

/// Makes a tool of a function.
///
/// The function stays callable as it is written. Beside it stands a type in `PascalCase`, whose fields are the
/// parameters and which is the tool. The doc comments are what the model reads: the function's describes the tool, a
/// parameter's describes the parameter. Parameters written this way are closed: an unknown key is refused.
///
/// ```
/// use haft::{Cx, JsonSchema, Provide, StaticTool, ToolType, tool, toolkit};
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
/// # Ok::<_, haft::DefinitionError>(())
/// ```
///
/// What a function returns is told by its type, under any alias. A plain value is a success. A `Result` fails with what
/// the model reads if its error derives [`Failure`](macro@crate::Failure) or is text, and with what only the operator
/// sees if it is any other error; [`HandlerError`](crate::HandlerError) has both. [`Outputs`](crate::Outputs) is a
/// stream with early values.
///
/// A type of your own can be the parameters; then it follows its own serde attributes:
///
/// ```
/// use haft::{JsonSchema, StaticTool, tool};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(tag = "by")]
/// enum Search { Title { title: String }, Year { year: u16 } }
///
/// /// Finds books.
/// #[tool(name = "books/find", approval = |search: Search, _| async move { matches!(search, Search::Year { .. }) })]
/// async fn find_books(#[params] search: Search) -> Vec<String> {
///     match search {
///         Search::Title { title } => vec![title],
///         Search::Year { year } => vec![format!("Best of {year}")],
///     }
/// }
///
/// assert_eq!(FindBooks::tool()?.name(), "books/find");
/// # Ok::<_, haft::DefinitionError>(())
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
pub use haft_macros::tool;

/// Puts tools together.
///
/// Two tools of one name don't compile. A tool with state is given as `Type = value`; tools made at run time follow a
/// semicolon, and make the expression a `Result`.
///
/// ```
/// use haft::{Cx, Handle, HandlerError, NoFailure, Tool, ToolType, Toolkit, tool, toolkit};
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
///     async fn run(&self, number: i64, _cx: &Cx) -> Result<i64, HandlerError> { Ok(number.saturating_mul(self.by)) }
/// }
///
/// let kit: Toolkit = toolkit![Add, Multiply = Multiply { by: 3 }];
/// assert_eq!(kit.names().collect::<Vec<_>>(), ["add", "multiply"]);
///
/// let discovered = vec![Tool::new("ping").run(|(), _cx| async { "pong" })?];
/// let kit: Toolkit = toolkit![Add; discovered]?;
/// assert_eq!(kit.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// The names are compared in constants, so the types can't be generic parameters of the function around it: use
/// [`Toolkit::tool`](crate::Toolkit::tool) there.
pub use haft_macros::toolkit;

/// Provides every field of a struct as a service, under the field's type.
///
/// A field written as `Arc<T>` or `Box<T>` is provided as `T` as well. `#[service(as = dyn Trait)]` adds a trait object
/// for a field of a concrete type, and `#[service(skip)]` keeps a field to yourself. `#[service(crate = path)]` on the
/// struct says where haft is, if not at `::haft`.
///
/// ```
/// use std::sync::Arc;
/// use haft::{Provide, Services, tool, toolkit};
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
/// /// How much is stored, and when that was.
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
/// # Ok::<_, haft::NotRunnable>(())
/// ```
pub use haft_macros::Services;

/// Makes a type a failure that the model reads.
///
/// The type derives `Serialize` and `JsonSchema` too: the model gets the value as well as the message. The message of a
/// struct or a variant is, in this order: `#[failure(message = "…")]`, with fields by name or number; its `Display`,
/// with `#[failure(display)]` on it or on the enum; its doc comment; its name in words.
///
/// `#[failure(retryable)]` says that the same call may succeed later, `#[failure(retry_after = "5s")]` when. Both can
/// stand on the enum, too; what a variant says wins. `#[failure(crate = path)]` says where haft is, if not at `::haft`.
///
/// ```
/// use std::time::Duration;
/// use haft::{Failure, JsonSchema};
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
