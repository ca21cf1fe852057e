//! Checks on a parsed expression: names, functions, sizes, and what it reads.
//!
//! Only what is listed here can be used, so a function that a later interpreter version adds can't appear in a rule
//! before its cost is decided.

use std::collections::{BTreeMap, BTreeSet};

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use haft_schema::nearest;
use regex::{Regex, RegexBuilder};

use super::error::{ExpressionError, ExpressionFault};
use super::measure::text_size;
use super::parse::{ExpressionPositions, ParsedExpression};
use super::{MAX_LOOP_DEPTH, MAX_NODES, MAX_PATTERNS};

/// The sizes for compiled `matches` patterns in bytes, the largest last.
const REGEX_SIZES: [usize; 4] = [2 << 10, 8 << 10, 32 << 10, 128 << 10];

/// The maximum depth of a `matches` pattern.
const MAX_REGEX_DEPTH: u32 = 32;

/// Every expression's variables.
pub(super) const VARIABLES: [&str; 4] = ["args", "tool", "caller", "groups"];

/// The type names, for comparisons such as `type(args.x) == int`.
const TYPES: [&str; 9] = ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint"];

/// The functions, with their argument counts.
const FUNCTIONS: [(&str, usize); 8] =
    [("size", 1), ("int", 1), ("uint", 1), ("double", 1), ("string", 1), ("bool", 1), ("type", 1), ("matches", 2)];

/// The methods, with their argument counts.
const METHODS: [(&str, usize); 5] = [("size", 0), ("contains", 1), ("startsWith", 1), ("endsWith", 1), ("matches", 1)];

/// The macros, for suggestions only: the parser has replaced them.
const MACROS: [&str; 6] = ["has", "all", "exists", "exists_one", "map", "filter"];

const OPERATORS: [(&str, usize); 19] = [
    (operators::CONDITIONAL, 3),
    (operators::LOGICAL_AND, 2),
    (operators::LOGICAL_OR, 2),
    (operators::LOGICAL_NOT, 1),
    (operators::SUBSTRACT, 2),
    (operators::ADD, 2),
    (operators::MULTIPLY, 2),
    (operators::DIVIDE, 2),
    (operators::MODULO, 2),
    (operators::EQUALS, 2),
    (operators::NOT_EQUALS, 2),
    (operators::GREATER_EQUALS, 2),
    (operators::LESS_EQUALS, 2),
    (operators::GREATER, 2),
    (operators::LESS, 2),
    (operators::NEGATE, 1),
    (operators::INDEX, 2),
    (operators::NOT_STRICTLY_FALSE, 1),
    (operators::IN, 2),
];

/// The facts about an expression that its evaluation needs.
#[derive(Debug, Default)]
pub(super) struct ExpressionFacts {
    /// The number of parts.
    pub(super) nodes: u64,
    pub(super) depth: usize,
    pub(super) loops: LoopUse,
    /// The literals' total size.
    pub(super) literals: u64,
    pub(super) reads: ArgumentReads,
    /// The `matches` patterns by text.
    pub(super) patterns: BTreeMap<String, ArgumentPattern>,
}

/// A `matches` pattern.
#[derive(Debug)]
pub(super) struct ArgumentPattern {
    pub(super) regex: Regex,
    /// The steps that a few bytes of text take at worst.
    pub(super) weight: u64,
}

/// The presence of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LoopUse {
    #[default]
    None,
    Some,
}

/// The argument members that an expression reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ArgumentReads {
    /// These members of an object, and nothing else.
    Members(BTreeSet<String>),
    /// Everything.
    All,
}

impl ArgumentReads {
    /// Reports whether an argument member is read.
    pub(super) fn includes(&self, member: &str) -> bool {
        match self {
            Self::Members(members) => members.contains(member),
            Self::All => true,
        }
    }
}

impl Default for ArgumentReads {
    fn default() -> Self {
        Self::Members(BTreeSet::new())
    }
}

impl ArgumentPattern {
    /// Compiles a pattern in the smallest possible size. The engine never backtracks: at worst it visits every state of
    /// the compiled pattern for every byte, and the size bounds the number of states.
    fn new(pattern: &str) -> Result<Self, ExpressionFault> {
        let mut rejected = String::new();
        for size in REGEX_SIZES {
            let builder = &mut RegexBuilder::new(pattern);
            match builder.size_limit(size).dfa_size_limit(size).nest_limit(MAX_REGEX_DEPTH).build() {
                Ok(regex) => return Ok(Self { regex, weight: (size / 128) as u64 }),
                Err(error) => rejected = error.to_string(),
            }
        }
        let last_line = rejected.lines().last().unwrap_or_default();
        Err(ExpressionFault::InvalidPattern(last_line.chars().take(200).collect()))
    }
}

/// Returns a literal's size.
pub(super) fn literal_size(literal: &LiteralValue) -> u64 {
    match literal {
        LiteralValue::String(text) => text_size(text.inner()),
        LiteralValue::Bytes(bytes) => 1 + bytes.inner().len() as u64,
        LiteralValue::Boolean(_)
        | LiteralValue::Double(_)
        | LiteralValue::Int(_)
        | LiteralValue::Null
        | LiteralValue::UInt(_) => 1,
    }
}

/// Returns an expression's depth.
pub(super) fn depth(root: &IdedExpr) -> usize {
    let mut deepest = 0;
    let mut open = vec![(root, 1)];
    while let Some((part, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(parts(&part.expr).into_iter().map(|part| (part, depth + 1)));
    }
    deepest
}

/// Checks an expression whose depth is bounded.
pub(super) fn check(parsed: &ParsedExpression) -> Result<ExpressionFacts, ExpressionError> {
    let mut checker = ExpressionChecker {
        positions: &parsed.positions,
        facts: ExpressionFacts { depth: parsed.depth, ..ExpressionFacts::default() },
        bound: Vec::new(),
    };
    checker.check(&parsed.root)?;
    if let Some(kind) = never_boolean(&parsed.root.expr) {
        return Err(parsed.positions.error(parsed.root.id, ExpressionFault::NotBoolean(kind)));
    }
    Ok(checker.facts)
}

struct ExpressionChecker<'p> {
    positions: &'p ExpressionPositions,
    facts: ExpressionFacts,
    /// The variables of the loops around the current part.
    bound: Vec<String>,
}

impl ExpressionChecker<'_> {
    fn check(&mut self, part: &IdedExpr) -> Result<(), ExpressionError> {
        self.facts.nodes += 1;
        if self.facts.nodes > MAX_NODES {
            return Err(self.error(part, ExpressionFault::TooManyNodes));
        }
        match &part.expr {
            Expr::Literal(literal) => {
                self.facts.literals += literal_size(literal);
                Ok(())
            }
            Expr::Ident(name) => self.check_variable(part, name),
            Expr::Select(select) => match &select.operand.expr {
                Expr::Ident(name) if name == VARIABLES[0] => {
                    self.reads(&select.field);
                    Ok(())
                }
                Expr::Ident(name) if name == VARIABLES[3] => Err(self.error(part, ExpressionFault::MemberOfGroups)),
                Expr::Ident(name) if VARIABLES.contains(&name.as_str()) => {
                    Err(self.error(part, ExpressionFault::MemberOfText { variable: shown(name) }))
                }
                _ => self.check(&select.operand),
            },
            Expr::Call(call) => self.check_call(part, call),
            Expr::Comprehension(comprehension) => self.check_loop(part, comprehension),
            Expr::List(_) | Expr::Map(_) => parts(&part.expr).into_iter().try_for_each(|inner| self.check(inner)),
            Expr::Struct(_) => Err(self.error(part, ExpressionFault::Unsupported("a message"))),
            Expr::Unspecified => Err(self.error(part, ExpressionFault::Unsupported("an empty expression"))),
        }
    }

    fn check_variable(&mut self, part: &IdedExpr, name: &str) -> Result<(), ExpressionError> {
        if name == VARIABLES[0] {
            self.facts.reads = ArgumentReads::All;
        }
        let is_known =
            VARIABLES.contains(&name) || TYPES.contains(&name) || self.bound.iter().any(|bound| bound == name);
        if is_known {
            return Ok(());
        }
        let bound = self.bound.iter().map(String::as_str).filter(|name| !name.starts_with('@'));
        let hint = suggestion(name, VARIABLES.into_iter().chain(bound));
        Err(self.error(part, ExpressionFault::UnknownVariable { name: shown(name), hint }))
    }

    fn check_call(&mut self, part: &IdedExpr, call: &CallExpr) -> Result<(), ExpressionError> {
        let CallExpr { func_name, target, args } = call;
        let known = (func_name.as_str(), args.len());
        let is_known = match target {
            None => FUNCTIONS.contains(&known) || OPERATORS.contains(&known),
            Some(_) => METHODS.contains(&known),
        };
        if !is_known {
            return Err(self.error(part, unknown_function(call)));
        }
        if func_name == "matches" {
            self.check_pattern(part, args)?;
        }
        target.as_deref().into_iter().chain(args).try_for_each(|inner| self.check(inner))
    }

    /// Compiles the pattern for `matches`, which is the last argument.
    fn check_pattern(&mut self, part: &IdedExpr, args: &[IdedExpr]) -> Result<(), ExpressionError> {
        let Some(Expr::Literal(LiteralValue::String(pattern))) = args.last().map(|last| &last.expr) else {
            return Err(self.error(part, ExpressionFault::PatternNotLiteral));
        };
        if self.facts.patterns.len() >= MAX_PATTERNS {
            return Err(self.error(part, ExpressionFault::TooManyPatterns));
        }
        let compiled = ArgumentPattern::new(pattern.inner());
        let compiled = compiled.map_err(|fault| self.error(part, fault))?;
        self.facts.patterns.insert(pattern.inner().to_owned(), compiled);
        Ok(())
    }

    fn check_loop(&mut self, part: &IdedExpr, comprehension: &ComprehensionExpr) -> Result<(), ExpressionError> {
        let ComprehensionExpr { iter_range, iter_var, iter_var2, accu_var, .. } = comprehension;
        let ComprehensionExpr { accu_init, loop_cond, loop_step, result, .. } = comprehension;
        self.facts.loops = LoopUse::Some;
        self.check(iter_range)?;
        self.check(accu_init)?;
        // Two variables per loop: the element and the result so far.
        if self.bound.len() >= 2 * MAX_LOOP_DEPTH {
            return Err(self.error(part, ExpressionFault::TooManyLoops));
        }
        if iter_var2.is_some() {
            return Err(self.error(part, ExpressionFault::Unsupported("a loop over two variables")));
        }
        if VARIABLES.contains(&iter_var.as_str()) || TYPES.contains(&iter_var.as_str()) || iter_var.starts_with('@') {
            return Err(self.error(part, ExpressionFault::ReservedVariable(shown(iter_var))));
        }
        self.bound.extend([iter_var.clone(), accu_var.clone()]);
        let checked = [loop_cond, loop_step, result].into_iter().try_for_each(|inner| self.check(inner));
        self.bound.truncate(self.bound.len().saturating_sub(2));
        checked
    }

    /// Records that an argument member is read.
    fn reads(&mut self, member: &str) {
        self.facts.nodes += 1;
        match &mut self.facts.reads {
            ArgumentReads::Members(members) => drop(members.insert(member.to_owned())),
            ArgumentReads::All => {}
        }
    }

    fn error(&self, part: &IdedExpr, fault: ExpressionFault) -> ExpressionError {
        self.positions.error(part.id, fault)
    }
}

/// Returns an expression's direct parts.
pub(super) fn parts(expression: &Expr) -> Vec<&IdedExpr> {
    match expression {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Comprehension(comprehension) => {
            let ComprehensionExpr { iter_range, accu_init, loop_cond, loop_step, result, .. } = &**comprehension;
            vec![iter_range, accu_init, loop_cond, loop_step, result]
        }
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|entry| entry_parts(&entry.expr)).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Struct(message) => message.entries.iter().flat_map(|entry| entry_parts(&entry.expr)).collect(),
    }
}

pub(super) fn entry_parts(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
    }
}

/// Returns the kind of an expression whose result can never be a boolean, whatever the arguments.
fn never_boolean(root: &Expr) -> Option<&'static str> {
    match root {
        Expr::Literal(LiteralValue::String(_)) => Some("a text"),
        Expr::Literal(LiteralValue::Null) => Some("null"),
        Expr::Literal(LiteralValue::Bytes(_)) => Some("bytes"),
        Expr::Literal(LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Double(_)) => Some("a number"),
        Expr::List(_) => Some("a list"),
        Expr::Map(_) => Some("a map"),
        Expr::Ident(name) if name == VARIABLES[1] => Some("a text"),
        Expr::Ident(name) if name == VARIABLES[3] => Some("a list"),
        Expr::Call(call) => {
            let arithmetic = [operators::ADD, operators::SUBSTRACT, operators::MULTIPLY, operators::DIVIDE];
            let is_arithmetic = arithmetic.contains(&call.func_name.as_str());
            match call.func_name.as_str() {
                operators::MODULO | operators::NEGATE | "int" | "uint" | "double" | "size" => Some("a number"),
                "string" => Some("a text"),
                _ if is_arithmetic => Some("a number, a text or a list"),
                _ => None,
            }
        }
        Expr::Literal(LiteralValue::Boolean(_))
        | Expr::Unspecified
        | Expr::Comprehension(_)
        | Expr::Ident(_)
        | Expr::Select(_)
        | Expr::Struct(_) => None,
    }
}

fn unknown_function(call: &CallExpr) -> ExpressionFault {
    let functions = FUNCTIONS.iter().chain(&METHODS).map(|(name, _)| *name);
    let dot = if call.target.is_some() { "." } else { "" };
    ExpressionFault::UnknownFunction {
        name: format!("{dot}{}", shown(&call.func_name)),
        arguments: call.args.len(),
        hint: suggestion(&call.func_name, functions.chain(MACROS)),
    }
}

fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).first().map_or_else(String::new, |similar| format!("; is it `{similar}`?"))
}

fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}
