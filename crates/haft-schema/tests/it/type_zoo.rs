//! Every shape of a type, each compared with a real validator.
//!
//! The promise: a value that a schema forbids never reaches a handler, and one that it allows does. Each line of the
//! list below checks one type, on values made from its own schema and broken in the ways models break them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "zoo/container.rs"]
mod container;
#[path = "zoo/enumeration.rs"]
mod enumeration;
#[path = "zoo/flatten.rs"]
mod flatten;
#[path = "zoo/foreign.rs"]
mod foreign;
#[path = "zoo/near.rs"]
mod near;
#[path = "zoo/number.rs"]
mod number;
#[path = "zoo/oracle.rs"]
mod oracle;
#[path = "zoo/property.rs"]
mod property;
#[path = "zoo/recursion.rs"]
mod recursion;
#[path = "zoo/structure.rs"]
mod structure;
#[path = "zoo/tape.rs"]
mod tape;
#[path = "zoo/text.rs"]
mod text;

use self::{container::*, enumeration::*, flatten::*, foreign::*, number::*, recursion::*, structure::*, text::*};

/// Registers types: each gets its tests, under its own name. A `picky` one may reject values that its schema allows.
macro_rules! zoo {
    ($($name:ident: $type:ty $(, $taste:ident)?;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn agrees_with_the_validator() {
                property::agrees_with_the_validator::<$type>(zoo!(@taste $($taste)?));
            }

            #[test]
            fn reads_every_spelling_alike() {
                property::reads_every_spelling_alike::<$type>();
            }

            #[test]
            fn survives_a_round_trip() {
                property::survives_a_round_trip::<$type>();
            }
        })*

        #[test]
        fn the_zoo_is_large() {
            let names = [$(stringify!($name)),*];
            assert!(names.len() >= 45, "{} types", names.len());
        }
    };
    (@taste) => { property::Taste::TakesAll };
    (@taste picky) => { property::Taste::IsPicky };
}

zoo! {
    // structs
    plain: Plain;
    optional: Optional;
    nested: Nested;
    closed: Closed;
    empty: Empty;
    empty_open: EmptyOpen;
    unit: Unit;
    newtype: Newtype;
    newtype_of_struct: NewtypeOfStruct;
    transparent: Transparent;
    tuple_struct: TupleStruct;
    defaults: Defaults;
    all_default: AllDefault;
    aliased: Aliased;
    aliased_default: AliasedDefault;
    aliased_closed: AliasedClosed;
    renamed: Renamed;
    skipping: Skipping;
    free_form: FreeForm;
    borrowing: Borrowing;
    page_of_structs: Page<Plain>;
    page_of_enums: Page<External>;
    wide: Wide;
    very_wide: VeryWide;

    // enums
    units: Units;
    documented_units: DocumentedUnits;
    single_unit: SingleUnit;
    single_newtype: SingleNewtype;
    aliased_units: AliasedUnits;
    external: External;
    external_renamed: ExternalRenamed;
    internal: Internal;
    internal_closed: InternalClosed;
    adjacent: Adjacent;
    adjacent_closed: AdjacentClosed;
    untagged: Untagged;
    overlapping: Overlapping;
    with_untagged: WithUntagged;
    holds_enums: HoldsEnums;
    nested_tags: NestedTags;
    optional_enum: Option<External>;
    list_of_enums: Vec<Internal>;

    // flattened
    flat_struct: FlatStruct;
    flat_map: FlatMap;
    flat_values: FlatValues;
    flat_external: FlatExternal;
    flat_internal: FlatInternal;
    flat_adjacent: FlatAdjacent;
    flat_option: FlatOption;
    flat_twice: FlatTwice;
    holds_flat: HoldsFlat;

    // containers
    sequences: Sequences;
    sets: Sets;
    maps: Maps;
    enum_keys: EnumKeys;
    numeric_keys: NumericKeys, picky;
    bounded_lists: BoundedLists;
    tuple: (u8, String, Option<Plain>);
    bare_list: Vec<Option<String>>;
    bare_map: std::collections::BTreeMap<String, Closed>;

    // scalars
    nothing: ();
    bare_bool: bool;
    bare_text: String;
    bare_integer: i64;
    bare_float: f64;
    bare_char: char;
    any: serde_json::Value;
    unsigned: Unsigned;
    signed: Signed;
    very_large: VeryLarge;
    non_zero: NonZero;
    floats: Floats;
    ranges: Ranges;
    literals: Literals;
    texts: Texts;
    bounded_texts: BoundedTexts;
    dependent: Dependent;

    // recursive
    linked: Linked;
    tree: Tree;
    expression: Expression;
    json: Json;
    folder: Folder;

    // foreign types
    standard: Standard;
    formats: Formats, picky;
    even: Even, picky;
}
