//! Annotations of a tool: a map from types to values.
//!
//! The built-in annotations are ordinary types, and user-defined ones are equal to them: any type that implements
//! [`Annotation`] can be attached and read back, without a registry of keys. One that implements
//! [`DescribedAnnotation`] is also part of the descriptor, under a key, so that other processes can read it.
//! Annotations only describe. No code of the core may decide to run, skip or permit a call by reading a user-defined
//! one.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use haft_schema::isolation::Isolated;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::descriptor::{Icon, ProviderOptions};

/// A value that can be attached to a tool, at most one per type.
///
/// ```
/// use haft_core::{Annotation, Annotations};
///
/// #[derive(Debug, PartialEq)]
/// struct CostCents(u32);
/// impl Annotation for CostCents {}
///
/// let annotations = Annotations::new().with(CostCents(3));
/// assert_eq!(annotations.get::<CostCents>(), Some(&CostCents(3)));
/// ```
pub trait Annotation: Any + Send + Sync + fmt::Debug {
    /// Returns the key under which descriptors contain annotations of this type; `None` if they do not. Implement
    /// [`DescribedAnnotation`] instead.
    #[must_use]
    fn key() -> Option<&'static str>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the annotation as JSON, if descriptors contain it. Implement [`DescribedAnnotation`] instead.
    fn to_json(&self) -> Option<Result<Value, serde_json::Error>> {
        None
    }
}

/// An annotation that descriptors contain, so that clients and other processes can read it. At most one per key.
///
/// ```
/// use haft_core::{Annotations, DescribedAnnotation};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct CostCents(u32);
/// impl DescribedAnnotation for CostCents {
///     const KEY: &'static str = "example.com/cost_cents";
/// }
///
/// let described = Annotations::new().with(CostCents(3));
/// assert_eq!(described.described()["example.com/cost_cents"], 3);
///
/// let read = Annotations::new().with_json("example.com/cost_cents", 3);
/// assert_eq!(read.read::<CostCents>()?, Some(CostCents(3)));
/// # Ok::<_, serde_json::Error>(())
/// ```
pub trait DescribedAnnotation: Serialize + DeserializeOwned + Any + Send + Sync + fmt::Debug {
    /// The key, which should begin with a domain or another name that its author owns. It must not change once
    /// descriptors are stored.
    const KEY: &'static str;
}

impl<A: DescribedAnnotation> Annotation for A {
    fn key() -> Option<&'static str> {
        Some(A::KEY)
    }

    fn to_json(&self) -> Option<Result<Value, serde_json::Error>> {
        Some(serde_json::to_value(self))
    }
}

/// A title for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(pub String);

/// A hint that the tool only reads. Unset counts as `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readonly(pub bool);

/// A hint that the tool may destroy data. Unset counts as `true`: mark the safe tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destructive(pub bool);

/// A hint that a second call with the same arguments has no further effect. Unset counts as `false`, except that a call
/// of a [readonly](Readonly) tool may be repeated unless this is stated to be `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotent(pub bool);

/// A hint that the tool reaches systems outside the control of the application. Unset counts as `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenWorld(pub bool);

/// A request for the strict schema mode of the provider. Unset is a third state: the profile decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strict(pub bool);

/// Free-form metadata that clients receive with the tool.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Meta(pub Map<String, Value>);

/// The version of the tool, in any notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub String);

/// Icons for clients that show tools to people.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Icons(pub Vec<Icon>);

impl Annotation for Title {}
impl Annotation for Readonly {}
impl Annotation for Destructive {}
impl Annotation for Idempotent {}
impl Annotation for OpenWorld {}
impl Annotation for Strict {}
impl Annotation for Meta {}
impl Annotation for Version {}
impl Annotation for Icons {}
impl Annotation for ProviderOptions {}

/// A set of annotations, one per type. Cloning is cheap: the values are shared.
#[derive(Clone, Default)]
pub struct Annotations {
    typed: HashMap<TypeId, AnnotationEntry>,
    /// The annotations that descriptors contain. Those that were read from a descriptor have no typed value.
    described: Map<String, Value>,
}

#[derive(Clone)]
struct AnnotationEntry {
    name: &'static str,
    key: Option<&'static str>,
    /// The reason why descriptors can't contain the annotation.
    fault: Option<Arc<serde_json::Error>>,
    value: Isolated<Arc<dyn Annotation>>,
}

impl Annotations {
    /// The names of the built-in annotations.
    pub const BUILT_IN: &'static [&'static str] = &[
        "Title",
        "Readonly",
        "Destructive",
        "Idempotent",
        "OpenWorld",
        "Strict",
        "Meta",
        "Version",
        "Icons",
        "ProviderOptions",
    ];

    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an annotation, replacing an earlier one of the same type or key.
    #[must_use]
    pub fn with<A: Annotation>(mut self, annotation: A) -> Self {
        let key = A::key();
        let mut fault = None;
        if let Some(key) = key {
            self.remove_key(key);
            match annotation.to_json() {
                Some(Ok(json)) => drop(self.described.insert(key.to_owned(), json)),
                Some(Err(error)) => fault = Some(Arc::new(error)),
                None => {}
            }
        }
        let value: Isolated<Arc<dyn Annotation>> = Isolated::new(Arc::new(annotation));
        let entry = AnnotationEntry { name: std::any::type_name::<A>(), key, fault, value };
        self.typed.insert(TypeId::of::<A>(), entry);
        self
    }

    /// Adds an annotation as descriptors contain it, replacing an earlier one of the same key.
    #[must_use]
    pub fn with_json(mut self, key: impl Into<String>, json: impl Into<Value>) -> Self {
        let key = key.into();
        self.remove_key(&key);
        self.described.insert(key, json.into());
        self
    }

    /// Removes the annotation of this type.
    #[must_use]
    pub fn without<A: Annotation>(mut self) -> Self {
        self.typed.remove(&TypeId::of::<A>());
        if let Some(key) = A::key() {
            self.remove_key(key);
        }
        self
    }

    /// Returns the annotation of this type, if one was attached as a value. One that was read from a descriptor is
    /// returned by [`read`](Self::read).
    #[must_use]
    pub fn get<A: Annotation>(&self) -> Option<&A> {
        let value: &dyn Any = &**self.typed.get(&TypeId::of::<A>())?.value;
        value.downcast_ref()
    }

    /// Reads an annotation from its JSON, whether it was attached as a value or read from a descriptor; `None` if there
    /// is none.
    pub fn read<A: DescribedAnnotation>(&self) -> Result<Option<A>, serde_json::Error> {
        self.described.get(A::KEY).map(A::deserialize).transpose()
    }

    /// Returns the annotations that descriptors contain, by key.
    #[must_use]
    pub fn described(&self) -> &Map<String, Value> {
        &self.described
    }

    /// Merges both sets. Where both have a type or a key, that of `other` is used.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        for key in other.typed.values().filter_map(|entry| entry.key) {
            self.remove_key(key);
        }
        for key in other.described.keys() {
            self.remove_key(key);
        }
        self.typed.extend(other.typed);
        self.described.extend(other.described);
        self
    }

    /// Returns the number of annotations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.typed.len() + self.only_described().count()
    }

    /// Reports whether there are no annotations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.typed.is_empty() && self.described.is_empty()
    }

    /// Returns the title for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.get::<Title>().map(|title| title.0.as_str())
    }

    /// Reports whether the tool only reads; `false` if unset.
    #[must_use]
    pub fn readonly(&self) -> bool {
        self.get::<Readonly>().is_some_and(|hint| hint.0)
    }

    /// Returns the hint for clients: `true` if unset, also for a tool that only reads.
    ///
    /// The hint is meaningful only for tools that are not readonly. To decide about a tool, use
    /// [`may_destroy`](Self::may_destroy).
    #[must_use]
    pub fn destructive(&self) -> bool {
        self.get::<Destructive>().is_none_or(|hint| hint.0)
    }

    /// Reports whether the tool may destroy data: it is not marked as readonly, and not marked as non-destructive.
    ///
    /// ```
    /// use haft_core::{Annotations, Readonly};
    ///
    /// let reads = Annotations::new().with(Readonly(true));
    /// assert!(reads.destructive() && !reads.may_destroy());
    /// assert!(Annotations::new().may_destroy(), "unknown tools may");
    /// ```
    #[must_use]
    pub fn may_destroy(&self) -> bool {
        self.destructive() && !self.readonly()
    }

    /// Reports whether repeating a call has no further effect; `false` if unset.
    #[must_use]
    pub fn idempotent(&self) -> bool {
        self.get::<Idempotent>().is_some_and(|hint| hint.0)
    }

    /// Reports whether the tool reaches outside systems; `true` if unset.
    #[must_use]
    pub fn open_world(&self) -> bool {
        self.get::<OpenWorld>().is_none_or(|hint| hint.0)
    }

    /// Returns the requested strict mode, or `None` if the profile decides.
    #[must_use]
    pub fn strict(&self) -> Option<bool> {
        self.get::<Strict>().map(|strict| strict.0)
    }

    /// Returns the metadata for clients.
    #[must_use]
    pub fn meta(&self) -> Option<&Map<String, Value>> {
        self.get::<Meta>().map(|meta| &meta.0)
    }

    /// Returns the version of the tool.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.get::<Version>().map(|version| version.0.as_str())
    }

    /// Returns the icons.
    #[must_use]
    pub fn icons(&self) -> &[Icon] {
        self.get::<Icons>().map_or(&[], |icons| &icons.0)
    }

    /// Returns the options for providers.
    #[must_use]
    pub fn provider_options(&self) -> Option<&ProviderOptions> {
        self.get()
    }

    /// Returns the annotations that descriptors should contain and can't, each with the reason.
    #[doc(hidden)]
    #[must_use]
    pub fn faults(&self) -> Vec<(&'static str, Arc<serde_json::Error>)> {
        let faulty = self.typed.values().filter_map(|entry| Some((entry.key?, Arc::clone(entry.fault.as_ref()?))));
        let mut faults: Vec<_> = faulty.collect();
        faults.sort_by_key(|(key, _)| *key);
        faults
    }

    /// Returns the annotations that have no typed value.
    fn only_described(&self) -> impl Iterator<Item = (&String, &Value)> {
        let is_typed = |key: &str| self.typed.values().any(|entry| entry.key == Some(key));
        self.described.iter().filter(move |(key, _)| !is_typed(key))
    }

    fn remove_key(&mut self, key: &str) {
        self.typed.retain(|_, entry| entry.key != Some(key));
        self.described.shift_remove(key);
    }
}

impl fmt::Debug for Annotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries: Vec<&AnnotationEntry> = self.typed.values().collect();
        entries.sort_by_key(|entry| entry.name);
        f.debug_list().entries(entries.iter().map(|entry| &*entry.value)).entries(self.only_described()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Own(&'static str);
    impl Annotation for Own {}

    #[test]
    fn every_built_in_annotation_has_its_default_and_is_read_back() {
        let unset = Annotations::new();
        for name in Annotations::BUILT_IN {
            match *name {
                "Title" => {
                    assert_eq!(unset.title(), None);
                    assert_eq!(Annotations::new().with(Title("Tip".into())).title(), Some("Tip"));
                }
                "Readonly" => {
                    assert!(!unset.readonly());
                    assert!(Annotations::new().with(Readonly(true)).readonly());
                }
                "Destructive" => {
                    assert!(unset.destructive());
                    assert!(!Annotations::new().with(Destructive(false)).destructive());
                }
                "Idempotent" => {
                    assert!(!unset.idempotent());
                    assert!(Annotations::new().with(Idempotent(true)).idempotent());
                }
                "OpenWorld" => {
                    assert!(unset.open_world());
                    assert!(!Annotations::new().with(OpenWorld(false)).open_world());
                }
                "Strict" => {
                    assert_eq!(unset.strict(), None);
                    assert_eq!(Annotations::new().with(Strict(true)).strict(), Some(true));
                    assert_eq!(Annotations::new().with(Strict(false)).strict(), Some(false));
                }
                "Meta" => {
                    assert_eq!(unset.meta(), None);
                    let meta = json!({"ui": {"resourceUri": "ui://x"}}).as_object().cloned().unwrap();
                    assert_eq!(Annotations::new().with(Meta(meta.clone())).meta(), Some(&meta));
                }
                "Version" => {
                    assert_eq!(unset.version(), None);
                    assert_eq!(Annotations::new().with(Version("1.2".into())).version(), Some("1.2"));
                }
                "Icons" => {
                    assert_eq!(unset.icons(), []);
                    let icons = vec![Icon::new("data:image/png;base64,aWNvbg==")];
                    assert_eq!(Annotations::new().with(Icons(icons.clone())).icons(), icons);
                }
                "ProviderOptions" => {
                    assert_eq!(unset.provider_options(), None);
                    let options = ProviderOptions::new().deferred();
                    assert_eq!(Annotations::new().with(options.clone()).provider_options(), Some(&options));
                }
                other => panic!("the annotation {other} has no case here"),
            }
        }
    }

    #[test]
    fn a_tool_may_destroy_unless_it_is_readonly_or_not_destructive() {
        for (readonly, destructive, may_destroy) in [
            (None, None, true),
            (None, Some(true), true),
            (None, Some(false), false),
            (Some(false), None, true),
            (Some(false), Some(true), true),
            (Some(false), Some(false), false),
            (Some(true), None, false),
            (Some(true), Some(true), false),
            (Some(true), Some(false), false),
        ] {
            let mut annotations = Annotations::new();
            if let Some(readonly) = readonly {
                annotations = annotations.with(Readonly(readonly));
            }
            if let Some(destructive) = destructive {
                annotations = annotations.with(Destructive(destructive));
            }
            assert_eq!(annotations.may_destroy(), may_destroy, "{annotations:?}");
        }
    }

    #[test]
    fn a_later_annotation_of_a_type_replaces_the_earlier_one() {
        let annotations = Annotations::new().with(Own("a")).with(Own("b"));
        assert_eq!(annotations.get::<Own>(), Some(&Own("b")));
        assert_eq!(annotations.len(), 1);
        assert!(annotations.without::<Own>().is_empty());
    }

    #[test]
    fn merge_prefers_the_other_side_and_keeps_the_rest() {
        let left = Annotations::new().with(Readonly(true)).with(Own("left"));
        let right = Annotations::new().with(Own("right")).with(Strict(false));
        let both = left.clone().merge(right);
        assert_eq!(both.get::<Own>(), Some(&Own("right")));
        assert!(both.readonly());
        assert_eq!(both.strict(), Some(false));
        assert_eq!(left.get::<Own>(), Some(&Own("left")));
    }

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Cost(u32);
    impl DescribedAnnotation for Cost {
        const KEY: &'static str = "cost";
    }

    #[derive(Debug, Serialize, serde::Deserialize)]
    struct OtherCost(String);
    impl DescribedAnnotation for OtherCost {
        const KEY: &'static str = "cost";
    }

    #[test]
    fn a_described_annotation_is_read_from_its_value_and_from_json() {
        let attached = Annotations::new().with(Cost(3));
        assert_eq!(attached.get::<Cost>(), Some(&Cost(3)));
        assert_eq!(attached.described(), json!({"cost": 3}).as_object().unwrap());
        assert_eq!(attached.read::<Cost>().unwrap(), Some(Cost(3)));
        let from_json = Annotations::new().with_json("cost", 4);
        assert_eq!(from_json.get::<Cost>(), None);
        assert_eq!(from_json.read::<Cost>().unwrap(), Some(Cost(4)));
        assert_eq!((attached.len(), from_json.len(), Annotations::new().read::<Cost>().unwrap()), (1, 1, None));
        assert!(from_json.clone().with_json("cost", "much").read::<Cost>().is_err());
        assert_eq!(format!("{from_json:?}"), r#"[("cost", Number(4))]"#);
        assert!(from_json.without::<Cost>().is_empty());
    }

    #[test]
    fn a_key_has_one_annotation_whatever_their_types() {
        let expensive = || OtherCost("much".into());
        for both in [
            Annotations::new().with(Cost(3)).with(expensive()),
            Annotations::new().with(Cost(3)).merge(Annotations::new().with(expensive())),
            Annotations::new().with_json("cost", 3).with(expensive()),
        ] {
            assert_eq!((both.len(), both.get::<Cost>()), (1, None));
            assert_eq!(both.described(), json!({"cost": "much"}).as_object().unwrap());
        }
        let json = Annotations::new().with(Cost(3)).merge(Annotations::new().with_json("cost", 5));
        assert_eq!((json.get::<Cost>(), json.read::<Cost>().unwrap()), (None, Some(Cost(5))));
    }

    #[test]
    fn an_annotation_that_is_not_json_is_a_fault_and_not_described() {
        #[derive(Debug, Serialize, serde::Deserialize)]
        struct Keyed(HashMap<Option<u8>, u8>);
        impl DescribedAnnotation for Keyed {
            const KEY: &'static str = "keyed";
        }
        let faulty = Annotations::new().with(Keyed(HashMap::from([(None, 1)])));
        assert_eq!(faulty.faults()[0].0, "keyed");
        assert!(faulty.described().is_empty() && faulty.get::<Keyed>().is_some());
    }

    #[test]
    fn debug_prints_the_values_in_a_stable_order() {
        let annotations = Annotations::new().with(Strict(true)).with(Readonly(true));
        assert_eq!(format!("{annotations:?}"), "[Readonly(true), Strict(true)]");
    }
}
