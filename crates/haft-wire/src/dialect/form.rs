//! A rendered schema, with the facts that the enclosing schema needs.

use std::rc::Rc;

use haft_schema::{ReshapeId, ReshapeKind};
use serde_json::{Map, Value, json};

use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::rules::Null;
use crate::dialect::sentence;

/// A rendered schema.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) json: Map<String, Value>,
    pub(crate) node: ReshapeId,
    /// Its values' types.
    pub(crate) kinds: Kinds,
    /// The types that they are sent in.
    pub(crate) sent: Kinds,
    pub(crate) change: Change,
    /// The members, if all values are objects with listed members.
    pub(crate) record: Option<Rc<[Field]>>,
}

/// A codec's change to a rendered schema's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// Strings are recognised whatever their case.
    Spelling,
    /// Values with some types change, each to the type beside it.
    Types(Vec<(ReshapeKind, ReshapeKind)>),
    /// All values may change.
    All,
}

/// A record's member.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) sent_name: String,
    pub(crate) is_required: bool,
    pub(crate) constants: Option<Vec<Value>>,
}

impl Form {
    /// Creates a schema whose values don't change.
    pub(crate) fn unchanged(json: Map<String, Value>, node: ReshapeId, kinds: Kinds) -> Self {
        Self { json, node, kinds, sent: kinds, change: Change::None, record: None }
    }

    /// Reports whether a codec may change values.
    pub(crate) fn is_changed(&self) -> bool {
        self.change != Change::None
    }

    /// Adds text before the description.
    pub(crate) fn describe(&mut self, text: &str) {
        describe(&mut self.json, text);
    }

    /// Accepts `null` as well.
    pub(crate) fn accept_null(&mut self, null: Null) {
        self.kinds = self.kinds.or(Kinds::one(Kind::Null));
        self.sent = self.sent.or(Kinds::one(Kind::Null));
        if null == Null::Nullable {
            self.json.insert("nullable".to_owned(), true.into());
            return;
        }
        if let Some(Value::Array(branches)) = self.json.get_mut("anyOf") {
            branches.push(json!({"type": "null"}));
            return;
        }
        // `null` among the enumerated values is not accepted everywhere.
        let name = self.json.get("type").filter(|_| !self.json.contains_key("enum")).cloned();
        let Some(Value::String(name)) = name else {
            let inner = Value::Object(std::mem::take(&mut self.json));
            self.json.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
            return;
        };
        self.json.insert("type".to_owned(), json!([name, "null"]));
    }
}

impl Change {
    /// Returns the change for objects or arrays whose parts may change.
    pub(crate) fn within(kind: ReshapeKind, is_changed: bool) -> Self {
        if is_changed { Self::Types(vec![(kind, kind)]) } else { Self::None }
    }
}

/// Adds text before a schema's description.
pub(crate) fn describe(json: &mut Map<String, Value>, text: &str) {
    let before = json.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = sentence::join(text, before);
    if text.is_empty() {
        return;
    }
    match json.get_mut("description") {
        Some(description) => *description = text.into(),
        None => {
            let after_type = usize::from(json.contains_key("type"));
            json.shift_insert(after_type, "description".to_owned(), text.into());
        }
    }
}

/// Adds a sentence after a schema's description.
pub(crate) fn add_sentence(json: &mut Map<String, Value>, sentence: &str) {
    let before = json.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    json.remove("description");
    describe(json, &sentence::join(&before, sentence));
}
