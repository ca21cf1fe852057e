//! Declared failures.
//!
//! A declared failure is a value that the tool defines: it has a schema, it is serialised for the model, and it has a
//! message of one sentence. Every other error is opaque: the model learns only that the tool failed, and the cause is
//! for the operator. The author of a tool decides which of the two an error is; it is never inferred from its text.

use std::any::TypeId;
use std::borrow::Cow;
use std::convert::Infallible;
use std::time::Duration;

use haft_schema::{Schema, SchemaError};
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A failure that is reported to the model.
///
/// ```
/// use haft_executor::Failure;
/// use schemars::JsonSchema;
/// use serde::Serialize;
///
/// #[derive(Debug, Serialize, JsonSchema)]
/// enum WeatherError {
///     UnknownCity(String),
/// }
///
/// impl Failure for WeatherError {
///     fn message(&self) -> String {
///         match self {
///             Self::UnknownCity(city) => format!("there is no city called {city}"),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a declared failure",
    note = "derive `Failure` (with `Serialize` and `JsonSchema`), use a `String`, or use `try_handler_opaque` to keep the error from the model"
)]
pub trait Failure: Serialize + JsonSchema + Send + 'static {
    /// Returns the message for the model, one sentence.
    fn message(&self) -> String;

    /// Reports whether the same call may succeed later.
    fn retryable(&self) -> bool {
        false
    }

    /// Returns the time to wait before a retry.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

/// The failure of a tool that declares none. It has no values, and its schema is `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFailure(Infallible);

/// Returns the schema of a declared failure. That of [`NoFailure`] is `false`, which a generated root schema can't be.
pub(crate) fn failure_schema<F: Failure>() -> Result<Schema, SchemaError> {
    if TypeId::of::<F>() == TypeId::of::<NoFailure>() { Ok(Schema::never()) } else { Schema::of_output::<F>() }
}

impl Failure for NoFailure {
    fn message(&self) -> String {
        match self.0 {}
    }
}

impl Serialize for NoFailure {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match self.0 {}
    }
}

/// Rejects every value: the type has none.
impl<'de> Deserialize<'de> for NoFailure {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("the tool declares no failure"))
    }
}

impl JsonSchema for NoFailure {
    fn schema_name() -> Cow<'static, str> {
        "NoFailure".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        json_schema!(false)
    }
}

impl Failure for String {
    fn message(&self) -> String {
        self.clone()
    }
}

impl Failure for &'static str {
    fn message(&self) -> String {
        (*self).to_owned()
    }
}

impl Failure for Cow<'static, str> {
    fn message(&self) -> String {
        self.clone().into_owned()
    }
}
