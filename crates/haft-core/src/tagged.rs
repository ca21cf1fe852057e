//! The reader of tagged enums: JSON objects in which one member, the tag, names the variant.
//!
//! ```text
//! JSON ─> tree ─> tag ─┬─ known ───> version ─> TaggedMembers ─> the variant
//!                      └─ unknown ─> kept whole, or rejected
//! ```
//!
//! Events, items, content parts, deltas, outcomes, changes of a history and the ends of a loop are all read here, and
//! nowhere else. Serde's derived reader is not used, for two reasons. An unknown tag must be distinguished from a
//! known one whose members are invalid: the first may be kept, the second is an error. And serde's buffer for such
//! enums loses numbers when `serde_json` is built with `arbitrary_precision`, which any crate of a build can turn on.
//!
//! The reader must never depend on the order of the keys, nest deeper than a tree may, or change an object that it
//! keeps.

use haft_schema::internal::tree;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::version::FormatVersion;

/// The member that holds the format version of a versioned enum.
const VERSION: &str = "v";

/// Reads one variant from the members of its object, without the tag.
pub type ReadVariant<T> = fn(&mut TaggedMembers) -> Result<T, serde_json::Error>;

/// An enum that is written as an object with a tag.
///
/// The table is what makes a missing decision visible: tests iterate over [`VARIANTS`](Self::VARIANTS) wherever code
/// decides by variant, so a variant that is added fails them until it is decided about.
pub trait TaggedEnum: Sized + 'static {
    /// The key of the tag.
    const TAG: &'static str = "type";
    /// Every tag that this version knows, with the function that reads its members.
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)];
    /// The handling of the format version.
    const VERSION: Versioning = Versioning::None;
    /// The handling of objects with an unknown tag.
    const UNKNOWN: UnknownTag<Self> = UnknownTag::Rejected;
    /// The tag of objects without one, if a version that wrote no tag is read.
    const UNTAGGED: Option<&'static str> = None;
}

/// The handling of the format version of a tagged enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versioning {
    /// The enum has no version; its members may have their own.
    None,
    /// The member `v` is the version. An absent one is the first, and a newer one is rejected.
    Checked,
}

/// The handling of an unknown tag.
#[derive(Debug)]
pub enum UnknownTag<T> {
    /// An unknown tag is an error.
    Rejected,
    /// The object is kept whole, whatever its version.
    Kept(fn(UnknownObject) -> T),
}

/// An object whose tag is unknown. Only the reader creates one.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownObject {
    tag: String,
    json: Value,
}

/// The members of an object whose tag is known, without the tag.
#[derive(Debug)]
pub struct TaggedMembers(Map<String, Value>);

/// Reads a tagged enum.
pub fn deserialize<'de, T: TaggedEnum, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let mut object = tree(deserializer)?;
    let tag = match (object.get(T::TAG), T::UNTAGGED) {
        (Some(Value::String(tag)), _) => tag.clone(),
        (Some(_), _) => return Err(D::Error::custom(format_args!("`{}` must be a string", T::TAG))),
        (None, Some(tag)) => tag.to_owned(),
        (None, None) => return Err(D::Error::missing_field(T::TAG)),
    };
    let Some((_, read)) = T::VARIANTS.iter().find(|(known, _)| *known == tag) else {
        return match T::UNKNOWN {
            UnknownTag::Kept(keep) => Ok(keep(UnknownObject { tag, json: object })),
            UnknownTag::Rejected => Err(unknown_variant::<T, _>(&tag)),
        };
    };
    if let (Versioning::Checked, Some(version)) = (T::VERSION, object.get(VERSION)) {
        FormatVersion::deserialize(version).map_err(D::Error::custom)?;
    }
    let mut members = TaggedMembers(object.as_object_mut().map(std::mem::take).unwrap_or_default());
    members.0.shift_remove(T::TAG);
    read(&mut members).map_err(D::Error::custom)
}

/// Writes a value that is an object, after the member `v` with the current format version.
pub fn serialize_versioned<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct WithVersion<'a, T> {
        v: FormatVersion,
        #[serde(flatten)]
        value: &'a T,
    }
    WithVersion { v: FormatVersion::default(), value }.serialize(serializer)
}

impl TaggedMembers {
    /// Takes the member of this name out and reads it.
    pub fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T, serde_json::Error> {
        match self.0.shift_remove(name) {
            Some(member) => T::deserialize(member),
            None => Err(serde_json::Error::missing_field(name)),
        }
    }

    /// Takes the member of this name out and reads it; the default if there is none.
    pub fn take_or_default<T: DeserializeOwned + Default>(
        &mut self,
        name: &'static str,
    ) -> Result<T, serde_json::Error> {
        self.0.shift_remove(name).map_or_else(|| Ok(T::default()), T::deserialize)
    }

    /// Takes all members out and reads them as one value.
    pub fn take_all<T: DeserializeOwned>(&mut self) -> Result<T, serde_json::Error> {
        T::deserialize(Value::Object(std::mem::take(&mut self.0)))
    }
}

impl UnknownObject {
    /// Returns the tag.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the object, tag included.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Returns the object, tag included.
    #[must_use]
    pub fn into_json(self) -> Value {
        self.json
    }
}

fn unknown_variant<T: TaggedEnum, E: Error>(tag: &str) -> E {
    let known: Vec<String> = T::VARIANTS.iter().map(|(known, _)| format!("`{known}`")).collect();
    E::custom(format_args!("unknown variant `{tag}`, expected one of {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq)]
    enum TestShape {
        Point,
        Circle { radius: u64, label: String },
        Other(Vec<(String, Value)>),
    }

    impl TaggedEnum for TestShape {
        const TAG: &'static str = "shape";
        const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
            ("point", |_| Ok(Self::Point)),
            ("circle", |members| {
                Ok(Self::Circle { radius: members.take("radius")?, label: members.take_or_default("label")? })
            }),
        ];
        const VERSION: Versioning = Versioning::Checked;
        const UNKNOWN: UnknownTag<Self> = UnknownTag::Kept(|object| {
            let members = object.into_json().as_object().cloned().unwrap_or_default();
            Self::Other(members.into_iter().collect())
        });
    }

    fn read(json: &Value) -> Result<TestShape, String> {
        deserialize::<TestShape, _>(json.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_tag_may_be_anywhere_and_other_members_are_ignored() {
        let circle = TestShape::Circle { radius: 3, label: "a".to_owned() };
        for text in [
            r#"{"shape":"circle","radius":3,"label":"a"}"#,
            r#"{"v":1,"label":"a","color":"red","radius":3,"shape":"circle"}"#,
        ] {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            assert_eq!(deserialize::<TestShape, _>(&mut deserializer).unwrap(), circle);
        }
        assert_eq!(read(&json!({"shape": "point"})), Ok(TestShape::Point));
        assert_eq!(
            read(&json!({"shape": "circle", "radius": 1})),
            Ok(TestShape::Circle { radius: 1, label: String::new() })
        );
    }

    #[test]
    fn a_known_variant_with_an_invalid_member_is_an_error() {
        for (wrong, problem) in [
            (json!({"shape": "circle"}), "missing field `radius`"),
            (json!({"shape": "circle", "radius": -1}), "-1"),
            (json!({"shape": "circle", "radius": 1, "label": null}), "null"),
            (json!({"shape": 1}), "`shape` must be a string"),
            (json!({"shape": "point", "v": 2}), "newer version (2)"),
            (json!({}), "missing field `shape`"),
            (json!([]), "missing field `shape`"),
            (json!("circle"), "missing field `shape`"),
        ] {
            let error = read(&wrong).unwrap_err();
            assert!(error.contains(problem), "{wrong}: {error}");
        }
    }

    #[test]
    fn an_object_with_an_unknown_tag_is_kept_whole_whatever_its_version() {
        let torus = json!({"b": [1, {"shape": "circle"}], "v": 9, "shape": "torus", "a": null});
        let Ok(TestShape::Other(members)) = read(&torus) else { panic!() };
        assert_eq!(Value::Object(members.into_iter().collect()), torus);
    }

    #[derive(Debug)]
    struct Closed;

    impl TaggedEnum for Closed {
        const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[("a", |_| Ok(Self)), ("b", |_| Ok(Self))];
    }

    #[test]
    fn an_enum_that_keeps_nothing_names_the_tags_it_knows() {
        let error = deserialize::<Closed, _>(json!({"type": "c"})).unwrap_err();
        assert_eq!(error.to_string(), "unknown variant `c`, expected one of `a`, `b`");
    }
}
