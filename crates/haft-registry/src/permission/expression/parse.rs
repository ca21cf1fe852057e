//! Expression parsing.
//!
//! The parser recurses for every nesting level, and its frames are large. So it runs on its own thread, whose stack
//! holds the deepest text of the permitted length with room to spare. A panic in it is an error like any other.

use cel::common::ast::SourceInfo;
use cel::{Env, IdedExpr, ParseErrors};

use super::error::{ExpressionError, ExpressionFault};
use super::{MAX_DEPTH, MAX_EXPRESSION_LEN};

/// An expression that is parsed but not yet checked. [`MAX_DEPTH`] bounds its depth.
pub(super) struct ParsedExpression {
    pub(super) root: IdedExpr,
    pub(super) depth: usize,
    pub(super) positions: ExpressionPositions,
}

/// The positions of an expression's parts.
pub(super) struct ExpressionPositions {
    info: SourceInfo,
}

pub(super) fn parse(source: &str) -> Result<ParsedExpression, ExpressionError> {
    if source.len() > MAX_EXPRESSION_LEN {
        return Err(at_offset(source, MAX_EXPRESSION_LEN, ExpressionFault::TooLong));
    }
    if let Some(offset) = too_deep(source) {
        return Err(at_offset(source, offset, ExpressionFault::TooDeep));
    }
    let owned = source.to_owned();
    let parsing = super::thread_builder().spawn(move || parse_here(&owned));
    let failed = |text: &str| at_offset(source, 0, ExpressionFault::Syntax(text.to_owned()));
    let parsed = parsing.map_err(|_| failed("no thread can be started to parse the expression"))?;
    parsed.join().unwrap_or_else(|_| Err(failed("the parser panicked")))
}

impl ExpressionPositions {
    /// Returns an error at a part.
    pub(super) fn error(&self, id: u64, fault: ExpressionFault) -> ExpressionError {
        let offset = self.info.offset_for(id).map_or(0, |(start, _)| start);
        at_offset(&self.info.source, offset as usize, fault)
    }
}

/// Returns the error at a position in bytes.
fn at_offset(source: &str, offset: usize, fault: ExpressionFault) -> ExpressionError {
    let before = source.get(..offset).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    ExpressionError { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1, fault }
}

fn parse_here(source: &str) -> Result<ParsedExpression, ExpressionError> {
    let most = u16::try_from(MAX_DEPTH).unwrap_or(u16::MAX);
    // The optional syntax treats missing values in its own way, and rules don't need it.
    let parser = Env::stdlib().with_optional_support(false).parser().max_recursion_depth(most).error_recovery_limit(4);
    let (root, info) = parser.parse_with_source_info(source).map_err(|errors| syntax(&errors))?;
    // Here, where the stack is large enough to drop it.
    let depth = super::check::depth(&root);
    if depth > MAX_DEPTH {
        return Err(at_offset(source, 0, ExpressionFault::TooDeep));
    }
    Ok(ParsedExpression { root, depth, positions: ExpressionPositions { info } })
}

/// Returns the parser's first error.
fn syntax(errors: &ParseErrors) -> ExpressionError {
    let Some(first) = errors.errors.first() else {
        return ExpressionError { line: 1, column: 1, fault: ExpressionFault::Syntax("it can't be parsed".to_owned()) };
    };
    let one_based = |position: isize| usize::try_from(position).unwrap_or(0).max(1);
    ExpressionError {
        line: one_based(first.pos.0),
        column: one_based(first.pos.1),
        fault: ExpressionFault::Syntax(in_plain_words(&first.msg)),
    }
}

/// Returns a parser message without the parser's token names, which are not the language's.
fn in_plain_words(message: &str) -> String {
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    let short = |text: &str| text.chars().take(200).collect::<String>();
    let unquoted = |text: &str| {
        let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        short(inner.unwrap_or(text).trim_end())
    };
    let named = |text: &str| match unquoted(text).as_str() {
        "<EOF>" => "the end of the expression".to_owned(),
        text => format!("`{text}`"),
    };
    if let Some(rest) = message.strip_prefix("token recognition error at: ") {
        let found = unquoted(rest);
        if found.starts_with(['"', '\'']) {
            return "the text has no closing quote".to_owned();
        }
        return format!("`{found}` is no part of the language{}", operator_advice(&found));
    }
    if let Some(before) = message.strip_prefix("no viable alternative at input ") {
        return format!("what follows {} is not expected", named(before));
    }
    let unexpected =
        ["mismatched input ", "extraneous input "].into_iter().find_map(|start| message.strip_prefix(start));
    if let Some(rest) = unexpected {
        let found = rest.split(" expecting ").next().unwrap_or(rest);
        return format!("{} is not expected here{}", named(found), operator_advice(&unquoted(found)));
    }
    match message.strip_prefix("missing ").and_then(|rest| rest.split_once(" at ")) {
        Some((missing, found)) => format!("{} is missing before {}", named(missing), named(found)),
        None => short(message),
    }
}

/// Returns the operator that another language's operator stands for.
fn operator_advice(found: &str) -> &'static str {
    match found {
        "and" | "AND" | "&" => "; write `&&`",
        "or" | "OR" | "|" => "; write `||`",
        "not" | "NOT" => "; write `!`",
        "=" | "is" => "; write `==`",
        _ => "",
    }
}

/// Returns the position of the bracket that nests too deep, if there is one.
///
/// Quoted text is skipped. Where the parser sees other quotes than this function, its own recursion limit applies.
fn too_deep(source: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote: Option<u8> = None;
    let mut bytes = source.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => drop(bytes.next()),
            (Some(end), _) if byte == end => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(at);
                }
            }
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (Some(_) | None, _) => {}
        }
    }
    None
}
