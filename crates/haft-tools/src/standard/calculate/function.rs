//! The functions, as a table.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::arithmetic::{exact_root, factorial, operate, power};
use super::fault::CalculationFault;
use super::logarithm;
use super::number::{Number, NumberValue, power_of_ten, too_many_digits};
use super::program::InfixOperator;
use super::work::WorkBudget;

/// A function that expressions can call.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// The call, as messages write it.
    pub(super) usage: &'static str,
    pub(super) least: usize,
    pub(super) most: usize,
    body: FunctionBody,
}

#[derive(Debug)]
enum FunctionBody {
    /// One float to another.
    Float(fn(f64) -> f64),
    /// Two floats to one.
    Floats(fn(f64, f64) -> f64),
    /// Fractions stay fractions where they can. The argument count matches the function's.
    Exact(fn(&[Number], &mut WorkBudget<'_>) -> Result<Number, CalculationFault>),
}

/// Returns the function with a lower-case name.
pub(super) fn named(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Returns all function and constant names.
pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    FUNCTIONS.iter().map(|function| function.name).chain(["pi", "tau", "phi"])
}

impl Function {
    /// Calls the function.
    pub(super) fn call(&self, arguments: &[Number], work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
        let undefined = || CalculationFault::NotReal { what: self.usage };
        let result = match (&self.body, arguments) {
            (FunctionBody::Float(apply), [x]) => apply(x.to_float()?),
            (FunctionBody::Floats(apply), [x, y]) => apply(x.to_float()?, y.to_float()?),
            (FunctionBody::Exact(apply), arguments) => {
                let exact = arguments.iter().all(|argument| argument.exact);
                return Ok(apply(arguments, work)?.and_exact(exact));
            }
            (FunctionBody::Float(_) | FunctionBody::Floats(_), _) => return Err(undefined()),
        };
        Number::float(result, self.usage)
    }
}

const MANY: usize = 1_000;

const fn float(name: &'static str, usage: &'static str, apply: fn(f64) -> f64) -> Function {
    Function { name, usage, least: 1, most: 1, body: FunctionBody::Float(apply) }
}

const fn floats(name: &'static str, usage: &'static str, apply: fn(f64, f64) -> f64) -> Function {
    Function { name, usage, least: 2, most: 2, body: FunctionBody::Floats(apply) }
}

const fn exact(
    name: &'static str,
    usage: &'static str,
    least: usize,
    most: usize,
    apply: fn(&[Number], &mut WorkBudget<'_>) -> Result<Number, CalculationFault>,
) -> Function {
    Function { name, usage, least, most, body: FunctionBody::Exact(apply) }
}

static FUNCTIONS: &[Function] = &[
    exact("abs", "abs(x)", 1, 1, |x, _| {
        Ok(if x[0].is_negative() { super::arithmetic::negate(x[0].clone()) } else { x[0].clone() })
    }),
    exact("sign", "sign(x)", 1, 1, |x, _| {
        Number::integer(if x[0].is_zero() {
            0
        } else if x[0].is_negative() {
            -1
        } else {
            1
        })
    }),
    exact("sqrt", "sqrt(x)", 1, 1, |x, work| root(&x[0], 2, work)),
    exact("cbrt", "cbrt(x)", 1, 1, |x, work| root(&x[0], 3, work)),
    exact("root", "root(x, n)", 2, 2, |x, work| root(&x[0], degree(&x[1])?, work)),
    exact("pow", "pow(x, y)", 2, 2, |x, work| power(&x[0], &x[1], work)),
    exact("mod", "mod(x, y)", 2, 2, |x, work| operate(InfixOperator::Remainder, &x[0], &x[1], work)),
    exact("floor", "floor(x)", 1, 1, |x, _| rounded(&x[0], BigRational::floor)),
    exact("ceil", "ceil(x)", 1, 1, |x, _| rounded(&x[0], BigRational::ceil)),
    exact("trunc", "trunc(x)", 1, 1, |x, _| rounded(&x[0], BigRational::trunc)),
    exact("round", "round(x) or round(x, places)", 1, 2, round),
    exact("min", "min(x, y, ...)", 1, MANY, |x, work| extreme(x, std::cmp::Ordering::Less, work)),
    exact("max", "max(x, y, ...)", 1, MANY, |x, work| extreme(x, std::cmp::Ordering::Greater, work)),
    exact("sum", "sum(x, y, ...)", 1, MANY, sum),
    exact("mean", "mean(x, y, ...)", 1, MANY, |x, work| {
        operate(InfixOperator::Divide, &sum(x, work)?, &Number::integer(x.len())?, work)
    }),
    exact("gcd", "gcd(n, m, ...)", 1, MANY, |x, work| fold_integers(x, "gcd", work, gcd)),
    exact("lcm", "lcm(n, m, ...)", 1, MANY, |x, work| fold_integers(x, "lcm", work, lcm)),
    exact("factorial", "factorial(n)", 1, 1, |x, work| factorial(&x[0], work)),
    exact("choose", "choose(n, k)", 2, 2, choose),
    exact("ln", "ln(x)", 1, 1, |x, _| logarithm::natural(&x[0])),
    exact("log", "log(x, base) (or ln, log2, log10)", 2, 2, |x, work| logarithm::to_base(&x[0], &x[1], work)),
    exact("log2", "log2(x)", 1, 1, |x, work| logarithm::to_base(&x[0], &Number::integer(2)?, work)),
    exact("log10", "log10(x)", 1, 1, |x, work| logarithm::to_base(&x[0], &Number::integer(10)?, work)),
    float("exp", "exp(x)", f64::exp),
    float("sin", "sin(x)", f64::sin),
    float("cos", "cos(x)", f64::cos),
    float("tan", "tan(x)", f64::tan),
    float("asin", "asin(x)", f64::asin),
    float("acos", "acos(x)", f64::acos),
    float("atan", "atan(x)", f64::atan),
    floats("atan2", "atan2(y, x)", f64::atan2),
    float("sinh", "sinh(x)", f64::sinh),
    float("cosh", "cosh(x)", f64::cosh),
    float("tanh", "tanh(x)", f64::tanh),
    float("asinh", "asinh(x)", f64::asinh),
    float("acosh", "acosh(x)", f64::acosh),
    float("atanh", "atanh(x)", f64::atanh),
    floats("hypot", "hypot(x, y)", f64::hypot),
    float("deg", "deg(x)", f64::to_degrees),
    float("rad", "rad(x)", f64::to_radians),
];

fn root(x: &Number, degree: u32, work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    let odd = degree % 2 == 1;
    if x.is_negative() && !odd {
        return Err(CalculationFault::NotReal { what: "an even root of a negative number" });
    }
    if let NumberValue::Fraction(value) = &x.value
        && let Some(root) = exact_root(&value.abs(), degree, work)?
    {
        return Number::fraction(if value.is_negative() { -root } else { root });
    }
    let value = x.to_float()?;
    let root = match degree {
        2 => value.sqrt(),
        3 => value.cbrt(),
        _ => value.abs().powf(f64::from(degree).recip()).copysign(value),
    };
    Number::float(root, "the root")
}

fn degree(number: &Number) -> Result<u32, CalculationFault> {
    let degree = number.to_integer().and_then(|degree| degree.to_u32()).filter(|degree| (1..=1_000).contains(degree));
    degree.ok_or(CalculationFault::Domain { what: "root(x, n)", requirement: "an integer n between 1 and 1000" })
}

fn rounded(x: &Number, round: fn(&BigRational) -> BigRational) -> Result<Number, CalculationFault> {
    Ok(Number::fraction(round(&x.to_fraction()))?.and_exact(x.exact))
}

/// Rounds half away from zero, at this many places after the point.
fn round(arguments: &[Number], work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    let x = arguments[0].to_fraction();
    let Some(places) = arguments.get(1) else { return rounded(&arguments[0], BigRational::round) };
    let requirement = "an integer number of places between -1000 and 1000";
    let places = places
        .to_integer()
        .and_then(|places| places.to_i32())
        .filter(|places| (-1_000..=1_000).contains(places))
        .ok_or(CalculationFault::Domain { what: "round(x, places)", requirement })?;
    let scale = BigRational::from_integer(power_of_ten(places.unsigned_abs()));
    let bits = x.numer().bits() + scale.numer().bits();
    work.charge_reduce(bits, x.denom().bits() + scale.numer().bits())?;
    let result = if places >= 0 { (x * &scale).round() / scale } else { (x / &scale).round() * scale };
    Number::fraction(result)
}

fn sum(terms: &[Number], work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    terms.iter().try_fold(Number::integer(0)?, |sum, term| operate(InfixOperator::Add, &sum, term, work))
}

fn extreme(
    values: &[Number],
    wanted: std::cmp::Ordering,
    work: &mut WorkBudget<'_>,
) -> Result<Number, CalculationFault> {
    let mut found = values[0].to_fraction();
    let mut at = 0;
    for (index, value) in values.iter().enumerate().skip(1) {
        let value = value.to_fraction();
        work.charge_multiply(
            value.numer().bits().max(value.denom().bits()),
            found.numer().bits().max(found.denom().bits()),
        )?;
        if value.cmp(&found) == wanted {
            (found, at) = (value, index);
        }
    }
    Ok(values[at].clone())
}

fn fold_integers(
    values: &[Number],
    what: &'static str,
    work: &mut WorkBudget<'_>,
    fold: fn(BigInt, BigInt, &mut WorkBudget<'_>) -> Result<BigInt, CalculationFault>,
) -> Result<Number, CalculationFault> {
    let integer = |value: &Number| {
        value.to_integer().map(|value| value.abs()).ok_or(CalculationFault::Domain { what, requirement: "integers" })
    };
    let mut result = integer(&values[0])?;
    for value in &values[1..] {
        result = fold(result, integer(value)?, work)?;
    }
    Number::integer(result)
}

/// Euclid's algorithm. Each step divides, and costs about as much as the digits that it removes.
fn gcd(mut a: BigInt, mut b: BigInt, work: &mut WorkBudget<'_>) -> Result<BigInt, CalculationFault> {
    while !b.is_zero() {
        work.charge_multiply(b.bits(), (a.bits().saturating_sub(b.bits())).max(64))?;
        (a, b) = (b.clone(), a % b);
    }
    Ok(a)
}

fn lcm(a: BigInt, b: BigInt, work: &mut WorkBudget<'_>) -> Result<BigInt, CalculationFault> {
    if a.is_zero() || b.is_zero() {
        return Ok(BigInt::zero());
    }
    work.charge_multiply(a.bits(), b.bits())?;
    let product = &a * &b;
    let result = product / gcd(a, b, work)?;
    // Checked here as well, since the next step starts with it.
    Number::integer(result.clone())?;
    Ok(result)
}

fn choose(arguments: &[Number], work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    let requirement = "two integers that are not negative";
    let integer = |number: &Number| {
        let domain = CalculationFault::Domain { what: "choose(n, k)", requirement };
        number.to_integer().filter(|value| !value.is_negative()).ok_or(domain)
    };
    let (n, k) = (integer(&arguments[0])?, integer(&arguments[1])?);
    if k > n {
        return Number::integer(0);
    }
    // The smaller of k and n - k factors. Each at least doubles the result, so this many are always enough.
    let k = k.clone().min(&n - k).to_u32().filter(|k| *k <= 40_000).ok_or_else(too_many_digits)?;
    let mut result = BigInt::one();
    for i in 1..=k {
        work.charge_multiply(result.bits(), n.bits())?;
        result = result * (&n - (k - i)) / i;
        if result.bits() > super::number::MAX_BITS {
            return Err(too_many_digits());
        }
    }
    Number::integer(result)
}
