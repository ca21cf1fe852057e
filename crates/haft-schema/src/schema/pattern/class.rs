//! Classes of characters.

use unicode_properties::{UnicodeEmoji, UnicodeGeneralCategory};

use super::property::{Binary, Categories, UnicodeProperty};

const LAST_ASCII: u32 = 0x7F;
const LAST: u32 = 0x0010_FFFF;

const DIGIT: &[(u32, u32)] = &[(0x30, 0x39)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
/// `WhiteSpace` and `LineTerminator` of ECMA-262, with the `Space_Separator` characters.
const SPACE: &[(u32, u32)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
const LINE_TERMINATOR: &[(u32, u32)] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

/// A class of characters, compiled.
///
/// ASCII is one bit per character. Beyond it a test takes a binary search and at most one lookup per kind of property,
/// however many the pattern lists.
#[derive(Debug)]
pub(super) struct Class {
    ascii: u128,
    rest: Rest,
    polarity: Polarity,
}

/// The members of a class beyond ASCII, before its polarity is applied.
#[derive(Debug)]
struct Rest {
    /// Sorted and disjoint.
    ranges: Box<[(u32, u32)]>,
    categories: Categories,
    /// The binary properties of which having one is enough.
    having: Vec<Binary>,
    /// The binary properties of which lacking one is enough.
    lacking: Vec<Binary>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polarity {
    Included,
    Excluded,
}

/// A class with a one-letter escape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shorthand {
    Digit,
    Word,
    Space,
}

/// A class under construction.
#[derive(Debug, Default)]
pub(super) struct Builder {
    ranges: Vec<(u32, u32)>,
    categories: Categories,
    having: Vec<Binary>,
    lacking: Vec<Binary>,
}

impl Class {
    #[inline]
    pub(super) fn contains(&self, c: char) -> bool {
        let code = u32::from(c);
        if code <= LAST_ASCII {
            self.ascii >> code & 1 == 1
        } else {
            self.rest.contains(c) == (self.polarity == Polarity::Included)
        }
    }

    /// Returns the class of `.`.
    pub(super) fn dot() -> Self {
        let mut builder = Builder::default();
        builder.ranges.extend(LINE_TERMINATOR);
        builder.build(Polarity::Excluded)
    }

    /// Returns the class without members.
    pub(super) fn never() -> Self {
        Builder::default().build(Polarity::Included)
    }

    /// Returns the size of the class on the heap, in bytes.
    pub(super) fn heap(&self) -> usize {
        let Rest { ranges, categories: _, having, lacking } = &self.rest;
        size_of_val::<[_]>(ranges) + having.capacity() + lacking.capacity()
    }
}

impl Rest {
    fn contains(&self, c: char) -> bool {
        let code = u32::from(c);
        let after = self.ranges.partition_point(|(low, _)| *low <= code);
        after.checked_sub(1).is_some_and(|at| code <= self.ranges[at].1)
            || !self.categories.is_empty() && self.categories.contains(c.general_category())
            || self.having.iter().any(|binary| binary.holds(c))
            || self.lacking.iter().any(|binary| !binary.holds(c))
    }
}

impl Builder {
    /// Adds the code points from `low` to `high`. They may include surrogates, which no text contains.
    pub(super) fn range(&mut self, low: u32, high: u32) {
        self.ranges.push((low, high));
    }

    pub(super) fn shorthand(&mut self, shorthand: Shorthand, polarity: Polarity) {
        let ranges = match shorthand {
            Shorthand::Digit => DIGIT,
            Shorthand::Word => WORD,
            Shorthand::Space => SPACE,
        };
        match polarity {
            Polarity::Included => self.ranges.extend(ranges),
            Polarity::Excluded => {
                let mut low = 0;
                for (first, last) in ranges {
                    self.ranges.push((low, first - 1));
                    low = last + 1;
                }
                self.ranges.push((low, LAST));
            }
        }
    }

    pub(super) fn property(&mut self, property: UnicodeProperty, polarity: Polarity) {
        match (property, polarity) {
            (UnicodeProperty::Any, Polarity::Included) => self.range(0, LAST),
            (UnicodeProperty::Any, Polarity::Excluded) => {}
            (UnicodeProperty::Ascii, Polarity::Included) => self.range(0, LAST_ASCII),
            (UnicodeProperty::Ascii, Polarity::Excluded) => self.range(LAST_ASCII + 1, LAST),
            (UnicodeProperty::Categories(categories), Polarity::Included) => self.categories.add(categories),
            (UnicodeProperty::Categories(categories), Polarity::Excluded) => {
                self.categories.add(categories.complement());
            }
            (UnicodeProperty::Binary(binary), Polarity::Included) => add_once(&mut self.having, binary),
            (UnicodeProperty::Binary(binary), Polarity::Excluded) => add_once(&mut self.lacking, binary),
        }
    }

    pub(super) fn build(mut self, polarity: Polarity) -> Class {
        self.ranges.sort_unstable();
        let mut ranges = Vec::<(u32, u32)>::with_capacity(self.ranges.len());
        for (low, high) in self.ranges {
            match ranges.last_mut() {
                Some((_, end)) if low <= end.saturating_add(1) => *end = high.max(*end),
                _ => ranges.push((low, high)),
            }
        }
        let rest =
            Rest { ranges: ranges.into(), categories: self.categories, having: self.having, lacking: self.lacking };
        let listed = (0..=0x7F_u8).filter(|b| rest.contains(char::from(*b))).fold(0, |bits, b| bits | 1_u128 << b);
        let ascii = match polarity {
            Polarity::Included => listed,
            Polarity::Excluded => !listed,
        };
        Class { ascii, rest, polarity }
    }
}

impl Binary {
    fn holds(self, c: char) -> bool {
        match self {
            Self::Alphabetic => c.is_alphabetic(),
            Self::Emoji => c.is_emoji_char(),
            Self::Lowercase => c.is_lowercase(),
            Self::Uppercase => c.is_uppercase(),
            Self::WhiteSpace => c.is_whitespace(),
        }
    }
}

fn add_once(list: &mut Vec<Binary>, binary: Binary) {
    if !list.contains(&binary) {
        list.push(binary);
    }
}
