//! Expression errors.

/// A rejected expression, with the fault's position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the expression is invalid at line {line}, column {column}: {fault}")]
#[non_exhaustive]
pub struct ExpressionError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The fault.
    pub fault: ExpressionFault,
}

/// The reason why an expression is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionFault {
    /// The expression is longer than [`MAX_EXPRESSION_LEN`](super::MAX_EXPRESSION_LEN).
    #[error("it is longer than {} bytes; shorten it", super::MAX_EXPRESSION_LEN)]
    TooLong,
    /// The expression is nested too deeply.
    #[error("it is nested more than {} levels deep; split the rule in several", super::MAX_DEPTH)]
    TooDeep,
    /// The expression has too many parts.
    #[error("it has more than {} parts; split the rule in several", super::MAX_NODES)]
    TooManyNodes,
    /// Loops are nested too deeply.
    #[error("loops are nested more than {} levels deep; split the rule in several", super::MAX_LOOP_DEPTH)]
    TooManyLoops,
    /// The text is no expression.
    #[error("{0}")]
    Syntax(String),
    /// There is no variable with this name.
    #[error("there is no variable `{name}`{hint}; the variables are `args`, `tool`, `caller` and `groups`")]
    UnknownVariable {
        /// The name.
        name: String,
        /// The nearest name, as a sentence's end; may be empty.
        hint: String,
    },
    /// The expression names a member of a variable without members, so it would always fail.
    #[error("`{variable}` is a text and has no members; compare it itself, as in `{variable} == 'x'`")]
    MemberOfText {
        /// The variable's name.
        variable: String,
    },
    /// The expression names a member of `groups`, which is a list.
    #[error("`groups` is a list of texts and has no members; look a group up, as in `'x' in groups`")]
    MemberOfGroups,
    /// A loop variable has another variable's name.
    #[error("the variable of a loop can't be named `{0}`; choose another name")]
    ReservedVariable(String),
    /// No function has this name, argument count and form.
    #[error("there is no function `{name}` with {arguments} arguments{hint}")]
    UnknownFunction {
        /// The name, with a leading dot for a method.
        name: String,
        /// The number of arguments.
        arguments: usize,
        /// The nearest name, as a sentence's end; may be empty.
        hint: String,
    },
    /// A `matches` pattern is not a literal.
    #[error("the pattern of `matches` must be a literal text")]
    PatternNotLiteral,
    /// There are too many `matches` patterns.
    #[error("it has more than {} patterns of `matches`; split the rule in several", super::MAX_PATTERNS)]
    TooManyPatterns,
    /// A `matches` pattern is invalid or too large.
    #[error("the pattern of `matches` is invalid or too large: {0}")]
    InvalidPattern(String),
    /// The expression uses syntax that rules don't have.
    #[error("{0} can't be used in a rule")]
    Unsupported(&'static str),
    /// The expression can't be a condition.
    #[error("the result is {0}, not a boolean; write a comparison")]
    NotBoolean(&'static str),
}

/// The reason why an expression could not be evaluated. It contains no argument value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The arguments are too large.
    #[error("the arguments that the expression reads are too large")]
    InputTooLarge,
    /// The arguments are nested too deeply.
    #[error("the arguments that the expression reads are nested more than {} levels deep", super::MAX_INPUT_DEPTH)]
    InputTooDeep,
    /// The evaluation could take too long.
    #[error(
        "the expression could take too long with these arguments: {cost} steps of at most {}",
        super::MAX_EXPRESSION_COST
    )]
    TooCostly {
        /// The estimated number of steps.
        cost: u64,
    },
    /// The arguments have no such member.
    #[error("there is no `{0}`; use `has(…)` if it is optional")]
    Missing(String),
    /// An operator or a function does not accept its operands' types.
    #[error("{0}")]
    Type(String),
    /// The result is not a boolean.
    #[error("the result is of type {0}, not a boolean")]
    NotBoolean(String),
    /// A computation failed.
    #[error("{0}")]
    Failed(&'static str),
    /// The evaluation panicked.
    #[error("the evaluation panicked")]
    Panicked,
}
