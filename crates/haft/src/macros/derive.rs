//! The derives: `Services`, `Failure` and `ToolCalls`.

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
/// The type derives `Serialize` and `JsonSchema` too, because the model reads the value beside the message. The message
/// of a struct or a variant is, in this order: `#[failure(message = "…")]`, with fields by name or number; its
/// `Display`, with `#[failure(display)]` on it or on the enum; its doc comment; its name in words.
///
/// `#[failure(retryable)]` marks a failure whose call may succeed later, `#[failure(retry_after = "5s")]` adds the time
/// to wait. Both may be on the enum as well, and those of a variant take precedence. `#[failure(crate = path)]` sets
/// the path of haft, if it is not `::haft`.
///
/// The type also becomes an [`Error`](std::error::Error) that displays its message, so it derives `Debug`, and `?` makes
/// a declared [`HandlerError`](crate::tool::HandlerError) of it. `#[failure(error = false)]` leaves that to you, for
/// example to `thiserror`; a type with `#[failure(display)]` has its own `Display` and stays as it is.
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
/// assert_eq!(WeatherError::OutOfRange(3).to_string(), "out of range");
/// ```
pub use haft_macros::Failure;

/// Implements [`ToolCalls`](crate::run::ToolCalls) for an enum with one variant for each tool, so that a `match` over a
/// model's calls is exhaustive.
///
/// A variant is `Name(Typed<Tool>)`, for any type that is a tool; [`Typed`](crate::run::Typed) holds the call beside
/// its decoded parameters. Two tools with one name do not compile. Calls of other tools go to the variant `#[other]
/// Other(ToolCall)`; without one they are an error, which turns into the result to answer with, as invalid arguments
/// do.
///
/// `toolkit()` on the enum creates the toolkit of its tools, so that neither can lack one. A tool that a value creates,
/// because it has state or settings, is marked `#[value]`; the values are the arguments of `toolkit`, in order. As with
/// [`toolkit!`](macro@crate::toolkit), the result is a [`Toolkit<S>`](crate::toolkit::Toolkit) that may still lack its
/// state. `#[tool_calls(crate = path)]` sets the path of haft, if it is not `::haft`.
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
///     #[value]
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
