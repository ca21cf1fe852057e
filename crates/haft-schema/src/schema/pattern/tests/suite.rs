//! The cases of the official suite for `pattern` and for ECMA-262 expressions.

use super::{check, compile};

const FRENCH: &str = "une école d'hiver";
const PLAIN: &str = "une ecole d'hiver";
const LOUD: &str = "UNE ÉCOLE D'HIVER";

#[test]
fn patterns_of_the_suite_match_as_expected() {
    check(&[
        ("^a*$", &["aaa"], &["abc"]),
        ("a+", &["xxaayy"], &[]),
        (r"^\p{Letter}+$", &["Hello", "π"], &["123"]),
        ("^abc$", &["abc"], &["abc\n", r"abc\n"]),
        (r"^\t$", &["\t"], &[r"\t"]),
        (r"^\cC$", &["\u{3}"], &[r"\cC"]),
        (r"^\cc$", &["\u{3}"], &[r"\cc"]),
        (r"^\d$", &["0"], &["\u{7c0}"]),
        (r"^\D$", &["\u{7c0}"], &["0"]),
        (r"^\w$", &["a"], &["é"]),
        (r"^\W$", &["é"], &["a"]),
        (
            r"^\s$",
            &[" ", "\t", "\u{b}", "\u{c}", "\u{a0}", "\u{feff}", "\n", "\u{2029}", "\u{2003}"],
            &["\u{1}", "\u{2013}"],
        ),
        (
            r"^\S$",
            &["\u{1}", "\u{2013}"],
            &[" ", "\t", "\u{b}", "\u{c}", "\u{a0}", "\u{feff}", "\n", "\u{2029}", "\u{2003}"],
        ),
        (r"\p{Letter}cole", &[PLAIN, FRENCH], &[LOUD]),
        (r"\wcole", &[PLAIN], &[FRENCH, LOUD]),
        ("[a-z]cole", &[PLAIN], &[FRENCH]),
        (r"^\d+$", &["42"], &["-%#", "৪২"]),
        (r"^\p{digit}+$", &["42", "৪২"], &["-%#"]),
        ("^🐲*$", &["", "🐲", "🐲🐲"], &["🐉", "🐉🐉", "D"]),
    ]);
}

#[test]
fn the_regex_format_cases_of_the_suite_pass() {
    for source in ["(?<name>x)", r"(?<n>a)\k<n>", "(?<=a+)b", "[]", "[^]", r"\cA", "([abc])+\\s+$"] {
        assert!(compile(source).is_ok(), "{source}");
    }
    for source in
        [r"\a", "(?P<name>x)", "(?P<n>a)(?P=n)", "(?#comment)a", "(?i)abc", "(?ims)abc", "^(abc]", r"^\S(|(.|\n)*\S)\Z"]
    {
        assert!(compile(source).is_err(), "{source}");
    }
}
