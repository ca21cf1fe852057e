//! How a builder knows the schema of a handler's parameters or result.
//!
//! A builder has two slots, one for what goes in and one for what comes out. A slot is read off the handler's own type,
//! or fixed to a type that the handler must then use, or open, with a schema given by hand and any type behind it. The
//! states exist at compile time only.

use std::any::TypeId;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::{Schema, SchemaError};

/// The schema is read off the handler's type.
#[derive(Debug)]
pub struct Inferred;

/// The schema is that of `T`, and the handler must use `T`.
#[derive(Debug)]
pub struct Typed<T>(PhantomData<fn() -> T>);

/// The schema is given by hand, and the handler may use any type.
#[derive(Debug)]
pub struct Open;

/// The schema of a type, if it is to be read off the type.
type InferredSchema = Option<Result<Schema, SchemaError>>;

/// A slot that takes a handler's `T`.
#[diagnostic::on_unimplemented(
    message = "the handler's type `{T}` does not fit this tool",
    note = "derive `JsonSchema` for `{T}`, or use the type given to `params` or `success`, or give a schema by hand"
)]
pub trait Slot<T>: sealed::SealedSlot {
    /// The schema of `T` as parameters, unless it was set before.
    #[doc(hidden)]
    #[must_use]
    fn params() -> InferredSchema {
        None
    }

    /// The schema of `T` as a result, unless it was set before.
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

impl<T> Slot<T> for Typed<T> {}

impl<T> Slot<T> for Open {}

/// Whether a type says nothing about its values.
fn is_any<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<Value>()
}

mod sealed {
    pub trait SealedSlot {}
    impl SealedSlot for super::Inferred {}
    impl<T> SealedSlot for super::Typed<T> {}
    impl SealedSlot for super::Open {}
}
