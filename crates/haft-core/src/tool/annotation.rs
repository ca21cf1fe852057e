//! What is known about a tool beside its schemas: a map from types to values.
//!
//! The built-in annotations are types, so a user's own stand beside them on equal terms: any type that implements
//! [`Annotation`] can be attached and read back, without a registry of keys. Annotations describe and never act: no
//! code of the core may decide to run, skip or permit a call by reading one of the user's.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::executor::Isolated;

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

/// Whether the tool only reads. Unset counts as `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readonly(pub bool);

/// Whether the tool may destroy something. Unset counts as `true`: mark the safe ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destructive(pub bool);

/// Whether a second call with the same arguments changes nothing more. Unset counts as `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotent(pub bool);

/// Whether the tool touches systems outside the application's control. Unset counts as `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenWorld(pub bool);

/// Whether the provider's strict schema mode is asked for. Unset is a third state: the profile decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strict(pub bool);

/// Free metadata that is shown to clients with the tool.
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
    /// The names of the annotations that come with haft.
    pub const BUILT_IN: &'static [&'static str] =
        &["Title", "Readonly", "Destructive", "Idempotent", "OpenWorld", "Strict", "Meta"];

    /// No annotations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same annotations with one added; it replaces an earlier one of its type.
    #[must_use]
    pub fn with<A: Annotation>(mut self, annotation: A) -> Self {
        let entry = AnnotationEntry { name: std::any::type_name::<A>(), value: Isolated::new(Arc::new(annotation)) };
        self.0.insert(TypeId::of::<A>(), entry);
        self
    }

    /// The same annotations without the one of this type.
    #[must_use]
    pub fn without<A: Annotation>(mut self) -> Self {
        self.0.remove(&TypeId::of::<A>());
        self
    }

    /// The annotation of this type, if there is one.
    #[must_use]
    pub fn get<A: Annotation>(&self) -> Option<&A> {
        let value: &dyn Any = &**self.0.get(&TypeId::of::<A>())?.value;
        value.downcast_ref()
    }

    /// Both sets in one; where both have a type, `other` wins.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The title for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.get::<Title>().map(|title| title.0.as_str())
    }

    /// Whether the tool only reads; `false` unless said.
    #[must_use]
    pub fn readonly(&self) -> bool {
        self.get::<Readonly>().is_some_and(|hint| hint.0)
    }

    /// Returns the hint that is shown to clients: `true` unless said otherwise, also for a tool that only reads.
    ///
    /// The hint means something only for tools that are not readonly. To decide about a tool, ask
    /// [`may_destroy`](Self::may_destroy).
    #[must_use]
    pub fn destructive(&self) -> bool {
        self.get::<Destructive>().is_none_or(|hint| hint.0)
    }

    /// Returns whether the tool may destroy something: it is not readonly, and nobody said that it is not destructive.
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

    /// Whether repeating a call changes nothing more; `false` unless said.
    #[must_use]
    pub fn idempotent(&self) -> bool {
        self.get::<Idempotent>().is_some_and(|hint| hint.0)
    }

    /// Whether the tool touches outside systems; `true` unless said.
    #[must_use]
    pub fn open_world(&self) -> bool {
        self.get::<OpenWorld>().is_none_or(|hint| hint.0)
    }

    /// The strict mode asked for; `None` when the profile is to decide.
    #[must_use]
    pub fn strict(&self) -> Option<bool> {
        self.get::<Strict>().map(|strict| strict.0)
    }

    /// The metadata for clients.
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
    fn only_a_tool_that_is_neither_readonly_nor_harmless_may_destroy() {
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
    fn merge_lets_the_other_side_win_and_keeps_the_rest() {
        let left = Annotations::new().with(Readonly(true)).with(Own("left"));
        let right = Annotations::new().with(Own("right")).with(Strict(false));
        let both = left.clone().merge(right);
        assert_eq!(both.get::<Own>(), Some(&Own("right")));
        assert!(both.readonly());
        assert_eq!(both.strict(), Some(false));
        assert_eq!(left.get::<Own>(), Some(&Own("left")));
    }

    #[test]
    fn debug_shows_the_values_in_a_stable_order() {
        let annotations = Annotations::new().with(Strict(true)).with(Readonly(true));
        assert_eq!(format!("{annotations:?}"), "[Readonly(true), Strict(true)]");
    }
}
