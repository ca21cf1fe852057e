//! Checking a value that is already a tree: whether it fits, and if not, everything that is wrong with it.
//!
//! One walk serves both questions. What differs is who listens: [`Verdict`] stops at the first problem, [`Report`]
//! collects all of them in words.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::equal;
use super::message::{self, Found};
use super::node::{Arena, NEVER, Node, NodeId, ObjectRule, Property, Typed, Union, UnionMode};
use super::number::{Exactness, Num, NumberFault};
use super::path::Path;
use super::seen::Seen;
use super::string::StringFault;
use super::types::{JsonType, Types};
use super::variant::{Slip, Variants};
use crate::issue::Issue;

pub(super) use super::message::excerpt;

/// How many issues are listed; a hostile value could have one per byte.
pub(super) const MOST_ISSUES: usize = 1_000;

/// Whether `value` fits node `id`.
pub(super) fn fits(arena: &Arena, id: NodeId, value: &Value, exact: Exactness) -> bool {
    verdict(arena, id, value, exact, &Memo::default())
}

/// Everything that keeps `value` from fitting node `id`.
pub(super) fn issues(arena: &Arena, id: NodeId, value: &Value, exact: Exactness) -> Vec<Issue> {
    let mut report = Report::default();
    Walk { arena, exact, memo: &Memo::default(), listener: &mut report }.node(id, value, &Path::Root);
    report.finish()
}

fn verdict(arena: &Arena, id: NodeId, value: &Value, exact: Exactness, memo: &Memo) -> bool {
    let mut verdict = Verdict { fits: true };
    Walk { arena, exact, memo, listener: &mut verdict }.node(id, value, &Path::Root);
    verdict.fits
}

/// Which alternatives were found to fit which values. Without it, alternatives within alternatives would be tried
/// again for every way to reach them, and a small value could keep the check busy for ever.
#[derive(Default)]
struct Memo(RefCell<HashMap<(NodeId, usize), bool>>);

impl Memo {
    /// The verdict on a value, by where it stands in memory: the tree doesn't move while it is walked.
    fn remember(&self, id: NodeId, value: &Value, decide: impl FnOnce() -> bool) -> bool {
        let key = (id, std::ptr::from_ref(value).addr());
        if let Some(known) = self.0.borrow().get(&key) {
            return *known;
        }
        let decided = decide();
        self.0.borrow_mut().insert(key, decided);
        decided
    }
}

/// What is wrong at one place.
#[derive(Debug)]
pub(super) enum Problem<'a> {
    Never,
    Type(Types),
    Number(NumberFault),
    String(StringFault<'a>),
    Literal(&'a [Value]),
    TooFewItems(usize),
    TooManyItems(usize),
    NotUnique,
    Missing(&'a str, Types),
    /// The key, what is declared, and which of that is there.
    Unknown(&'a str, &'a [Property], &'a Seen),
    Tag(Vec<&'a str>),
    Keys(Vec<&'a str>),
    /// None of an enum's variants, or one in the form of another.
    Variant(Variants<'a>, Option<Slip<'a>>),
    TooFewKeys(usize),
    TooManyKeys(usize),
    NoBranch(usize),
    SeveralBranches,
}

/// Who hears of problems.
trait Listener {
    fn hear(&mut self, problem: &Problem<'_>, value: &Value, path: &Path<'_>);

    /// Takes problems that the full validator found in words of its own.
    fn hear_full(&mut self, check: &super::full::FullCheck, value: &Value, path: &Path<'_>);

    /// Whether problems are wanted in words, so that it's worth finding the likeliest alternative of a union.
    fn wants_words(&self) -> bool;

    /// Whether more problems are wanted.
    fn goes_on(&self) -> bool;
}

struct Verdict {
    fits: bool,
}

impl Listener for Verdict {
    fn hear(&mut self, _: &Problem<'_>, _: &Value, _: &Path<'_>) {
        self.fits = false;
    }

    fn hear_full(&mut self, check: &super::full::FullCheck, value: &Value, _: &Path<'_>) {
        self.fits &= check.fits(value);
    }

    fn wants_words(&self) -> bool {
        false
    }

    fn goes_on(&self) -> bool {
        self.fits
    }
}

#[derive(Default)]
pub(super) struct Report {
    issues: Vec<Issue>,
}

impl Listener for Report {
    fn hear(&mut self, problem: &Problem<'_>, value: &Value, path: &Path<'_>) {
        if self.goes_on() {
            self.issues.push(message::issue(problem, Found::of(value), path));
        }
    }

    fn hear_full(&mut self, check: &super::full::FullCheck, value: &Value, path: &Path<'_>) {
        if check.fits(value) {
            return;
        }
        let base = path.pointer();
        let room = (MOST_ISSUES + 1).saturating_sub(self.issues.len());
        self.issues.extend(check.issues(value, room).into_iter().map(|mut issue| {
            issue.pointer.insert_str(0, &base);
            issue
        }));
    }

    fn wants_words(&self) -> bool {
        true
    }

    fn goes_on(&self) -> bool {
        self.issues.len() <= MOST_ISSUES
    }
}

impl Report {
    /// Adds what keeps `value`, a part of a larger one, from fitting node `id`.
    pub(super) fn look_at(&mut self, arena: &Arena, id: NodeId, value: &Value, path: &Path<'_>) {
        Walk { arena, exact: Exactness::Required, memo: &Memo::default(), listener: self }.node(id, value, path);
    }

    /// Puts in a problem that belongs before others which were found first.
    pub(super) fn insert(&mut self, at: usize, problem: &Problem<'_>, found: Found, path: &Path<'_>) {
        if self.goes_on() {
            self.issues.insert(at, message::issue(problem, found, path));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.issues.len()
    }

    /// The issues, if there are no more of them than are listed.
    pub(super) fn all(self) -> Option<Vec<Issue>> {
        self.goes_on().then_some(self.issues)
    }

    fn finish(mut self) -> Vec<Issue> {
        if self.issues.len() > MOST_ISSUES {
            self.issues.truncate(MOST_ISSUES);
            let message = format!("there are more problems than the {MOST_ISSUES} that are listed");
            self.issues.push(Issue::new("", "maxIssues", message));
        }
        self.issues
    }
}

struct Walk<'a, L> {
    arena: &'a Arena,
    exact: Exactness,
    memo: &'a Memo,
    listener: &'a mut L,
}

impl<L: Listener> Walk<'_, L> {
    fn node(&mut self, id: NodeId, value: &Value, path: &Path<'_>) {
        if !self.listener.goes_on() {
            return;
        }
        match self.arena.node(id) {
            Node::Any | Node::Same(_) => {}
            Node::Never => {
                self.listener.hear(&Problem::Never, value, path);
            }
            Node::Typed(typed) => self.typed(typed, value, path),
            Node::ByType(_) | Node::Union(_) if self.is_no_variant(id, value, path) => {}
            Node::ByType(branches) => match branches[JsonType::of(value) as usize] {
                Some(branch) => self.node(branch, value, path),
                None => {
                    let types = types(self.arena, id);
                    self.listener.hear(&Problem::Type(types), value, path);
                }
            },
            Node::Union(union) => self.union(union, value, path),
            Node::All(parts) => {
                for part in parts {
                    if !self.alternative_fits(*part, value) {
                        self.node(*part, value, path);
                    }
                }
            }
            Node::Full(full) => self.listener.hear_full(&full.check, value, path),
        }
    }

    /// Tells of a value that should be a variant of an enum and names none. Only where somebody wants to know.
    fn is_no_variant(&mut self, id: NodeId, value: &Value, path: &Path<'_>) -> bool {
        if !self.listener.wants_words() {
            return false;
        }
        let Some(variants) = Variants::of(self.arena, id).filter(|variants| !variants.name(value)) else {
            return false;
        };
        let slip = variants.slip(value);
        self.listener.hear(&Problem::Variant(variants, slip), value, path);
        true
    }

    fn typed(&mut self, typed: &Typed, value: &Value, path: &Path<'_>) {
        if !typed.types.allows(JsonType::of(value)) {
            let problem = if typed.types.is_empty() { Problem::Never } else { Problem::Type(typed.types) };
            self.listener.hear(&problem, value, path);
            return;
        }
        if let Some(literals) = &typed.literals
            && !literals.iter().any(|literal| equal::same(literal, value))
        {
            self.listener.hear(&Problem::Literal(literals), value, path);
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                for fault in typed.number.faults(Num::of(number), typed.integers_only(), self.exact) {
                    self.listener.hear(&Problem::Number(fault), value, path);
                }
            }
            Value::String(text) => {
                for fault in typed.string.faults(text) {
                    self.listener.hear(&Problem::String(fault), value, path);
                }
            }
            Value::Array(items) => self.array(typed, items, value, path),
            Value::Object(map) => self.object(typed, map, value, path),
        }
    }

    fn array(&mut self, typed: &Typed, items: &[Value], value: &Value, path: &Path<'_>) {
        let rule = &typed.array;
        if items.len() < rule.min {
            self.listener.hear(&Problem::TooFewItems(rule.min), value, path);
        }
        if items.len() > rule.max {
            self.listener.hear(&Problem::TooManyItems(rule.max), value, path);
        }
        if rule.unique && self.listener.goes_on() && !equal::all_differ(items) {
            self.listener.hear(&Problem::NotUnique, value, path);
        }
        for (index, item) in items.iter().enumerate() {
            if !self.listener.goes_on() {
                return;
            }
            // Elements beyond the longest allowed array were reported with it.
            if index >= rule.max && rule.element(index) == NEVER {
                break;
            }
            self.node(rule.element(index), item, &Path::Index(path, index));
        }
    }

    fn object(&mut self, typed: &Typed, map: &Map<String, Value>, value: &Value, path: &Path<'_>) {
        let rule = &typed.object;
        let mut seen = None;
        if rule.required > 0 {
            let seen = seen.insert(declared(rule, map));
            for property in missing(rule, seen) {
                let types = types(self.arena, property.node);
                self.listener.hear(&Problem::Missing(&property.name, types), value, path);
            }
        }
        if map.len() < rule.min {
            self.listener.hear(&Problem::TooFewKeys(rule.min), value, path);
        }
        if map.len() > rule.max {
            self.listener.hear(&Problem::TooManyKeys(rule.max), value, path);
        }
        for (at, (name, member)) in map.iter().enumerate() {
            if !self.listener.goes_on() {
                return;
            }
            let path = Path::Key(path, name);
            match rule.find(name, at) {
                Some(found) => self.node(rule.properties[found].node, member, &path),
                None if rule.additional == NEVER => {
                    let seen = seen.get_or_insert_with(|| declared(rule, map));
                    self.listener.hear(&Problem::Unknown(name, &rule.properties, seen), member, &path);
                }
                None => self.node(rule.additional, member, &path),
            }
        }
    }

    fn union(&mut self, union: &Union, value: &Value, path: &Path<'_>) {
        let fitting = union.branches.iter().filter(|branch| self.alternative_fits(**branch, value)).take(2).count();
        match (fitting, union.mode) {
            (1, _) | (2.., UnionMode::AtLeastOne) => {}
            (2.., UnionMode::ExactlyOne) => {
                self.listener.hear(&Problem::SeveralBranches, value, path);
            }
            (0, _) if self.listener.wants_words() => match self.likeliest(union, value) {
                Some(branch) => self.node(branch, value, path),
                None => self.no_alternative(union, value, path),
            },
            (0, _) => {
                self.listener.hear(&Problem::NoBranch(union.branches.len()), value, path);
            }
        }
    }

    fn alternative_fits(&self, branch: NodeId, value: &Value) -> bool {
        self.memo.remember(branch, value, || verdict(self.arena, branch, value, self.exact, self.memo))
    }

    /// Says what would have made the value one of the alternatives: a type, a tag, or a key.
    fn no_alternative(&mut self, union: &Union, value: &Value, path: &Path<'_>) {
        let types = union.branches.iter().fold(Types::default(), |all, id| all.with(types(self.arena, *id)));
        if !types.allows(JsonType::of(value)) {
            self.listener.hear(&Problem::Type(types), value, path);
            return;
        }
        let arena = self.arena;
        let objects: Vec<&Typed> = union.branches.iter().filter_map(|branch| object_of(arena, *branch)).collect();
        if let (Value::Object(map), Some((tag, names))) = (value, shared_tag(arena, &objects)) {
            match map.get(tag) {
                None => self.listener.hear(&Problem::Missing(tag, Types::STRING), value, path),
                Some(given) => self.listener.hear(&Problem::Tag(names), given, &Path::Key(path, tag)),
            }
            return;
        }
        let keys: Vec<&str> = objects.iter().filter_map(|typed| only_key(typed)).collect();
        let problem = if value.is_object() && !keys.is_empty() && keys.len() == objects.len() {
            Problem::Keys(keys)
        } else {
            Problem::NoBranch(union.branches.len())
        };
        self.listener.hear(&problem, value, path);
    }

    /// The one alternative that `value` was clearly meant to be: by its type, or by a tag that only one asks for.
    fn likeliest(&self, union: &Union, value: &Value) -> Option<NodeId> {
        let json_type = JsonType::of(value);
        let typed: Vec<NodeId> =
            union.branches.iter().copied().filter(|branch| types(self.arena, *branch).allows(json_type)).collect();
        if let [only] = typed.as_slice() {
            return Some(*only);
        }
        let map = value.as_object()?;
        let mut tagged = typed.iter().copied().filter(|branch| self.claims(*branch, map));
        let first = tagged.next()?;
        tagged.next().is_none().then_some(first)
    }

    /// Whether an object carries the mark of this alternative: its literal tag, or its one required key.
    fn claims(&self, id: NodeId, map: &Map<String, Value>) -> bool {
        let Node::Typed(typed) = self.arena.node(id) else {
            return false;
        };
        if let Some((tag, names)) = tag_of(self.arena, typed) {
            return map.get(tag).and_then(Value::as_str).is_some_and(|given| names.iter().any(|name| &**name == given));
        }
        only_key(typed).is_some_and(|key| map.contains_key(key))
    }
}

/// The types a node takes, for messages: all of them when that is not told within a few steps.
pub(super) fn types(arena: &Arena, id: NodeId) -> Types {
    let mut steps = 64;
    types_within(arena, id, &mut steps)
}

/// The values a node takes, in words, as far as these say more than that it takes anything.
pub(super) fn described(arena: &Arena, id: NodeId) -> String {
    let types = types(arena, id);
    if types.is_empty() || types.contains(Types::ALL) {
        return String::new();
    }
    match arena.node(id) {
        Node::Typed(typed) if typed.types.allows(JsonType::String) && typed.string.format.is_some() => {
            let format = typed.string.format.as_deref().unwrap_or_default();
            format!("{} in the format {format}", types.describe())
        }
        _ => types.describe(),
    }
}

fn types_within(arena: &Arena, id: NodeId, steps: &mut u32) -> Types {
    let Some(left) = steps.checked_sub(1) else {
        return Types::ALL;
    };
    *steps = left;
    match arena.node(id) {
        Node::Any | Node::Same(_) => Types::ALL,
        Node::Full(full) => types_within(arena, full.shape, steps),
        Node::Never => Types::default(),
        Node::Typed(typed) => typed.types,
        Node::ByType(branches) => JsonType::EACH
            .into_iter()
            .filter_map(|json_type| {
                let branch = branches[json_type as usize]?;
                Some(types_within(arena, branch, steps).intersect(Types::of(json_type)))
            })
            .fold(Types::default(), Types::with),
        Node::Union(union) => {
            union.branches.iter().fold(Types::default(), |all, id| all.with(types_within(arena, *id, steps)))
        }
        Node::All(parts) => parts.iter().fold(Types::ALL, |all, id| all.intersect(types_within(arena, *id, steps))),
    }
}

/// The properties that must be there and are not.
pub(super) fn missing<'a>(rule: &'a ObjectRule, seen: &Seen) -> impl Iterator<Item = &'a Property> {
    rule.properties
        .iter()
        .enumerate()
        .filter(|(at, property)| property.required && !seen.contains(*at))
        .map(|(_, property)| property)
}

/// The properties that are there.
fn declared(rule: &ObjectRule, map: &Map<String, Value>) -> Seen {
    let mut seen = Seen::default();
    for found in map.keys().enumerate().filter_map(|(at, name)| rule.find(name, at)) {
        seen.insert(found);
    }
    seen
}

/// The rules for objects of an alternative, if it is one for objects.
fn object_of(arena: &Arena, id: NodeId) -> Option<&Typed> {
    match arena.node(id) {
        Node::Typed(typed) if typed.types == Types::OBJECT => Some(typed),
        Node::All(parts) => {
            parts.iter().find_map(|part| object_of(arena, *part).filter(|typed| tag_of(arena, typed).is_some()))
        }
        _ => None,
    }
}

/// The required property that must be one of a set of strings, and the set.
fn tag_of<'a>(arena: &'a Arena, typed: &'a Typed) -> Option<(&'a str, &'a [Box<str>])> {
    typed.object.properties.iter().filter(|property| property.required).find_map(|property| {
        match arena.node(property.node) {
            Node::Typed(tag) => Some((&*property.name, tag.string.literals.as_deref()?)),
            _ => None,
        }
    })
}

/// The tag that all of these objects have, and every value it may have.
fn shared_tag<'a>(arena: &'a Arena, objects: &[&'a Typed]) -> Option<(&'a str, Vec<&'a str>)> {
    let (tag, _) = tag_of(arena, objects.first()?)?;
    let mut names = Vec::new();
    for typed in objects {
        let (name, values) = tag_of(arena, typed)?;
        if name != tag {
            return None;
        }
        names.extend(values.iter().map(|value| &**value));
    }
    Some((tag, names))
}

/// The one key of an object that must have it and may have no other.
pub(super) fn only_key(typed: &Typed) -> Option<&str> {
    match &*typed.object.properties {
        [only] if only.required && typed.object.additional == NEVER => Some(&only.name),
        _ => None,
    }
}
