//! Evaluates a program on a stack.

use super::arithmetic::{factorial, negate, operate, power};
use super::fault::{CalculationError, CalculationFault};
use super::number::Number;
use super::program::{ProgramStep, StepAction, parse};
use super::work::WorkBudget;

/// Evaluates an expression.
pub(super) fn evaluate(expression: &str, is_cancelled: &dyn Fn() -> bool) -> Result<Number, CalculationError> {
    let steps = parse(expression)?;
    let mut work = WorkBudget::new(is_cancelled);
    let mut stack = Vec::new();
    for step in &steps {
        let value = run(step, &mut stack, &mut work).map_err(|cause| cause.at(step.position))?;
        stack.push(value);
    }
    stack.pop().ok_or_else(|| CalculationFault::Empty.at(1))
}

fn run(step: &ProgramStep, stack: &mut Vec<Number>, work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    match &step.action {
        StepAction::Literal(literal) => Number::literal(literal, work),
        StepAction::Constant(constant) => Ok(constant.number()),
        StepAction::Negate => pop(stack).map(negate),
        StepAction::Factorial => factorial(&pop(stack)?, work),
        StepAction::Operate(operator) => {
            let (right, left) = (pop(stack)?, pop(stack)?);
            operate(*operator, &left, &right, work)
        }
        StepAction::Power => {
            let (exponent, base) = (pop(stack)?, pop(stack)?);
            power(&base, &exponent, work)
        }
        StepAction::Call(function, count) => {
            let arguments = stack.split_off(stack.len().saturating_sub(*count));
            function.call(&arguments, work)
        }
    }
}

/// Returns the topmost value. The parser has put one there for every step that takes one.
fn pop(stack: &mut Vec<Number>) -> Result<Number, CalculationFault> {
    stack.pop().ok_or(CalculationFault::Empty)
}
