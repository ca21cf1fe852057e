//! Keywords that assert nothing: descriptions, definitions, identifiers, and hints for the model.

use super::{ALL, Compile, Keyword};
use crate::schema::draft::Draft::{Draft4, Draft6, Draft7, Draft201909, Draft202012};
use crate::schema::shape::Shape;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("$schema", ALL, Shape::Text, Compile::Nothing),
    Keyword::new("id", (Draft4, Draft4), Shape::Text, Compile::Nothing),
    Keyword::new("$id", (Draft6, Draft202012), Shape::Text, Compile::Nothing),
    Keyword::new("$anchor", (Draft201909, Draft202012), Shape::Text, Compile::Nothing),
    Keyword::new("$dynamicAnchor", (Draft202012, Draft202012), Shape::Text, Compile::Nothing),
    Keyword::new("$recursiveAnchor", (Draft201909, Draft201909), Shape::Boolean, Compile::Nothing),
    Keyword::new("$vocabulary", (Draft201909, Draft202012), Shape::Object, Compile::Nothing),
    Keyword::new("$comment", (Draft7, Draft202012), Shape::Text, Compile::Nothing),
    Keyword::new("$defs", ALL, Shape::SchemasByName, Compile::Nothing),
    Keyword::new("definitions", ALL, Shape::SchemasByName, Compile::Nothing),
    Keyword::new("title", ALL, Shape::Text, Compile::Nothing),
    Keyword::new("description", ALL, Shape::Text, Compile::Nothing),
    Keyword::new("default", ALL, Shape::Any, Compile::Nothing),
    Keyword::new("examples", (Draft6, Draft202012), Shape::List, Compile::Nothing),
    Keyword::new("deprecated", (Draft201909, Draft202012), Shape::Boolean, Compile::Nothing),
    Keyword::new("readOnly", (Draft7, Draft202012), Shape::Boolean, Compile::Nothing),
    Keyword::new("writeOnly", (Draft7, Draft202012), Shape::Boolean, Compile::Nothing),
    Keyword::new("contentEncoding", (Draft7, Draft202012), Shape::Text, Compile::Nothing),
    Keyword::new("contentMediaType", (Draft7, Draft202012), Shape::Text, Compile::Nothing),
    Keyword::new("contentSchema", (Draft201909, Draft202012), Shape::Schema, Compile::Nothing),
];
