//! An expression's text as tokens.
//!
//! Numbers stay digits and a power of ten here, so that reading `1e9999` a thousand times costs nothing: the evaluation
//! computes their values under its budget.

use num_bigint::BigInt;
use num_traits::Num;

use super::fault::{CalculationError, CalculationFault};

/// The most characters in an expression.
pub(super) const MAX_CHARACTERS: usize = 4_000;
/// The largest absolute exponent in a number such as `1e9`.
const MAX_EXPONENT: i32 = 10_000;

/// A token with its first character's position, from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpressionToken {
    pub(super) position: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Number(Literal),
    /// A name in lower case.
    Name(String),
    Symbol(Symbol),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Plus,
    Minus,
    Times,
    Divide,
    FloorDivide,
    Remainder,
    Power,
    Factorial,
    Open,
    Close,
    Comma,
}

/// A number as it is written: `digits * 10^exponent`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Literal {
    pub(super) digits: BigInt,
    pub(super) exponent: i32,
}

impl TokenKind {
    /// Returns the token as messages name it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Number(_) => "a number".to_owned(),
            Self::Name(name) => format!("`{name}`"),
            Self::Symbol(symbol) => format!("`{}`", symbol.text()),
        }
    }
}

impl Symbol {
    fn text(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Power => "^",
            Self::Factorial => "!",
            Self::Open => "(",
            Self::Close => ")",
            Self::Comma => ",",
        }
    }
}

/// Reads all tokens in an expression.
pub(super) fn tokens(expression: &str) -> Result<Vec<ExpressionToken>, CalculationError> {
    // One character more than allowed is enough to know.
    let characters: Vec<char> = expression.chars().take(MAX_CHARACTERS + 1).collect();
    if characters.len() > MAX_CHARACTERS {
        return Err(CalculationFault::TooLong { limit: MAX_CHARACTERS }.at(MAX_CHARACTERS + 1));
    }
    let mut reader = TokenReader { characters: &characters, at: 0 };
    let mut found = Vec::new();
    while let Some(next) = reader.peek() {
        let position = reader.at + 1;
        if next.is_whitespace() {
            reader.at += 1;
            continue;
        }
        let kind = reader.token(next).map_err(|cause| cause.at(position))?;
        found.push(ExpressionToken { position, kind });
    }
    Ok(found)
}

struct TokenReader<'c> {
    characters: &'c [char],
    at: usize,
}

impl TokenReader<'_> {
    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn token(&mut self, next: char) -> Result<TokenKind, CalculationFault> {
        if next.is_ascii_digit() || (next == '.' && self.peek_at(1).is_some_and(|c| c.is_ascii_digit())) {
            return self.number().map(TokenKind::Number);
        }
        if next.is_ascii_alphabetic() || matches!(next, '_' | 'π' | 'τ') {
            return Ok(TokenKind::Name(self.name()));
        }
        let symbol = symbol(next, self.peek_at(1))?;
        self.at += match symbol {
            Symbol::FloorDivide => 2,
            Symbol::Power if next == '*' => 2,
            _ => 1,
        };
        Ok(TokenKind::Symbol(symbol))
    }

    fn name(&mut self) -> String {
        match self.peek() {
            Some('π') => return self.constant("pi"),
            Some('τ') => return self.constant("tau"),
            _ => {}
        }
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_ascii_lowercase()
    }

    fn constant(&mut self, name: &str) -> String {
        self.at += 1;
        name.to_owned()
    }

    fn number(&mut self) -> Result<Literal, CalculationFault> {
        let radix = match (self.peek(), self.peek_at(1)) {
            (Some('0'), Some('x' | 'X')) => Some(16),
            (Some('0'), Some('o' | 'O')) => Some(8),
            (Some('0'), Some('b' | 'B')) => Some(2),
            _ => None,
        };
        match radix {
            Some(radix) => self.prefixed(radix),
            None => self.decimal(),
        }
    }

    fn prefixed(&mut self, radix: u32) -> Result<Literal, CalculationFault> {
        let text = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let digits: String = text.chars().skip(2).filter(|c| *c != '_').collect();
        let advice = "write 0x and hexadecimal, 0o and octal, or 0b and binary digits";
        let digits = BigInt::from_str_radix(&digits, radix)
            .map_err(|_| CalculationFault::InvalidNumber { literal: text, advice })?;
        Ok(Literal { digits, exponent: 0 })
    }

    fn decimal(&mut self) -> Result<Literal, CalculationFault> {
        let start = self.at;
        let whole = self.digits();
        let mut fraction = String::new();
        if self.peek() == Some('.') {
            self.at += 1;
            fraction = self.digits();
        }
        let written = self.exponent();
        let literal = || self.characters[start..self.at].iter().collect::<String>();
        let invalid = |advice| CalculationFault::InvalidNumber { literal: literal(), advice };
        if self.peek() == Some('.') {
            return Err(invalid("write one decimal point and no thousands separators"));
        }
        let exponent = written.ok_or_else(|| invalid("the exponent must be between -10000 and 10000"))?;
        // The expression is short, so the fraction is as well.
        let places = i32::try_from(fraction.len()).map_err(|_| invalid("write fewer digits"))?;
        let digits = BigInt::from_str_radix(&(whole + &fraction), 10).map_err(|_| invalid("write decimal digits"))?;
        Ok(Literal { digits, exponent: exponent - places })
    }

    /// Reads an exponent if one follows; a missing one is zero. Returns `None` if it is too large.
    fn exponent(&mut self) -> Option<i32> {
        let sign = matches!(self.peek_at(1), Some('+' | '-' | '−'));
        let follows = self.peek_at(if sign { 2 } else { 1 }).is_some_and(|c| c.is_ascii_digit());
        if !matches!(self.peek(), Some('e' | 'E')) || !follows {
            return Some(0);
        }
        let negative = matches!(self.peek_at(1), Some('-' | '−'));
        self.at += if sign { 2 } else { 1 };
        let digits = self.digits();
        let size: i32 = digits.parse().ok().filter(|size| *size <= MAX_EXPONENT)?;
        Some(if negative { -size } else { size })
    }

    /// Reads digits with underscores between them, and drops the underscores.
    fn digits(&mut self) -> String {
        self.take_while(|c| c.is_ascii_digit() || c == '_').replace('_', "")
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let taken: String = self.characters[self.at..].iter().copied().take_while(|c| accept(*c)).collect();
        // All accepted characters are ASCII.
        self.at += taken.len();
        taken
    }
}

fn symbol(found: char, next: Option<char>) -> Result<Symbol, CalculationFault> {
    Ok(match (found, next) {
        ('*', Some('*')) | ('^', _) => Symbol::Power,
        ('/', Some('/')) => Symbol::FloorDivide,
        ('+', _) => Symbol::Plus,
        ('-' | '−' | '–', _) => Symbol::Minus,
        ('*' | '×' | '·' | '⋅', _) => Symbol::Times,
        ('/' | '÷', _) => Symbol::Divide,
        ('%', _) => Symbol::Remainder,
        ('!', _) => Symbol::Factorial,
        ('(', _) => Symbol::Open,
        (')', _) => Symbol::Close,
        (',', _) => Symbol::Comma,
        (found, _) => return Err(CalculationFault::UnexpectedCharacter { found, advice: advice(found) }),
    })
}

fn advice(found: char) -> &'static str {
    match found {
        '[' | ']' | '{' | '}' => "use round parentheses",
        '=' | '<' | '>' | '&' | '|' => "comparisons and assignments are not supported",
        '$' | '€' | '£' | '¥' => "write amounts without a currency",
        '√' => "write sqrt(x)",
        '²' => "write x^2",
        '³' => "write x^3",
        '∞' => "infinity is not a number",
        '"' | '\'' => "write numbers without quotes",
        _ => "use numbers, + - * / // % ^ !, parentheses, functions and constants",
    }
}
