//! The values of a document.

use std::borrow::Cow;
use std::fmt;

use super::super::decimal::Decimal;
pub(crate) use super::super::types::JsonType as Kind;
use super::Document;
use super::cell::Cell;
use super::escape::Quoted;

/// A value in a document.
#[derive(Clone, Copy)]
pub(crate) struct Instance<'d> {
    document: &'d Document<'d>,
    cell: u32,
}

/// A key of an object in a document.
#[derive(Clone, Copy)]
pub(crate) struct MemberKey<'d> {
    document: &'d Document<'d>,
    cell: u32,
}

/// The items of an array.
#[derive(Clone, Debug)]
pub(crate) struct Items<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

/// The members of an object. Of equal keys it contains the last one.
#[derive(Clone, Debug)]
pub(crate) struct Members<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl<'d> Instance<'d> {
    pub(super) fn new(document: &'d Document<'d>, cell: u32) -> Self {
        Self { document, cell }
    }

    pub(crate) fn document(self) -> &'d Document<'d> {
        self.document
    }

    /// Returns a number that no other value of the document has.
    pub(crate) fn id(self) -> u32 {
        self.cell
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        self.cell().kind()
    }

    /// Returns the text of the value.
    #[inline]
    pub(crate) fn raw(self) -> &'d str {
        let Cell { start, end, .. } = self.cell();
        &self.document.text()[start as usize..end as usize]
    }

    pub(crate) fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Boolean).then(|| self.raw() == "true")
    }

    /// Returns the characters of a string. They are borrowed unless the string has escapes.
    #[inline]
    pub(crate) fn string(self) -> Option<Cow<'d, str>> {
        Some(self.quoted()?.decode())
    }

    /// Reports whether the value is this string, without allocating.
    pub(crate) fn is_string(self, text: &str) -> bool {
        self.quoted().is_some_and(|quoted| quoted.is(text))
    }

    pub(crate) fn number(self) -> Option<Decimal<'d>> {
        (self.kind() == Kind::Number).then(|| Decimal::parse(self.raw()))
    }

    /// Reports whether the value is a number that is written with a point or an exponent.
    pub(crate) fn is_float(self) -> bool {
        self.cell().is_float()
    }

    /// Returns the number of items or members; other values have none.
    #[inline]
    pub(crate) fn len(self) -> usize {
        match self.cell().length() {
            Some(length) => length as usize,
            None => {
                let mut lengths = self.document.lengths.iter();
                lengths.find(|length| length.container == self.cell).map_or(0, |length| length.length)
            }
        }
    }

    /// Returns the items of an array; other values have none.
    pub(crate) fn items(self) -> Items<'d> {
        let end = if self.kind() == Kind::Array { self.cell().next } else { self.cell };
        Items { document: self.document, next: self.cell + 1, end }
    }

    /// Returns the members of an object; other values have none.
    pub(crate) fn members(self) -> Members<'d> {
        let end = if self.kind() == Kind::Object { self.cell().next } else { self.cell };
        Members { document: self.document, next: self.cell + 1, end }
    }

    /// Returns the member with this name. The search takes a few steps in small objects and `log n` in large ones.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        self.find(Quoted { raw: name, is_escaped: false })
    }

    pub(super) fn find(self, name: Quoted<'_>) -> Option<Self> {
        if !self.cell().is_indexed() {
            return self.members().find(|(key, _)| key.quoted().equals(name)).map(|(_, value)| value);
        }
        let Document { cells, index, .. } = self.document;
        let key = index.find(self.document.text(), cells, self.cell, name)?;
        Some(Self::new(self.document, key + 1))
    }

    #[inline]
    pub(super) fn quoted(self) -> Option<Quoted<'d>> {
        (self.kind() == Kind::String).then(|| Quoted::of(self.document.text(), self.cell()))
    }

    #[inline]
    fn cell(self) -> Cell {
        self.document.cell(self.cell)
    }
}

impl<'d> MemberKey<'d> {
    pub(super) fn new(document: &'d Document<'d>, cell: u32) -> Self {
        Self { document, cell }
    }

    /// Returns a number that no other key or value of the document has.
    pub(crate) fn id(self) -> u32 {
        self.cell
    }

    /// Returns the characters of the key. They are borrowed unless the key has escapes.
    #[inline]
    pub(crate) fn name(self) -> Cow<'d, str> {
        self.quoted().decode()
    }

    /// Reports whether this is the key's name, without allocating.
    pub(crate) fn is(self, name: &str) -> bool {
        self.quoted().is(name)
    }

    /// Returns the key as a string value.
    pub(crate) fn as_instance(self) -> Instance<'d> {
        Instance::new(self.document, self.cell)
    }

    #[inline]
    pub(super) fn quoted(self) -> Quoted<'d> {
        Quoted::of(self.document.text(), self.document.cell(self.cell))
    }
}

impl<'d> Iterator for Items<'d> {
    type Item = Instance<'d>;

    #[inline]
    fn next(&mut self) -> Option<Instance<'d>> {
        if self.next >= self.end {
            return None;
        }
        let item = Instance::new(self.document, self.next);
        self.next = item.cell().next;
        Some(item)
    }
}

impl<'d> Iterator for Members<'d> {
    type Item = (MemberKey<'d>, Instance<'d>);

    #[inline]
    fn next(&mut self) -> Option<(MemberKey<'d>, Instance<'d>)> {
        while self.next < self.end {
            let key = MemberKey::new(self.document, self.next);
            let value = Instance::new(self.document, self.next + 1);
            self.next = value.cell().next;
            if !self.document.cell(key.cell).is_hidden() {
                return Some((key, value));
            }
        }
        None
    }
}

impl fmt::Debug for Instance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instance({}: {})", self.cell, self.raw())
    }
}

impl fmt::Debug for MemberKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}: {:?})", self.cell, self.name())
    }
}
