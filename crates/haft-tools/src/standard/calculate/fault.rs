//! The reasons why an expression has no value.

use crate::standard::failure::StandardFailure;

/// A cause with its character's position, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause} (at character {position})")]
pub(super) struct CalculationError {
    pub(super) position: usize,
    pub(super) cause: CalculationFault,
}

/// The cause alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CalculationFault {
    #[error("the expression is empty; write an expression such as 2 * (3 + 4)")]
    Empty,
    #[error("the expression is longer than {limit} characters; calculate parts of it in separate calls")]
    TooLong { limit: usize },
    #[error("parentheses, signs and powers are nested deeper than {limit} levels; calculate parts in separate calls")]
    TooDeep { limit: usize },
    #[error("unexpected character `{found}`; {advice}")]
    UnexpectedCharacter { found: char, advice: &'static str },
    #[error("`{literal}` is not a number; {advice}")]
    InvalidNumber { literal: String, advice: &'static str },
    #[error("expected a number, a function or `(`, found {found}")]
    ExpectedValue { found: String },
    #[error("there is no operator before {found}; write `*` for a multiplication")]
    MissingOperator { found: String },
    #[error("the `%` has no right side; it is the remainder of a division, write 15/100 for 15 percent")]
    Percent,
    #[error("`!!` is ambiguous; write (n!)! or a product")]
    DoubleFactorial,
    #[error("`(` has no matching `)`")]
    UnclosedParenthesis,
    #[error("`)` has no matching `(`")]
    UnopenedParenthesis,
    #[error("a comma separates arguments of a function only; write numbers without thousands separators")]
    Comma,
    #[error("there is no function or constant named `{name}`; {}", advise(.nearest))]
    UnknownName { name: String, nearest: Vec<&'static str> },
    #[error("`{name}` is a function; call it as {usage}")]
    NotCalled { name: &'static str, usage: &'static str },
    #[error("{usage} was called with {found} arguments")]
    WrongArguments { usage: &'static str, found: usize },
    #[error("division by zero")]
    DivisionByZero,
    #[error("0^0 is not defined")]
    ZeroToZero,
    #[error("{what} is not a real number")]
    NotReal { what: &'static str },
    #[error("{what} requires {requirement}")]
    Domain { what: &'static str, requirement: &'static str },
    #[error("the result has more than {digits} digits, which is the limit; use ln or log10 for its magnitude")]
    TooLarge { digits: u32 },
    #[error("the number is beyond the range of approximate functions (about 1e308); use ln or log10 of an integer")]
    OutOfRange,
    #[error("the calculation takes too much work; calculate parts of it with smaller numbers")]
    TooMuchWork,
    #[error("the calculation was cancelled")]
    Cancelled,
}

impl CalculationFault {
    /// Adds the position.
    pub(super) fn at(self, position: usize) -> CalculationError {
        CalculationError { position, cause: self }
    }

    /// Returns the cause's stable name.
    fn reason(&self) -> &'static str {
        match self {
            Self::Empty
            | Self::UnexpectedCharacter { .. }
            | Self::InvalidNumber { .. }
            | Self::ExpectedValue { .. }
            | Self::MissingOperator { .. }
            | Self::Percent
            | Self::DoubleFactorial
            | Self::UnclosedParenthesis
            | Self::UnopenedParenthesis
            | Self::Comma => "syntax",
            Self::TooLong { .. } | Self::TooDeep { .. } => "expression_too_large",
            Self::UnknownName { .. } => "unknown_name",
            Self::NotCalled { .. } | Self::WrongArguments { .. } => "wrong_arguments",
            Self::DivisionByZero => "division_by_zero",
            Self::ZeroToZero | Self::NotReal { .. } | Self::Domain { .. } => "undefined",
            Self::TooLarge { .. } | Self::OutOfRange => "result_too_large",
            Self::TooMuchWork => "too_much_work",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<CalculationError> for StandardFailure {
    fn from(error: CalculationError) -> Self {
        Self::new(error.cause.reason(), error.to_string()).at(error.position)
    }
}

fn advise(nearest: &[&str]) -> String {
    match nearest {
        [] => "variables are not supported, write their values".to_owned(),
        names => format!("did you mean {}?", names.join(", ")),
    }
}
