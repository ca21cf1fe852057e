//! Tool names, as the model reads them, and the names of the types generated for tools.

use proc_macro2::Ident;
use syn::LitStr;
use syn::ext::IdentExt;

/// The longest tool name, in bytes: the same as haft's `MAX_NAME_LEN`.
const LONGEST: usize = 512;

/// Types that a tool's type must not shadow: most of a module stops compiling without them.
const PRELUDE: [&str; 12] =
    ["Box", "Clone", "Default", "Drop", "From", "Into", "Iterator", "Option", "Result", "String", "Vec", "Self"];

/// Checks a tool's name as the definition would at run time.
pub(crate) fn check_tool_name(literal: &LitStr) -> syn::Result<()> {
    let name = literal.value();
    let fault = if name.trim().is_empty() {
        "a tool's name can't be empty or blank: write the name that the model calls".to_owned()
    } else if name.len() > LONGEST {
        format!("a tool's name can't be longer than {LONGEST} bytes, and this has {}: write a shorter one", name.len())
    } else if let Some(control) = name.chars().find(|c| c.is_control()) {
        format!("a tool's name can't contain the control character {control:?}: leave it out")
    } else {
        return Ok(());
    };
    Err(syn::Error::new(literal.span(), fault))
}

/// Returns the name of the type that is generated for a function: `GetWeather` for `get_weather`.
pub(crate) fn type_of_function(function: &Ident) -> syn::Result<Ident> {
    let name = pascal_case(&function.unraw().to_string());
    let fault = if name.is_empty() {
        format!("no type can be named after `{function}`: name it with `#[tool(type = Name)]`")
    } else if PRELUDE.contains(&name.as_str()) {
        format!("the tool's type would hide `{name}`: name it with `#[tool(type = {name}Tool)]`")
    } else {
        return Ok(Ident::new(&name, function.span()));
    };
    Err(syn::Error::new(function.span(), fault))
}

/// Splits a type name into words: "unknown city" for `UnknownCity`.
pub(crate) fn words(name: &str) -> String {
    let mut text = String::new();
    let mut after_lower = false;
    for letter in name.chars() {
        let is_break = letter == '_' || (letter.is_uppercase() && after_lower);
        if is_break && !text.is_empty() {
            text.push(' ');
        }
        if letter != '_' {
            text.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    text
}

/// Converts to Pascal case: `GetWeather` for `get_weather`.
pub(crate) fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.split('_').map(word).collect()
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn type_of(function: &str) -> Result<String, String> {
        let function: Ident = syn::parse_str(function).unwrap();
        type_of_function(&function).map(|name| name.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_type_is_named_after_its_function() {
        for (function, name) in [
            ("get_weather", "GetWeather"),
            ("now", "Now"),
            ("_draft", "Draft"),
            ("r#match", "Match"),
            ("get2d_map", "Get2dMap"),
            ("fetchURL", "FetchURL"),
            ("größe_messen", "GrößeMessen"),
        ] {
            assert_eq!(type_of(function).as_deref(), Ok(name));
        }
    }

    #[test]
    fn a_type_that_shadows_the_prelude_is_rejected() {
        assert!(type_of("string").unwrap_err().contains("#[tool(type = StringTool)]"));
        assert!(type_of("self_").unwrap_err().contains("`Self`"));
        assert!(type_of("__").unwrap_err().contains("#[tool(type = Name)]"));
    }

    #[test]
    fn names_are_checked_as_at_run_time() {
        let check = |name: &str| check_tool_name(&LitStr::new(name, Span::call_site())).map_err(|e| e.to_string());
        assert!(check("get weather/now").is_ok());
        assert!(check(&"x".repeat(512)).is_ok());
        assert!(check(&"x".repeat(513)).unwrap_err().contains("513"));
        assert!(check("").unwrap_err().contains("empty"));
        assert!(check(" \u{2003}").unwrap_err().contains("blank"));
        assert!(check("a\nb").unwrap_err().contains(r"'\n'"));
    }

    #[test]
    fn a_name_can_be_read_as_words() {
        assert_eq!(words("UnknownCity"), "unknown city");
        assert_eq!(words("HTTPError"), "httperror");
        assert_eq!(words("Not_Found2Times"), "not found2 times");
        assert_eq!(words("X"), "x");
    }
}
