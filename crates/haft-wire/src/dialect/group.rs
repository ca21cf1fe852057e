//! The subschemas that apply to one value together: a schema, its reference targets and its `allOf` parts.
//!
//! A rendering has one schema per value, so the walk reads these parts as one.

use std::collections::{HashMap, HashSet};

use haft_schema::{AppliesTo, Subschema};
use serde_json::{Map, Value};

use crate::dialect::keyword;
use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::object_rule::{ObjectRule, OtherMembers};

/// The most alternatives to follow when looking for a value's types. Beyond them the value may have any type.
const MAX_ALTERNATIVES: usize = 500;

/// Keywords that say nothing about a value.
const SILENT: &[&str] = &["$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "$dynamicAnchor"];

/// Keywords that inform about a value only.
const DESCRIPTIVE: &[&str] = &["title", "description", "default", "example", "examples", "deprecated"];

/// Subschemas that apply to one value. The first one is where the value is defined.
#[derive(Clone, Debug)]
pub(crate) struct Group<'s> {
    /// The one subschema that leads to all others, if there is one.
    source: Option<Subschema<'s>>,
    members: Vec<GroupMember<'s>>,
    /// References that lead nowhere, or to several schemas.
    pub(crate) open_references: Vec<Subschema<'s>>,
}

/// A group's subschema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupMember<'s> {
    pub(crate) schema: Subschema<'s>,
    /// The alternatives that have been chosen from already.
    chosen: Option<&'s str>,
    /// Set if the annotations are stated elsewhere.
    is_quiet: bool,
}

/// A group's alternatives.
#[derive(Clone, Debug)]
pub(crate) struct Alternatives<'s> {
    at: usize,
    keyword: &'s str,
    pub(crate) branches: Vec<Subschema<'s>>,
}

impl Alternatives<'_> {
    pub(crate) fn keyword(&self) -> &str {
        self.keyword
    }

    /// Returns the pointer to a group's alternatives.
    pub(crate) fn pointer(&self, group: &Group<'_>) -> String {
        group.members[self.at].pointer_to(self.keyword)
    }

    /// Reports whether a value may match one alternative only.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.keyword == "oneOf"
    }

    pub(crate) fn as_json(&self) -> Value {
        self.branches.iter().map(|branch| branch.as_json().clone()).collect()
    }
}

impl<'s> Group<'s> {
    /// Creates a group from subschemas that apply to the same value.
    pub(crate) fn of(schemas: impl IntoIterator<Item = Subschema<'s>>) -> Self {
        let schemas: Vec<_> = schemas.into_iter().collect();
        let source = schemas.first().copied().filter(|_| schemas.len() == 1);
        let mut group = Self { source, members: Vec::new(), open_references: Vec::new() };
        for schema in schemas {
            group.add(schema);
        }
        group
    }

    fn add(&mut self, schema: Subschema<'s>) {
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            if self.members.iter().any(|member| member.schema == schema) {
                continue;
            }
            let mut next = Vec::new();
            let targets: Vec<_> = schema.references().collect();
            let is_ambiguous = targets.len() > 1 && targets.iter().any(|(keyword, _)| *keyword != "$ref");
            if schema.has_unresolved_reference() || is_ambiguous {
                self.open_references.push(schema);
            } else {
                next.extend(targets.into_iter().map(|(_, target)| target));
            }
            if !schema.is_only_reference() {
                self.members.push(GroupMember { schema, chosen: None, is_quiet: false });
                next.extend(schema.parts().filter(|part| part.keyword() == Some("allOf")));
            }
            open.extend(next.into_iter().rev());
        }
    }

    /// Returns the pointer to the first subschema.
    pub(crate) fn pointer(&self) -> &'s str {
        self.members.first().map_or("", |member| member.schema.pointer())
    }

    /// Returns text that differs between groups.
    pub(crate) fn id(&self) -> String {
        let ids =
            self.members.iter().map(|member| format!("{}|{}", member.schema.pointer(), member.chosen.unwrap_or("")));
        ids.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &GroupMember<'s>> {
        self.members.iter()
    }

    /// Returns every keyword, with the subschema that has it.
    pub(crate) fn keywords(&self) -> impl Iterator<Item = (GroupMember<'s>, &'s str, &'s Value)> {
        self.members.iter().flat_map(|member| {
            let keywords = member.schema.as_json().as_object();
            keywords.into_iter().flatten().map(|(keyword, value)| (*member, keyword.as_str(), value))
        })
    }

    /// Returns a keyword's values.
    pub(crate) fn values(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.keywords().filter(move |(_, name, _)| *name == keyword).map(|(_, _, value)| value)
    }

    /// Returns all direct subschemas for parts of the value.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Subschema<'s>> {
        self.members.iter().flat_map(|member| member.schema.parts())
    }

    /// Returns the types that the value may have, as far as keywords state them.
    pub(crate) fn kinds(&self) -> Kinds {
        let mut left = MAX_ALTERNATIVES;
        self.kinds_within(&mut left)
    }

    fn kinds_within(&self, left: &mut usize) -> Kinds {
        let mut kinds = Kinds::ALL;
        for member in &self.members {
            kinds = match member.schema.as_json() {
                Value::Bool(false) => Kinds::NONE,
                Value::Object(keywords) => kinds.and(own_kinds(keywords)),
                _ => kinds,
            };
        }
        for alternatives in self.alternatives() {
            let mut possible = Kinds::NONE;
            for branch in alternatives.branches {
                if possible == Kinds::ALL {
                    break;
                }
                let Some(rest) = left.checked_sub(1) else { return kinds };
                *left = rest;
                possible = possible.or(Self::of([branch]).kinds_within(left));
            }
            kinds = kinds.and(possible);
        }
        if kinds.has(Kind::Object) && self.rejects_objects() { kinds.without(Kind::Object) } else { kinds }
    }

    /// Returns the one type that the group's keywords are about, if there is one.
    pub(crate) fn implied_kind(&self) -> Option<Kind> {
        let mut kinds = self.keywords().filter_map(|(_, keyword, _)| keyword::implied_kind(keyword));
        let first = kinds.next()?;
        kinds.all(|kind| kind == first).then_some(first)
    }

    /// Returns the values that `const` and `enum` allow.
    pub(crate) fn constants(&self) -> Option<Vec<Value>> {
        let mut allowed: Option<Vec<Value>> = None;
        for (_, keyword, value) in self.keywords() {
            let values: &[Value] = match (keyword, value) {
                ("const", value) => std::slice::from_ref(value),
                ("enum", Value::Array(values)) => values,
                _ => continue,
            };
            allowed = Some(match allowed {
                Some(before) => before.into_iter().filter(|value| values.contains(value)).collect(),
                None => values.to_vec(),
            });
        }
        allowed
    }

    /// Returns the group's alternatives that have not been chosen from.
    pub(crate) fn alternatives(&self) -> Vec<Alternatives<'s>> {
        let mut found: Vec<Alternatives<'s>> = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            for part in member.schema.parts() {
                let Some(keyword @ ("anyOf" | "oneOf")) = part.keyword() else { continue };
                if member.chosen == Some(keyword) {
                    continue;
                }
                match found.iter_mut().find(|known| known.at == at && known.keyword == keyword) {
                    Some(known) => known.branches.push(part),
                    None => found.push(Alternatives { at, keyword, branches: vec![part] }),
                }
            }
        }
        found
    }

    /// Reports whether the rest of the group describes the value, so that the alternatives only restrict it.
    pub(crate) fn describes_more_than(&self, alternatives: &Alternatives<'s>) -> bool {
        let is_structure = |name: &str| {
            matches!(
                name,
                "type"
                    | "properties"
                    | "items"
                    | "prefixItems"
                    | "enum"
                    | "const"
                    | "$ref"
                    | "anyOf"
                    | "oneOf"
                    | "allOf"
            )
        };
        let rest = self.keywords().any(|(member, name, _)| {
            matches!(name, "properties" | "items" | "prefixItems" | "enum" | "const" | "type")
                && !alternatives.branches.contains(&member.schema)
        });
        let restricts = |branch: &Subschema<'s>| match branch.as_json() {
            Value::Object(keywords) => !keywords.keys().any(|name| is_structure(name)),
            _ => true,
        };
        rest && alternatives.branches.iter().all(restricts)
    }

    /// Returns the group without these alternatives: the part that holds for each of them.
    pub(crate) fn without(&self, alternatives: &Alternatives<'s>) -> Self {
        let mut group = self.clone();
        group.source = None;
        group.members[alternatives.at].chosen = Some(alternatives.keyword);
        group
    }

    /// Returns one alternative as a group, together with everything that holds for all alternatives.
    pub(crate) fn with_branch(&self, alternatives: &Alternatives<'s>, branch: Subschema<'s>) -> Self {
        let is_bare = self.keywords().all(|(_, name, _)| {
            name == alternatives.keyword || name == "$ref" || SILENT.contains(&name) || DESCRIPTIVE.contains(&name)
        });
        if is_bare {
            return Self::of([branch]);
        }
        let mut group = self.without(alternatives);
        for member in &mut group.members {
            member.is_quiet = true;
        }
        group.add(branch);
        // The first subschema names the group in reports.
        if let Some(at) = group.members.iter().position(|member| member.schema == branch) {
            group.members[..=at].rotate_right(1);
        }
        group
    }

    /// Returns the target of the reference that makes up the group, and whether the group has its own annotations.
    pub(crate) fn reference(&self) -> Option<(Subschema<'s>, bool)> {
        let source = self.source?;
        let mut targets = source.references();
        let (keyword, target) = targets.next()?;
        if keyword != "$ref" || targets.next().is_some() {
            return None;
        }
        if source.is_only_reference() {
            return Some((target, false));
        }
        let keywords = source.as_json().as_object()?;
        let others = || keywords.keys().filter(|name| *name != "$ref" && !SILENT.contains(&name.as_str()));
        others().all(|name| DESCRIPTIVE.contains(&name.as_str())).then(|| (target, others().next().is_some()))
    }

    /// Returns the title and the description.
    pub(crate) fn annotation(&self, keyword: &str) -> Option<&'s str> {
        let mut own = self.keywords().filter(|(member, name, _)| *name == keyword && !member.is_quiet);
        own.find_map(|(_, _, value)| value.as_str())
    }

    /// Returns the listed or required members in order, each with its subschemas. Leaves out members that a closed
    /// subschema rejects.
    pub(crate) fn properties(&self) -> Vec<(&'s str, Vec<Subschema<'s>>)> {
        let mut found: Vec<(&'s str, Vec<Subschema<'s>>)> = Vec::new();
        let mut known: HashMap<&'s str, usize> = HashMap::new();
        let listed = self.listed().map(|(name, part)| (name, Some(part)));
        for (name, part) in listed.chain(self.required_names().map(|name| (name, None))) {
            let at = *known.entry(name).or_insert_with(|| {
                found.push((name, Vec::new()));
                found.len() - 1
            });
            found[at].1.extend(part);
        }
        for rule in self.object_rules() {
            found.retain(|(name, _)| !rule.closes_off(name));
            for (name, schemas) in &mut found {
                schemas.extend(rule.unlisted(name));
            }
        }
        found
    }

    fn listed(&self) -> impl Iterator<Item = (&'s str, Subschema<'s>)> {
        let listed = self.parts().filter(|part| part.keyword() == Some("properties"));
        listed.filter_map(|part| match part.applies_to() {
            AppliesTo::Member(name) => Some((name, part)),
            _ => None,
        })
    }

    fn object_rules(&self) -> impl Iterator<Item = ObjectRule<'s>> {
        self.members.iter().filter_map(|member| ObjectRule::of(member.schema))
    }

    /// Reports whether a member is both required and rejected, so that no object is valid.
    fn rejects_objects(&self) -> bool {
        let names = self.required();
        !names.is_empty()
            && (self.listed().any(|(name, schema)| *schema.as_json() == false && names.contains(name))
                || self.object_rules().any(|rule| names.iter().any(|name| rule.closes_off(name))))
    }

    /// Returns the required members' names.
    pub(crate) fn required(&self) -> HashSet<&'s str> {
        self.required_names().collect()
    }

    fn required_names(&self) -> impl Iterator<Item = &'s str> {
        self.values("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str)
    }

    /// Returns, by index, the subschemas of items that have their own.
    pub(crate) fn prefix_items(&self) -> Vec<Self> {
        let mut found: Vec<Vec<Subschema<'s>>> = Vec::new();
        for part in self.parts() {
            let AppliesTo::Item(index) = part.applies_to() else { continue };
            found.resize_with(found.len().max(index + 1), Vec::new);
            found[index].push(part);
        }
        found.into_iter().map(Self::of).collect()
    }

    /// Returns the subschemas for a part of the value.
    pub(crate) fn parts_about(&self, part: AppliesTo<'_>) -> Vec<Subschema<'s>> {
        let is_part = |schema: &Subschema<'s>| {
            schema.applies_to() == part && !matches!(schema.keyword(), Some("contains" | "unevaluatedItems"))
        };
        self.parts().filter(is_part).collect()
    }

    /// Returns the schemas for further members; `false` closes the object.
    pub(crate) fn other_members(&self) -> OtherMembers<'s> {
        let mut described = Vec::new();
        for rule in self.object_rules() {
            match rule.others() {
                OtherMembers::None => return OtherMembers::None,
                OtherMembers::Any => {}
                OtherMembers::Described(schemas) => described.extend(schemas),
            }
        }
        let has_patterns = self.values("patternProperties").next().is_some();
        let is_closed = !has_patterns && self.values("unevaluatedProperties").any(|value| *value == false);
        if is_closed || Self::of(described.iter().copied()).kinds().is_empty() {
            return OtherMembers::None;
        }
        if described.is_empty() { OtherMembers::Any } else { OtherMembers::Described(described) }
    }
}

impl GroupMember<'_> {
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Returns the pointer to a subschema's keyword.
    pub(crate) fn pointer_to(&self, keyword: &str) -> String {
        format!("{}/{}", self.schema.pointer(), keyword.replace('~', "~0").replace('/', "~1"))
    }
}

fn own_kinds(keywords: &Map<String, Value>) -> Kinds {
    let mut kinds = keywords.get("type").map_or(Kinds::ALL, Kinds::named);
    if let Some(value) = keywords.get("const") {
        kinds = kinds.and(constant_kinds(value));
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        kinds = kinds.and(values.iter().map(constant_kinds).fold(Kinds::NONE, Kinds::or));
    }
    kinds
}

/// Returns a constant's types. Numbers may be written either way, so `1.0` is an integer too.
fn constant_kinds(value: &Value) -> Kinds {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 => Kinds::one(Kind::Integer),
        _ => Kinds::one(Kind::of(value)),
    }
}
