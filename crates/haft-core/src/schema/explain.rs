//! Checking a value that is already a tree: whether it fits, and if not, everything that is wrong with it.
//!
//! One walk serves both questions. What differs is who listens: [`Verdict`] stops at the first problem, [`Report`]
//! collects all of them in words.

use serde_json::{Map, Value};

use super::equal;
use super::message;
use super::node::{Arena, NEVER, Node, NodeId, Typed, Union, UnionMode};
use super::number::{Exactness, Num, NumberFault};
use super::path::Path;
use super::string::StringFault;
use super::types::{JsonType, Types};
use crate::issue::Issue;

pub(super) use super::message::excerpt;

/// Whether `value` fits node `id`.
pub(super) fn fits(arena: &Arena, id: NodeId, value: &Value, exact: Exactness) -> bool {
    let mut verdict = Verdict { fits: true };
    Walk { arena, exact, listener: &mut verdict }.node(id, value, &Path::Root);
    verdict.fits
}

/// Everything that keeps `value` from fitting node `id`.
pub(super) fn issues(arena: &Arena, id: NodeId, value: &Value, exact: Exactness) -> Vec<Issue> {
    let mut report = Report { issues: Vec::new() };
    Walk { arena, exact, listener: &mut report }.node(id, value, &Path::Root);
    report.issues
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
    Unknown(&'a str, &'a [super::node::Property]),
    TooFewKeys(usize),
    TooManyKeys(usize),
    NoBranch(usize),
    SeveralBranches,
}

/// Who hears of problems.
trait Listener {
    /// Takes one problem; `false` means: go no further.
    fn hear(&mut self, problem: &Problem<'_>, value: &Value, path: &Path<'_>) -> bool;

    /// Takes problems that the full validator found in words of its own.
    fn hear_full(&mut self, check: &super::full::FullCheck, value: &Value, path: &Path<'_>);

    /// Whether problems are wanted in words, so that it's worth finding the likeliest alternative of a union.
    fn wants_words(&self) -> bool;

    fn goes_on(&self) -> bool;
}

struct Verdict {
    fits: bool,
}

impl Listener for Verdict {
    fn hear(&mut self, _: &Problem<'_>, _: &Value, _: &Path<'_>) -> bool {
        self.fits = false;
        false
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

struct Report {
    issues: Vec<Issue>,
}

impl Listener for Report {
    fn hear(&mut self, problem: &Problem<'_>, value: &Value, path: &Path<'_>) -> bool {
        self.issues.push(message::issue(problem, value, path));
        true
    }

    fn hear_full(&mut self, check: &super::full::FullCheck, value: &Value, path: &Path<'_>) {
        if check.fits(value) {
            return;
        }
        let base = path.pointer();
        self.issues.extend(check.issues(value).into_iter().map(|mut issue| {
            issue.pointer.insert_str(0, &base);
            issue
        }));
    }

    fn wants_words(&self) -> bool {
        true
    }

    fn goes_on(&self) -> bool {
        true
    }
}

struct Walk<'a, L> {
    arena: &'a Arena,
    exact: Exactness,
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
            Node::ByType(branches) => match branches[JsonType::of(value) as usize] {
                Some(branch) => self.node(branch, value, path),
                None => {
                    let types = self.types(id);
                    self.listener.hear(&Problem::Type(types), value, path);
                }
            },
            Node::Union(union) => self.union(union, value, path),
            Node::All(parts) => parts.iter().for_each(|part| self.node(*part, value, path)),
            Node::Full(full) => self.listener.hear_full(&full.check, value, path),
        }
    }

    fn typed(&mut self, typed: &Typed, value: &Value, path: &Path<'_>) {
        if !typed.types.allows(JsonType::of(value)) {
            self.listener.hear(&Problem::Type(typed.types), value, path);
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
                let integers_only = typed.integers_only();
                if let Some(fault) = typed.number.fault(Num::of(number), integers_only, self.exact) {
                    self.listener.hear(&Problem::Number(fault), value, path);
                }
            }
            Value::String(text) => {
                if let Some(fault) = typed.string_fault(text) {
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
            // Elements beyond the longest allowed array were reported with it.
            if index >= rule.max && rule.element(index) == NEVER {
                break;
            }
            self.node(rule.element(index), item, &Path::Index(path, index));
        }
    }

    fn object(&mut self, typed: &Typed, map: &Map<String, Value>, value: &Value, path: &Path<'_>) {
        let rule = &typed.object;
        if rule.required > 0 {
            for property in rule.properties.iter().filter(|property| property.required) {
                if !map.contains_key(&*property.name) {
                    let types = self.types(property.node);
                    self.listener.hear(&Problem::Missing(&property.name, types), value, path);
                }
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
                    self.listener.hear(&Problem::Unknown(name, &rule.properties), member, &path);
                }
                None => self.node(rule.additional, member, &path),
            }
        }
    }

    fn union(&mut self, union: &Union, value: &Value, path: &Path<'_>) {
        let fitting =
            union.branches.iter().filter(|branch| fits(self.arena, **branch, value, self.exact)).take(2).count();
        match (fitting, union.mode) {
            (1, _) | (2.., UnionMode::AtLeastOne) => {}
            (2.., UnionMode::ExactlyOne) => {
                self.listener.hear(&Problem::SeveralBranches, value, path);
            }
            (0, _) if self.listener.wants_words() => match self.likeliest(union, value) {
                Some(branch) => self.node(branch, value, path),
                None => {
                    let types = union.branches.iter().fold(Types::default(), |all, id| all.with(self.types(*id)));
                    let problem = if types.allows(JsonType::of(value)) {
                        Problem::NoBranch(union.branches.len())
                    } else {
                        Problem::Type(types)
                    };
                    self.listener.hear(&problem, value, path);
                }
            },
            (0, _) => {
                self.listener.hear(&Problem::NoBranch(union.branches.len()), value, path);
            }
        }
    }

    /// The one alternative that `value` was clearly meant to be: by its type, or by a tag that only one asks for.
    fn likeliest(&self, union: &Union, value: &Value) -> Option<NodeId> {
        let json_type = JsonType::of(value);
        let typed: Vec<NodeId> =
            union.branches.iter().copied().filter(|branch| self.types(*branch).allows(json_type)).collect();
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
        let mut tags = typed.object.properties.iter().filter(|property| {
            property.required
                && matches!(self.arena.node(property.node), Node::Typed(tag) if tag.string.literals.is_some())
        });
        if let Some(tag) = tags.next() {
            return map.get(&*tag.name).is_some_and(|value| fits(self.arena, tag.node, value, self.exact));
        }
        typed.object.additional == NEVER
            && typed.object.required == 1
            && typed.object.properties.iter().all(|property| property.required && map.contains_key(&*property.name))
    }

    /// The types a node takes, for messages.
    fn types(&self, id: NodeId) -> Types {
        match self.arena.node(id) {
            Node::Any | Node::Same(_) => Types::ALL,
            Node::Full(full) => self.types(full.shape),
            Node::Never => Types::default(),
            Node::Typed(typed) => typed.types,
            Node::ByType(branches) => JsonType::EACH
                .into_iter()
                .filter_map(|json_type| {
                    let branch = branches[json_type as usize]?;
                    Some(self.types(branch).intersect(Types::of(json_type)))
                })
                .fold(Types::default(), Types::with),
            Node::Union(union) => union.branches.iter().fold(Types::default(), |all, id| all.with(self.types(*id))),
            Node::All(parts) => parts.iter().fold(Types::ALL, |all, id| all.intersect(self.types(*id))),
        }
    }
}
