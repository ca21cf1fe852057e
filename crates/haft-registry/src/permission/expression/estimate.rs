//! An upper bound on an evaluation's cost, computed before it starts.
//!
//! The interpreter has no limit of its own, and once started it can't be stopped. So the cost is bounded first: the
//! actual arguments' sizes are known, and every operation's size follows from its operands' sizes. A loop costs the
//! length of its list times the cost of its body, and a list or text built in it grows by as much. All this saturates,
//! so an expression that explodes has a very large cost and is not started.
//!
//! One step visits a part of the expression, copies a value, or reads a few bytes of text.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, operators};

use super::check::{ExpressionFacts, LoopUse, VARIABLES, entry_parts, literal_size};
use super::measure::{ArgumentSizes, SizeLevel, ValueSizes, text_size};

/// The size of a number's text.
const NUMBER_TEXT: u64 = 32;

/// The variables' sizes.
pub(super) struct VariableSizes<'a> {
    pub(super) args: ArgumentSizes<'a>,
    pub(super) tool: ValueSizes,
    pub(super) caller: ValueSizes,
    pub(super) groups: ValueSizes,
}

/// Returns an upper bound on an evaluation's steps.
pub(super) fn cost(root: &IdedExpr, facts: &ExpressionFacts, inputs: &VariableSizes<'_>) -> u64 {
    let VariableSizes { args, tool, caller, groups } = inputs;
    if facts.loops == LoopUse::None && facts.patterns.is_empty() {
        // Without loops every part is visited once, and no value is larger than all literals and arguments together, as
        // often as there are parts. That is enough for almost all rules.
        let sizes = [args.whole.size(), tool.size(), caller.size(), groups.size(), facts.literals, NUMBER_TEXT];
        let largest = sizes.into_iter().fold(0, u64::saturating_add);
        let rough = facts.nodes.saturating_mul(facts.nodes).saturating_mul(largest);
        if rough <= super::MAX_EXPRESSION_COST {
            return rough;
        }
    }
    let variables = [args.whole.clone(), tool.clone(), caller.clone(), groups.clone()];
    let variables = VARIABLES.into_iter().zip(variables).collect();
    let mut estimate = CostEstimate { arguments: args, variables, facts, cost: 0, times: 1 };
    estimate.visit(root);
    estimate.cost
}

struct CostEstimate<'e> {
    arguments: &'e ArgumentSizes<'e>,
    /// The variables' sizes, inner loops last.
    variables: Vec<(&'e str, ValueSizes)>,
    facts: &'e ExpressionFacts,
    cost: u64,
    /// The number of visits to the current part.
    times: u64,
}

impl<'e> CostEstimate<'e> {
    /// Adds a part's cost, and returns a bound on its result's sizes.
    fn visit(&mut self, part: &'e IdedExpr) -> ValueSizes {
        self.pay(1);
        match &part.expr {
            Expr::Literal(literal) => ValueSizes::of_size(literal_size(literal)),
            Expr::Ident(name) => {
                self.pay(text_size(name));
                let variable = self.variables.iter().rev().find(|(known, _)| known == name);
                variable.map_or_else(ValueSizes::scalar, |(_, sizes)| sizes.clone())
            }
            Expr::Select(select) => {
                let operand = self.visit(&select.operand);
                self.pay(text_size(&select.field));
                match &select.operand.expr {
                    _ if select.test => ValueSizes::scalar(),
                    // No loop variable is named like the arguments.
                    Expr::Ident(name) if name == VARIABLES[0] => self.arguments.member(&select.field),
                    _ => operand.element(),
                }
            }
            Expr::Call(call) => self.visit_call(call),
            Expr::Comprehension(comprehension) => self.visit_loop(comprehension),
            Expr::List(list) => {
                let elements: Vec<ValueSizes> = list.elements.iter().map(|element| self.visit(element)).collect();
                self.collected(&elements, elements.len())
            }
            Expr::Map(map) => {
                let inner = map.entries.iter().flat_map(|entry| entry_parts(&entry.expr));
                let elements: Vec<ValueSizes> = inner.map(|element| self.visit(element)).collect();
                self.collected(&elements, map.entries.len())
            }
            // Both are rejected when the expression is checked.
            Expr::Struct(_) | Expr::Unspecified => {
                self.pay(u64::MAX);
                ValueSizes::scalar()
            }
        }
    }

    fn visit_call(&mut self, call: &'e CallExpr) -> ValueSizes {
        let CallExpr { func_name, target, args } = call;
        let operands: Vec<ValueSizes> =
            target.as_deref().into_iter().chain(args).map(|operand| self.visit(operand)).collect();
        let total = operands.iter().fold(0_u64, |total, operand| total.saturating_add(operand.size()));
        match (func_name.as_str(), operands.as_slice()) {
            (operators::CONDITIONAL, [_, then, otherwise]) => then.join(otherwise),
            (
                operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE,
                _,
            ) => ValueSizes::scalar(),
            // A list is borrowed, and only the index is read.
            (operators::INDEX, [container, index]) => {
                self.pay(index.size());
                container.element()
            }
            (operators::ADD, [left, right]) => {
                self.pay(total);
                left.concat(right)
            }
            ("string", _) => {
                self.pay(total);
                ValueSizes::of_size(total.saturating_add(NUMBER_TEXT))
            }
            ("matches", _) => {
                let weight = self.facts.patterns.values().map(|pattern| pattern.weight).max().unwrap_or(1);
                self.pay(total.saturating_mul(weight));
                ValueSizes::scalar()
            }
            _ => {
                self.pay(total);
                ValueSizes::scalar()
            }
        }
    }

    fn visit_loop(&mut self, comprehension: &'e ComprehensionExpr) -> ValueSizes {
        let ComprehensionExpr { iter_range, iter_var, accu_var, accu_init, loop_cond, loop_step, result, .. } =
            comprehension;
        let init = self.visit(accu_init);
        let range = self.visit(iter_range);
        // Every element is copied once.
        self.pay(range.size());
        let times = self.times;
        self.times = times.saturating_mul(range.len());
        self.variables.push((iter_var, range.element()));
        self.variables.push((accu_var, ValueSizes::nothing()));
        self.pay(text_size(iter_var));
        self.visit(loop_cond);
        // A step never copies the result so far, it only adds to it. So one step's growth does not depend on the
        // result, and the growth over all steps is a multiple of it.
        let growth = self.visit(loop_step);
        self.times = times;
        let built = init.concat(&growth.times(range.len()));
        self.pay(built.size());
        self.variables.pop();
        self.variables.push((accu_var, built));
        let sizes = self.visit(result);
        self.variables.pop();
        self.variables.pop();
        sizes
    }

    /// Returns the sizes for a list or map of these elements, which are copied.
    fn collected(&mut self, elements: &[ValueSizes], len: usize) -> ValueSizes {
        let total = elements.iter().fold(1_u64, |total, element| total.saturating_add(element.size()));
        self.pay(total);
        let inner = elements.iter().fold(ValueSizes::nothing(), |inner, element| inner.join(element));
        inner.within(SizeLevel { len: len as u64, size: total })
    }

    /// Adds to the cost, as often as the current part is visited.
    fn pay(&mut self, steps: u64) {
        self.cost = self.cost.saturating_add(steps.saturating_mul(self.times));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::permission::expression::check::check;
    use crate::permission::expression::parse::parse;

    fn cost_of(source: &str, arguments: &Value) -> u64 {
        let parsed = parse(source).unwrap();
        let facts = check(&parsed).unwrap();
        let sizes = VariableSizes {
            args: ArgumentSizes::of(arguments, &facts.reads).unwrap(),
            tool: ValueSizes::scalar(),
            caller: ValueSizes::scalar(),
            groups: ValueSizes::of_texts(&[]),
        };
        cost(&parsed.root, &facts, &sizes)
    }

    fn numbers(count: u64) -> Value {
        json!({"l": (0..count).collect::<Vec<_>>()})
    }

    #[test]
    fn each_loop_multiplies_by_the_length_of_its_list() {
        let table = [
            ("args.l.all(a, true)", 1),
            ("args.l.all(a, args.l.all(b, true))", 2),
            ("args.l.all(a, args.l.all(b, args.l.all(c, true)))", 3),
            ("args.l.map(a, args.l).all(b, b.all(c, true))", 2),
            ("args.l.map(a, args.l).map(b, b + b).all(c, c.all(d, true))", 2),
        ];
        for (source, degree) in table {
            let (small, large) = (cost_of(source, &numbers(100)), cost_of(source, &numbers(1_000)));
            let growth = large / small;
            assert!(growth > 10_u64.pow(degree) / 2 && growth <= 10_u64.pow(degree), "{source}: {small} {large}");
            assert!(small >= 100_u64.pow(degree), "{source}: {small}");
        }
    }

    #[test]
    fn each_doubling_doubles_the_cost() {
        let doubled = |times: usize| cost_of(&format!("['x']{}[0] == 'x'", ".map(v, v + v)".repeat(times)), &json!({}));
        assert!(doubled(20) > 1 << 20);
        assert!(doubled(21) > doubled(20) * 19 / 10);
    }

    /// The elements' sizes count, not the list's size once per element.
    #[test]
    fn loops_over_small_elements_are_linear() {
        let items = |count: u64| json!({"l": (0..count).map(|n| json!({"price": n})).collect::<Vec<_>>()});
        let source = "args.l.all(i, i.price < 100)";
        assert!(cost_of(source, &items(1_000)) < 11 * cost_of(source, &items(100)));
        assert!(cost_of(source, &items(1_000)) < 30_000);
        let mut limited = items(1_000);
        limited["limit"] = json!(2_000);
        let compared = cost_of("args.l.all(i, i.price < args.limit)", &limited);
        assert!(compared < 40_000, "{compared}");
    }
}
