//! The rules of a dialect, as data. `render.rs` follows them; the file of each provider states them.

/// The rules of a dialect that rewrites schemas.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) name: &'static str,
    pub(crate) optional: OptionalMembers,
    pub(crate) objects: Objects,
    pub(crate) tuples: Tuples,
    pub(crate) untyped: Untyped,
    pub(crate) null: Null,
    pub(crate) references: References,
    pub(crate) keys: Keys,
    pub(crate) constants: Constants,
    pub(crate) patterns: Patterns,
    pub(crate) min_items: MinItems,
    /// Keywords that are kept with their values, apart from those that the other rules cover.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) string_formats: &'static [&'static str],
    pub(crate) number_formats: &'static [&'static str],
    pub(crate) property_ordering: PropertyOrdering,
    /// The spelling of enumerated strings that the provider returns.
    pub(crate) spelling: Spelling,
    /// The number of nested objects and arrays.
    pub(crate) max_depth: usize,
    pub(crate) sizes: Option<Sizes>,
}

/// The form of members that an object may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionalMembers {
    /// All members are required, and `null` stands for an absent one.
    Nullable,
    Absent,
}

/// The objects that a dialect has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    /// Only objects with `additionalProperties: false`. Maps are sent as pairs.
    Closed,
    /// Only objects with listed members, without a keyword that states it. Maps are sent as pairs.
    Listed,
    /// All objects.
    Open,
}

/// The form of arrays whose items have schemas by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tuples {
    /// An object with one member for each item.
    Members,
    PrefixItems,
}

/// The form of values of any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untyped {
    /// A string that contains JSON.
    Text,
    /// A schema without a type.
    Empty,
}

/// The form of a schema that accepts `null` beside other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    /// A type of its own.
    Type,
    /// The keyword `nullable`.
    Nullable,
}

/// The treatment of `$ref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum References {
    /// The definition takes the place of the reference; a recursive one is cut off.
    Inlined,
    /// References to `$defs` are kept, recursive ones are cut off.
    Kept,
    /// References to `$defs` are kept.
    KeptRecursive,
}

/// The names of members that a dialect accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Any,
    /// `[A-Za-z0-9_.-]{1,64}` for the members of the root, any names elsewhere.
    PlainInRoot,
    /// `[A-Za-z_][A-Za-z0-9_]{0,63}` everywhere.
    Identifiers,
}

/// The form of `const` and `enum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constants {
    /// Both, with values that are neither objects nor arrays.
    Scalars,
    /// `enum` with strings and numbers.
    StringsAndNumbers,
    /// `enum` with strings, also for numbers, and `format: enum`.
    Strings,
}

/// The regular expressions that a dialect accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patterns {
    None,
    /// No look-around and no back-references: without them a pattern is a grammar, which a model can be held to.
    Regular,
    /// Anchors, classes, groups and simple repetitions.
    Simple,
}

/// The values of `minItems` that a dialect accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MinItems {
    Any,
    AtMostOne,
}

/// The way in which the order of members is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyOrdering {
    /// By the order of `properties`.
    AsWritten,
    /// By the keyword `propertyOrdering`.
    Keyword,
}

/// The spelling of enumerated strings that a provider returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Exact,
    /// The case of letters may differ.
    AnyCase,
}

/// Limits on the size of a rendered schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) max_properties: usize,
    /// Characters of all names of members and definitions, and of all constants.
    pub(crate) max_name_chars: usize,
    pub(crate) max_enum_values: usize,
    /// An enumeration of strings with more values than this is a long one.
    pub(crate) long_enum: usize,
    pub(crate) max_long_enum_chars: usize,
}
