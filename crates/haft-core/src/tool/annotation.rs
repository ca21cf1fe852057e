//! Annotations of a tool: a map from types to values.
//!
//! The built-in annotations are ordinary types, and user-defined ones are equal to them: any type that implements
//! [`Annotation`] can be attached and read back, without a registry of keys. Annotations only describe. No code of the
//! core may decide to run, skip or permit a call by reading a user-defined one.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::isolation::Isolated;

/// A value that can be attached to a tool, at most one per type.
///
/// ```
/// use haft_core::{Annotation, Tool};
///
/// #[derive(Debug, PartialEq)]
/// struct CostCents(u32);
/// impl Annotation for CostCents {}
///
/// let tool = Tool::new("search").annotate(CostCents(3)).define()?;
/// assert_eq!(tool.annotations().get::<CostCents>(), Some(&CostCents(3)));
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
pub trait Annotation: Any + Send + Sync + fmt::Debug {}

/// A title for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(pub String);

/// A hint that the tool only reads. Unset counts as `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readonly(pub bool);

/// A hint that the tool may destroy data. Unset counts as `true`: mark the safe tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destructive(pub bool);

/// A hint that a second call with the same arguments has no further effect. Unset counts as `false`.
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

impl Annotation for Title {}
impl Annotation for Readonly {}
impl Annotation for Destructive {}
impl Annotation for Idempotent {}
impl Annotation for OpenWorld {}
impl Annotation for Strict {}
impl Annotation for Meta {}

/// A set of annotations, one per type. Cloning is cheap: the values are shared.
#[derive(Clone, Default)]
pub struct Annotations(HashMap<TypeId, AnnotationEntry>);

#[derive(Clone)]
struct AnnotationEntry {
    name: &'static str,
    value: Isolated<Arc<dyn Annotation>>,
}

impl Annotations {
    /// The names of the built-in annotations.
    pub const BUILT_IN: &'static [&'static str] =
        &["Title", "Readonly", "Destructive", "Idempotent", "OpenWorld", "Strict", "Meta"];

    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an annotation, replacing an earlier one of the same type.
    #[must_use]
    pub fn with<A: Annotation>(mut self, annotation: A) -> Self {
        let entry = AnnotationEntry { name: std::any::type_name::<A>(), value: Isolated::new(Arc::new(annotation)) };
        self.0.insert(TypeId::of::<A>(), entry);
        self
    }

    /// Removes the annotation of this type.
    #[must_use]
    pub fn without<A: Annotation>(mut self) -> Self {
        self.0.remove(&TypeId::of::<A>());
        self
    }

    /// Returns the annotation of this type, if there is one.
    #[must_use]
    pub fn get<A: Annotation>(&self) -> Option<&A> {
        let value: &dyn Any = &**self.0.get(&TypeId::of::<A>())?.value;
        value.downcast_ref()
    }

    /// Merges both sets. Where both have a type, that of `other` is used.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns the number of annotations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Reports whether there are no annotations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
}

impl fmt::Debug for Annotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries: Vec<&AnnotationEntry> = self.0.values().collect();
        entries.sort_by_key(|entry| entry.name);
        f.debug_list().entries(entries.iter().map(|entry| &*entry.value)).finish()
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

    #[test]
    fn debug_prints_the_values_in_a_stable_order() {
        let annotations = Annotations::new().with(Strict(true)).with(Readonly(true));
        assert_eq!(format!("{annotations:?}"), "[Readonly(true), Strict(true)]");
    }
}
