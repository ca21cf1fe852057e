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

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

pub use self::identity::ServicesIdentity;
use crate::isolation::Isolated;

/// A state that contains a `T` for tools to use. For a trait object, write out the type of the method: `fn
/// provide(&self) -> &(dyn Clock + 'static)`.
///
/// ```
/// use haft_core::Provide;
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
/// use std::sync::Arc;
/// use haft_core::Provide;
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

/// A marker of one required service in a [`ServiceList`].
pub struct Needs<T: ?Sized>(PhantomData<fn(&T)>);

/// The services that a tool requires: a tuple of [`Needs`], up to twelve.
///
/// ```
/// use haft_core::{Needs, ServiceList};
///
/// struct ApiKey(String);
/// trait Clock: Send + Sync {}
///
/// let needed = <(Needs<ApiKey>, Needs<dyn Clock>)>::dependencies();
/// assert_eq!(needed.len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of services",
    note = "write a tuple of `Needs<T>`, up to twelve: `(Needs<ApiKey>, Needs<dyn Clock>)`, or `()` for none"
)]
pub trait ServiceList: 'static {
    /// Returns the types on the list, in order.
    fn dependencies() -> Vec<Dependency>;
}

/// A state that provides every service on the list `L`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide all of the services `{L}`",
    note = "each `Needs<T>` on the list requires `impl Provide<T> for {Self}`"
)]
pub trait ProvideAll<L: ServiceList>: Send + Sync + Sized + 'static {
    /// Adds the services on the list, each served by `state`.
    fn register(state: &Arc<Self>, services: Services) -> Services;
}

/// A service that a tool requires, by type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dependency {
    id: TypeId,
    name: &'static str,
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
/// use std::sync::Arc;
/// use haft_core::Services;
///
/// trait Clock: Send + Sync { fn now(&self) -> u64; }
/// struct Fixed;
/// impl Clock for Fixed { fn now(&self) -> u64 { 7 } }
///
/// let services = Services::new().with_shared::<dyn Clock>(Arc::new(Fixed)).with(String::from("key"));
/// assert_eq!(services.get::<dyn Clock>()?.now(), 7);
/// assert_eq!(services.get::<String>()?, "key");
/// assert!(services.get::<u8>().is_err());
/// # Ok::<_, haft_core::MissingService>(())
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
    /// Creates a dependency on a `T`.
    #[must_use]
    pub fn of<T: ?Sized + 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>() }
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
        let own = self.entries.as_ref().and_then(|entries| entries.get(&TypeId::of::<T>()));
        match own {
            Some(entry) => entry.getter.downcast_ref::<Getter<T>>().and_then(|get| get(entry.state.as_ref())),
            None => self.below.as_ref()?.find(),
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

impl<T: ?Sized> fmt::Debug for Needs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Needs<{}>", std::any::type_name::<T>())
    }
}

impl ServiceList for () {
    fn dependencies() -> Vec<Dependency> {
        Vec::new()
    }
}

impl<S: Send + Sync + 'static> ProvideAll<()> for S {
    fn register(_: &Arc<Self>, services: Services) -> Services {
        services
    }
}

macro_rules! service_list {
    ($($service:ident),+) => {
        impl<$($service: ?Sized + 'static),+> ServiceList for ($(Needs<$service>,)+) {
            fn dependencies() -> Vec<Dependency> {
                vec![$(Dependency::of::<$service>()),+]
            }
        }

        impl<S, $($service: ?Sized + 'static),+> ProvideAll<($(Needs<$service>,)+)> for S
        where
            S: $(Provide<$service> +)+ Send + Sync + 'static,
        {
            fn register(state: &Arc<Self>, services: Services) -> Services {
                services $(.with_provided::<$service, S>(state))+
            }
        }
    };
}

service_list!(A);
service_list!(A, B);
service_list!(A, B, C);
service_list!(A, B, C, D);
service_list!(A, B, C, D, E);
service_list!(A, B, C, D, E, F);
service_list!(A, B, C, D, E, F, G);
service_list!(A, B, C, D, E, F, G, H);
service_list!(A, B, C, D, E, F, G, H, I);
service_list!(A, B, C, D, E, F, G, H, I, J);
service_list!(A, B, C, D, E, F, G, H, I, J, K);
service_list!(A, B, C, D, E, F, G, H, I, J, K, L);

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
