//! `anyOf` and `oneOf`: alternatives.
//!
//! Alternatives of disjoint JSON types become a selection by type, which needs no buffer; alternatives that are all
//! sets of strings become one set. All others are tried one by one. If none is valid, the message is about the
//! alternative that was probably meant, if that can be determined.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::literal::Literals;
use super::string::StringRule;
use super::{ALL, Compile, Keyword, ValuePart, types_named};
use crate::schema::budget::{BudgetSpent, WorkBudget};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::draft::Draft;
use crate::schema::mark::Marks;
use crate::schema::message::in_quotes;
use crate::schema::node::{Arena, NEVER, Node, NodeId, TypeRules};
use crate::schema::problem::{AllowedValues, Problem};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::types::{JsonType, Types};
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("anyOf", ALL, Shape::Schemas, Compile::Rules(any_of)).about(ValuePart::Value),
    Keyword::new("oneOf", ALL, Shape::Schemas, Compile::Rules(one_of)).about(ValuePart::Value),
];

/// The number of alternatives that must be valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnionMode {
    AtLeastOne,
    ExactlyOne,
}

impl UnionMode {
    fn keyword(self) -> &'static str {
        match self {
            Self::AtLeastOne => "anyOf",
            Self::ExactlyOne => "oneOf",
        }
    }
}

fn any_of<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    compile(subschema, keyword, UnionMode::AtLeastOne);
}

fn one_of<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    compile(subschema, keyword, UnionMode::ExactlyOne);
}

fn compile<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value, mode: UnionMode) {
    let Some(schemas) = keyword.as_array() else { return };
    if schemas.len() == 1 {
        // A table by type would have one entry for every type, and a chain of such tables that many paths through it.
        for only in subschema.schemas(mode.keyword(), schemas) {
            subschema.also(only);
        }
        return;
    }
    if let Some(constants) = constants(schemas, subschema.draft) {
        match set_of(&constants, mode, subschema.budget()) {
            Ok(Some(typed)) => {
                let node = subschema.push(Node::Typed(Box::new(typed)));
                subschema.also(node);
                return;
            }
            Ok(None) => {}
            Err(BudgetSpent) => {
                return subschema.fault(mode.keyword(), "has more values than can be compared; shorten the list");
            }
        }
    }
    let types: Vec<Types> = schemas.iter().map(|schema| subschema.types_of(schema)).collect();
    let branches = subschema.schemas(mode.keyword(), schemas);
    let node = match by_type(&types, &branches) {
        Some(table) => Node::ByType(Box::new(table)),
        None => {
            let rules: Vec<Box<dyn KeywordRule>> = vec![Box::new(Union { branches, mode })];
            Node::Typed(Box::new(TypeRules { rules, ..TypeRules::default() }))
        }
    };
    let node = subschema.push(node);
    subschema.also(node);
}

/// Returns a table by type, if no two alternatives share a type.
fn by_type(types: &[Types], branches: &[NodeId]) -> Option<[Option<NodeId>; JsonType::COUNT]> {
    let mut table = [None; JsonType::COUNT];
    for (types, branch) in types.iter().zip(branches) {
        for json_type in JsonType::EACH.into_iter().filter(|json_type| types.allows(*json_type)) {
            let slot = &mut table[json_type as usize];
            if slot.replace(*branch).is_some() {
                return None;
            }
        }
    }
    Some(table)
}

/// Returns the values of alternatives that are constants and nothing else, which is how schemars emits documented unit
/// variants.
fn constants(schemas: &[Value], draft: Draft) -> Option<Vec<&Value>> {
    const ANNOTATIONS: &[&str] = &["title", "description", "deprecated", "$comment", "examples", "default"];
    let mut all = Vec::new();
    for schema in schemas {
        let map = schema.as_object()?;
        let values = match (map.get("enum"), map.get("const").filter(|_| draft > Draft::Draft4)) {
            (Some(Value::Array(values)), None) => values.as_slice(),
            (None, Some(value)) => std::slice::from_ref(value),
            _ => return None,
        };
        let are_strings = values.iter().all(Value::is_string);
        let is_plain = map.iter().all(|(name, value)| match name.as_str() {
            "enum" | "const" => true,
            "type" => are_strings && types_named(value) == Some(Types::STRING),
            name => ANNOTATIONS.contains(&name),
        });
        if !is_plain {
            return None;
        }
        all.extend(values);
    }
    Some(all)
}

/// Returns the rules of alternatives that are constants, as one set of values; `None` if the alternatives must stay
/// distinct.
fn set_of(constants: &[&Value], mode: UnionMode, budget: &mut WorkBudget) -> Result<Option<TypeRules>, BudgetSpent> {
    let mut typed = TypeRules::default();
    let strings: Option<Vec<&str>> = constants.iter().map(|value| value.as_str()).collect();
    let are_different = match strings {
        Some(strings) => {
            let are_different = strings.iter().collect::<HashSet<_>>().len() == strings.len();
            typed.types = Types::STRING;
            typed.string.set_literals(strings.into_iter());
            are_different
        }
        None => {
            let literals = Literals::new("enum", constants, budget)?;
            let are_different = literals.are_different(budget)?;
            typed.rules.push(Box::new(literals));
            are_different
        }
    };
    Ok((mode == UnionMode::AtLeastOne || are_different).then_some(typed))
}

/// Alternatives that are tried one by one.
#[derive(Debug)]
struct Union {
    branches: Vec<NodeId>,
    mode: UnionMode,
}

impl KeywordRule for Union {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if is_no_variant_of(walk, &self.branches, value) {
            return;
        }
        let most = if self.mode == UnionMode::ExactlyOne { 2 } else { 1 };
        let mut fitting = 0;
        for branch in &self.branches {
            fitting += usize::from(walk.fits(*branch, value));
            if fitting >= most {
                break;
            }
        }
        match fitting {
            0 if walk.collects_issues() => match self.most_likely(walk, value) {
                Some(branch) => walk.visit(branch, value),
                None => self.no_alternative(walk, value),
            },
            0 => walk.report(value, &self.no_branch()),
            2.. => walk.report(value, &Problem::SeveralBranches),
            _ => {}
        }
    }

    fn mark(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>, marks: &mut Marks) {
        for branch in &self.branches {
            if walk.fits(*branch, value) {
                walk.mark(*branch, value, marks);
            }
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        self.branches.iter_mut().for_each(|branch| visit(branch, AppliedTo::InPlace));
    }

    fn any_of(&self) -> &[NodeId] {
        &self.branches
    }
}

impl Union {
    fn no_branch(&self) -> Problem<'static> {
        Problem::NoBranch { keyword: self.mode.keyword(), count: self.branches.len() }
    }

    /// Reports what would make the value one of the alternatives: a type, a tag, or a key.
    fn no_alternative(&self, walk: &mut Walk<'_, '_>, value: Instance<'_>) {
        let arena = walk.arena;
        let types = self.branches.iter().fold(Types::default(), |all, id| all.with(types(arena, *id)));
        if !types.allows(value.kind()) {
            walk.report(value, &Problem::Type(types));
            return;
        }
        let objects: Vec<&TypeRules> = self.branches.iter().filter_map(|branch| object_of(arena, *branch)).collect();
        if value.kind() == JsonType::Object
            && let Some((tag, names)) = shared_tag(arena, &objects)
        {
            match value.members().find(|(key, _)| key.is(tag)) {
                None => walk.report(value, &Problem::Missing(tag, Types::STRING)),
                Some((key, given)) => walk.report_member(key, given, &Problem::Tag(names)),
            }
            return;
        }
        let keys: Vec<&str> = objects.iter().filter_map(|typed| only_key(typed)).collect();
        if value.kind() == JsonType::Object && !keys.is_empty() && keys.len() == objects.len() {
            walk.report(value, &Problem::Keys(keys));
            return;
        }
        match self.nearest_by_keys(walk, value) {
            Some(branch) => walk.visit(branch, value),
            None => walk.report(value, &self.no_branch()),
        }
    }

    /// Returns the one alternative that declares more of an object's keys than any other.
    fn nearest_by_keys(&self, walk: &mut Walk<'_, '_>, value: Instance<'_>) -> Option<NodeId> {
        const MOST: usize = 10_000;
        let cost = self.branches.len().saturating_mul(value.len());
        if value.kind() != JsonType::Object || cost > MOST || !walk.work(cost) {
            return None;
        }
        let arena = walk.arena;
        let declared = |id: NodeId| {
            let parts: Vec<&TypeRules> = declaring(arena, id).collect();
            let names = value.members().enumerate();
            names
                .filter(|(at, (key, _))| parts.iter().any(|typed| typed.object.find(&key.name(), *at).is_some()))
                .count()
        };
        let mut best = (0, None);
        for branch in &self.branches {
            let count = declared(*branch);
            if count > best.0 {
                best = (count, Some(*branch));
            } else if count == best.0 {
                best.1 = None;
            }
        }
        best.1
    }

    /// Returns the one alternative that `value` was clearly meant to be: by its type, or by a tag that only one
    /// requires.
    fn most_likely(&self, walk: &Walk<'_, '_>, value: Instance<'_>) -> Option<NodeId> {
        let arena = walk.arena;
        let kind = value.kind();
        let typed: Vec<NodeId> =
            self.branches.iter().copied().filter(|branch| types(arena, *branch).allows(kind)).collect();
        if let [only] = typed.as_slice() {
            return Some(*only);
        }
        if kind != JsonType::Object {
            return None;
        }
        let mut tagged = typed.iter().copied().filter(|branch| claims(arena, *branch, value));
        let first = tagged.next()?;
        tagged.next().is_none().then_some(first)
    }
}

/// Reports whether an object identifies itself as this alternative: by its literal tag, or its one required key.
fn claims(arena: &Arena, id: NodeId, value: Instance<'_>) -> bool {
    let Node::Typed(typed) = arena.node(id) else { return false };
    if let Some((tag, names)) = tag_of(arena, typed) {
        return value.get(tag).is_some_and(|given| names.iter().any(|name| given.is_string(name)));
    }
    only_key(typed).is_some_and(|key| value.get(key).is_some())
}

/// Returns the types a node accepts, for messages; all types if they are not found within a few steps.
pub(in crate::schema) fn types(arena: &Arena, id: NodeId) -> Types {
    types_within(arena, id, &mut 64)
}

fn types_within(arena: &Arena, id: NodeId, steps: &mut u32) -> Types {
    let Some(left) = steps.checked_sub(1) else { return Types::ALL };
    *steps = left;
    match arena.node(id) {
        Node::Any | Node::Same(_) => Types::ALL,
        Node::Never => Types::default(),
        Node::Typed(typed) => typed.rules.iter().fold(typed.types, |all, rule| {
            let all = rule.all_of().iter().fold(all, |all, id| all.intersect(types_within(arena, *id, steps)));
            match rule.any_of() {
                [] => all,
                branches => {
                    let each = branches.iter().map(|id| types_within(arena, *id, steps));
                    all.intersect(each.fold(Types::default(), Types::with))
                }
            }
        }),
        Node::ByType(branches) => JsonType::EACH
            .into_iter()
            .filter_map(|json_type| {
                let branch = branches[json_type as usize]?;
                Some(types_within(arena, branch, steps).intersect(Types::of(json_type)))
            })
            .fold(Types::default(), Types::with),
    }
}

/// Returns the rules that may declare keys of an alternative: its own, and those that must be valid together with it.
fn declaring(arena: &Arena, id: NodeId) -> impl Iterator<Item = &TypeRules> {
    let typed = |id: NodeId| match arena.node(id) {
        Node::Typed(typed) => Some(&**typed),
        Node::Any | Node::Never | Node::Same(_) | Node::ByType(_) => None,
    };
    let own = typed(id);
    let parts = own.into_iter().flat_map(|typed| &typed.rules).flat_map(|rule| rule.all_of());
    own.into_iter().chain(parts.filter_map(move |part| typed(*part)))
}

/// Returns the rules for objects of an alternative, if it accepts objects.
fn object_of(arena: &Arena, id: NodeId) -> Option<&TypeRules> {
    let Node::Typed(typed) = arena.node(id) else { return None };
    let typed: &TypeRules = typed;
    if typed.types == Types::OBJECT && typed.rules.is_empty() {
        return Some(typed);
    }
    let parts = typed.rules.iter().flat_map(|rule| rule.all_of());
    let tagged = |typed: &&TypeRules| tag_of(arena, typed).is_some();
    Some(typed).filter(tagged).or_else(|| parts.filter_map(|part| object_of(arena, *part)).find(tagged))
}

/// Returns the required property that must be one of a set of strings, and the set.
fn tag_of<'a>(arena: &'a Arena, typed: &'a TypeRules) -> Option<(&'a str, &'a [Box<str>])> {
    typed.object.properties.iter().filter(|property| property.required).find_map(|property| {
        match arena.node(property.node) {
            Node::Typed(tag) => Some((&*property.name, tag.string.literals()?)),
            _ => None,
        }
    })
}

/// Returns the tag that all of these objects have, and all its values.
fn shared_tag<'a>(arena: &'a Arena, objects: &[&'a TypeRules]) -> Option<(&'a str, AllowedValues<'a>)> {
    let (tag, _) = tag_of(arena, objects.first()?)?;
    let mut names = AllowedValues::default();
    for typed in objects {
        let (name, values) = tag_of(arena, typed)?;
        if name != tag {
            return None;
        }
        names.extend(values.iter().map(|value| Cow::Owned(in_quotes(value))));
    }
    Some((tag, names))
}

/// Returns the only key of an object that must have exactly that key.
fn only_key(typed: &TypeRules) -> Option<&str> {
    match &*typed.object.properties {
        [only] if only.required && typed.object.additional == NEVER => Some(&only.name),
        _ => None,
    }
}

/// The names of an enum's variants, some with and some without content.
///
/// Serde writes the former as objects with one key and the latter as strings. For a check these are two unrelated
/// forms; for the author of a value they are one list of names.
#[derive(Debug)]
pub(in crate::schema) struct Variants<'a> {
    /// Variants without content: a string each.
    pub(in crate::schema) plain: AllowedValues<'a>,
    /// Variants with content: an object with this one key each.
    pub(in crate::schema) keys: AllowedValues<'a>,
}

/// The forms of an enum's variants.
#[derive(Debug, Default)]
struct Forms<'a> {
    /// The sets of strings that are variants without content.
    plain: Vec<&'a StringRule>,
    /// The keys of variants with content.
    keys: Vec<&'a str>,
}

/// A variant written in the form of another.
#[derive(Debug)]
pub(in crate::schema) enum VariantFormMismatch<'a> {
    /// It has content and was written without.
    LacksContent(&'a str),
    /// It has no content and was written with some.
    HasContent(Cow<'a, str>),
}

/// Reports a value that should be a variant of an enum and names none, if the walk collects problems.
pub(in crate::schema) fn is_no_variant(walk: &mut Walk<'_, '_>, id: NodeId, value: Instance<'_>) -> bool {
    is_no_variant_of(walk, &[id], value)
}

fn is_no_variant_of(walk: &mut Walk<'_, '_>, forms: &[NodeId], value: Instance<'_>) -> bool {
    if !walk.collects_issues() {
        return false;
    }
    let mut steps = Forms::STEPS;
    let forms = Forms::of(walk.arena, forms, &mut steps);
    walk.work(Forms::STEPS - steps);
    let Some(forms) = forms.filter(|forms| !forms.name(value)) else { return false };
    let problem = Problem::Variant(forms.variants(), forms.form_mismatch(value));
    walk.report(value, &problem);
    true
}

impl<'a> Forms<'a> {
    /// The most forms that are examined: nested forms could be too many.
    const STEPS: usize = 500;

    /// Returns the forms of these nodes, if they are those of an enum: some variants with content, and some without.
    fn of(arena: &'a Arena, ids: &[NodeId], steps: &mut usize) -> Option<Self> {
        let mut forms = Self::default();
        ids.iter().try_for_each(|id| forms.collect(arena, *id, steps))?;
        (!forms.plain.is_empty() && !forms.keys.is_empty()).then_some(forms)
    }

    fn collect(&mut self, arena: &'a Arena, id: NodeId, steps: &mut usize) -> Option<()> {
        *steps = steps.checked_sub(1)?;
        match arena.node(id) {
            Node::Typed(typed) => match typed.rules.as_slice() {
                [] if typed.types == Types::STRING => {
                    typed.string.literals()?;
                    self.plain.push(&typed.string);
                    Some(())
                }
                [] if typed.types == Types::OBJECT => {
                    self.keys.push(only_key(typed)?);
                    Some(())
                }
                [] if typed.types == Types::NULL => Some(()),
                [only] if !only.any_of().is_empty() && typed.types == Types::ALL => {
                    only.any_of().iter().try_for_each(|branch| self.collect(arena, *branch, steps))
                }
                _ => None,
            },
            Node::ByType(branches) => {
                branches.iter().flatten().try_for_each(|branch| self.collect(arena, *branch, steps))
            }
            Node::Any | Node::Never | Node::Same(_) => None,
        }
    }

    fn variants(&self) -> Variants<'a> {
        let quoted = |name: &&'a str| Cow::Owned(in_quotes(name));
        let mut plain = AllowedValues::default();
        for rule in &self.plain {
            let names = rule.literals().unwrap_or_default().iter();
            plain.extend(names.map(|name| Cow::Owned(in_quotes(name))));
        }
        Variants { plain, keys: AllowedValues::of(self.keys.iter().map(quoted)) }
    }

    /// Reports whether a value names one of the variants in its correct form. The content is not checked here.
    fn name(&self, value: Instance<'_>) -> bool {
        match value.kind() {
            JsonType::String => value.string().is_some_and(|name| self.is_plain(&name)),
            JsonType::Object => self.keys.iter().any(|key| value.get(key).is_some()),
            _ => true,
        }
    }

    fn is_plain(&self, name: &str) -> bool {
        self.plain.iter().any(|rule| rule.is_listed(name))
    }

    /// Returns the variant that a value names in the wrong form, if it does.
    fn form_mismatch(&self, value: Instance<'_>) -> Option<VariantFormMismatch<'a>> {
        match value.kind() {
            JsonType::String => {
                self.keys.iter().find(|key| value.is_string(key)).map(|key| VariantFormMismatch::LacksContent(key))
            }
            JsonType::Object if value.len() == 1 => {
                let name = value.members().next()?.0.name();
                self.is_plain(&name).then(|| VariantFormMismatch::HasContent(name.into_owned().into()))
            }
            _ => None,
        }
    }
}
