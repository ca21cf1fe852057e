//! References to definitions, where a dialect has them.

use std::collections::{HashMap, HashSet};

use haft_core::RenderFault;
use haft_schema::{ReshapeCase, ReshapeId, ReshapeKind, Subschema};
use serde_json::{Map, Value};

use super::Rendering;
use crate::dialect::form::{Change, Form};
use crate::dialect::group::Group;
use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::rules::References;

/// A rendering's definitions.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The rendered definitions by the pointer to the schema.
    by_pointer: HashMap<String, Definition>,
    /// Tells for each target whether it is recursive.
    recursive: HashMap<String, bool>,
    json: Map<String, Value>,
}

#[derive(Clone, Debug)]
struct Definition {
    name: String,
    node: ReshapeId,
    /// The rendered definition; none while it is being rendered.
    form: Option<Form>,
}

impl Definitions {
    /// Adds the definitions to the root.
    pub(super) fn append_to(self, root: &mut Map<String, Value>) {
        if !self.json.is_empty() {
            root.insert("$defs".to_owned(), self.json.into());
        }
    }

    fn is_recursive(&mut self, target: Subschema<'_>) -> bool {
        *self.recursive.entry(target.pointer().to_owned()).or_insert_with(|| is_recursive(target))
    }

    /// Returns a unique name for the definition at a pointer.
    fn name(&self, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let word: String = last.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
        let base = if word.is_empty() { "root".to_owned() } else { word };
        let is_taken = |name: &str| self.by_pointer.values().any(|known| known.name == name);
        let numbered = (2..).map(|number: usize| format!("{base}_{number}"));
        std::iter::once(base.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(base)
    }
}

impl Rendering {
    /// Renders a reference as a reference. Returns `None` if the dialect requires its definition in place.
    pub(super) fn kept_reference(&mut self, group: &Group<'_>) -> Result<Option<Form>, RenderFault> {
        let Some((target, is_annotated)) = group.reference() else { return Ok(None) };
        let is_kept = match self.rules.references {
            References::Inlined => false,
            References::Kept => !is_annotated && !self.definitions.is_recursive(target),
            References::KeptRecursive => !is_annotated || self.definitions.is_recursive(target),
        };
        if !is_kept {
            return Ok(None);
        }
        let mut form = self.definition(target)?;
        if is_annotated {
            self.annotate(group, &mut form);
        }
        Ok(Some(form))
    }

    fn definition(&mut self, target: Subschema<'_>) -> Result<Form, RenderFault> {
        let pointer = target.pointer();
        if !self.definitions.by_pointer.contains_key(pointer) {
            let (name, node) = (self.definitions.name(pointer), self.reshape.add());
            let definition = Definition { name: name.clone(), node, form: None };
            self.definitions.by_pointer.insert(pointer.to_owned(), definition);
            // Take the name before the definitions that this one refers to: that keeps their order.
            self.definitions.json.insert(name.clone(), Value::Null);
            let form = self.unreferenced(&Group::of([target]), 1)?;
            self.reshape.case(node, ReshapeCase::new(ReshapeKind::Any, form.node));
            self.definitions.json.insert(name, Value::Object(form.json.clone()));
            if let Some(known) = self.definitions.by_pointer.get_mut(pointer) {
                known.form = Some(form);
            }
        }
        let known = &self.definitions.by_pointer[pointer];
        let json = Map::from_iter([("$ref".to_owned(), format!("#/$defs/{}", known.name).into())]);
        Ok(match &known.form {
            Some(form) => Form { json, node: known.node, ..form.clone() },
            // A definition still being rendered may be anything.
            None => {
                let kinds = Group::of([target]).kinds();
                let sent = if kinds.has(Kind::Null) { Kinds::ALL } else { Kinds::ALL.without(Kind::Null) };
                Form { json, node: known.node, kinds, sent, change: Change::All, record: None }
            }
        })
    }
}

/// Reports whether a schema refers to itself.
fn is_recursive(schema: Subschema<'_>) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![schema];
    while let Some(next) = open.pop() {
        for found in next.parts().chain(next.references().map(|(_, target)| target)) {
            if found == schema {
                return true;
            }
            if seen.insert(found.pointer()) {
                open.push(found);
            }
        }
    }
    false
}
