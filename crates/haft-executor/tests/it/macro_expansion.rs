//! The expansion of a tool that is written as a function, written out by hand: the shape of generated code.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use haft_core::ToolCall;
use haft_executor::macro_support::{self, Returned, ReturnedNow, schemars, serde};
use haft_executor::{
    BuilderOf, Cx, DefinitionError, Failure, HandlerError, HandlerOutput, Needs, NoFailure, Outputs, Provide,
    StaticTool, Tool, ToolType, Toolkit,
};
use serde_json::json;

/// The code of the user.
mod user {
    use super::*;

    pub(super) struct ApiKey(pub(super) &'static str);

    #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
    #[serde(crate = "haft_executor::macro_support::serde")]
    #[schemars(crate = "haft_executor::macro_support::schemars")]
    pub(super) struct Weather {
        pub(super) celsius: f64,
        pub(super) source: String,
    }

    #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
    #[serde(crate = "haft_executor::macro_support::serde")]
    #[schemars(crate = "haft_executor::macro_support::schemars")]
    pub(super) enum WeatherError {
        UnknownCity,
    }

    impl Failure for WeatherError {
        fn message(&self) -> String {
            "no such city".to_owned()
        }
    }

    /// An alias must be recognised as the `Result` it is.
    pub(super) type Answer<T> = Result<T, WeatherError>;

    /// Current weather for a city.
    #[allow(clippy::unused_async, reason = "a real one would ask a server")]
    pub(super) async fn get_weather(city: String, days: u8, key: &ApiKey, cx: &Cx) -> Answer<Weather> {
        if city == "Atlantis" {
            return Err(WeatherError::UnknownCity);
        }
        Ok(Weather { celsius: f64::from(days), source: format!("{} for {}", key.0, cx.call_id()) })
    }

    /// Adds up, slowly.
    pub(super) fn add_up(numbers: Vec<u32>) -> std::io::Result<u32> {
        numbers.into_iter().try_fold(0_u32, u32::checked_add).ok_or_else(|| std::io::Error::other("overflow at host-7"))
    }
}

/// The items that `#[tool]` generates beside `get_weather`.
mod get_weather_tool {
    use super::*;

    /// Current weather for a city.
    #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "haft_executor::macro_support::serde", deny_unknown_fields)]
    #[schemars(crate = "haft_executor::macro_support::schemars")]
    pub(super) struct GetWeather {
        /// City name, e.g. "Paris"
        pub(super) city: String,
        /// Days ahead
        #[schemars(range(min = 1, max = 14))]
        pub(super) days: u8,
    }

    type Ret = user::Answer<user::Weather>;
    const KIND: u8 = macro_support::kind_of!(Ret);

    impl ToolType for GetWeather {
        const NAME: &'static str = "get_weather";
        type Params = Self;
        type Success = <Ret as Returned<KIND>>::Success;
        type Failure = <Ret as Returned<KIND>>::Failure;
        type Services = (Needs<user::ApiKey>,);

        fn definition(builder: BuilderOf<Self>) -> BuilderOf<Self> {
            builder.describe("Current weather for a city.")
        }
    }

    impl StaticTool for GetWeather {
        fn tool() -> Result<Tool, DefinitionError> {
            Tool::of::<Self>().try_handler_mixed(|params: Self, cx: Cx| async move {
                let Self { city, days } = params;
                let key = cx.service::<user::ApiKey>()?;
                let returned: Ret = user::get_weather(city, days, key, &cx).await;
                <Ret as Returned<KIND>>::resolve(returned, &cx).await
            })
        }
    }
}

/// The items that `#[tool(blocking)]` generates beside `add_up`.
mod add_up_tool {
    use super::*;

    #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "haft_executor::macro_support::serde", deny_unknown_fields)]
    #[schemars(crate = "haft_executor::macro_support::schemars")]
    pub(super) struct AddUp {
        pub(super) numbers: Vec<u32>,
    }

    type Ret = std::io::Result<u32>;
    const KIND: u8 = macro_support::kind_of!(Ret);

    impl ToolType for AddUp {
        const NAME: &'static str = "add_up";
        type Params = Self;
        type Success = <Ret as Returned<KIND>>::Success;
        type Failure = <Ret as Returned<KIND>>::Failure;
        type Services = ();
    }

    impl StaticTool for AddUp {
        fn tool() -> Result<Tool, DefinitionError> {
            Tool::of::<Self>().try_blocking_handler_mixed(|params: Self, _cx: Cx| {
                let Self { numbers } = params;
                <Ret as ReturnedNow<KIND>>::now(user::add_up(numbers))
            })
        }
    }
}

use add_up_tool::AddUp;
use get_weather_tool::GetWeather;

/// The implementation that `#[derive(Services)]` generates for one field.
struct App {
    key: user::ApiKey,
}

impl Provide<user::ApiKey> for App {
    fn provide(&self) -> &user::ApiKey {
        &self.key
    }
}

const _: () = assert!(
    !macro_support::same_name(GetWeather::NAME, AddUp::NAME),
    "two tools in this toolkit have the name of `AddUp`"
);

fn kit() -> Toolkit {
    Toolkit::new().tool::<GetWeather>().tool::<AddUp>().provide(App { key: user::ApiKey("key-1") })
}

async fn run(kit: &Toolkit, name: &str, arguments: &str) -> haft_core::ToolResult {
    let call = ToolCall::new("c1", name, arguments);
    kit.run_call(&call).await
}

#[tokio::test]
async fn a_generated_tool_runs_with_its_services() {
    let kit = kit();
    kit.ensure_runnable().unwrap();
    let result = run(&kit, "get_weather", r#"{"city":"Paris","days":3}"#).await;
    assert_eq!(result.value().unwrap().to_value(), json!({"celsius": 3.0, "source": "key-1 for c1"}));
}

#[tokio::test]
async fn a_declared_failure_behind_an_alias_reaches_the_model() {
    let result = run(&kit(), "get_weather", r#"{"city":"Atlantis","days":3}"#).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind.as_str(), "tool_failed");
    assert_eq!(failure.message, "no such city");
    assert_eq!(failure.details.as_ref().unwrap().to_value(), json!("UnknownCity"));
}

#[tokio::test]
async fn an_error_that_is_not_declared_stays_with_the_operator() {
    let kit = kit();
    assert_eq!(run(&kit, "add_up", r#"{"numbers":[1,2]}"#).await.value().unwrap().as_str(), "3");
    let result = run(&kit, "add_up", r#"{"numbers":[4294967295,1]}"#).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind.as_str(), "execution_error");
    assert!(!result.to_call_output().output.to_string().contains("host-7"));
    assert!(std::error::Error::source(failure).unwrap().to_string().contains("host-7"));
}

#[test]
fn a_tool_that_declares_no_failure_allows_none() {
    assert_eq!(kit().get("add_up").unwrap().failure().as_json(), &json!(false));
    assert!(kit().get("get_weather").unwrap().failure().as_json().is_object());
}

#[tokio::test]
async fn constraints_and_closed_parameters_hold() {
    let result = run(&kit(), "get_weather", r#"{"city":"Paris","days":30,"planet":"Mars"}"#).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind.as_str(), "input_validation_error");
    assert_eq!(failure.issues.len(), 2, "{failure}");
    assert!(!failure.started);
}

#[test]
fn the_kind_of_a_return_type_is_known_by_type() {
    type Alias<T> = Result<T, String>;
    type Io<T> = std::io::Result<T>;
    mod shadow {
        #[allow(dead_code, reason = "its name is the point")]
        pub(super) struct Result(pub(super) u8);
    }
    assert_eq!(macro_support::kind_of!(u8), macro_support::PLAIN);
    assert_eq!(macro_support::kind_of!(()), macro_support::PLAIN);
    assert_eq!(macro_support::kind_of!(Option<Alias<u8>>), macro_support::PLAIN);
    assert_eq!(macro_support::kind_of!(shadow::Result), macro_support::PLAIN);
    assert_eq!(macro_support::kind_of!(Alias<u8>), macro_support::DECLARED);
    assert_eq!(macro_support::kind_of!(Result<u8, &'static str>), macro_support::DECLARED);
    assert_eq!(macro_support::kind_of!(Result<u8, user::WeatherError>), macro_support::DECLARED);
    assert_eq!(macro_support::kind_of!(Io<u8>), macro_support::OPAQUE);
    assert_eq!(macro_support::kind_of!(Result<u8, Box<dyn std::error::Error + Send + Sync>>), macro_support::OPAQUE);
    assert_eq!(macro_support::kind_of!(Result<u8, HandlerError<String>>), macro_support::MIXED);
    assert_eq!(macro_support::kind_of!(Result<u8, HandlerError>), macro_support::MIXED);
    assert_eq!(macro_support::kind_of!(Outputs<u8>), macro_support::STREAM);
    assert_eq!(macro_support::kind_of!(Outputs<u8, String>), macro_support::STREAM);
}

#[tokio::test]
async fn every_kind_resolves_to_one_value() {
    type Steps = Outputs<u8, NoFailure>;
    const KIND: u8 = macro_support::kind_of!(Steps);
    let cx = Cx::for_call(&ToolCall::new("c1", "t", "{}"));
    assert_eq!(<u8 as Returned<{ macro_support::kind_of!(u8) }>>::resolve(1, &cx).await.unwrap(), 1);
    let stream = futures_util::stream::iter([HandlerOutput::Preliminary(1_u8), HandlerOutput::Final(2)]);
    assert_eq!(<Steps as Returned<KIND>>::resolve(Outputs::new(stream), &cx).await.unwrap(), 2);
}

#[test]
fn names_are_compared_at_compile_time() {
    const SAME: bool = macro_support::same_name("search", "search");
    const OTHER: bool = macro_support::same_name("search", "searches");
    assert!(SAME && !OTHER && !macro_support::same_name("a", "b") && macro_support::same_name("", ""));
}

#[tokio::test]
async fn a_missing_service_fails_before_the_function_starts() {
    let kit = kit();
    let call = ToolCall::new("c1", "get_weather", r#"{"city":"Paris","days":3}"#);
    let result = Toolkit::from_iter([kit.get("get_weather").unwrap().clone()]).run_call(&call).await;
    let failure = result.failure().unwrap();
    assert_eq!((failure.kind.as_str(), failure.started), ("execution_error", false));
    assert!(std::error::Error::source(failure).unwrap().to_string().contains("ApiKey"));
}
