//! `items`, `prefixItems`, `additionalItems`, `minItems` and `maxItems`: checked while an array is read.

use serde_json::Value;

use super::{ALL, Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::draft::Draft::{Draft4, Draft6, Draft201909, Draft202012};
use crate::schema::shape::Shape;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("prefixItems", (Draft202012, Draft202012), Shape::Schemas, Compile::Rules(prefix))
        .about(ValuePart::Items),
    Keyword::new("items", (Draft202012, Draft202012), Shape::Schema, Compile::Rules(items)).about(ValuePart::Items),
    Keyword::new("items", (Draft4, Draft201909), Shape::SchemaOrSchemas, Compile::Rules(items_or_prefix))
        .about(ValuePart::Items),
    Keyword::new("additionalItems", (Draft4, Draft4), Shape::SchemaOrBoolean, Compile::Rules(additional))
        .about(ValuePart::Items),
    Keyword::new("additionalItems", (Draft6, Draft201909), Shape::Schema, Compile::Rules(additional))
        .about(ValuePart::Items),
    Keyword::new("minItems", ALL, Shape::Count, Compile::Rules(min)),
    Keyword::new("maxItems", ALL, Shape::Count, Compile::Rules(max)),
];

fn prefix<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let nodes = subschema.schemas("prefixItems", keyword.as_array().map_or(&[], Vec::as_slice));
    subschema.typed().array.prefix = nodes.into();
}

fn items<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    rest(subschema, "items", keyword);
}

/// Compiles `items` before draft 2020-12, where a list has the meaning of `prefixItems`.
fn items_or_prefix<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    match keyword {
        Value::Array(schemas) => {
            let nodes = subschema.schemas("items", schemas);
            subschema.typed().array.prefix = nodes.into();
        }
        schema => rest(subschema, "items", schema),
    }
}

/// Compiles `additionalItems`, which has an effect only beside a list under `items`.
fn additional<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    if subschema.map.get("items").is_some_and(Value::is_array) {
        rest(subschema, "additionalItems", keyword);
    }
}

fn rest<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, word: &str, schema: &'a Value) {
    let node = subschema.schema(word, schema);
    let array = &mut subschema.typed().array;
    (array.items, array.covers_rest) = (node, true);
}

fn min(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    subschema.typed().array.min = count(keyword);
}

fn max(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    subschema.typed().array.max = count(keyword);
}

/// Returns a count, which may be written `2.0`, and may exceed the size of any value.
pub(super) fn count(keyword: &Value) -> usize {
    let float = keyword.as_f64().unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturation is intended")]
    keyword.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(float as usize)
}
