//! A dialect's rules, as data. `render.rs` follows them; each provider's file states them.

/// Rules for a dialect that rewrites schemas.
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
    /// Keywords kept with their values, apart from those that the other rules cover.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) string_formats: &'static [&'static str],
    pub(crate) number_formats: &'static [&'static str],
    pub(crate) property_ordering: PropertyOrdering,
    /// The letter case in which the provider returns enumerated strings.
    pub(crate) spelling: Spelling,
    /// The most nested objects and arrays.
    pub(crate) max_depth: usize,
    pub(crate) sizes: Option<Sizes>,
}

/// The form for optional members.
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
    /// Only objects with listed members, without a keyword that says so. Maps are sent as pairs.
    Listed,
    /// All objects.
    Open,
}

/// The form for arrays whose items have schemas by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tuples {
    /// An object with one member for each item.
    Members,
    PrefixItems,
}

/// The form for values with any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untyped {
    /// A string that contains JSON.
    Text,
    /// A schema without a type.
    Empty,
}

/// The form for a schema that accepts `null` beside other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    /// A separate type.
    Type,
    /// The keyword `nullable`.
    Nullable,
}

/// The treatment for `$ref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum References {
    /// The definition replaces the reference; recursive ones are cut off.
    Inlined,
    /// References to `$defs` stay; recursive ones are cut off.
    Kept,
    /// References to `$defs` are kept.
    KeptRecursive,
}

/// The member names that a dialect accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Any,
    /// `[A-Za-z0-9_.-]{1,64}` for the root's members, any names elsewhere.
    PlainInRoot,
    /// `[A-Za-z_][A-Za-z0-9_]{0,63}` everywhere.
    Identifiers,
}

/// The form for `const` and `enum`.
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
    /// Without look-around and back-references a pattern is a grammar, which a model can be held to.
    Regular,
    /// Anchors, classes, groups and simple repetitions.
    Simple,
}

/// The `minItems` values that a dialect accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MinItems {
    Any,
    AtMostOne,
}

/// The way to state the member order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyOrdering {
    /// As in `properties`.
    AsWritten,
    /// By the keyword `propertyOrdering`.
    Keyword,
}

/// The letter case in which a provider returns enumerated strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Exact,
    /// The letter case may differ.
    AnyCase,
}

/// Size limits for a rendered schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) max_properties: usize,
    /// Characters in all member and definition names, and in all constants.
    pub(crate) max_name_chars: usize,
    pub(crate) max_enum_values: usize,
    /// A string enumeration with more values than this counts as long.
    pub(crate) long_enum: usize,
    pub(crate) max_long_enum_chars: usize,
}
