//! An attribute's arguments: `name`, `name = value` and `name(…)`, separated by commas.
//!
//! Reading has two steps, so that one mistake doesn't hide the next. First the text is split into arguments, whatever
//! they mean; then each macro takes the ones it knows by name and parses the kind of value it expects.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Token, Type};

use crate::diagnostic::Diagnostics;
use crate::nearest::suggestion;

/// One argument.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) value: ArgumentValue,
}

/// The part of an argument after its name.
#[derive(Debug)]
pub(crate) enum ArgumentValue {
    /// No value: `readonly`.
    Bare,
    /// `name = value`.
    Assigned(TokenStream),
    /// `name(…)`.
    List(TokenStream),
}

/// One attribute's arguments, each known and, unless it may be repeated, unique.
#[derive(Debug, Default)]
pub(crate) struct Arguments(Vec<Argument>);

/// The names that an attribute accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownArguments {
    /// The attribute as users write it, for messages: `#[tool]`.
    pub(crate) attribute: &'static str,
    pub(crate) names: &'static [&'static str],
    pub(crate) repeatable: &'static [&'static str],
}

impl Arguments {
    /// Reads arguments and reports those that are unknown or given twice.
    pub(crate) fn read(tokens: TokenStream, known: KnownArguments, diagnostics: &mut Diagnostics) -> Self {
        let mut all = Self::default();
        all.extend(tokens, known, diagnostics);
        all
    }

    /// Reads the arguments from one more attribute of the same kind.
    pub(crate) fn extend(&mut self, tokens: TokenStream, known: KnownArguments, diagnostics: &mut Diagnostics) {
        for argument in diagnostics.keep(split.parse2(tokens)).unwrap_or_default() {
            let name = argument.text();
            if !known.names.contains(&name.as_str()) {
                let suggestion = suggestion(&name, known.names);
                let message = format!("`{}` has no argument `{name}`: {suggestion}", known.attribute);
                diagnostics.reject(&argument.name, message);
            } else if !known.repeatable.contains(&name.as_str()) && self.0.iter().any(|other| other.text() == name) {
                diagnostics.reject(&argument.name, format!("`{name}` is given twice: keep one"));
            } else {
                self.0.push(argument);
            }
        }
    }

    /// Removes and returns the argument with this name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Argument> {
        let index = self.0.iter().position(|argument| argument.text() == name)?;
        Some(self.0.remove(index))
    }

    /// Removes and returns all arguments with this name.
    pub(crate) fn take_all(&mut self, name: &str) -> Vec<Argument> {
        std::iter::from_fn(|| self.take(name)).collect()
    }
}

impl Argument {
    /// Returns the name's span.
    pub(crate) fn span(&self) -> Span {
        self.name.span()
    }

    /// Reads a flag: `name`, `name = true` or `name = false`.
    pub(crate) fn flag(&self) -> syn::Result<bool> {
        let form = || self.form(&format!("`{0}` or `{0} = false`", self.name));
        match &self.value {
            ArgumentValue::Bare => Ok(true),
            ArgumentValue::Assigned(tokens) => match syn::parse2(tokens.clone()) {
                Ok(ExprLit { lit: Lit::Bool(literal), .. }) => Ok(literal.value),
                _ => Err(form()),
            },
            ArgumentValue::List(_) => Err(form()),
        }
    }

    /// Reads `name = "text"`.
    pub(crate) fn text_value(&self) -> syn::Result<LitStr> {
        self.assigned(&format!("`{} = \"…\"`", self.name))
    }

    /// Reads `name = value`, for a value that can be parsed as a `T`; `form` is the correct notation, for the error.
    pub(crate) fn assigned<T: Parse>(&self, form: &str) -> syn::Result<T> {
        match &self.value {
            ArgumentValue::Assigned(tokens) => syn::parse2(tokens.clone()).map_err(|_| self.form(form)),
            ArgumentValue::Bare | ArgumentValue::List(_) => Err(self.form(form)),
        }
    }

    /// Reads `name = "choice"`, with one of a few choices.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> syn::Result<T> {
        let forms: Vec<_> = choices.iter().map(|(choice, _)| format!("`{} = \"{choice}\"`", self.name)).collect();
        let forms = forms.join(" or ");
        let text: LitStr = self.assigned(&forms)?;
        let chosen = choices.iter().find(|(choice, _)| *choice == text.value());
        chosen.map(|(_, value)| *value).ok_or_else(|| self.form(&forms))
    }

    /// Creates the error for an argument that is written in another form.
    pub(crate) fn form(&self, form: &str) -> syn::Error {
        let message = format!("write {form}");
        match &self.value {
            ArgumentValue::Assigned(tokens) if !tokens.is_empty() => syn::Error::new_spanned(tokens, message),
            _ => syn::Error::new(self.span(), message),
        }
    }

    fn text(&self) -> String {
        self.name.unraw().to_string()
    }
}

/// Returns a string literal's text.
pub(crate) fn string_literal(expression: &Expr) -> Option<&LitStr> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}

fn split(input: ParseStream<'_>) -> syn::Result<Vec<Argument>> {
    let mut arguments = Vec::new();
    while !input.is_empty() {
        let name = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            ArgumentValue::Assigned(value_tokens(&name, input)?)
        } else if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            ArgumentValue::List(content.parse()?)
        } else {
            ArgumentValue::Bare
        };
        arguments.push(Argument { name, value });
        if !input.is_empty() {
            input.parse::<Token![,]>().map_err(|_| input.error("write a comma between two arguments"))?;
        }
    }
    Ok(arguments)
}

/// Reads a value's tokens, up to the next comma that is not part of it. A comma can be part of a closure, so
/// expressions are tried first, except where a type is expected: a type could be misread as an expression.
fn value_tokens(name: &Ident, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let is_type = matches!(
        name.unraw().to_string().as_str(),
        "as" | "type" | "crate" | "emits" | "params" | "success" | "failure"
    );
    if let Some(tokens) = whole::<Expr>(input).filter(|_| !is_type) {
        return consume::<Expr>(input, tokens);
    }
    if let Some(tokens) = whole::<Type>(input) {
        return consume::<Type>(input, tokens);
    }
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(tokens)
}

/// Returns the tokens of a `T` that extends to a comma or the end.
fn whole<T: Parse + ToTokens>(input: ParseStream<'_>) -> Option<TokenStream> {
    let ahead = input.fork();
    let value = ahead.parse::<T>().ok()?;
    (ahead.is_empty() || ahead.peek(Token![,])).then(|| value.to_token_stream())
}

fn consume<T: Parse>(input: ParseStream<'_>, tokens: TokenStream) -> syn::Result<TokenStream> {
    input.parse::<T>()?;
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::diagnostic::messages;

    const KNOWN: KnownArguments = KnownArguments {
        attribute: "#[tool]",
        names: &["name", "approval", "as", "readonly", "meta", "example", "mode"],
        repeatable: &["example"],
    };

    fn read(tokens: TokenStream) -> (Arguments, Vec<String>) {
        let mut diagnostics = Diagnostics::default();
        let arguments = Arguments::read(tokens, KNOWN, &mut diagnostics);
        (arguments, diagnostics.finish().map_or_else(|error| messages(&error), |()| Vec::new()))
    }

    fn assigned(arguments: &mut Arguments, name: &str) -> String {
        match arguments.take(name).unwrap().value {
            ArgumentValue::Assigned(tokens) => tokens.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_keep_their_own_commas() {
        let (mut arguments, faults) = read(quote! {
            approval = |p, cx| async move { f(p, cx) }, as = dyn Store<A, B>, meta = {"a": 1, "b": 2}, readonly
        });
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(assigned(&mut arguments, "approval"), quote!(|p, cx| async move { f(p, cx) }).to_string());
        assert_eq!(assigned(&mut arguments, "as"), quote!(dyn Store<A, B>).to_string());
        assert_eq!(assigned(&mut arguments, "meta"), quote!({"a": 1, "b": 2}).to_string());
        assert!(arguments.take("readonly").unwrap().flag().unwrap());
        assert!(arguments.take("readonly").is_none());
    }

    #[test]
    fn unknown_and_repeated_names_are_all_noted() {
        let (mut arguments, faults) =
            read(quote!(read_only, name = "a", name = "b", example = 1, example = 2, wrong(x)));
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].contains("`#[tool]` has no argument `read_only`: did you mean `readonly`?"), "{faults:?}");
        assert!(faults[1].contains("`name` is given twice"));
        assert!(faults[2].contains("write one of `name`"));
        assert_eq!(arguments.take_all("example").len(), 2);
    }

    #[test]
    fn a_wrong_form_reports_the_right_one() {
        let (mut arguments, _) = read(quote!(name = 3, readonly = "yes", mode = "x", as));
        let name = arguments.take("name").unwrap().text_value().unwrap_err();
        assert_eq!(name.to_string(), "write `name = \"…\"`");
        let readonly = arguments.take("readonly").unwrap().flag().unwrap_err();
        assert_eq!(readonly.to_string(), "write `readonly` or `readonly = false`");
        let mode = arguments.take("mode").unwrap().choice(&[("a", 1), ("b", 2)]).unwrap_err();
        assert_eq!(mode.to_string(), "write `mode = \"a\"` or `mode = \"b\"`");
        assert!(arguments.take("as").unwrap().assigned::<Type>("`as = dyn Clock`").is_err());
    }

    #[test]
    fn a_missing_comma_is_a_mistake() {
        let (_, faults) = read(quote!(readonly name = "x"));
        assert_eq!(faults, ["write a comma between two arguments"]);
    }
}
