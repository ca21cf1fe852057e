//! Unicode properties, by their names in ECMA-262.
//!
//! Names are case-sensitive and exact. Scripts are not supported: they would need a second crate of tables.

use unicode_properties::GeneralCategory;

/// A property of `\p{...}`.
#[derive(Clone, Copy, Debug)]
pub(super) enum UnicodeProperty {
    Any,
    Ascii,
    Categories(Categories),
    Binary(Binary),
}

/// A property that a character has or lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Alphabetic,
    Emoji,
    Lowercase,
    Uppercase,
    WhiteSpace,
}

/// A set of general categories, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Categories(u32);

/// The result of looking up a property.
#[derive(Debug)]
pub(super) enum Lookup {
    Found(UnicodeProperty),
    /// A script, which is not supported.
    Script,
    Unknown,
}

impl UnicodeProperty {
    /// Looks up the text between the braces.
    pub(super) fn lookup(name: &str) -> Lookup {
        let found = match name.split_once('=') {
            Some(("General_Category" | "gc", value)) => Categories::named(value).map(Self::Categories),
            Some(("Script" | "sc" | "Script_Extensions" | "scx", _)) => return Lookup::Script,
            Some(_) => None,
            None => Self::binary(name).or_else(|| Categories::named(name).map(Self::Categories)),
        };
        found.map_or(Lookup::Unknown, Lookup::Found)
    }

    fn binary(name: &str) -> Option<Self> {
        Some(match name {
            "Any" => Self::Any,
            "ASCII" => Self::Ascii,
            "Assigned" => Self::Categories(Categories::of(&[GeneralCategory::Unassigned]).complement()),
            "Alphabetic" | "Alpha" => Self::Binary(Binary::Alphabetic),
            "Emoji" => Self::Binary(Binary::Emoji),
            "Lowercase" | "Lower" => Self::Binary(Binary::Lowercase),
            "Uppercase" | "Upper" => Self::Binary(Binary::Uppercase),
            "White_Space" | "space" => Self::Binary(Binary::WhiteSpace),
            _ => return None,
        })
    }
}

impl Categories {
    pub(super) fn contains(self, category: GeneralCategory) -> bool {
        self.0 >> category as u32 & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn complement(self) -> Self {
        Self(!self.0)
    }

    fn of(categories: &[GeneralCategory]) -> Self {
        Self(categories.iter().fold(0, |bits, category| bits | 1 << *category as u32))
    }

    fn named(name: &str) -> Option<Self> {
        use GeneralCategory as G;
        Some(Self::of(match name {
            "C" | "Other" => &[G::Control, G::Format, G::Unassigned, G::PrivateUse, G::Surrogate],
            "Cc" | "Control" | "cntrl" => &[G::Control],
            "Cf" | "Format" => &[G::Format],
            "Cn" | "Unassigned" => &[G::Unassigned],
            "Co" | "Private_Use" => &[G::PrivateUse],
            "Cs" | "Surrogate" => &[G::Surrogate],
            "L" | "Letter" => {
                &[G::LowercaseLetter, G::ModifierLetter, G::OtherLetter, G::TitlecaseLetter, G::UppercaseLetter]
            }
            "LC" | "Cased_Letter" => &[G::LowercaseLetter, G::TitlecaseLetter, G::UppercaseLetter],
            "Ll" | "Lowercase_Letter" => &[G::LowercaseLetter],
            "Lm" | "Modifier_Letter" => &[G::ModifierLetter],
            "Lo" | "Other_Letter" => &[G::OtherLetter],
            "Lt" | "Titlecase_Letter" => &[G::TitlecaseLetter],
            "Lu" | "Uppercase_Letter" => &[G::UppercaseLetter],
            "M" | "Mark" | "Combining_Mark" => &[G::SpacingMark, G::EnclosingMark, G::NonspacingMark],
            "Mc" | "Spacing_Mark" => &[G::SpacingMark],
            "Me" | "Enclosing_Mark" => &[G::EnclosingMark],
            "Mn" | "Nonspacing_Mark" => &[G::NonspacingMark],
            "N" | "Number" => &[G::DecimalNumber, G::LetterNumber, G::OtherNumber],
            "Nd" | "Decimal_Number" | "digit" => &[G::DecimalNumber],
            "Nl" | "Letter_Number" => &[G::LetterNumber],
            "No" | "Other_Number" => &[G::OtherNumber],
            "P" | "Punctuation" | "punct" => &[
                G::ConnectorPunctuation,
                G::DashPunctuation,
                G::ClosePunctuation,
                G::FinalPunctuation,
                G::InitialPunctuation,
                G::OtherPunctuation,
                G::OpenPunctuation,
            ],
            "Pc" | "Connector_Punctuation" => &[G::ConnectorPunctuation],
            "Pd" | "Dash_Punctuation" => &[G::DashPunctuation],
            "Pe" | "Close_Punctuation" => &[G::ClosePunctuation],
            "Pf" | "Final_Punctuation" => &[G::FinalPunctuation],
            "Pi" | "Initial_Punctuation" => &[G::InitialPunctuation],
            "Po" | "Other_Punctuation" => &[G::OtherPunctuation],
            "Ps" | "Open_Punctuation" => &[G::OpenPunctuation],
            "S" | "Symbol" => &[G::CurrencySymbol, G::ModifierSymbol, G::MathSymbol, G::OtherSymbol],
            "Sc" | "Currency_Symbol" => &[G::CurrencySymbol],
            "Sk" | "Modifier_Symbol" => &[G::ModifierSymbol],
            "Sm" | "Math_Symbol" => &[G::MathSymbol],
            "So" | "Other_Symbol" => &[G::OtherSymbol],
            "Z" | "Separator" => &[G::LineSeparator, G::ParagraphSeparator, G::SpaceSeparator],
            "Zl" | "Line_Separator" => &[G::LineSeparator],
            "Zp" | "Paragraph_Separator" => &[G::ParagraphSeparator],
            "Zs" | "Space_Separator" => &[G::SpaceSeparator],
            _ => return None,
        }))
    }
}
