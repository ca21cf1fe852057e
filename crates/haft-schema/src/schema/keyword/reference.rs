//! `$ref`, `$dynamicRef` and `$recursiveRef`: references to other subschemas.
//!
//! All three are resolved during compilation. A dynamic reference resolves to the outermost anchor of its name on the
//! path to it; as nodes are compiled separately for each scope they are reached in, that anchor is known.

use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::draft::Draft::{Draft201909, Draft202012};
use crate::schema::shape::Shape;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("$ref", ALL, Shape::Text, Compile::Rules(reference)),
    Keyword::new("$recursiveRef", (Draft201909, Draft201909), Shape::Text, Compile::Rules(recursive)),
    Keyword::new("$dynamicRef", (Draft202012, Draft202012), Shape::Text, Compile::Rules(dynamic)),
];

fn reference<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    follow(subschema, keyword, Following::Static);
}

fn recursive<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    follow(subschema, keyword, Following::Dynamic);
}

fn dynamic<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    follow(subschema, keyword, Following::Dynamic);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Following {
    Static,
    Dynamic,
}

fn follow<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value, following: Following) {
    let Some(reference) = keyword.as_str() else { return };
    // An unresolved reference is already reported as a fault.
    let Some(target) = subschema.resolve(reference) else { return };
    let dynamic = match target.dynamic {
        Some(anchor) if following == Following::Dynamic => subschema.dynamic(anchor),
        _ => None,
    };
    let node = match dynamic {
        Some(node) => node,
        None => subschema.target(target, reference),
    };
    subschema.also(node);
}
