//! The layout of a schema: its draft, its definitions, and every reference to one of them.

use super::tape::Tape;

/// A draft of JSON Schema, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

impl Draft {
    pub(super) const EACH: [Self; 5] = [Self::Draft202012, Self::Draft7, Self::Draft201909, Self::Draft6, Self::Draft4];

    /// Returns the address that `$schema` names the draft by.
    pub(super) fn address(self) -> &'static str {
        match self {
            Self::Draft4 => "http://json-schema.org/draft-04/schema#",
            Self::Draft6 => "http://json-schema.org/draft-06/schema#",
            Self::Draft7 => "http://json-schema.org/draft-07/schema#",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    pub(super) fn id_keyword(self) -> &'static str {
        if self == Self::Draft4 { "id" } else { "$id" }
    }

    pub(super) fn definitions_keyword(self) -> &'static str {
        if self < Self::Draft201909 { "definitions" } else { "$defs" }
    }
}

/// A definition of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definition {
    Plain,
    /// A definition with an anchor, `anchor0` for the first.
    Anchored,
    /// A schema resource, `resource0` for the first, with a definition of its own.
    Resource,
    /// A schema resource of another draft.
    Foreign(Draft),
}

/// The layout of one schema.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) draft: Draft,
    /// Set if the root has an address of its own.
    pub(super) has_address: bool,
    pub(super) definitions: Vec<Definition>,
    /// Set if resources have an anchor for dynamic references.
    pub(super) is_dynamic: bool,
}

/// The resource that contains a subschema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Root,
    Resource(usize),
}

/// The address of the root, where it has one.
pub(super) const ROOT: &str = "http://schemas.test/root";

/// Targets of references outside of all definitions. Some of them do not exist.
const PLACES: [&str; 6] = ["/items", "/properties/a", "/properties/foo~1bar", "/allOf/0", "/anyOf/0", "/not"];

impl Definition {
    fn draw(draft: Draft, tape: &mut Tape) -> Self {
        match tape.pick(6) {
            0 | 1 => Self::Plain,
            2 | 3 => Self::Anchored,
            4 => Self::Resource,
            // Draft 4 names resources by another keyword, so it can be neither inside later drafts nor around them.
            _ if draft == Draft::Draft4 => Self::Resource,
            _ => Self::Foreign(Draft::EACH[tape.pick(4)]),
        }
    }
}

impl Plan {
    pub(super) fn draw(tape: &mut Tape) -> Self {
        let draft = *tape.one_of(&Draft::EACH);
        let definitions = (0..tape.pick(4)).map(|_| Definition::draw(draft, tape)).collect();
        let is_dynamic = draft >= Draft::Draft201909 && tape.once_in(3);
        Self { draft, has_address: tape.once_in(2), definitions, is_dynamic }
    }

    /// Returns a reference that leads somewhere, from a subschema of `home`.
    pub(super) fn reference(&self, home: Home, tape: &mut Tape) -> String {
        let word = self.draft.definitions_keyword();
        let mut references = vec!["#".to_owned()];
        let here = match home {
            Home::Root => Some(String::new()),
            Home::Resource(_) => self.has_address.then(|| ROOT.to_owned()),
        };
        for (at, definition) in self.definitions.iter().enumerate() {
            // The oracle reads a resource of another draft by the rules of its own draft only where it is found by
            // address.
            if let Some(here) = here.as_ref().filter(|_| !matches!(definition, Definition::Foreign(_))) {
                references.push(format!("{here}#/{word}/d{at}"));
            }
            match (definition, &here) {
                (Definition::Anchored, Some(here)) => references.push(format!("{here}#anchor{at}")),
                (Definition::Resource | Definition::Foreign(_), _) => {
                    references.push(format!("resource{at}"));
                    references.push(format!("resource{at}#/definitions/inner"));
                }
                _ => {}
            }
        }
        if let Home::Resource(_) = home {
            references.push("#/definitions/inner".to_owned());
        }
        if home == Home::Root && tape.once_in(8) {
            references = PLACES.map(|place| format!("#{place}")).to_vec();
        }
        tape.one_of(&references).clone()
    }

    /// Returns whether a resource has the second dynamic anchor, `leaf`, at one of its definitions.
    pub(super) fn has_leaf(&self, home: Home) -> bool {
        let has_one = match home {
            Home::Root => self.definitions.first() == Some(&Definition::Plain),
            Home::Resource(_) => true,
        };
        has_one && self.is_dynamic && self.draft == Draft::Draft202012
    }
}
