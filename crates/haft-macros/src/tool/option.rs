//! The `#[tool(…)]` arguments: each becomes one call on the tool's builder.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Path, Token, Type};

use super::kind::{DeclaredTypes, KindOptions, ToolForm};
use super::limit;
use crate::argument::{Argument, ArgumentValue, Arguments, KnownArguments, string_literal};
use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;
use crate::name;

const KNOWN: KnownArguments = KnownArguments {
    attribute: "#[tool]",
    names: &[
        "name",
        "title",
        "description",
        "type",
        "readonly",
        "destructive",
        "idempotent",
        "open_world",
        "strict",
        "meta",
        "annotate",
        "example",
        "approval",
        "refine",
        "to_model",
        "failure_mode",
        "timeout",
        "idle_timeout",
        "concurrency",
        "emits",
        "emit_buffer",
        "output_cap",
        "overflow",
        "blocking",
        "signal",
        "interaction",
        "provider",
        "provider_name",
        "args",
        "params",
        "success",
        "failure",
        "crate",
    ],
    repeatable: &["annotate", "example"],
};

const REFINE_FORM: &str = "`refine = function`: the path of an `async fn` or a closure that takes the parameters and a \
                           `Cx`, and returns a `Result` of the parameters";
const TO_MODEL_FORM: &str = "`to_model = function`: the path of a function or a closure that takes a reference to the \
                             success value, and returns content parts";

/// The hints and their annotations.
const HINTS: [(&str, &str); 5] = [
    ("readonly", "Readonly"),
    ("destructive", "Destructive"),
    ("idempotent", "Idempotent"),
    ("open_world", "OpenWorld"),
    ("strict", "Strict"),
];

/// One tool's options.
#[derive(Debug)]
pub(crate) struct ToolOptions {
    pub(crate) krate: CratePath,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) type_name: Option<Ident>,
    pub(crate) blocking: bool,
    /// The type of emitted values.
    pub(crate) emits: Option<Type>,
    pub(crate) kind: KindOptions,
    pub(crate) types: DeclaredTypes,
    /// The argument `refine`, which requires parameters.
    pub(crate) refine: Option<Ident>,
    /// Calls on the builder, in order: `.title("…")`, `.annotate(…)`.
    pub(crate) steps: Vec<TokenStream>,
}

impl ToolOptions {
    /// Reads the arguments and reports all mistakes in them.
    pub(crate) fn read(tokens: TokenStream, form: ToolForm, diagnostics: &mut Diagnostics) -> Self {
        let mut arguments = Arguments::read(tokens, KNOWN, diagnostics);
        let kind = KindOptions::take(&mut arguments, form, diagnostics);
        let types = DeclaredTypes::take(&mut arguments, diagnostics);
        let mut reader = ArgumentReader { arguments: &mut arguments, diagnostics };
        let krate = reader.value("crate", |argument| argument.assigned::<Path>("`crate = path`"));
        let krate = krate.map(CratePath::from).unwrap_or_default();
        let name = reader.value("name", |argument| {
            let name = argument.text_value()?;
            name::check_tool_name(&name).map(|()| name)
        });
        let description = reader.value("description", Argument::text_value);
        let type_name = reader.value("type", |argument| argument.assigned("`type = Name`"));
        let blocking = reader.value("blocking", Argument::flag).unwrap_or_default();
        let emits: Option<Type> = reader.value("emits", |argument| argument.assigned("`emits = Type`"));
        let mut steps = Vec::new();
        steps.extend(reader.value("title", Argument::text_value).map(|title| quote!(.title(#title))));
        for (hint, annotation) in HINTS {
            let annotation = Ident::new(annotation, proc_macro2::Span::call_site());
            let value = reader.value(hint, Argument::flag);
            steps.extend(value.map(|value| quote!(.annotate(#krate::macro_support::#annotation(#value)))));
        }
        steps.extend(reader.value("meta", |argument| meta(argument, &krate)));
        steps.extend(reader.values("annotate", annotations));
        steps.extend(reader.values("example", |argument| {
            let example: Expr = argument.assigned("`example = expression`")?;
            Ok(quote!(.example(#example)))
        }));
        steps.extend(reader.value("approval", |argument| approval(argument, &krate)));
        let mut refine = None;
        steps.extend(reader.value("refine", |argument| {
            let value: Expr = argument.assigned(REFINE_FORM)?;
            refine = Some(argument.name.clone());
            Ok(quote!(.refine::<<Self as #krate::macro_support::ToolType>::Params, _, _, _>(#value)))
        }));
        steps.extend(reader.value("to_model", |argument| {
            let value: Expr = argument.assigned(TO_MODEL_FORM)?;
            Ok(quote!(.to_model_output::<<Self as #krate::macro_support::ToolType>::Success, _>(#value)))
        }));
        steps.extend(reader.value("failure_mode", |argument| {
            let mode = argument.choice(&[("error", "Error"), ("return", "Return")])?;
            let mode = Ident::new(mode, argument.span());
            Ok(quote!(.failure_mode(#krate::macro_support::FailureMode::#mode)))
        }));
        steps.extend(emits.as_ref().map(|ty| quote!(.emits::<#ty>())));
        steps.extend(limit::read(&mut arguments, &krate, diagnostics));
        Self { krate, name, description, type_name, blocking, emits, kind, types, refine, steps }
    }
}

/// A reader that takes arguments by name and reports mistakes in their values.
struct ArgumentReader<'a> {
    arguments: &'a mut Arguments,
    diagnostics: &'a mut Diagnostics,
}

impl ArgumentReader<'_> {
    fn value<T>(&mut self, name: &str, read: impl FnOnce(&Argument) -> syn::Result<T>) -> Option<T> {
        let argument = self.arguments.take(name)?;
        self.diagnostics.keep(read(&argument))
    }

    fn values<T>(&mut self, name: &str, read: impl Fn(&Argument) -> syn::Result<T>) -> Vec<T> {
        let arguments = self.arguments.take_all(name);
        arguments.iter().filter_map(|argument| self.diagnostics.keep(read(argument))).collect()
    }
}

/// Reads `meta = {"key": value}`, `meta = json!({…})`, or a map expression.
fn meta(argument: &Argument, krate: &CratePath) -> syn::Result<TokenStream> {
    const FORM: &str = "`meta = {\"key\": value}`";
    let ArgumentValue::Assigned(tokens) = &argument.value else { return Err(argument.form(FORM)) };
    let mut trees = tokens.clone().into_iter();
    let json = match (trees.next(), trees.next()) {
        (Some(proc_macro2::TokenTree::Group(group)), None)
            if group.delimiter() == proc_macro2::Delimiter::Brace && syn::parse2::<Expr>(tokens.clone()).is_err() =>
        {
            quote!(#krate::macro_support::serde_json::json!(#group))
        }
        _ => {
            let expression: Expr = argument.assigned(FORM)?;
            if !is_json_object(&expression) {
                return Ok(quote!(.annotate(#krate::macro_support::Meta(#expression))));
            }
            expression.into_token_stream()
        }
    };
    Ok(quote! {
        .annotate(#krate::macro_support::Meta(match #json {
            #krate::macro_support::serde_json::Value::Object(map) => map,
            _ => ::core::default::Default::default(),
        }))
    })
}

/// Returns whether the expression is `json!({…})`, a `Value` that is always an object.
fn is_json_object(expression: &Expr) -> bool {
    let Expr::Macro(call) = expression else { return false };
    let is_json = call.mac.path.segments.last().is_some_and(|segment| segment.ident == "json");
    let mut trees = call.mac.tokens.clone().into_iter();
    let is_brace = matches!(
        trees.next(),
        Some(proc_macro2::TokenTree::Group(group)) if group.delimiter() == proc_macro2::Delimiter::Brace
    );
    is_json && is_brace && trees.next().is_none()
}

fn annotations(argument: &Argument) -> syn::Result<TokenStream> {
    let ArgumentValue::List(tokens) = &argument.value else { return Err(argument.form("`annotate(expression, …)`")) };
    let expressions = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone())?;
    let expressions = expressions.iter();
    Ok(quote!(#(.annotate(#expressions))*))
}

/// Reads a fixed policy by its name, a function for `ApprovalPolicy::when` by its path or as a closure, or an
/// expression that returns a policy.
fn approval(argument: &Argument, krate: &CratePath) -> syn::Result<TokenStream> {
    const FORM: &str = "`approval = \"always\"`, `approval = \"never\"`, or the path of a function or a closure that \
                        takes the parameters and an `ApprovalCx`";
    let value: Expr = argument.assigned(FORM)?;
    let policy = match &value {
        Expr::Closure(closure) if closure.inputs.len() != 2 => {
            let message = "a policy takes the parameters and the context of the decision: write \
                           `approval = |params, _cx| …`, which returns `true` if the call requires approval";
            return Err(syn::Error::new_spanned(closure, message));
        }
        Expr::Path(_) | Expr::Closure(_) => {
            quote!(#krate::macro_support::ApprovalPolicy::when::<<Self as #krate::macro_support::ToolType>::Params, _, _, _>(#value))
        }
        Expr::Lit(_) => match string_literal(&value).map(LitStr::value).as_deref() {
            Some("always") => quote!(#krate::macro_support::ApprovalPolicy::always()),
            Some("never") => quote!(#krate::macro_support::ApprovalPolicy::never()),
            _ => return Err(argument.form(FORM)),
        },
        _ => value.to_token_stream(),
    };
    Ok(quote!(.needs_approval(#policy)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    fn read(tokens: TokenStream) -> (ToolOptions, Vec<String>) {
        let mut diagnostics = Diagnostics::default();
        let options = ToolOptions::read(tokens, ToolForm::Function, &mut diagnostics);
        (options, diagnostics.finish().map_or_else(|error| messages(&error), |()| Vec::new()))
    }

    fn steps(tokens: TokenStream) -> String {
        let (options, faults) = read(tokens);
        assert!(faults.is_empty(), "{faults:?}");
        options.steps.iter().map(ToString::to_string).collect()
    }

    fn only_fault(tokens: TokenStream) -> String {
        let (_, mut faults) = read(tokens);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    #[test]
    fn hints_are_true_alone_and_may_be_false() {
        let steps = steps(quote!(readonly, open_world = false, strict = true));
        let expected = quote!(.annotate(::haft::macro_support::Readonly(true))).to_string()
            + &quote!(.annotate(::haft::macro_support::OpenWorld(false))).to_string()
            + &quote!(.annotate(::haft::macro_support::Strict(true))).to_string();
        assert_eq!(steps, expected);
    }

    #[test]
    fn a_function_decides_on_approval_and_a_call_gives_the_policy() {
        let when = quote!(
            ::haft::macro_support::ApprovalPolicy::when::<<Self as ::haft::macro_support::ToolType>::Params, _, _, _>
        )
        .to_string();
        assert!(steps(quote!(approval = |p, _| ready(p.dangerous))).contains(&when));
        assert!(steps(quote!(approval = policy::large)).contains(&when));
        assert_eq!(steps(quote!(approval = policy())), quote!(.needs_approval(policy())).to_string());
        assert!(steps(quote!(approval = "always")).contains("always ()"));
        assert!(only_fault(quote!(approval = "sometimes")).contains("\"always\""));
        for closure in [quote!(|p| p.dangerous), quote!(|| true), quote!(|p, cx, more| true)] {
            assert!(only_fault(quote!(approval = #closure)).contains("write `approval = |params, _cx| …`"));
        }
        assert!(only_fault(quote!(approval)).contains("\"always\""));
    }

    #[test]
    fn functions_refine_arguments_and_render_results() {
        let text = steps(quote!(refine = city::normalise, to_model = |rows: &u32| parts(rows)));
        let params = quote!(.refine::<<Self as ::haft::macro_support::ToolType>::Params, _, _, _>(city::normalise));
        assert!(text.contains(&params.to_string()), "{text}");
        let success = quote!(.to_model_output::<<Self as ::haft::macro_support::ToolType>::Success, _>);
        assert!(text.contains(&success.to_string()), "{text}");
        assert!(only_fault(quote!(refine)).contains("`refine = function`"));
        assert!(only_fault(quote!(to_model("x"))).contains("`to_model = function`"));
    }

    #[test]
    fn meta_is_an_object_or_a_map() {
        let json = quote!(::haft::macro_support::serde_json::json!({"a": 1})).to_string();
        assert!(steps(quote!(meta = {"a": 1})).contains(&json));
        assert!(steps(quote!(meta = serde_json::json!({"a": 1}))).contains("Object"));
        assert_eq!(
            steps(quote!(meta = my_map())),
            quote!(.annotate(::haft::macro_support::Meta(my_map()))).to_string()
        );
        assert!(only_fault(quote!(meta("a"))).contains("meta = {"));
    }

    #[test]
    fn emitted_values_have_a_type() {
        let written = steps(quote!(emits = Step<A, B>, readonly)).replace(' ', "");
        assert_eq!(written, ".annotate(::haft::macro_support::Readonly(true)).emits::<Step<A,B>>()");
        assert_eq!(only_fault(quote!(emits)), "write `emits = Type`");
        assert_eq!(only_fault(quote!(emits = "Step")), "write `emits = Type`");
    }

    #[test]
    fn an_empty_description_is_one() {
        let (options, _) = read(quote!(description = ""));
        assert_eq!(options.description.unwrap().value(), "");
    }

    #[test]
    fn wrong_literals_report_what_to_write() {
        assert_eq!(only_fault(quote!(name = 7)), "write `name = \"…\"`");
        assert_eq!(only_fault(quote!(type = "Name")), "write `type = Name`");
        assert!(only_fault(quote!(failure_mode = "panic")).contains("`failure_mode = \"return\"`"));
        assert!(only_fault(quote!(annotate = Cost)).contains("annotate(expression, …)"));
        assert!(only_fault(quote!(name = "")).contains("empty"));
    }

    #[test]
    fn the_crate_can_be_elsewhere() {
        assert!(steps(quote!(crate = haft_executor, readonly)).contains("haft_executor :: macro_support :: Readonly"));
    }
}
