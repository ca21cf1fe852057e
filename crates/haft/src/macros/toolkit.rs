//! `toolkit![]` and `compose![]`.

/// Creates a toolkit of tools.
///
/// Two tools with one name do not compile, whatever their kinds are. A tool with state or settings is written
/// `Type = value` or, as a struct, `Type { … }`. Tools created at run time follow a semicolon and make the expression a
/// `Result`. `toolkit![crate = path; …]` sets the path of haft, if it is not `::haft`.
///
/// The result is a [`Toolkit<S>`](crate::toolkit::Toolkit), where `S` is the state that provides the services of the tools.
/// Running it or providing a state determines `S`; otherwise write `let kit: Toolkit = toolkit![…];`.
///
/// ```
/// use haft::{tool, toolkit};
/// use haft::tool::{Cx, Handle, HandlerError, NoFailure, Tool, ToolType};
/// use haft::toolkit::Toolkit;
///
/// /// The sum of two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 { a.saturating_add(b) }
///
/// struct Multiply { by: i64 }
///
/// impl ToolType for Multiply {
///     const NAME: &'static str = "multiply";
///     type Params = i64;
///     type Success = i64;
///     type Failure = NoFailure;
///     type Services = ();
/// }
///
/// impl Handle for Multiply {
///     async fn handle(&self, number: i64, _cx: &Cx) -> Result<i64, HandlerError> { Ok(number.saturating_mul(self.by)) }
/// }
///
/// let kit: Toolkit = toolkit![Add, Multiply = Multiply { by: 3 }];
/// assert_eq!(kit.names().collect::<Vec<_>>(), ["add", "multiply"]);
///
/// let discovered = vec![Tool::new("ping").handler(|(), _cx| async { "pong" })?];
/// let kit: Toolkit = toolkit![Add; discovered]?;
/// assert_eq!(kit.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// As an item, `toolkit! { struct Name = [A, B]; }` writes a type that creates the toolkit, for
/// [`compose!`](macro@crate::compose):
///
/// ```
/// use haft::{tool, toolkit};
/// use haft::toolkit::{KitType, Toolkit};
///
/// /// The sum of two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 { a.saturating_add(b) }
///
/// toolkit! {
///     /// Arithmetic.
///     pub struct Numbers = [Add];
/// }
///
/// let kit: Toolkit = Numbers::toolkit();
/// assert_eq!(kit.names().collect::<Vec<_>>(), Numbers::TOOLS);
/// ```
///
/// The names are compared in constants, so the types can't be generic parameters of the function around it: use
/// [`Toolkit::tool`](crate::toolkit::Toolkit::tool) there.
pub use haft_macros::toolkit;

/// Creates a toolkit of kits: types that `toolkit! { struct Name = […]; }` and [`#[tools]`](macro@crate::tools) write.
///
/// Two kits with a tool of the same name do not compile. Where names are known only at run time, use
/// [`Toolkit::compose`](crate::toolkit::Toolkit::compose). `compose![crate = path; …]` sets the path of haft, if it is
/// not `::haft`.
///
/// ```
/// use haft::{compose, tool, toolkit};
/// use haft::toolkit::Toolkit;
///
/// /// The sum of two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 { a.saturating_add(b) }
///
/// /// The end of the conversation.
/// #[tool(signal)]
/// struct Done;
///
/// toolkit! {
///     /// Arithmetic.
///     pub struct Numbers = [Add];
/// }
///
/// toolkit! {
///     struct Control = [Done];
/// }
///
/// let kit: Toolkit = compose![Numbers, Control];
/// assert_eq!(kit.names().collect::<Vec<_>>(), ["add", "done"]);
/// ```
pub use haft_macros::compose;
