//! The walk that checks a value: it decides whether the value is valid, or collects all its problems.
//!
//! One walk serves both purposes. A walk that only decides stops at the first problem; one that explains collects all
//! of them. Both use one budget: work for every visited node, memory for every cached verdict. When it is exhausted,
//! the walk ends and the value is rejected: an unfinished check never accepts a value.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::budget::WorkBudget;
use super::document::{Instance, MemberKey, PathStep};
use super::keyword::union;
use super::mark::Marks;
use super::message::{self, DescribedValue};
use super::node::{Arena, NEVER, Node, NodeId, Property, TypeRules};
use super::problem::Problem;
use super::rule::KeywordRule;
use super::seen::Seen;
use super::types::{JsonType, Types};
use crate::issue::{ISSUES_CAP, Issue};
use crate::nearest::nearest;

/// The most issues that are listed; a hostile value could have one per byte.
pub(super) const MOST_ISSUES: usize = 1_000;

/// The deepest nesting of node applications. Every level takes stack. The nesting of a value is limited elsewhere; this
/// limits how many levels a schema adds to it.
const MOST_LEVELS: u32 = 1_500;

/// The work of finding suggestions for unknown keys: enough for some 12,000 comparisons of names of usual length.
const SUGGESTION_WORK: usize = 128_000;

/// The memory of a cached verdict, in bytes.
const VERDICT: usize = 20;

/// A walk over one document.
pub(super) struct Walk<'a, 'b> {
    pub(super) arena: &'a Arena,
    pub(super) budget: &'b mut WorkBudget,
    mode: WalkMode,
    /// The path from the root to the value, maintained only while problems are collected.
    path: Vec<PathStep>,
    levels: u32,
    /// The work that may still be done to find suggestions for unknown keys.
    suggestion_work: usize,
    /// Cached verdicts of shared nodes. Without them, nested alternatives would be tried again for every path to them.
    verdicts: HashMap<(u32, u32), bool, RandomState>,
    /// The rejections by shared nodes that are already reported.
    reported: HashSet<(u32, u32), RandomState>,
}

/// The treatment of problems by a walk.
enum WalkMode {
    Deciding { fits: bool },
    Explaining(Report),
}

/// The problems that were found.
#[derive(Default)]
pub(super) struct Report {
    pub(super) findings: Vec<Finding>,
    /// The size of all issues so far, in bytes.
    size: usize,
}

/// One problem, as an issue and as data.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) issue: Issue,
    /// The id of the value.
    pub(super) value: u32,
    /// The types that the value must have, if its type is the problem.
    pub(super) expected_types: Option<Types>,
}

/// The result of a check that collects all problems.
pub(super) struct Explained {
    pub(super) findings: Vec<Finding>,
    /// The issue that explains why the list may be incomplete.
    pub(super) cut: Option<Issue>,
}

/// Reports whether a value is valid for a node; `false` if the budget is exhausted.
pub(super) fn fits(arena: &Arena, id: NodeId, value: Instance<'_>, budget: &mut WorkBudget) -> bool {
    let mut walk = Walk::new(arena, budget, WalkMode::Deciding { fits: true });
    walk.visit(id, value);
    let fits = matches!(walk.mode, WalkMode::Deciding { fits: true });
    fits && !walk.budget.is_spent()
}

/// Collects all problems that make a value invalid for a node.
pub(super) fn explain(arena: &Arena, id: NodeId, value: Instance<'_>, budget: &mut WorkBudget) -> Explained {
    let mut walk = Walk::new(arena, budget, WalkMode::Explaining(Report::default()));
    walk.visit(id, value);
    let is_spent = walk.budget.is_spent();
    let WalkMode::Explaining(report) = walk.mode else { return Explained { findings: Vec::new(), cut: None } };
    let is_full = report.is_full();
    let mut findings = report.findings;
    findings.truncate(MOST_ISSUES);
    let cut = if is_spent {
        Some(message::too_costly(value.document().text().len()))
    } else {
        is_full.then(|| message::too_many(findings.len()))
    };
    Explained { findings, cut }
}

/// Returns the size of an issue, in bytes.
pub(super) fn size(Issue { pointer, expected, found, message, .. }: &Issue) -> usize {
    pointer.len() + expected.len() + found.len() + message.len()
}

impl Report {
    fn is_full(&self) -> bool {
        self.findings.len() > MOST_ISSUES || self.size > ISSUES_CAP
    }

    fn add(&mut self, finding: Finding) {
        self.size += size(&finding.issue);
        self.findings.push(finding);
    }
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(arena: &'a Arena, budget: &'b mut WorkBudget, mode: WalkMode) -> Self {
        Self {
            arena,
            budget,
            mode,
            path: Vec::new(),
            levels: 0,
            suggestion_work: SUGGESTION_WORK,
            verdicts: HashMap::default(),
            reported: HashSet::default(),
        }
    }

    /// Creates a walk that marks the evaluated parts of valid values.
    pub(super) fn over_valid(arena: &'a Arena, budget: &'b mut WorkBudget) -> Self {
        Self::new(arena, budget, WalkMode::Deciding { fits: true })
    }

    /// Reports whether problems are collected as text, so that it is worth finding the most likely alternative of a
    /// union.
    pub(super) fn collects_issues(&self) -> bool {
        matches!(self.mode, WalkMode::Explaining(_))
    }

    /// Reports whether the walk should continue.
    pub(super) fn goes_on(&self) -> bool {
        let wants_more = match &self.mode {
            WalkMode::Deciding { fits } => *fits,
            WalkMode::Explaining(report) => !report.is_full(),
        };
        wants_more && !self.budget.is_spent()
    }

    /// Records a problem.
    pub(super) fn report(&mut self, value: Instance<'_>, problem: &Problem<'_>) {
        match &mut self.mode {
            WalkMode::Deciding { fits } => *fits = false,
            WalkMode::Explaining(report) if !report.is_full() => {
                let issue =
                    message::issue(problem, DescribedValue::of(value), value.document().pointer_along(&self.path));
                report.add(Finding { issue, value: value.id(), expected_types: problem.expected_types() });
            }
            WalkMode::Explaining(_) => {}
        }
    }

    /// Records a problem of a key, or of the value under it.
    pub(super) fn report_member(&mut self, key: MemberKey<'_>, value: Instance<'_>, problem: &Problem<'_>) {
        match &mut self.mode {
            WalkMode::Deciding { fits } => *fits = false,
            WalkMode::Explaining(_) => {
                self.path.push(PathStep::Key(key.id()));
                self.report(value, problem);
                self.path.pop();
            }
        }
    }

    /// Spends units of work; `false` if the budget is exhausted.
    pub(super) fn work(&mut self, units: usize) -> bool {
        self.budget.work(units as u64).is_ok()
    }

    /// Reports whether a value is valid for a node, in either mode of the walk.
    pub(super) fn fits(&mut self, id: NodeId, value: Instance<'_>) -> bool {
        if let Some(known) = self.known(id, value) {
            return known;
        }
        let outer = std::mem::replace(&mut self.mode, WalkMode::Deciding { fits: true });
        self.apply(id, value);
        let inner = std::mem::replace(&mut self.mode, outer);
        let fits = matches!(inner, WalkMode::Deciding { fits: true }) && !self.budget.is_spent();
        self.remember(id, value, fits);
        fits
    }

    /// Applies a node to a value and records its problems.
    pub(super) fn visit(&mut self, id: NodeId, value: Instance<'_>) {
        if !self.goes_on() {
            return;
        }
        if !self.is_remembered(id, value) {
            self.apply(id, value);
            return;
        }
        let fits = self.fits(id, value);
        match &mut self.mode {
            WalkMode::Deciding { fits: all } => *all &= fits,
            WalkMode::Explaining(_) if fits || self.budget.is_spent() => {}
            WalkMode::Explaining(_) => {
                if self.budget.memory(VERDICT).is_ok() && self.reported.insert(key(id, value)) {
                    self.apply(id, value);
                }
            }
        }
    }

    /// Applies a node to a member of an object.
    pub(super) fn visit_member(&mut self, id: NodeId, member: MemberKey<'_>, value: Instance<'_>) {
        if Arena::is_free(id, value.kind()) && !is_container(value) {
            return;
        }
        if self.collects_issues() {
            self.path.push(PathStep::Key(member.id()));
            self.visit(id, value);
            self.path.pop();
        } else {
            self.visit(id, value);
        }
    }

    /// Applies a node to an item of an array.
    pub(super) fn visit_item(&mut self, id: NodeId, at: usize, value: Instance<'_>) {
        if Arena::is_free(id, value.kind()) && !is_container(value) {
            return;
        }
        if self.collects_issues() {
            self.path.push(PathStep::Index(at));
            self.visit(id, value);
            self.path.pop();
        } else {
            self.visit(id, value);
        }
    }

    fn apply(&mut self, id: NodeId, value: Instance<'_>) {
        if self.levels >= MOST_LEVELS {
            self.budget.exhaust();
        }
        if !self.work(1) {
            return;
        }
        self.levels += 1;
        match self.arena.node(id) {
            Node::Any | Node::Same(_) => {}
            Node::Never => self.report(value, &Problem::Never),
            Node::ByType(_) if union::is_no_variant(self, id, value) => {}
            Node::ByType(branches) => match branches[value.kind() as usize] {
                Some(branch) => self.visit(branch, value),
                None => self.report(value, &Problem::Type(union::types(self.arena, id))),
            },
            Node::Typed(typed) => self.typed(typed, value),
        }
        self.levels -= 1;
    }

    fn typed(&mut self, typed: &'a TypeRules, value: Instance<'_>) {
        if !typed.types.allows(value.kind()) {
            let problem = if typed.types.is_empty() { Problem::Never } else { Problem::Type(typed.types) };
            self.report(value, &problem);
            return;
        }
        for rule in &typed.rules {
            if !self.goes_on() {
                return;
            }
            rule.check(typed, value, self);
        }
        if !self.goes_on() {
            return;
        }
        match value.kind() {
            JsonType::Null | JsonType::Boolean => {}
            JsonType::Number => typed.number.check(typed.integers_only(), value, self),
            JsonType::String => typed.string.check(value, self),
            JsonType::Array => self.array(typed, value),
            JsonType::Object => self.object(typed, value),
        }
    }

    fn array(&mut self, typed: &'a TypeRules, value: Instance<'_>) {
        let rule = &typed.array;
        let length = value.len();
        if length < rule.min {
            self.report(value, &Problem::TooFewItems(rule.min));
        }
        if length > rule.max {
            self.report(value, &Problem::TooManyItems(rule.max));
        }
        if rule.prefix.is_empty() && rule.items == super::node::ANY {
            return;
        }
        for (at, item) in value.items().enumerate() {
            // Elements beyond the longest allowed array were reported with its length.
            let beyond = at >= rule.max && rule.element(at) == NEVER;
            if !self.goes_on() || !self.work(1) || beyond {
                return;
            }
            self.visit_item(rule.element(at), at, item);
        }
    }

    fn object(&mut self, typed: &'a TypeRules, value: Instance<'_>) {
        let rule = &typed.object;
        let mut seen = None;
        if rule.required > 0 {
            let declared = seen.insert(declared(typed, value));
            if declared.required < rule.required {
                self.report_missing(typed, declared, value);
            }
            if !self.goes_on() {
                return;
            }
        }
        let length = value.len();
        if length < rule.min {
            self.report(value, &Problem::TooFewKeys(rule.min));
        }
        if length > rule.max {
            self.report(value, &Problem::TooManyKeys(rule.max));
        }
        for (at, (key, member)) in value.members().enumerate() {
            let name = key.name();
            if !self.goes_on() || !self.work(1 + name.len() / 64) {
                return;
            }
            match rule.find(&name, at) {
                Some(found) => self.visit_member(rule.properties[found].node, key, member),
                None if rule.additional == NEVER => {
                    let declared = seen.get_or_insert_with(|| declared(typed, value));
                    let nearest = self.nearest(&name, &rule.properties, &declared.seen);
                    self.report_member(key, member, &Problem::Unknown(name, &rule.properties, nearest));
                }
                None => self.visit_member(rule.additional, key, member),
            }
        }
    }

    /// Records the required properties that are missing.
    fn report_missing(&mut self, typed: &'a TypeRules, declared: &DeclaredMembers, value: Instance<'_>) {
        let properties = &typed.object.properties;
        // The loop visits all properties, and a small object may lack few of many.
        if !self.work(properties.len() / 64) {
            return;
        }
        let each = properties.iter().enumerate();
        for (_, property) in each.filter(|(at, property)| property.required && !declared.seen.contains(*at)) {
            let types = union::types(self.arena, property.node);
            self.report(value, &Problem::Missing(&property.name, types));
            if !self.goes_on() {
                return;
            }
        }
    }

    /// Returns the declared name that an unknown key was probably meant to be, if the object lacks it. The key is
    /// compared with all names, so this is done for the first unknown keys only.
    fn nearest<'p>(&mut self, name: &str, properties: &'p [Property], seen: &Seen) -> Option<&'p str> {
        if !self.collects_issues() {
            return None;
        }
        // A comparison costs the product of both lengths.
        let cost = properties.len().saturating_mul(1 + name.len().pow(2) / 16);
        self.suggestion_work = self.suggestion_work.checked_sub(cost)?;
        let absent = properties.iter().enumerate().filter(|(at, _)| !seen.contains(*at));
        nearest(name, absent.map(|(_, property)| &*property.name)).first().copied()
    }

    /// Marks the parts that a node has evaluated in a valid value.
    pub(super) fn mark(&mut self, id: NodeId, value: Instance<'_>, marks: &mut Marks) {
        if self.levels >= MOST_LEVELS {
            self.budget.exhaust();
        }
        if !self.work(1) || !self.is_first_mark(id, marks) {
            return;
        }
        self.levels += 1;
        match self.arena.node(id) {
            Node::Any | Node::Never | Node::Same(_) => {}
            Node::ByType(branches) => {
                if let Some(branch) = branches[value.kind() as usize] {
                    self.mark(branch, value, marks);
                }
            }
            Node::Typed(typed) => self.mark_typed(typed, value, marks),
        }
        self.levels -= 1;
    }

    /// Reports whether a node has not marked these parts before: one that is reached on several paths would mark the
    /// same parts again.
    fn is_first_mark(&mut self, id: NodeId, marks: &mut Marks) -> bool {
        !self.arena.is_shared(id) || (self.budget.memory(Marks::BYTES_PER_NODE).is_ok() && marks.enter(id))
    }

    fn mark_typed(&mut self, typed: &TypeRules, value: Instance<'_>, marks: &mut Marks) {
        self.mark_declared(typed, value, marks);
        for rule in &typed.rules {
            rule.mark(value, self, marks);
        }
    }

    /// Marks the parts that the keywords beside one rule have evaluated.
    pub(super) fn mark_siblings(
        &mut self,
        owner: &TypeRules,
        except: &dyn KeywordRule,
        value: Instance<'_>,
        marks: &mut Marks,
    ) {
        self.mark_declared(owner, value, marks);
        for rule in owner.rules.iter().filter(|rule| !std::ptr::addr_eq(&raw const ***rule, &raw const *except)) {
            rule.mark(value, self, marks);
        }
    }

    fn mark_declared(&mut self, typed: &TypeRules, value: Instance<'_>, marks: &mut Marks) {
        match value.kind() {
            JsonType::Array if typed.array.covers_rest => marks.add_all(),
            JsonType::Array => marks.add_first(typed.array.prefix.len(), value),
            JsonType::Object if typed.object.covers_rest => marks.add_all(),
            JsonType::Object => {
                for (at, (key, _)) in value.members().enumerate() {
                    if !self.work(1) {
                        return;
                    }
                    let found = typed.object.find(&key.name(), at);
                    if found.is_some_and(|found| typed.object.properties[found].declared) {
                        marks.add(at);
                    }
                }
            }
            _ => {}
        }
    }

    /// Reports whether the verdict of this node on this value is worth caching: scalars without keyword rules are
    /// cheaper to check again.
    fn is_remembered(&self, id: NodeId, value: Instance<'_>) -> bool {
        self.arena.is_shared(id) && (Arena::is_buffered(id) || is_container(value))
    }

    fn known(&self, id: NodeId, value: Instance<'_>) -> Option<bool> {
        if self.is_remembered(id, value) { self.verdicts.get(&key(id, value)).copied() } else { None }
    }

    fn remember(&mut self, id: NodeId, value: Instance<'_>, fits: bool) {
        if self.is_remembered(id, value) && self.budget.memory(VERDICT).is_ok() {
            self.verdicts.insert(key(id, value), fits);
        }
    }
}

fn key(id: NodeId, value: Instance<'_>) -> (u32, u32) {
    (id, value.id())
}

fn is_container(value: Instance<'_>) -> bool {
    matches!(value.kind(), JsonType::Array | JsonType::Object)
}

/// The declared properties that an object has.
struct DeclaredMembers {
    seen: Seen,
    /// The number of them that are required.
    required: usize,
}

fn declared(typed: &TypeRules, value: Instance<'_>) -> DeclaredMembers {
    let mut declared = DeclaredMembers { seen: Seen::default(), required: 0 };
    for found in value.members().enumerate().filter_map(|(at, (key, _))| typed.object.find(&key.name(), at)) {
        declared.seen.insert(found);
        declared.required += usize::from(typed.object.properties[found].required);
    }
    declared
}
