//! `#[derive(Failure)]`: the failures that the model reads.

use std::fmt;
use std::time::Duration;

use haft::tool::{Failure, HandlerError};
use haft::{JsonSchema, tool};
use serde::Serialize;
use serde_json::json;

use crate::running::run;

#[derive(Debug, Serialize, JsonSchema, Failure)]
#[failure(retryable)]
enum OrderError {
    #[failure(message = "{count} of {item:?} is more than {{stock}}", retryable = false)]
    OutOfStock {
        item: String,
        count: u32,
        r#type: u8,
    },
    #[failure(message = "{1} is not {0}")]
    Mismatch(u8, &'static str),
    /// The shop is closed.
    /// Come back later.
    #[failure(retry_after = "2m")]
    Closed,
    PaymentRefused(u8),
    #[failure(message = "kind {type}")]
    Keyword {
        r#type: u8,
    },
}

#[test]
fn a_message_is_written_or_documented_or_the_name() {
    let out = OrderError::OutOfStock { item: "tea".to_owned(), count: 3, r#type: 0 };
    assert_eq!(out.message(), "3 of \"tea\" is more than {stock}");
    assert_eq!(OrderError::Mismatch(1, "x").message(), "x is not 1");
    assert_eq!(OrderError::Closed.message(), "The shop is closed.\nCome back later.");
    assert_eq!(OrderError::PaymentRefused(1).message(), "payment refused");
    assert_eq!(OrderError::Keyword { r#type: 4 }.message(), "kind 4");
}

#[test]
fn a_variant_decides_on_retries_before_the_enum() {
    let out = OrderError::OutOfStock { item: String::new(), count: 0, r#type: 0 };
    assert!(!out.retryable());
    assert!(OrderError::PaymentRefused(1).retryable());
    assert_eq!(OrderError::PaymentRefused(1).retry_after(), None);
    assert!(OrderError::Closed.retryable());
    assert_eq!(OrderError::Closed.retry_after(), Some(Duration::from_secs(120)));
}

#[derive(Debug, Serialize, JsonSchema, Failure)]
#[failure(display, retry_after = "500ms")]
struct Busy {
    queue: usize,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} before you", self.queue)
    }
}

#[derive(Debug, Serialize, JsonSchema, Failure)]
#[failure(message = "{0} went wrong")]
struct Wrapped<T: fmt::Display>(T);

#[derive(Debug, Serialize, JsonSchema, Failure)]
enum Never {}

#[test]
fn structs_generics_and_empty_enums_are_failures() {
    let busy = Busy { queue: 2 };
    assert_eq!((busy.message().as_str(), busy.retryable()), ("2 before you", true));
    assert_eq!(busy.retry_after(), Some(Duration::from_millis(500)));
    assert_eq!(Wrapped("it".to_owned()).message(), "it went wrong");
    let message: fn(&Never) -> String = Failure::message;
    assert_eq!(None::<Never>.as_ref().map(message), None);
}

/// An error of another crate's derive, which has its own texts for the operator.
#[derive(Debug, Serialize, JsonSchema, Failure)]
#[failure(message = "try another one", error = false)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused by the bank")
    }
}

impl std::error::Error for Refused {}

fn error(error: impl std::error::Error) -> String {
    error.to_string()
}

#[test]
fn a_failure_is_an_error_that_displays_its_message_unless_it_has_its_own() {
    assert_eq!(error(OrderError::Mismatch(1, "x")), "x is not 1");
    assert_eq!(error(Wrapped("it".to_owned())), "it went wrong");
    assert_eq!(Busy { queue: 2 }.to_string(), "2 before you");
    assert_eq!((error(Refused).as_str(), Refused.message().as_str()), ("refused by the bank", "try another one"));
}

#[test]
fn a_question_mark_makes_a_declared_failure_of_it() {
    fn paid(cents: &str) -> Result<u64, HandlerError<OrderError>> {
        let cents = cents.parse()?;
        if cents == 0 {
            Err(OrderError::Closed)?;
        }
        Ok(cents)
    }
    assert!(matches!(paid("0"), Err(HandlerError::Declared(OrderError::Closed))));
    assert!(matches!(paid("x"), Err(HandlerError::Opaque(_))));
    assert_eq!(paid("7").unwrap(), 7);
    let converted: HandlerError<OrderError> = OrderError::PaymentRefused(1).into();
    assert!(matches!(converted, HandlerError::Declared(OrderError::PaymentRefused(1))));
}

#[tool]
fn order(open: bool) -> Result<u8, OrderError> {
    if open { Err(OrderError::Mismatch(1, "x")) } else { Err(OrderError::Closed) }
}

#[tokio::test]
async fn the_failure_of_a_call_carries_all_of_it() {
    let result = run::<Order>(json!({"open": false})).await;
    let failure = result.failure().unwrap();
    assert_eq!((failure.kind.as_str(), failure.retryable), ("tool_failed", true));
    assert_eq!(failure.retry_after, Some(Duration::from_secs(120)));
    let result = run::<Order>(json!({"open": true})).await;
    assert_eq!(result.failure().unwrap().details.as_ref().unwrap().to_value(), json!({"Mismatch": [1, "x"]}));
}
