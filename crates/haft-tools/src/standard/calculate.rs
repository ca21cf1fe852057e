//! The calculator.
//!
//! ```text
//! text ── token ──> tokens ── program ──> steps ── evaluate ──> number ── render ──> text
//! ```
//!
//! Arithmetic is exact: numbers are fractions with integers of any size, so `0.1 + 0.2` is 0.3 and `1/3*3` is 1.
//! Functions with irrational results use floats, and the result says so. The calculator has its own parser and
//! evaluator: no text ever runs as code. Length, depth, digits and total work are limited, so every expression ends
//! soon.

mod arithmetic;
mod evaluate;
mod fault;
mod function;
mod logarithm;
mod number;
mod program;
mod render;
mod token;
mod work;

#[cfg(test)]
mod tests;

use haft_executor::{Cx, DefinitionError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::evaluate::evaluate;
use self::render::render;
use super::annotate::pure;
use super::failure::StandardFailure;

const DESCRIPTION: &str = "\
Evaluates one arithmetic expression exactly and returns its value as decimal text. \
Numbers: 12, 1_000, 0.5, 1.5e-3, 0xff, 0b101. Operators: + - * / ^ (power, right-associative), // (floor division), \
% (remainder with the sign of the divisor, not percent), ! (factorial). -2^2 is -4. \
Constants: pi, e, tau, phi. Functions: abs, sign, sqrt, cbrt, root(x, n), pow, exp, ln, log2, log10, log(x, base), sin, \
cos, tan, asin, acos, atan, atan2(y, x), sinh, cosh, tanh, asinh, acosh, atanh, hypot, deg, rad, floor, ceil, trunc, \
round(x, places), min, max, sum, mean, mod, gcd, lcm, factorial, choose(n, k). Angles are in radians; rad(180) is pi. \
There are no variables, no comparisons and no implicit multiplication: write 2*pi, not 2pi. \
Integers may have up to 10,000 digits.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CalculateParams {
    /// The expression, e.g. "(1 + 0.05)^10 * 1200".
    #[schemars(length(min = 1, max = 4000))]
    expression: String,
}

/// The value of an expression.
#[derive(Debug, Serialize, JsonSchema)]
struct Calculation {
    /// The value in decimal notation.
    result: String,
    /// True if `result` is the exact value, false if it is rounded or an irrational function was involved.
    exact: bool,
    /// The exact value as a fraction, if `result` is rounded and the fraction is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<String>,
}

/// Creates the tool.
pub(super) fn tool() -> Result<Tool, DefinitionError> {
    pure(Tool::new("calculate"))
        .title("Calculator")
        .describe(DESCRIPTION)
        .example(json!({"expression": "(1 + 0.05)^10 * 1200"}))
        .example(json!({"expression": "choose(49, 6)"}))
        .example(json!({"expression": "round(sqrt(2) * 100, 2)"}))
        .try_blocking_handler(|params: CalculateParams, cx: Cx| calculate(&params.expression, &|| cx.is_cancelled()))
}

fn calculate(expression: &str, is_cancelled: &dyn Fn() -> bool) -> Result<Calculation, StandardFailure> {
    let number = evaluate(expression, is_cancelled)?;
    let rendered = render(&number);
    let fraction = rendered.fraction.filter(|_| number.exact);
    Ok(Calculation { result: rendered.text, exact: number.exact && rendered.whole, fraction })
}
