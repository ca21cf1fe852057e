//! `dependentRequired`, `dependentSchemas` and `dependencies`: rules for objects that have a certain key.

use serde_json::Value;

use super::{ALL, Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::draft::Draft::{Draft201909, Draft202012};
use crate::schema::mark::Marks;
use crate::schema::message::clipped;
use crate::schema::node::{NodeId, TypeRules};
use crate::schema::problem::{CustomProblem, Problem};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::types::JsonType;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("dependentRequired", (Draft201909, Draft202012), Shape::NamesByName, Compile::Rules(required)),
    Keyword::new("dependentSchemas", (Draft201909, Draft202012), Shape::SchemasByName, Compile::Rules(schemas))
        .about(ValuePart::Value),
    // Later drafts have replaced it by two keywords, but schemas still use it.
    Keyword::new("dependencies", ALL, Shape::SchemaOrNamesByName, Compile::Rules(either)).about(ValuePart::Value),
];

fn required<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    compile(subschema, "dependentRequired", keyword);
}

fn schemas<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    compile(subschema, "dependentSchemas", keyword);
}

fn either<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    compile(subschema, "dependencies", keyword);
}

fn compile<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, word: &'static str, keyword: &'a Value) {
    for (name, dependency) in keyword.as_object().into_iter().flatten() {
        let key = name.as_str().into();
        match dependency {
            Value::Array(names) => {
                let needs = names.iter().filter_map(Value::as_str).map(Box::from).collect();
                subschema.rule(DependentRequired { keyword: word, key, needs });
            }
            schema => {
                let node = subschema.named_schema(word, name, schema);
                subschema.rule(DependentSchema { key, node });
            }
        }
    }
}

/// A rule that an object with the key must have others as well.
#[derive(Debug)]
struct DependentRequired {
    keyword: &'static str,
    key: Box<str>,
    needs: Vec<Box<str>>,
}

impl KeywordRule for DependentRequired {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if value.kind() != JsonType::Object || !walk.work(1 + self.key.len() / 64) || value.get(&self.key).is_none() {
            return;
        }
        for name in &self.needs {
            if !walk.goes_on() || !walk.work(1 + name.len() / 64) {
                return;
            }
            if value.get(name).is_some() {
                continue;
            }
            let words = || {
                let expected = format!("the key {:?}", clipped(name));
                let message = format!("{expected} is missing and must be given, as {:?} is", clipped(&self.key));
                CustomProblem { expected, message }
            };
            walk.report(value, &Problem::Custom { keyword: self.keyword, words: &words });
        }
    }
}

/// A rule that an object with the key must be valid for the node.
#[derive(Debug)]
struct DependentSchema {
    key: Box<str>,
    node: NodeId,
}

impl DependentSchema {
    fn applies(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>) -> bool {
        value.kind() == JsonType::Object && walk.work(1 + self.key.len() / 64) && value.get(&self.key).is_some()
    }
}

impl KeywordRule for DependentSchema {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.applies(value, walk) {
            walk.visit(self.node, value);
        }
    }

    fn mark(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>, marks: &mut Marks) {
        if self.applies(value, walk) {
            walk.mark(self.node, value, marks);
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        visit(&mut self.node, AppliedTo::InPlace);
    }
}
