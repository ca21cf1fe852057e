//! `uniqueItems`.

use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::{Instance, all_differ};
use crate::schema::node::TypeRules;
use crate::schema::problem::Problem;
use crate::schema::rule::KeywordRule;
use crate::schema::shape::Shape;
use crate::schema::types::JsonType;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[Keyword::new("uniqueItems", ALL, Shape::Boolean, Compile::Rules(compile))];

fn compile(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    if keyword == &Value::Bool(true) {
        subschema.rule(UniqueItems);
    }
}

/// A rule that no two items may be equal.
#[derive(Debug)]
struct UniqueItems;

impl KeywordRule for UniqueItems {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if value.kind() == JsonType::Array && all_differ(value, walk.budget) == Ok(false) {
            walk.report(value, &Problem::NotUnique);
        }
    }
}
