//! Strings, numbers, booleans and `null`.

use haft_core::LossKind;
use serde_json::{Map, Value};

use super::Rendering;
use crate::dialect::form::{Change, Form, add_sentence};
use crate::dialect::group::Group;
use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::rules::{Constants, Spelling};
use crate::dialect::sentence;

impl Rendering {
    pub(super) fn scalar(&mut self, group: &Group<'_>, kind: Kind) -> Form {
        let mut json = Map::from_iter([("type".to_owned(), kind.name().into())]);
        let constants = self.constants(group, kind, &mut json);
        self.restrict(group, kind, &mut json, self.rules.keywords);
        let kinds = match kind {
            Kind::Number => Kinds::one(Kind::Number).or(Kinds::one(Kind::Integer)),
            kind => Kinds::one(kind),
        };
        let node = self.reshape.add();
        let mut form = Form::unchanged(json, node, kinds);
        if self.rules.spelling == Spelling::AnyCase && kind == Kind::String && !constants.is_empty() {
            let spellings = constants.iter().filter_map(Value::as_str).map(str::to_owned);
            self.reshape.spellings(node, spellings);
            form.change = Change::Spelling;
        }
        form
    }

    /// Adds one type's constants and returns them.
    pub(super) fn constants(&mut self, group: &Group<'_>, kind: Kind, json: &mut Map<String, Value>) -> Vec<Value> {
        let Some(mut constants) = group.constants() else { return Vec::new() };
        constants.retain(|value| is_of(kind, value));
        constants.dedup();
        let is_every_boolean = kind == Kind::Boolean && constants.len() == 2;
        if kind == Kind::Null || is_every_boolean {
            return Vec::new();
        }
        let is_kept = match (self.rules.constants, kind) {
            (_, Kind::Object | Kind::Array) => false,
            (Constants::Scalars, _) => true,
            (Constants::StringsAndNumbers | Constants::Strings, kind) => kind != Kind::Boolean,
        };
        if !is_kept {
            add_sentence(json, &sentence::of_keyword("enum", &constants.into()));
            for (member, keyword, _) in group.keywords().filter(|(_, keyword, _)| matches!(*keyword, "enum" | "const"))
            {
                let message = format!("`{keyword}` is stated in the description");
                self.lose(&member.pointer_to(keyword), LossKind::Keyword, message);
            }
            return Vec::new();
        }
        if self.rules.constants == Constants::Strings {
            json.insert("format".to_owned(), "enum".into());
            let texts: Vec<Value> = constants.iter().map(text_of).collect();
            json.insert("enum".to_owned(), texts.into());
        } else {
            json.insert("enum".to_owned(), constants.clone().into());
        }
        constants
    }
}

fn text_of(value: &Value) -> Value {
    match value {
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// Reports whether a constant has a rendered type.
fn is_of(kind: Kind, value: &Value) -> bool {
    match (kind, Kind::of(value)) {
        (Kind::Number, Kind::Integer) => true,
        (Kind::Integer, Kind::Number) => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        (kind, own) => kind == own,
    }
}
