//! Durations as written in attributes: `"500ms"`, `"30s"`, `"2m"`, `"1h"`.

use std::time::Duration;

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use crate::argument::Argument;

const FORM: &str = "write a whole number and a unit, such as \"500ms\", \"30s\", \"2m\" or \"1h\"";

/// Reads an argument's duration: `timeout = "5s"`.
pub(crate) fn of_argument(argument: &Argument) -> syn::Result<Duration> {
    let form = format!("`{} = \"5s\"`: a whole number and a unit, such as \"500ms\", \"5s\" or \"2m\"", argument.name);
    parse(&argument.assigned(&form)?)
}

/// Returns a duration's expression.
pub(crate) fn expression(duration: Duration) -> TokenStream {
    let (seconds, nanoseconds) = (duration.as_secs(), duration.subsec_nanos());
    quote!(::core::time::Duration::new(#seconds, #nanoseconds))
}

/// Reads a duration. Zero is rejected, because no call could finish in it.
fn parse(literal: &LitStr) -> syn::Result<Duration> {
    let text = literal.value();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let milliseconds = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err(syn::Error::new(literal.span(), format!("`{text}` is not a duration: {FORM}"))),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(milliseconds)) {
        Some(0) => Err(syn::Error::new(literal.span(), "a duration of zero lets no call finish: write a longer one")),
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        None => Err(syn::Error::new(literal.span(), format!("`{text}` is not a duration: {FORM}"))),
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn read(text: &str) -> Result<Duration, String> {
        parse(&LitStr::new(text, Span::call_site())).map_err(|error| error.to_string())
    }

    #[test]
    fn every_unit_is_read() {
        assert_eq!(read("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(read("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(read("2 m"), Ok(Duration::from_secs(120)));
        assert_eq!(read("1h"), Ok(Duration::from_secs(3600)));
    }

    #[test]
    fn other_forms_report_how_to_write_it() {
        for text in ["", "30", "s", "1.5s", "-1s", "1 day", "99999999999999999999s", "18446744073709551615h"] {
            assert!(read(text).unwrap_err().contains("\"30s\""), "{text}");
        }
        assert!(read("0s").unwrap_err().contains("zero"));
    }
}
