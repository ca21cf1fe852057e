//! Classes in brackets.

use super::super::class::{Builder, Polarity};
use super::super::syntax::SyntaxNode;
use super::super::{PatternFault, foreign};
use super::Parser;
use super::escape::ClassMember;

impl Parser<'_> {
    /// Reads the rest of a class, whose `[` is at `at`. `[]` has no member, `[^]` has all characters.
    pub(super) fn bracket(&mut self, at: usize) -> Result<SyntaxNode, PatternFault> {
        let polarity = if self.eat("^") { Polarity::Excluded } else { Polarity::Included };
        let mut builder = Builder::default();
        while !self.eat("]") {
            let item_at = self.at;
            let low = self.item(at)?;
            let is_range = self.peek() == Some('-') && !matches!(self.rest().as_bytes().get(1), None | Some(b']'));
            if !is_range {
                add(&mut builder, low);
                continue;
            }
            self.eat("-");
            match (low, self.item(at)?) {
                (ClassMember::Code(low), ClassMember::Code(high)) if low <= high => builder.range(low, high),
                (ClassMember::Code(_), ClassMember::Code(_)) => {
                    return Err(PatternFault::ReversedRange { at: item_at });
                }
                // `[\w-.]` is not a range; Annex B treats the hyphen as a literal, and existing schemas rely on it.
                (low, high) => {
                    for item in [low, ClassMember::Code(u32::from('-')), high] {
                        add(&mut builder, item);
                    }
                }
            }
        }
        self.class(builder.build(polarity))
    }

    /// Reads one member of the class that was opened at `opened`.
    fn item(&mut self, opened: usize) -> Result<ClassMember, PatternFault> {
        let at = self.at;
        match self.next() {
            None => Err(PatternFault::UnclosedClass { at: opened }),
            Some('\\') => self.class_escape(at),
            Some('[') if is_posix_class(self.rest()) => Err(foreign::posix_class(at)),
            Some(c) => Ok(ClassMember::Code(u32::from(c))),
        }
    }
}

fn add(builder: &mut Builder, item: ClassMember) {
    match item {
        ClassMember::Code(code) => builder.range(code, code),
        ClassMember::Shorthand(shorthand, polarity) => builder.shorthand(shorthand, polarity),
        ClassMember::Property(property, polarity) => builder.property(property, polarity),
    }
}

/// Reports whether the text is `:name:]`, the rest of a POSIX class.
fn is_posix_class(rest: &str) -> bool {
    rest.strip_prefix(':')
        .map(|rest| rest.trim_start_matches('^').trim_start_matches(|c: char| c.is_ascii_lowercase()))
        .is_some_and(|rest| rest.starts_with(":]"))
}
