//! The sources of the schemas of a handler's parameters and result.
//!
//! A builder has two slots, one for the parameters and one for the result. A slot is inferred from the type of the
//! handler, or fixed to a type that the handler must use, or open: with an explicit schema and any type. The states
//! exist at compile time only.

use std::any::TypeId;
use std::marker::PhantomData;

use haft_schema::{Schema, SchemaError};
use schemars::JsonSchema;
use serde_json::Value;

/// The slot whose schema is inferred from the type of the handler.
#[derive(Debug)]
pub struct Inferred;

/// The slot whose schema is that of `T`. The handler must use `T`.
#[derive(Debug)]
pub struct Fixed<T>(PhantomData<fn() -> T>);

/// The slot with an explicit schema. The handler may use any type.
#[derive(Debug)]
pub struct Open;

/// The schema of a type, if the slot is inferred.
type InferredSchema = Option<Result<Schema, SchemaError>>;

/// A slot that accepts a handler with the type `T`.
#[diagnostic::on_unimplemented(
    message = "the handler's type `{T}` does not match this tool",
    note = "derive `JsonSchema` for `{T}`, use the type passed to `params` or `success`, or set a schema explicitly"
)]
pub trait Slot<T>: sealed::SealedSlot {
    /// Returns the schema of `T` as parameters, unless the slot already has one.
    #[doc(hidden)]
    #[must_use]
    fn params() -> InferredSchema {
        None
    }

    /// Returns the schema of `T` as a result, unless the slot already has one.
    #[doc(hidden)]
    #[must_use]
    fn output() -> InferredSchema {
        None
    }
}

impl<T: JsonSchema + 'static> Slot<T> for Inferred {
    fn params() -> InferredSchema {
        Some(if is_any::<T>() { Ok(Schema::unknown()) } else { Schema::of_params::<T>() })
    }

    fn output() -> InferredSchema {
        Some(if is_any::<T>() { Ok(Schema::unknown()) } else { Schema::of_output::<T>() })
    }
}

impl<T> Slot<T> for Fixed<T> {}

impl<T> Slot<T> for Open {}

/// Reports whether a type does not restrict its values.
fn is_any<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<Value>()
}

mod sealed {
    pub trait SealedSlot {}
    impl SealedSlot for super::Inferred {}
    impl<T> SealedSlot for super::Fixed<T> {}
    impl SealedSlot for super::Open {}
}
