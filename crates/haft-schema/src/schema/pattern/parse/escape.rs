//! Escapes inside and outside of classes.

use super::super::class::{Polarity, Shorthand};
use super::super::property::{Lookup, UnicodeProperty};
use super::super::syntax::Edge;
use super::super::{PatternFault, foreign};
use super::{Backreference, Parser};

const HEX_2: &str = "`\\x` with two hexadecimal digits";
const HEX_4: &str = "`\\u` with four hexadecimal digits, or `\\u{...}` with a code point up to 10FFFF";
const CONTROL: &str = "`\\c` with a letter from A to Z";
const NUL: &str = "`\\x` with two hexadecimal digits instead of octal digits";
const NAME: &str = "`\\k<name>`";
const PROPERTY: &str = "`\\p{...}` with the name of a property";

/// A member of a class, or an atom that is one.
#[derive(Clone, Copy)]
pub(super) enum ClassMember {
    /// A code point, which may be a surrogate.
    Code(u32),
    Shorthand(Shorthand, Polarity),
    Property(UnicodeProperty, Polarity),
}

/// An escape outside of classes.
pub(super) enum Escape<'s> {
    Member(ClassMember),
    Edge(Edge),
    Reference(Backreference<'s>),
}

impl<'s> Parser<'s> {
    /// Reads an escape outside of classes. Its backslash, at `at`, has been read.
    pub(super) fn atom_escape(&mut self, at: usize) -> Result<Escape<'s>, PatternFault> {
        Ok(match self.peek() {
            Some('1'..='9') => Escape::Reference(Backreference::Number(self.decimal())),
            _ if self.eat("b") => Escape::Edge(Edge::Word),
            _ if self.eat("B") => Escape::Edge(Edge::NotWord),
            _ if self.eat("k") => {
                if !self.eat("<") {
                    return Err(PatternFault::MalformedEscape { at, expected: NAME });
                }
                Escape::Reference(Backreference::Name(self.name()?))
            }
            _ => Escape::Member(self.member_escape(at)?),
        })
    }

    /// Reads an escape that is a member of a class. Its backslash, at `at`, has been read.
    pub(super) fn class_escape(&mut self, at: usize) -> Result<ClassMember, PatternFault> {
        if self.eat("b") { Ok(ClassMember::Code(0x08)) } else { self.member_escape(at) }
    }

    fn member_escape(&mut self, at: usize) -> Result<ClassMember, PatternFault> {
        let malformed = |expected| PatternFault::MalformedEscape { at, expected };
        let Some(letter) = self.next() else {
            return Err(PatternFault::TrailingBackslash { at });
        };
        Ok(ClassMember::Code(match letter {
            'd' => return Ok(ClassMember::Shorthand(Shorthand::Digit, Polarity::Included)),
            'D' => return Ok(ClassMember::Shorthand(Shorthand::Digit, Polarity::Excluded)),
            'w' => return Ok(ClassMember::Shorthand(Shorthand::Word, Polarity::Included)),
            'W' => return Ok(ClassMember::Shorthand(Shorthand::Word, Polarity::Excluded)),
            's' => return Ok(ClassMember::Shorthand(Shorthand::Space, Polarity::Included)),
            'S' => return Ok(ClassMember::Shorthand(Shorthand::Space, Polarity::Excluded)),
            'p' => return Ok(ClassMember::Property(self.property(at)?, Polarity::Included)),
            'P' => return Ok(ClassMember::Property(self.property(at)?, Polarity::Excluded)),
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            '0' if !matches!(self.peek(), Some('0'..='9')) => 0,
            '0'..='9' => return Err(malformed(NUL)),
            'c' => match self.next() {
                Some(control @ ('a'..='z' | 'A'..='Z')) => u32::from(control) % 32,
                _ => return Err(malformed(CONTROL)),
            },
            'x' => self.hex(2).ok_or(malformed(HEX_2))?,
            'u' => self.unicode().ok_or(malformed(HEX_4))?,
            other if other.is_ascii_alphabetic() => return Err(foreign::escape(at, other)),
            // Annex B: any other character stands for itself.
            other => u32::from(other),
        }))
    }

    /// Reads the digits of a backreference. A number beyond 32 bits names no group.
    fn decimal(&mut self) -> u32 {
        let mut number = 0_u32;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit);
            self.next();
        }
        number
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        (0..digits).try_fold(0, |value, _| Some(value * 16 + self.next()?.to_digit(16)?))
    }

    /// Reads the rest of a `\u` escape. Two escapes that form a surrogate pair are one code point.
    fn unicode(&mut self) -> Option<u32> {
        if self.eat("{") {
            let mut value = self.hex(1)?;
            while !self.eat("}") {
                value = value * 16 + self.hex(1)?;
                if value > u32::from(char::MAX) {
                    return None;
                }
            }
            return Some(value);
        }
        let high = self.hex(4)?;
        let (offset, at) = (self.offset, self.at);
        if (0xD800..0xDC00).contains(&high) && self.eat("\\u") {
            match self.hex(4) {
                Some(low @ 0xDC00..0xE000) => return Some(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)),
                _ => (self.offset, self.at) = (offset, at),
            }
        }
        Some(high)
    }

    fn property(&mut self, at: usize) -> Result<UnicodeProperty, PatternFault> {
        let name = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, _)) = name else {
            return Err(PatternFault::MalformedEscape { at, expected: PROPERTY });
        };
        match UnicodeProperty::lookup(name) {
            Lookup::Found(property) => {
                // All known names are ASCII.
                self.offset += name.len() + 2;
                self.at += name.len() + 2;
                Ok(property)
            }
            Lookup::Script => Err(foreign::script(at, name)),
            Lookup::Unknown => Err(PatternFault::UnknownProperty { at, name: foreign::excerpt(name) }),
        }
    }
}
