//! The argument members that an expression names, for checks on rules that people write.
//!
//! Only certain members are listed: a member whose name is computed is not, and a list element is any element.

use std::fmt;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, LiteralValue, operators};

use super::check::{VARIABLES, parts};

/// An argument member that an expression names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::permission) struct ArgumentAccess {
    /// The path from the arguments to the member. Never empty.
    pub(in crate::permission) path: AccessPath,
    pub(in crate::permission) kind: AccessKind,
}

/// The path from the arguments to a value inside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::permission) struct AccessPath(pub(in crate::permission) Vec<AccessStep>);

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::permission) enum AccessStep {
    /// The member with this name.
    Member(String),
    /// A list element.
    Element,
}

/// The way in which an expression uses a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::permission) enum AccessKind {
    /// Reads the member. If it is missing, the expression fails.
    Read,
    /// Tests whether the member is present: `has(args.x)`, `'x' in args`.
    Test,
}

/// Returns the members that an expression names, in text order.
pub(super) fn accesses(root: &IdedExpr) -> Vec<ArgumentAccess> {
    let mut collector = AccessCollector::default();
    collector.visit(root);
    collector.found
}

#[derive(Default)]
struct AccessCollector {
    found: Vec<ArgumentAccess>,
    /// The variables of the loops around the current part, with the elements they stand for where known.
    bound: Vec<(String, Option<AccessPath>)>,
}

impl AccessCollector {
    fn visit(&mut self, part: &IdedExpr) {
        match &part.expr {
            Expr::Select(select) => match self.path(&select.operand) {
                Some(path) => {
                    let kind = if select.test { AccessKind::Test } else { AccessKind::Read };
                    self.add(path.with(AccessStep::Member(select.field.clone())), kind);
                }
                None => self.visit(&select.operand),
            },
            Expr::Call(call) if call.func_name == operators::INDEX => match self.path(part) {
                Some(path) => self.add(path, AccessKind::Read),
                None => call.args.iter().for_each(|inner| self.visit(inner)),
            },
            Expr::Call(call) if call.func_name == operators::IN => self.visit_in(call),
            Expr::Comprehension(comprehension) => self.visit_loop(comprehension),
            _ => parts(&part.expr).into_iter().for_each(|inner| self.visit(inner)),
        }
    }

    /// Visits `left in right`. In the arguments themselves it tests for a member; elsewhere the right side may be a
    /// list.
    fn visit_in(&mut self, call: &CallExpr) {
        if let [left, right] = call.args.as_slice()
            && let Expr::Literal(LiteralValue::String(name)) = &left.expr
            && let Some(AccessPath(path)) = self.path(right)
            && path.is_empty()
        {
            let member = AccessStep::Member(name.inner().to_owned());
            return self.add(AccessPath(vec![member]), AccessKind::Test);
        }
        call.args.iter().for_each(|inner| self.visit(inner));
    }

    fn visit_loop(&mut self, comprehension: &ComprehensionExpr) {
        let ComprehensionExpr { iter_range, iter_var, accu_var, .. } = comprehension;
        let ComprehensionExpr { accu_init, loop_cond, loop_step, result, .. } = comprehension;
        self.visit(iter_range);
        self.visit(accu_init);
        let element = self.path(iter_range).map(|path| path.with(AccessStep::Element));
        self.bound.extend([(iter_var.clone(), element), (accu_var.clone(), None)]);
        for inner in [loop_cond, loop_step, result] {
            self.visit(inner);
        }
        self.bound.truncate(self.bound.len().saturating_sub(2));
    }

    fn add(&mut self, path: AccessPath, kind: AccessKind) {
        let access = ArgumentAccess { path, kind };
        if !self.found.contains(&access) {
            self.found.push(access);
        }
    }

    /// Returns the path to the value that a part stands for.
    fn path(&self, part: &IdedExpr) -> Option<AccessPath> {
        match &part.expr {
            Expr::Ident(name) => match self.bound.iter().rev().find(|(bound, _)| bound == name) {
                Some((_, element)) => element.clone(),
                None => (name == VARIABLES[0]).then(AccessPath::default),
            },
            Expr::Select(select) if !select.test => {
                Some(self.path(&select.operand)?.with(AccessStep::Member(select.field.clone())))
            }
            Expr::Call(CallExpr { func_name, args, .. }) if func_name == operators::INDEX => {
                let [operand, index] = args.as_slice() else { return None };
                let step = match &index.expr {
                    Expr::Literal(LiteralValue::String(name)) => AccessStep::Member(name.inner().to_owned()),
                    Expr::Literal(LiteralValue::Int(_) | LiteralValue::UInt(_)) => AccessStep::Element,
                    _ => return None,
                };
                Some(self.path(operand)?.with(step))
            }
            _ => None,
        }
    }
}

impl AccessPath {
    fn with(mut self, step: AccessStep) -> Self {
        self.0.push(step);
        self
    }
}

/// Writes the path as in an expression, such as `args.items[…].price`.
impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(VARIABLES[0])?;
        self.0.iter().try_for_each(|step| match step {
            AccessStep::Member(name) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => write!(f, ".{name}"),
            AccessStep::Member(name) => write!(f, "[{name:?}]"),
            AccessStep::Element => f.write_str("[…]"),
        })
    }
}
