//! Expressions: conditions on a call's arguments, in the Common Expression Language.
//!
//! The interpreter has no time or memory limit, and an expression comes from a file while the arguments come from a
//! model. So everything is bounded before it starts: the text, the depth and the number of parts at compile time, and
//! the cost with the actual arguments at evaluation time. Only listed functions exist. An expression that could take
//! too long is not evaluated, and its rule fails closed.

mod access;
mod check;
mod error;
mod estimate;
mod measure;
mod parse;
mod value;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::thread;

use cel::common::types::CelBool;
use cel::extractors::This;
use cel::{Context, Env, ExecutionError, IdedExpr};
use serde_json::Value;

pub(super) use self::access::{AccessKind, AccessPath, AccessStep, ArgumentAccess};
use self::check::ExpressionFacts;
pub use self::error::{EvaluationError, ExpressionError, ExpressionFault};
use self::estimate::VariableSizes;
use self::measure::{ArgumentSizes, ValueSizes, text_size};
use super::groups::CallerGroups;

/// The maximum expression length in bytes.
pub const MAX_EXPRESSION_LEN: usize = 4096;

/// The maximum cost of an evaluation in steps: parts visited, values copied, and groups of bytes read.
pub const MAX_EXPRESSION_COST: u64 = 250_000;

/// The maximum expression depth.
const MAX_DEPTH: usize = 40;

/// The depth up to which an expression is evaluated on the caller's stack. Without optimisation, a level takes some 50
/// KiB.
const INLINE_DEPTH: usize = 10;

/// The stack size in bytes for a thread that parses or evaluates a deep expression.
const STACK: usize = 16 << 20;

/// The most parts in an expression.
const MAX_NODES: u64 = 1_000;

/// The most nested loops.
const MAX_LOOP_DEPTH: usize = 4;

/// The most `matches` patterns.
const MAX_PATTERNS: usize = 16;

/// Type names in the interpreter's errors.
const TYPE_NAMES: [&str; 11] =
    ["bool", "bytes", "double", "int", "iterable", "list", "map", "null_type", "string", "type", "uint"];

/// The maximum size of the arguments that an expression reads, in values and groups of bytes.
const MAX_INPUT: u64 = 100_000;

/// The maximum depth of the arguments that an expression reads.
const MAX_INPUT_DEPTH: usize = 64;

/// The interpreter's types and functions.
static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A condition on a call's arguments, compiled once. Cloning is cheap.
///
/// You can use four variables: `args`, the decoded arguments; `tool`, the tool's full name; `caller`, the caller's id or
/// null; and `groups`, the list of the [caller's groups](crate::CallerGroups). You also have the Common Expression Language's operators and macros (`has`, `all`, `exists`,
/// `exists_one`, `map`, `filter`), the functions `size`, `int`, `uint`, `double`, `string`, `bool` and `type`, and the
/// methods `size`, `contains`, `startsWith`, `endsWith` and `matches`, whose pattern is a literal. Integer arguments
/// are `int`, or `uint` beyond its range.
///
/// ```
/// use haft_registry::{ExpressionInput, RuleExpression};
/// use serde_json::json;
///
/// let small = RuleExpression::new("args.cents <= 10000 && args.to.startsWith('DE')")?;
/// assert_eq!(small.evaluate(&ExpressionInput::new(&json!({"cents": 500, "to": "DE89"}))), Ok(true));
/// assert!(small.evaluate(&ExpressionInput::new(&json!({"to": "DE89"}))).is_err());
///
/// let misspelt = RuleExpression::new("arg.cents <= 10000").unwrap_err();
/// assert!(misspelt.to_string().contains("is it `args`?"));
/// # Ok::<_, haft_registry::ExpressionError>(())
/// ```
#[derive(Clone)]
pub struct RuleExpression(Arc<CompiledExpression>);

struct CompiledExpression {
    source: Box<str>,
    root: IdedExpr,
    facts: ExpressionFacts,
}

/// The values of an expression's variables.
#[derive(Clone, Copy, Debug)]
pub struct ExpressionInput<'a> {
    arguments: &'a Value,
    tool: &'a str,
    caller: Option<&'a str>,
    groups: &'a [Box<str>],
}

impl<'a> ExpressionInput<'a> {
    /// Creates the input with these decoded arguments.
    #[must_use]
    pub fn new(arguments: &'a Value) -> Self {
        Self { arguments, tool: "", caller: None, groups: &[] }
    }

    /// Sets the tool's full name.
    #[must_use]
    pub fn tool(mut self, tool: &'a str) -> Self {
        self.tool = tool;
        self
    }

    /// Sets the caller's id.
    #[must_use]
    pub fn caller(mut self, caller: Option<&'a str>) -> Self {
        self.caller = caller;
        self
    }

    /// Sets the caller's groups.
    #[must_use]
    pub fn groups(mut self, groups: Option<&'a CallerGroups>) -> Self {
        self.groups = groups.map(CallerGroups::as_slice).unwrap_or_default();
        self
    }
}

impl RuleExpression {
    /// Compiles an expression.
    pub fn new(source: &str) -> Result<Self, ExpressionError> {
        let parsed = parse::parse(source)?;
        let facts = check::check(&parsed)?;
        Ok(Self(Arc::new(CompiledExpression { source: source.into(), root: parsed.root, facts })))
    }

    /// Returns the expression's text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns the argument members that the expression names.
    pub(super) fn accesses(&self) -> Vec<ArgumentAccess> {
        access::accesses(&self.0.root)
    }

    /// Evaluates the expression if that is certain to end soon.
    pub fn evaluate(&self, input: &ExpressionInput<'_>) -> Result<bool, EvaluationError> {
        let CompiledExpression { root, facts, .. } = &*self.0;
        let inputs = VariableSizes {
            args: ArgumentSizes::of(input.arguments, &facts.reads)?,
            tool: ValueSizes::of_size(text_size(input.tool)),
            caller: ValueSizes::of_size(text_size(input.caller.unwrap_or_default())),
            groups: ValueSizes::of_texts(input.groups),
        };
        let cost = estimate::cost(root, facts, &inputs);
        if cost > MAX_EXPRESSION_COST {
            return Err(EvaluationError::TooCostly { cost });
        }
        if facts.depth > INLINE_DEPTH {
            return self.resolve_apart(input);
        }
        // The expression and its input are only read, so nothing is left half done.
        catch_unwind(AssertUnwindSafe(|| self.resolve(input))).unwrap_or(Err(EvaluationError::Panicked))
    }

    /// Evaluates the expression on a thread with a large enough stack. The cost bounds how long the caller waits.
    fn resolve_apart(&self, input: &ExpressionInput<'_>) -> Result<bool, EvaluationError> {
        thread::scope(|scope| {
            let evaluating = thread_builder().spawn_scoped(scope, || self.resolve(input));
            let evaluating =
                evaluating.map_err(|_| EvaluationError::Failed("no thread can be started to evaluate it"))?;
            evaluating.join().unwrap_or(Err(EvaluationError::Panicked))
        })
    }

    fn resolve(&self, input: &ExpressionInput<'_>) -> Result<bool, EvaluationError> {
        let CompiledExpression { root, facts, .. } = &*self.0;
        let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
        context.add_variable_as_val("args", value::arguments(input.arguments, &facts.reads));
        context.add_variable_as_val("tool", value::text(Some(input.tool)));
        context.add_variable_as_val("caller", value::text(input.caller));
        context.add_variable_as_val("groups", value::texts(input.groups));
        if !facts.patterns.is_empty() {
            self.add_matches(&mut context)?;
        }
        let resolved = cel::Value::resolve_val(root, &context).map_err(|error| self.failed(&error))?;
        match resolved.downcast_ref::<CelBool>() {
            Some(result) => Ok(*result.inner()),
            None => Err(EvaluationError::NotBoolean(resolved.get_type().name().to_owned())),
        }
    }

    /// Adds the function `matches` with the expression's patterns.
    fn add_matches(&self, context: &mut Context<'_, '_>) -> Result<(), EvaluationError> {
        let expression = Arc::clone(&self.0);
        let matches = move |This(text): This<Arc<String>>, pattern: Arc<String>| {
            let found = expression.facts.patterns.get(pattern.as_str());
            found.map(|found| found.regex.is_match(&text)).ok_or_else(|| ExecutionError::no_such_key("pattern"))
        };
        context.add_function("matches", matches).map_err(|_| EvaluationError::Failed("`matches` is defined twice"))
    }

    /// Returns the reason for a failure, without the values in the interpreter's own error.
    fn failed(&self, error: &ExecutionError) -> EvaluationError {
        let short = |text: &str| text.chars().take(100).collect::<String>();
        match error {
            // A key that the expression does not spell was computed, and may be an argument.
            ExecutionError::NoSuchKey(key) if self.source().contains(key.as_str()) => {
                EvaluationError::Missing(short(key))
            }
            ExecutionError::NoSuchKey(_) => EvaluationError::Failed("there is no member with the computed name"),
            ExecutionError::NoSuchOverload(overload) => EvaluationError::Type(format!(
                "`{}` does not accept operands of the types {}",
                operator(overload.function()),
                short(&overload.argument_types().join(", "))
            )),
            ExecutionError::UnexpectedType { got, want } => EvaluationError::Type(unexpected_type(got, want)),
            ExecutionError::ValuesNotComparable(left, right) => {
                EvaluationError::Type(format!("types {} and {} can't be compared", left.type_of(), right.type_of()))
            }
            ExecutionError::UnsupportedBinaryOperator(operator, left, right) => EvaluationError::Type(format!(
                "`{operator}` does not accept operands of the types {} and {}",
                left.type_of(),
                right.type_of()
            )),
            ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
                EvaluationError::Failed("a number is divided by zero")
            }
            ExecutionError::Overflow(..) => EvaluationError::Failed("a number is too large"),
            ExecutionError::IndexOutOfBounds(_) => EvaluationError::Failed("an index is out of bounds"),
            _ => EvaluationError::Failed("an operand of an operator or a function is invalid"),
        }
    }
}

/// Returns a function as you write it in an expression: the interpreter calls `>` by `_>_`.
fn operator(function: &str) -> String {
    match function {
        "@in" => "in".to_owned(),
        "_?_:_" => "? :".to_owned(),
        operator if operator.contains(|c: char| c != '_' && !c.is_alphanumeric()) => operator.replace('_', ""),
        name => name.to_owned(),
    }
}

/// Describes a value with the wrong type. Functions added to the interpreter report the value itself instead of its
/// type, so only type names are repeated.
fn unexpected_type(got: &str, want: &str) -> String {
    let want = match want {
        "Arc<String>" => "string",
        named if TYPE_NAMES.contains(&named) => named,
        _ => return "a value is not of the type that is needed".to_owned(),
    };
    if TYPE_NAMES.contains(&got) {
        format!("a value is of type {got}, not {want}")
    } else {
        format!("a value is not of type {want}")
    }
}

/// Returns the builder for a thread that handles deep expressions.
fn thread_builder() -> thread::Builder {
    thread::Builder::new().name("haft-expression".to_owned()).stack_size(STACK)
}

impl fmt::Display for RuleExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.source)
    }
}

impl fmt::Debug for RuleExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RuleExpression").field(&self.0.source).finish()
    }
}
