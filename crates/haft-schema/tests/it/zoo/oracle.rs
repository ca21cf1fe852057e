//! An independent check of a value: the `jsonschema` crate.

use serde_json::{Value, json};

/// A validator that is independent of haft.
#[derive(Debug)]
pub(super) struct Oracle(jsonschema::Validator);

impl Oracle {
    /// Creates a validator of `schema`, with the widths that `format` names written out as bounds: JSON Schema itself
    /// does not know them.
    pub(super) fn new(schema: &Value) -> Self {
        let mut bounded = schema.clone();
        bound(&mut bounded);
        let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(false);
        Self(options.offline().build(&bounded).expect("schemas of types are valid"))
    }

    pub(super) fn takes(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }
}

fn bound(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(bound),
        Value::Object(map) => {
            map.values_mut().for_each(bound);
            let numeric = map.get("type").is_some_and(|kind| {
                let names =
                    |name: &str| kind == name || kind.as_array().is_some_and(|kinds| kinds.contains(&json!(name)));
                names("integer") || names("number")
            });
            if let Some((min, max)) = map.get("format").and_then(Value::as_str).filter(|_| numeric).and_then(width) {
                let together = map.entry("allOf").or_insert_with(|| json!([]));
                together.as_array_mut().unwrap().push(json!({ "minimum": min, "maximum": max }));
            }
        }
        _ => {}
    }
}

fn width(format: &str) -> Option<(Value, Value)> {
    Some(match format {
        "int8" => (json!(i8::MIN), json!(i8::MAX)),
        "int16" => (json!(i16::MIN), json!(i16::MAX)),
        "int32" => (json!(i32::MIN), json!(i32::MAX)),
        "int64" => (json!(i64::MIN), json!(i64::MAX)),
        "int" => (json!(isize::MIN), json!(isize::MAX)),
        "uint8" => (json!(0), json!(u8::MAX)),
        "uint16" => (json!(0), json!(u16::MAX)),
        "uint32" => (json!(0), json!(u32::MAX)),
        "uint64" => (json!(0), json!(u64::MAX)),
        "uint" => (json!(0), json!(usize::MAX)),
        "float" => (json!(f64::from(f32::MIN)), json!(f64::from(f32::MAX))),
        _ => return None,
    })
}
