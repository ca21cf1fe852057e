//! `type`: the JSON types a value may have.

use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::shape::Shape;
use crate::schema::types::Types;

pub(super) const KEYWORDS: &[Keyword] = &[Keyword::new("type", ALL, Shape::TypeNames, Compile::Rules(compile))];

fn compile(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    let types = types(keyword).unwrap_or_default();
    let typed = subschema.typed();
    typed.types = typed.types.intersect(types);
}

/// Returns the set of types that `type` names.
pub(in crate::schema) fn types(keyword: &Value) -> Option<Types> {
    match keyword {
        Value::String(name) => Types::named(name),
        Value::Array(names) => names
            .iter()
            .map(|name| name.as_str().and_then(Types::named))
            .try_fold(Types::default(), |set, types| Some(set.with(types?))),
        _ => None,
    }
}
