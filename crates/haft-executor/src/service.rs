//! Services that handlers require from the application: looked up by type, checked before any call runs.
//!
//! ```text
//! state: impl Provide<T> ─> Services ─> Toolkit, or the options of a run
//!
//! ToolCall ─> look up ─> permit ─> decode ─> approve ─> slot ─> middleware ─┐
//!             dependencies                                                  │
//!             are checked                                                   │
//!                                  ToolResult <─ encode <─ handler <────────┘
//!                                                          cx.service::<T>()
//! ```
//!
//! A state of the application [provides](Provide) references to its services by type, including trait objects.
//! [`Services`] is the type-erased, shared form of such states: every entry is a function from the state to a
//! reference, so a lookup is one map access and two downcasts. Services are never created here, and a handler can't
//! change the set.

mod identity;
mod list;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use haft_schema::isolation::Isolated;

pub use self::identity::ServicesIdentity;
pub use self::list::{Needs, PerRun, ProvideAll, Satisfies, ServiceList, ServiceNeed};

/// A state that contains a `T` for tools to use. For a trait object, write out the type of the method: `fn
/// provide(&self) -> &(dyn Clock + 'static)`.
///
/// ```
/// use haft_executor::Provide;
///
/// struct ApiKey(String);
/// struct App { key: ApiKey }
///
/// impl Provide<ApiKey> for App {
///     fn provide(&self) -> &ApiKey {
///         &self.key
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide the service `{T}`",
    label = "this state is missing the service `{T}`",
    note = "add a field of type `{T}` to `{Self}` and derive `Services`, or write `impl Provide<{T}> for {Self}`"
)]
pub trait Provide<T: ?Sized> {
    /// Returns the service.
    fn provide(&self) -> &T;
}

/// A shared state provides what the state provides.
///
/// ```
/// use haft_executor::Provide;
/// use std::sync::Arc;
///
/// struct App { name: String }
///
/// impl Provide<String> for App {
///     fn provide(&self) -> &String {
///         &self.name
///     }
/// }
///
/// let app = Arc::new(App { name: "desk".to_owned() });
/// let name: &String = app.provide();
/// assert_eq!(name, "desk");
/// ```
impl<T: ?Sized, S: Provide<T> + ?Sized> Provide<T> for Arc<S> {
    fn provide(&self) -> &T {
        S::provide(self)
    }
}

/// A service that a tool requires, by type, and who must provide it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dependency {
    id: TypeId,
    name: &'static str,
    provided_by: ServiceSource,
}

/// The party that must provide a service that a tool requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServiceSource {
    /// The toolkit or the run.
    ToolkitOrRun,
    /// The run, or a middleware that [declares](crate::Middleware::provides) it. A service of the toolkit does not
    /// count: it is the same for every caller.
    RunOnly,
}

/// A required service that is not provided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no service of type `{service}` is provided")]
#[non_exhaustive]
pub struct MissingService {
    /// The full name of the service's type.
    pub service: &'static str,
}

/// Services by type, erased and shared. Cloning is cheap.
///
/// ```
/// use haft_executor::Services;
/// use std::sync::Arc;
///
/// trait Clock: Send + Sync { fn now(&self) -> u64; }
/// struct Fixed;
/// impl Clock for Fixed { fn now(&self) -> u64 { 7 } }
///
/// let services = Services::new().with_shared::<dyn Clock>(Arc::new(Fixed)).with(String::from("key"));
/// assert_eq!(services.get::<dyn Clock>()?.now(), 7);
/// assert_eq!(services.get::<String>()?, "key");
/// assert!(services.get::<u8>().is_err());
/// # Ok::<_, haft_executor::MissingService>(())
/// ```
#[derive(Clone, Default)]
pub struct Services {
    entries: Option<Arc<HashMap<TypeId, ServiceEntry>>>,
    below: Option<Arc<Services>>,
}

type ServiceState = dyn Any + Send + Sync;
type Getter<T> = for<'a> fn(&'a ServiceState) -> Option<&'a T>;

#[derive(Clone)]
struct ServiceEntry {
    name: &'static str,
    /// The state, always inside an [`Isolated`].
    state: Arc<ServiceState>,
    /// The `Getter<T>` for the type `T` that is the key of the entry.
    getter: Arc<ServiceState>,
}

impl Dependency {
    /// Creates a dependency on a `T` of the toolkit or the run.
    #[must_use]
    pub fn of<T: ?Sized + 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>(), provided_by: ServiceSource::ToolkitOrRun }
    }

    /// Creates a dependency on a `T` of the run.
    #[must_use]
    pub fn per_run<T: ?Sized + 'static>() -> Self {
        Self { provided_by: ServiceSource::RunOnly, ..Self::of::<T>() }
    }

    /// Returns the party that must provide the service.
    #[must_use]
    pub fn provided_by(&self) -> ServiceSource {
        self.provided_by
    }

    /// Reports whether both are about the same type of service.
    #[must_use]
    pub fn is_same_service(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Returns the full name of the type.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the error that reports the service as missing.
    #[must_use]
    pub fn missing(&self) -> MissingService {
        MissingService { service: self.name }
    }
}

impl Services {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a set of everything on the list `L`, served by `state`.
    #[must_use]
    pub fn of<L: ServiceList, S: ProvideAll<L>>(state: S) -> Self {
        S::register(&Arc::new(state), Self::new())
    }

    /// Adds `value` under its type, replacing an earlier service of that type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_shared(Arc::new(value))
    }

    /// Adds a shared service, which may be a trait object, replacing an earlier one of the same type.
    #[must_use]
    pub fn with_shared<T: ?Sized + Send + Sync + 'static>(self, value: Arc<T>) -> Self {
        fn get<T: ?Sized + 'static>(state: &ServiceState) -> Option<&T> {
            state.downcast_ref::<Isolated<Arc<T>>>().map(|value| &***value)
        }
        let getter: Getter<T> = get::<T>;
        self.insert(value, getter)
    }

    /// Adds a `T` that is served by `state`, replacing an earlier one.
    #[must_use]
    pub fn with_provided<T: ?Sized + 'static, S: Provide<T> + Send + Sync + 'static>(self, state: &Arc<S>) -> Self {
        fn get<T: ?Sized + 'static, S: Provide<T> + 'static>(state: &ServiceState) -> Option<&T> {
            state.downcast_ref::<Isolated<Arc<S>>>().map(|state| state.provide())
        }
        let getter: Getter<T> = get::<T, S>;
        self.insert(Arc::clone(state), getter)
    }

    /// Layers these services over others: where both have a type, the one here is used.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        if self.is_empty() {
            return below;
        }
        if below.is_empty() {
            return self;
        }
        let below = match self.below {
            Some(middle) => Arc::unwrap_or_clone(middle).over(below),
            None => below,
        };
        Self { entries: self.entries, below: Some(Arc::new(below)) }
    }

    /// Returns the service of this type.
    pub fn get<T: ?Sized + 'static>(&self) -> Result<&T, MissingService> {
        self.find::<T>().ok_or_else(|| Dependency::of::<T>().missing())
    }

    /// Reports whether the service is provided.
    #[must_use]
    pub fn has(&self, dependency: &Dependency) -> bool {
        self.entries.as_ref().is_some_and(|entries| entries.contains_key(&dependency.id))
            || self.below.as_ref().is_some_and(|below| below.has(dependency))
    }

    /// Reports whether both sets have this service, and it is the same value.
    pub(crate) fn share(&self, other: &Self, dependency: &Dependency) -> bool {
        match (self.entry(dependency.id), other.entry(dependency.id)) {
            (Some(own), Some(others)) => Arc::ptr_eq(&own.state, &others.state),
            (None, _) | (_, None) => false,
        }
    }

    /// Returns all of `needed` that are not provided, in order.
    #[must_use]
    pub fn missing<'a>(&self, needed: impl IntoIterator<Item = &'a Dependency>) -> Vec<MissingService> {
        needed.into_iter().filter(|dependency| !self.has(dependency)).map(Dependency::missing).collect()
    }

    /// Reports whether there are no services.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_none() && self.below.is_none()
    }

    /// Returns a reference to an empty set.
    pub(crate) fn none() -> &'static Self {
        static NONE: Services = Services { entries: None, below: None };
        &NONE
    }

    fn find<T: ?Sized + 'static>(&self) -> Option<&T> {
        let entry = self.entry(TypeId::of::<T>())?;
        entry.getter.downcast_ref::<Getter<T>>().and_then(|get| get(entry.state.as_ref()))
    }

    fn entry(&self, id: TypeId) -> Option<&ServiceEntry> {
        match self.entries.as_ref().and_then(|entries| entries.get(&id)) {
            Some(entry) => Some(entry),
            None => self.below.as_ref()?.entry(id),
        }
    }

    fn insert<T, S>(mut self, state: Arc<S>, getter: Getter<T>) -> Self
    where
        T: ?Sized + 'static,
        S: ?Sized + Send + Sync + 'static,
    {
        let state = Arc::new(Isolated::new(state));
        let entry = ServiceEntry { name: std::any::type_name::<T>(), state, getter: Arc::new(getter) };
        Arc::make_mut(self.entries.get_or_insert_default()).insert(TypeId::of::<T>(), entry);
        self
    }

    fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.entries.iter().flat_map(|entries| entries.values()).map(|e| e.name).collect();
        names.extend(self.below.iter().flat_map(|below| below.names()));
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Services").field(&self.names()).finish()
    }
}

impl fmt::Debug for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dependency").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    trait Clock: Send + Sync {
        fn now(&self) -> u64;
    }

    struct Fixed(u64);

    impl Clock for Fixed {
        fn now(&self) -> u64 {
            self.0
        }
    }

    struct Key(&'static str);

    struct App {
        key: Key,
        clock: Fixed,
    }

    impl Provide<Key> for App {
        fn provide(&self) -> &Key {
            &self.key
        }
    }

    impl Provide<dyn Clock> for App {
        fn provide(&self) -> &(dyn Clock + 'static) {
            &self.clock
        }
    }

    fn app() -> App {
        App { key: Key("k"), clock: Fixed(7) }
    }

    #[test]
    fn a_state_serves_values_and_trait_objects() {
        let services = Services::of::<(Needs<Key>, Needs<dyn Clock>), _>(app());
        assert_eq!(services.get::<Key>().unwrap().0, "k");
        assert_eq!(services.get::<dyn Clock>().unwrap().now(), 7);
    }

    #[test]
    fn only_the_listed_services_are_served() {
        let services = Services::of::<(Needs<Key>,), _>(app());
        let error = services.get::<dyn Clock>().err().unwrap();
        assert!(error.to_string().contains("dyn") && error.to_string().contains("Clock"), "{error}");
    }

    #[test]
    fn the_upper_layer_takes_precedence_over_the_lower_one() {
        let build = Services::of::<(Needs<Key>, Needs<dyn Clock>), _>(app());
        let request = Services::new().with(Key("request"));
        let both = request.over(build.clone());
        assert_eq!(both.get::<Key>().unwrap().0, "request");
        assert_eq!(both.get::<dyn Clock>().unwrap().now(), 7);
        assert_eq!(build.get::<Key>().unwrap().0, "k");

        let three = Services::new().with(1_u8).over(both);
        assert_eq!(three.get::<Key>().unwrap().0, "request");
        let four = three.over(Services::new().with(Key("last")).with(2_u8).with(3_u16));
        assert_eq!(four.get::<Key>().unwrap().0, "request");
        assert_eq!(four.get::<u8>().unwrap(), &1);
        assert_eq!(four.get::<u16>().unwrap(), &3);
    }

    #[test]
    fn all_missing_services_are_listed_in_order() {
        let needed = <(Needs<u8>, Needs<Key>, Needs<u16>)>::dependencies();
        let missing = Services::new().with(Key("k")).missing(&needed);
        assert_eq!(missing.iter().map(|m| m.service).collect::<Vec<_>>(), ["u8", "u16"]);
    }

    #[test]
    fn a_later_service_of_a_type_replaces_the_earlier_one() {
        let services = Services::new().with(1_u8).with(2_u8);
        assert_eq!(services.get::<u8>().unwrap(), &2);
        assert_eq!(format!("{services:?}"), r#"Services(["u8"])"#);
    }
}
