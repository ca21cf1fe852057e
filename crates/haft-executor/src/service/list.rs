//! The services that a tool or a middleware requires, as a list of types that the compiler reads.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Dependency, Provide, Services};

/// A marker of one required service in a [`ServiceList`]. The toolkit's state provides it.
pub struct Needs<T: ?Sized>(PhantomData<fn(&T)>);

/// A marker of one service in a [`ServiceList`] that each run provides, by
/// [`RunOptions::service`](crate::RunOptions::service) or a middleware. The toolkit's state need not have it.
///
/// ```
/// use haft_executor::{BuilderOf, NoFailure, PerRun, RunOptions, Tool, ToolType, Toolkit};
/// use haft_core::ToolCall;
///
/// struct Tenant(String);
///
/// struct Whose;
///
/// impl ToolType for Whose {
///     const NAME: &'static str = "whose";
///     type Params = ();
///     type Success = String;
///     type Failure = NoFailure;
///     type Services = (PerRun<Tenant>,);
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let whose = Tool::of::<Whose>()
///     .handler(|(), cx| async move { cx.service::<Tenant>().map(|tenant| tenant.0.clone()).unwrap_or_default() })?;
/// let kit: Toolkit = Toolkit::new().with(whose)?;
/// assert!(kit.ensure_runnable().is_ok());
/// assert!(kit.ensure_runnable_with(&RunOptions::new()).is_err());
///
/// let options = RunOptions::new().service(Tenant("ana".to_owned()));
/// let result = kit.run_call_with(&ToolCall::new("c1", "whose", ""), &options).await;
/// assert_eq!(result.to_model_text(), "ana");
/// # Ok(())
/// # }
/// ```
pub struct PerRun<T: ?Sized>(PhantomData<fn(&T)>);

/// One entry of a [`ServiceList`]: [`Needs`] or [`PerRun`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entry of a list of services",
    note = "write `Needs<T>` for a service of the toolkit's state, or `PerRun<T>` for one that each run provides"
)]
pub trait ServiceNeed: 'static {
    /// Returns the type of the service, and who must provide it.
    fn dependency() -> Dependency;
}

/// A state that satisfies one entry of a [`ServiceList`]: it provides the service, or need not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not satisfy the need `{N}`",
    note = "`Needs<T>` requires `impl Provide<T> for {Self}`"
)]
pub trait Satisfies<N: ServiceNeed>: Sized {
    /// Adds the service, served by `state`.
    #[doc(hidden)]
    fn satisfy(state: &Arc<Self>, services: Services) -> Services;
}

/// The services that a tool requires: a tuple of [`Needs`] and [`PerRun`], up to twelve.
///
/// ```
/// use haft_executor::{Needs, PerRun, ServiceList};
///
/// struct ApiKey(String);
/// struct Tenant(String);
/// trait Clock: Send + Sync {}
///
/// let needed = <(Needs<ApiKey>, Needs<dyn Clock>, PerRun<Tenant>)>::dependencies();
/// assert_eq!(needed.len(), 3);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of services",
    note = "write a tuple of `Needs<T>` and `PerRun<T>`, up to twelve: `(Needs<ApiKey>, PerRun<Tenant>)`, or `()` for none"
)]
pub trait ServiceList: 'static {
    /// Returns the types on the list, in order.
    fn dependencies() -> Vec<Dependency>;
}

/// A state that provides every service on the list `L` that a state must provide.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide all of the services `{L}`",
    note = "each `Needs<T>` on the list requires `impl Provide<T> for {Self}`"
)]
pub trait ProvideAll<L: ServiceList>: Send + Sync + Sized + 'static {
    /// Adds the services on the list, each served by `state`.
    fn register(state: &Arc<Self>, services: Services) -> Services;
}

impl<T: ?Sized + 'static> ServiceNeed for Needs<T> {
    fn dependency() -> Dependency {
        Dependency::of::<T>()
    }
}

impl<T: ?Sized + 'static> ServiceNeed for PerRun<T> {
    fn dependency() -> Dependency {
        Dependency::per_run::<T>()
    }
}

impl<T: ?Sized + 'static, S: Provide<T> + Send + Sync + 'static> Satisfies<Needs<T>> for S {
    fn satisfy(state: &Arc<Self>, services: Services) -> Services {
        services.with_provided::<T, S>(state)
    }
}

impl<T: ?Sized + 'static, S> Satisfies<PerRun<T>> for S {
    fn satisfy(_: &Arc<Self>, services: Services) -> Services {
        services
    }
}

impl<T: ?Sized> fmt::Debug for Needs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Needs<{}>", std::any::type_name::<T>())
    }
}

impl<T: ?Sized> fmt::Debug for PerRun<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PerRun<{}>", std::any::type_name::<T>())
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
    ($($need:ident),+) => {
        impl<$($need: ServiceNeed),+> ServiceList for ($($need,)+) {
            fn dependencies() -> Vec<Dependency> {
                vec![$($need::dependency()),+]
            }
        }

        impl<S, $($need: ServiceNeed),+> ProvideAll<($($need,)+)> for S
        where
            S: $(Satisfies<$need> +)+ Send + Sync + 'static,
        {
            fn register(state: &Arc<Self>, services: Services) -> Services {
                $(let services = <S as Satisfies<$need>>::satisfy(state, services);)+
                services
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
