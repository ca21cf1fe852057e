//! The parameter schemas of types that calls are decoded as outside of a tool, kept by type.
//!
//! A tool holds its own schemas. Code that decodes a call by the type of its tool has none at hand, and generating and
//! compiling one per call would cost far more than decoding it. The table never shrinks: its size is bounded by the
//! number of types in the program.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};

use schemars::JsonSchema;

use super::{Schema, SchemaError};

/// Returns the schema of a tool's parameters. It is created once per type.
pub(super) fn parameters<T: JsonSchema + 'static>() -> Result<Schema, SchemaError> {
    let id = TypeId::of::<T>();
    match find(id) {
        Some(schema) => Ok(schema),
        // The type's own code generates the schema, so no lock is held.
        None => Schema::of_params::<T>().inspect(|schema| keep(id, schema)),
    }
}

fn find(id: TypeId) -> Option<Schema> {
    schemas().read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
}

fn keep(id: TypeId, schema: &Schema) {
    schemas().write().unwrap_or_else(PoisonError::into_inner).insert(id, schema.clone());
}

fn schemas() -> &'static RwLock<HashMap<TypeId, Schema>> {
    static SCHEMAS: OnceLock<RwLock<HashMap<TypeId, Schema>>> = OnceLock::new();
    SCHEMAS.get_or_init(RwLock::default)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use schemars::SchemaGenerator;

    use super::*;

    static GENERATED: AtomicUsize = AtomicUsize::new(0);

    struct Counted;

    impl JsonSchema for Counted {
        fn schema_name() -> Cow<'static, str> {
            "Counted".into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
            GENERATED.fetch_add(1, Ordering::Relaxed);
            schemars::json_schema!({"type": "integer"})
        }
    }

    #[test]
    fn a_schema_is_generated_once_per_type() {
        let first = parameters::<Counted>().unwrap();
        let generated = GENERATED.load(Ordering::Relaxed);
        assert!(generated > 0);
        for _ in 0..3 {
            assert!(Arc::ptr_eq(&parameters::<Counted>().unwrap().compiled, &first.compiled));
        }
        assert_eq!(GENERATED.load(Ordering::Relaxed), generated);
    }

    #[test]
    fn a_type_without_content_accepts_the_empty_object() {
        assert_eq!(parameters::<()>().unwrap().as_json(), Schema::empty().as_json());
    }
}
