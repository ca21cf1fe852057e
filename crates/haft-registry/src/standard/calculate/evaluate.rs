//! The evaluation of a program on a stack.

use super::arithmetic::{factorial, negate, operate, power};
use super::fault::{CalculationError, CalculationFault};
use super::number::Number;
use super::program::{Action, Step, parse};
use super::work::Work;

/// Evaluates an expression.
pub(super) fn evaluate(expression: &str, is_cancelled: &dyn Fn() -> bool) -> Result<Number, CalculationError> {
    let steps = parse(expression)?;
    let mut work = Work::new(is_cancelled);
    let mut stack = Vec::new();
    for step in &steps {
        let value = run(step, &mut stack, &mut work).map_err(|cause| cause.at(step.position))?;
        stack.push(value);
    }
    stack.pop().ok_or_else(|| CalculationFault::Empty.at(1))
}

fn run(step: &Step, stack: &mut Vec<Number>, work: &mut Work<'_>) -> Result<Number, CalculationFault> {
    match &step.action {
        Action::Literal(literal) => Number::literal(literal, work),
        Action::Constant(constant) => Ok(constant.number()),
        Action::Negate => pop(stack).map(negate),
        Action::Factorial => factorial(&pop(stack)?, work),
        Action::Operate(operator) => {
            let (right, left) = (pop(stack)?, pop(stack)?);
            operate(*operator, &left, &right, work)
        }
        Action::Power => {
            let (exponent, base) = (pop(stack)?, pop(stack)?);
            power(&base, &exponent, work)
        }
        Action::Call(function, count) => {
            let arguments = stack.split_off(stack.len().saturating_sub(*count));
            function.call(&arguments, work)
        }
    }
}

/// Returns the topmost value. The parser has put one there for every step that takes one.
fn pop(stack: &mut Vec<Number>) -> Result<Number, CalculationFault> {
    stack.pop().ok_or(CalculationFault::Empty)
}
