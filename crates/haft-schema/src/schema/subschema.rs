//! The public walk over the subschemas of a schema: the pointer to each, the part of a value that it applies to, and
//! its references.
//!
//! It uses the same keyword table as the check, and resolves references in the same way. Code that rewrites schemas or
//! searches them for marks therefore needs no keyword list of its own.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

use super::budget::WorkBudget;
use super::compile::written_length;
use super::draft::Draft;
use super::keyword::{Keyword, ValuePart};
use super::path::{push_index, push_key};
use super::resource::{ResourceId, Resources};
use super::shape::PointerToken;

/// All subschemas of a [`Schema`](super::Schema), the schema itself included. See
/// [`Schema::subschemas`](super::Schema::subschemas).
#[derive(Debug)]
pub struct Subschemas<'a> {
    list: Vec<SubschemaEntry<'a>>,
}

/// A schema within a schema.
#[derive(Clone, Copy)]
pub struct Subschema<'s> {
    all: &'s Subschemas<'s>,
    at: usize,
}

/// The part of a value that a subschema applies to, relative to the schema around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AppliesTo<'s> {
    /// The same value: `allOf`, `anyOf`, `if`, `dependentSchemas` and similar keywords. The root applies to the whole
    /// value.
    Value,
    /// The member of this name.
    Member(&'s str),
    /// The members whose names match this pattern.
    MatchingMembers(&'s str),
    /// The members that no other keyword covers.
    OtherMembers,
    /// The names of the members.
    MemberNames,
    /// The item at this index.
    Item(usize),
    /// Every item, or every item that no other keyword covers.
    Items,
    /// No part: a definition for other subschemas to refer to.
    Nothing,
}

#[derive(Debug)]
struct SubschemaEntry<'a> {
    json: &'a Value,
    pointer: String,
    keyword: Option<&'static str>,
    applies_to: AppliesTo<'a>,
    parts: Vec<usize>,
    targets: Vec<(&'static str, usize)>,
    has_unresolved: bool,
    is_only_reference: bool,
}

impl<'a> Subschemas<'a> {
    /// Finds the subschemas of a valid schema.
    pub(super) fn of(schema: &'a Value) -> Self {
        let draft = Draft::detect(schema).unwrap_or(Draft::Draft202012);
        let mut budget = WorkBudget::for_schema(written_length(schema));
        let root = SubschemaEntry::new(schema, String::new(), None, AppliesTo::Value);
        let Ok(resources) = Resources::scan(schema, draft, &mut budget) else {
            // No schema is created from JSON that cannot be scanned within its budget.
            return Self { list: vec![SubschemaEntry { has_unresolved: true, ..root }] };
        };
        let known = HashMap::from([(std::ptr::from_ref(schema), 0)]);
        let mut survey =
            SubschemaWalk { root: schema, resources, budget, list: vec![root], known, references: Vec::new() };
        survey.run();
        Self { list: survey.list }
    }

    /// Returns the schema itself.
    #[must_use]
    pub fn root(&self) -> Subschema<'_> {
        Subschema { all: self, at: 0 }
    }

    /// Returns every subschema once, each after the one around it.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Subschema<'_>> {
        (0..self.list.len()).map(|at| Subschema { all: self, at })
    }
}

impl<'s> Subschema<'s> {
    /// Returns the subschema as JSON: an object, or a boolean.
    #[must_use]
    pub fn as_json(self) -> &'s Value {
        self.entry().json
    }

    /// Returns the JSON Pointer to it from the root of the schema. In a meta-schema that is referred to, the pointer
    /// follows the address and `#`; haft's own meta-schemas describe what it accepts, and differ in wording from the
    /// official ones.
    #[must_use]
    pub fn pointer(self) -> &'s str {
        &self.entry().pointer
    }

    /// Returns the keyword that contains it; `None` for the root and for subschemas that are only found by reference.
    #[must_use]
    pub fn keyword(self) -> Option<&'s str> {
        self.entry().keyword
    }

    /// Returns the part of a value that it applies to, relative to the schema around it.
    #[must_use]
    pub fn applies_to(self) -> AppliesTo<'s> {
        self.entry().applies_to
    }

    /// Returns its direct subschemas, in the order of its keywords. If a draft ignores keywords beside a `$ref`, their
    /// subschemas are returned as well.
    #[must_use]
    pub fn parts(self) -> impl ExactSizeIterator<Item = Self> {
        self.entry().parts.iter().map(move |at| Self { all: self.all, at: *at })
    }

    /// Returns the targets of its references, each with its keyword: one subschema for a `$ref`, all possible targets
    /// for a `$dynamicRef` or `$recursiveRef`.
    #[must_use]
    pub fn references(self) -> impl ExactSizeIterator<Item = (&'s str, Self)> {
        self.entry().targets.iter().map(move |(keyword, at)| (*keyword, Self { all: self.all, at: *at }))
    }

    /// Reports whether its draft ignores all other keywords beside its `$ref`, as drafts before 2019-09 do.
    #[must_use]
    pub fn is_only_reference(self) -> bool {
        self.entry().is_only_reference
    }

    /// Reports whether one of its references cannot be resolved, which is possible in a schema that is only shown.
    #[must_use]
    pub fn has_unresolved_reference(self) -> bool {
        self.entry().has_unresolved
    }

    fn entry(self) -> &'s SubschemaEntry<'s> {
        &self.all.list[self.at]
    }
}

impl PartialEq for Subschema<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.as_json(), other.as_json())
    }
}

impl Eq for Subschema<'_> {}

impl fmt::Debug for Subschema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subschema({:?}: {})", self.pointer(), self.as_json())
    }
}

impl<'a> SubschemaEntry<'a> {
    fn new(json: &'a Value, pointer: String, keyword: Option<&'static str>, applies_to: AppliesTo<'a>) -> Self {
        Self {
            json,
            pointer,
            keyword,
            applies_to,
            parts: Vec::new(),
            targets: Vec::new(),
            has_unresolved: false,
            is_only_reference: false,
        }
    }
}

/// A reference of a subschema.
#[derive(Clone, Copy)]
struct SubschemaReference<'a> {
    at: usize,
    resource: ResourceId,
    keyword: &'static str,
    to: &'a str,
}

/// A walk in progress.
struct SubschemaWalk<'a> {
    root: &'a Value,
    resources: Resources<'a>,
    budget: WorkBudget,
    list: Vec<SubschemaEntry<'a>>,
    known: HashMap<*const Value, usize>,
    /// References, some of which are not yet followed.
    references: Vec<SubschemaReference<'a>>,
}

impl<'a> SubschemaWalk<'a> {
    /// Runs the walk. References are followed after all subschemas in place are known, so that they only add subschemas
    /// that occur nowhere else.
    fn run(&mut self) {
        let (mut visited, mut followed) = (0, 0);
        while visited < self.list.len() || followed < self.references.len() {
            if visited < self.list.len() {
                self.visit(visited);
                visited += 1;
            } else {
                self.follow(self.references[followed]);
                followed += 1;
            }
        }
    }

    /// Finds the direct subschemas and the references of a subschema.
    fn visit(&mut self, at: usize) {
        let Value::Object(map) = self.list[at].json else { return };
        let Some(resource) = self.resources.owner_of(self.list[at].json) else { return };
        let draft = self.resources.get(resource).draft;
        self.list[at].is_only_reference = !draft.keeps_ref_siblings() && map.contains_key("$ref");
        for (name, value) in map {
            let Some((_, keyword)) = Keyword::find(name, draft) else { continue };
            if let (true, Value::String(reference)) = (keyword.is_reference(), value) {
                self.references.push(SubschemaReference { at, resource, keyword: keyword.name, to: reference });
                continue;
            }
            let mut pointer = self.list[at].pointer.clone();
            push_key(&mut pointer, name);
            let mut found = Vec::new();
            keyword.shape.subschemas(value, &mut |step, schema| found.push((step, schema)));
            for (step, schema) in found {
                let mut pointer = pointer.clone();
                match step {
                    PointerToken::Here => {}
                    PointerToken::Index(index) => push_index(&mut pointer, index),
                    PointerToken::Name(name) => push_key(&mut pointer, name),
                }
                let part =
                    self.add(SubschemaEntry::new(schema, pointer, Some(keyword.name), applies_to(keyword.part, step)));
                self.list[at].parts.push(part);
            }
        }
    }

    fn follow(&mut self, SubschemaReference { at, resource, keyword, to: reference }: SubschemaReference<'a>) {
        let Ok(Some(target)) = self.resources.resolve(resource, reference, &mut self.budget) else {
            self.list[at].has_unresolved = true;
            return;
        };
        let mut targets = vec![target.schema];
        if let Some(name) = target.dynamic {
            targets.extend(self.resources.dynamic_anchors(name));
        }
        for schema in targets {
            let to = match self.known.get(&std::ptr::from_ref(schema)) {
                Some(known) => *known,
                None => {
                    let pointer = pointer_to(self.root, schema).unwrap_or_else(|| address(reference));
                    self.add(SubschemaEntry::new(schema, pointer, None, AppliesTo::Nothing))
                }
            };
            if !self.list[at].targets.contains(&(keyword, to)) {
                self.list[at].targets.push((keyword, to));
            }
        }
    }

    fn add(&mut self, entry: SubschemaEntry<'a>) -> usize {
        if let Some(known) = self.known.get(&std::ptr::from_ref(entry.json)) {
            // A reference led to it before the subschema around it was found.
            let before = &mut self.list[*known];
            (before.keyword, before.applies_to) = (entry.keyword, entry.applies_to);
            return *known;
        }
        self.known.insert(entry.json, self.list.len());
        self.list.push(entry);
        self.list.len() - 1
    }
}

/// Returns the address of a meta-schema, with a fragment that a pointer may be appended to.
fn address(reference: &str) -> String {
    if reference.contains('#') { reference.to_owned() } else { format!("{reference}#") }
}

/// Returns the pointer to a value inside a tree.
fn pointer_to(root: &Value, part: &Value) -> Option<String> {
    let mut open = vec![(root, String::new())];
    while let Some((value, pointer)) = open.pop() {
        if std::ptr::eq(value, part) {
            return Some(pointer);
        }
        let step = |push: &dyn Fn(&mut String)| {
            let mut pointer = pointer.clone();
            push(&mut pointer);
            pointer
        };
        match value {
            Value::Object(members) => {
                open.extend(members.iter().map(|(key, member)| (member, step(&|pointer| push_key(pointer, key)))));
            }
            Value::Array(items) => {
                open.extend(
                    items.iter().enumerate().map(|(at, item)| (item, step(&|pointer| push_index(pointer, at)))),
                );
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

fn applies_to(part: ValuePart, step: PointerToken<'_>) -> AppliesTo<'_> {
    match (part, step) {
        (ValuePart::Members, PointerToken::Name(name)) => AppliesTo::Member(name),
        (ValuePart::MatchingMembers, PointerToken::Name(pattern)) => AppliesTo::MatchingMembers(pattern),
        (ValuePart::Items, PointerToken::Index(index)) => AppliesTo::Item(index),
        (ValuePart::Items, _) => AppliesTo::Items,
        (ValuePart::OtherMembers, _) => AppliesTo::OtherMembers,
        (ValuePart::MemberNames, _) => AppliesTo::MemberNames,
        (ValuePart::Value, _) => AppliesTo::Value,
        (ValuePart::Nothing | ValuePart::Members | ValuePart::MatchingMembers, _) => AppliesTo::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::shape::Shape;

    /// Lists each subschema by pointer, with the part that it applies to.
    fn listed(schema: &Value) -> Vec<(String, String)> {
        let all = Subschemas::of(schema);
        all.iter().map(|found| (found.pointer().to_owned(), format!("{:?}", found.applies_to()))).collect()
    }

    fn targets(schema: &Value, pointer: &str) -> Vec<String> {
        let all = Subschemas::of(schema);
        let from = all.iter().find(|found| found.pointer() == pointer).unwrap();
        from.references().map(|(_, target)| target.pointer().to_owned()).collect()
    }

    #[test]
    fn every_subschema_is_found_once_with_what_it_applies_to() {
        let schema = json!({
            "properties": {"a/b": {"items": {"type": "string"}}, "$ref": {"const": {"$ref": "#/nowhere"}}},
            "patternProperties": {"^x": true},
            "additionalProperties": false,
            "propertyNames": {"maxLength": 3},
            "prefixItems": [{}, {"not": {}}],
            "dependentSchemas": {"a": {}},
            "$defs": {"n": {"default": {"properties": {"no": {}}}}},
            "x-unknown": {"properties": {"no": {}}},
            "enum": [{"items": {}}],
        });
        let expected = [
            ("", "Value"),
            ("/properties/a~1b", "Member(\"a/b\")"),
            ("/properties/$ref", "Member(\"$ref\")"),
            ("/patternProperties/^x", "MatchingMembers(\"^x\")"),
            ("/additionalProperties", "OtherMembers"),
            ("/propertyNames", "MemberNames"),
            ("/prefixItems/0", "Item(0)"),
            ("/prefixItems/1", "Item(1)"),
            ("/dependentSchemas/a", "Value"),
            ("/$defs/n", "Nothing"),
            ("/properties/a~1b/items", "Items"),
            ("/prefixItems/1/not", "Value"),
        ];
        assert_eq!(listed(&schema), expected.map(|(pointer, applies)| (pointer.to_owned(), applies.to_owned())));
    }

    #[test]
    fn a_draft_has_its_own_keywords() {
        let draft7 = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "items": [{}, true], "additionalItems": {}, "prefixItems": [{}], "dependencies": {"a": ["b"], "c": {}},
        });
        let found: Vec<String> = listed(&draft7).into_iter().map(|(pointer, _)| pointer).collect();
        assert_eq!(found, ["", "/items/0", "/items/1", "/additionalItems", "/dependencies/c"]);
    }

    #[test]
    fn references_are_resolved_as_the_check_resolves_them() {
        let schema = json!({
            "$id": "https://example.com/root",
            "$ref": "#/$defs/a~1b%20c",
            "properties": {
                "by_id": {"$ref": "inner"},
                "by_anchor": {"$ref": "inner#here"},
                "loop": {"$ref": "#"},
                "unknown": {"$ref": "#/x-parts/one"},
                "meta": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
            },
            "$defs": {"a/b c": {}, "i": {"$id": "inner", "not": {"$anchor": "here"}}},
            "x-parts": {"one": {"items": {}}},
        });
        assert_eq!(targets(&schema, ""), ["/$defs/a~1b c"]);
        assert_eq!(targets(&schema, "/properties/by_id"), ["/$defs/i"]);
        assert_eq!(targets(&schema, "/properties/by_anchor"), ["/$defs/i/not"]);
        assert_eq!(targets(&schema, "/properties/loop"), [""]);
        assert_eq!(targets(&schema, "/properties/unknown"), ["/x-parts/one"]);
        assert_eq!(targets(&schema, "/properties/meta"), ["https://json-schema.org/draft/2020-12/schema#"]);
        assert!(listed(&schema).contains(&("/x-parts/one/items".to_owned(), "Items".to_owned())));
    }

    #[test]
    fn references_are_distinguished_by_keyword() {
        let schema =
            json!({"$ref": "#/$defs/a", "$dynamicRef": "#b", "$defs": {"a": {}, "b": {"$dynamicAnchor": "b"}}});
        let all = Subschemas::of(&schema);
        let found: Vec<(&str, &str)> = all.root().references().map(|(word, to)| (word, to.pointer())).collect();
        assert_eq!(found, [("$ref", "/$defs/a"), ("$dynamicRef", "/$defs/b")]);
        assert!(!all.root().is_only_reference());
        let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": {}}});
        assert!(Subschemas::of(&old).root().is_only_reference());
    }

    #[test]
    fn a_dynamic_reference_has_all_possible_targets() {
        let schema = json!({
            "$id": "https://example.com/strict",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}}},
        });
        assert_eq!(targets(&schema, "/$defs/tree/items"), ["/$defs/tree", ""]);
    }

    #[test]
    fn an_unresolved_reference_is_reported() {
        for reference in ["#/nowhere", "#anchor", "other.json", "#/%zz"] {
            let schema = json!({"not": {"$ref": reference}});
            let all = Subschemas::of(&schema);
            let unresolved: Vec<&str> =
                all.iter().filter(|found| found.has_unresolved_reference()).map(Subschema::pointer).collect();
            assert_eq!(unresolved, ["/not"], "{reference}");
        }
    }

    #[test]
    fn every_keyword_with_subschemas_declares_what_they_apply_to() {
        for draft in [Draft::Draft4, Draft::Draft6, Draft::Draft7, Draft::Draft201909, Draft::Draft202012] {
            for keyword in Keyword::of(draft) {
                let holds_schemas = matches!(
                    keyword.shape,
                    Shape::Schema
                        | Shape::SchemaOrBoolean
                        | Shape::Schemas
                        | Shape::SchemaOrSchemas
                        | Shape::SchemasByName
                        | Shape::SchemaOrNamesByName
                );
                let is_about_nothing = ["$defs", "definitions", "contentSchema"].contains(&keyword.name);
                assert_eq!(keyword.part != ValuePart::Nothing, holds_schemas && !is_about_nothing, "{}", keyword.name);
            }
        }
    }
}
