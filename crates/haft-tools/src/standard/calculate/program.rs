//! The parser: tokens to a stack program.
//!
//! It is a Pratt parser. The result is a list of steps in postfix order instead of a tree, so that neither evaluating
//! nor dropping an expression recurses: `1+1+1+…` is as deep a tree as it is long. Only the parser itself recurses, to
//! a fixed depth.
//!
//! | operators | binds | associates |
//! |---|---|---|
//! | `+` `-` | 1 | left |
//! | `*` `/` `//` `%` | 2 | left |
//! | unary `-` `+` | 3 | |
//! | `^` `**` | 4 | right |
//! | `!` | 5 | |
//!
//! So `-2^2` is -4, `2^-1` is 0.5, `2^3^2` is 512 and `2^3!` is 64.

use super::fault::{CalculationError, CalculationFault};
use super::function::{self, Function};
use super::number::Constant;
use super::token::{ExpressionToken, Literal, Symbol, TokenKind, tokens};

/// The deepest nesting of parentheses, signs and powers.
const MAX_DEPTH: usize = 100;

/// One step, with the position for its faults.
#[derive(Clone, Debug)]
pub(super) struct ProgramStep {
    pub(super) position: usize,
    pub(super) action: StepAction,
}

#[derive(Clone, Debug)]
pub(super) enum StepAction {
    Literal(Literal),
    Constant(Constant),
    Negate,
    Factorial,
    Operate(InfixOperator),
    Power,
    /// A call with this many arguments, which the function accepts.
    Call(&'static Function, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InfixOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
}

/// Parses an expression.
pub(super) fn parse(expression: &str) -> Result<Vec<ProgramStep>, CalculationError> {
    let tokens = tokens(expression)?;
    if tokens.is_empty() {
        return Err(CalculationFault::Empty.at(1));
    }
    let end = expression.chars().count() + 1;
    let mut parser = ExpressionParser { tokens: &tokens, at: 0, end, steps: Vec::new() };
    parser.expression(0, 0)?;
    match parser.peek() {
        None => Ok(parser.steps),
        Some(token) => Err(trailing(token)),
    }
}

struct ExpressionParser<'t> {
    tokens: &'t [ExpressionToken],
    at: usize,
    /// The position after the last character.
    end: usize,
    steps: Vec<ProgramStep>,
}

const SIGN_BINDS: u8 = 3;

impl<'t> ExpressionParser<'t> {
    fn peek(&self) -> Option<&'t ExpressionToken> {
        self.tokens.get(self.at)
    }

    fn symbol(&self) -> Option<Symbol> {
        match self.peek()?.kind {
            TokenKind::Symbol(symbol) => Some(symbol),
            TokenKind::Number(_) | TokenKind::Name(_) => None,
        }
    }

    fn push(&mut self, position: usize, action: StepAction) {
        self.steps.push(ProgramStep { position, action });
    }

    /// Parses operators that bind at least this strongly.
    fn expression(&mut self, binds: u8, depth: usize) -> Result<(), CalculationError> {
        if depth > MAX_DEPTH {
            let position = self.peek().map_or(self.end, |token| token.position);
            return Err(CalculationFault::TooDeep { limit: MAX_DEPTH }.at(position));
        }
        self.operand(depth)?;
        while let Some(token) = self.peek() {
            let TokenKind::Symbol(symbol) = token.kind else { break };
            if symbol == Symbol::Factorial {
                self.at += 1;
                if self.symbol() == Some(Symbol::Factorial) {
                    return Err(CalculationFault::DoubleFactorial.at(token.position));
                }
                self.push(token.position, StepAction::Factorial);
                continue;
            }
            let Some((action, left, right)) = infix(symbol) else { break };
            if left < binds {
                break;
            }
            self.at += 1;
            if symbol == Symbol::Remainder && !self.begins_operand() {
                return Err(CalculationFault::Percent.at(token.position));
            }
            self.expression(right, depth + 1)?;
            self.push(token.position, action);
        }
        Ok(())
    }

    fn begins_operand(&self) -> bool {
        match self.peek().map(|token| &token.kind) {
            None => false,
            Some(TokenKind::Number(_) | TokenKind::Name(_)) => true,
            Some(TokenKind::Symbol(symbol)) => matches!(symbol, Symbol::Open | Symbol::Minus | Symbol::Plus),
        }
    }

    fn operand(&mut self, depth: usize) -> Result<(), CalculationError> {
        let Some(token) = self.peek() else {
            return Err(CalculationFault::ExpectedValue { found: "the end".to_owned() }.at(self.end));
        };
        self.at += 1;
        match &token.kind {
            TokenKind::Number(literal) => self.push(token.position, StepAction::Literal(literal.clone())),
            TokenKind::Name(name) => self.named(name, token.position, depth)?,
            TokenKind::Symbol(Symbol::Minus) => {
                self.expression(SIGN_BINDS, depth + 1)?;
                self.push(token.position, StepAction::Negate);
            }
            TokenKind::Symbol(Symbol::Plus) => self.expression(SIGN_BINDS, depth + 1)?,
            TokenKind::Symbol(Symbol::Open) => {
                self.expression(0, depth + 1)?;
                self.close(token.position)?;
            }
            kind @ TokenKind::Symbol(_) => {
                return Err(CalculationFault::ExpectedValue { found: kind.describe() }.at(token.position));
            }
        }
        // A number, name or parenthesis right after an operand would be a multiplication without a sign.
        match self.peek() {
            Some(next) if !matches!(next.kind, TokenKind::Symbol(_)) || self.symbol() == Some(Symbol::Open) => {
                Err(CalculationFault::MissingOperator { found: next.kind.describe() }.at(next.position))
            }
            _ => Ok(()),
        }
    }

    fn named(&mut self, name: &str, position: usize, depth: usize) -> Result<(), CalculationError> {
        if let Some(constant) = Constant::named(name) {
            self.push(position, StepAction::Constant(constant));
            return Ok(());
        }
        let Some(function) = function::named(name) else {
            let nearest = haft_schema::nearest(name, function::names());
            let nearest = function::names().filter(|known| nearest.contains(known)).collect();
            return Err(CalculationFault::UnknownName { name: clipped(name), nearest }.at(position));
        };
        if self.symbol() != Some(Symbol::Open) {
            return Err(CalculationFault::NotCalled { name: function.name, usage: function.usage }.at(position));
        }
        let open = self.peek().map_or(position, |token| token.position);
        self.at += 1;
        let mut found = 0;
        if self.symbol() != Some(Symbol::Close) {
            loop {
                self.expression(0, depth + 1)?;
                found += 1;
                if self.symbol() != Some(Symbol::Comma) {
                    break;
                }
                self.at += 1;
            }
        }
        self.close(open)?;
        if found < function.least || found > function.most {
            return Err(CalculationFault::WrongArguments { usage: function.usage, found }.at(position));
        }
        self.push(position, StepAction::Call(function, found));
        Ok(())
    }

    fn close(&mut self, open: usize) -> Result<(), CalculationError> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Symbol(Symbol::Close) => {
                self.at += 1;
                Ok(())
            }
            Some(token) => Err(trailing(token)),
            None => Err(CalculationFault::UnclosedParenthesis.at(open)),
        }
    }
}

/// Returns an infix operator's action, its left binding strength, and the least strength for its right side.
fn infix(symbol: Symbol) -> Option<(StepAction, u8, u8)> {
    let operator = match symbol {
        Symbol::Plus => InfixOperator::Add,
        Symbol::Minus => InfixOperator::Subtract,
        Symbol::Times => InfixOperator::Multiply,
        Symbol::Divide => InfixOperator::Divide,
        Symbol::FloorDivide => InfixOperator::FloorDivide,
        Symbol::Remainder => InfixOperator::Remainder,
        Symbol::Power => return Some((StepAction::Power, 4, 4)),
        Symbol::Factorial | Symbol::Open | Symbol::Close | Symbol::Comma => return None,
    };
    let binds = if matches!(operator, InfixOperator::Add | InfixOperator::Subtract) { 1 } else { 2 };
    Some((StepAction::Operate(operator), binds, binds + 1))
}

/// Returns the fault for a token after which the expression can't continue.
fn trailing(token: &ExpressionToken) -> CalculationError {
    let cause = match token.kind {
        TokenKind::Symbol(Symbol::Close) => CalculationFault::UnopenedParenthesis,
        TokenKind::Symbol(Symbol::Comma) => CalculationFault::Comma,
        _ => CalculationFault::MissingOperator { found: token.kind.describe() },
    };
    cause.at(token.position)
}

/// Returns a name that is short enough for a message.
fn clipped(name: &str) -> String {
    if name.len() > 40 { format!("{}…", &name[..40]) } else { name.to_owned() }
}
