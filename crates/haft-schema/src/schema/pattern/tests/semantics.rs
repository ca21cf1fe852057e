//! The texts that each construct matches.

use super::check;

#[test]
fn literals_and_alternatives_are_searched_anywhere() {
    check(&[
        ("", &["", "a"], &[]),
        ("abc", &["abc", "xabcx", "ababc"], &["", "ab", "ABC"]),
        ("ana", &["banana", "aana"], &["aan"]),
        ("a|bc|", &["", "x"], &[]),
        ("^(?:a|bc)$", &["a", "bc"], &["", "abc", "b"]),
        ("^a|b$", &["ax", "xb"], &["xa", "bx"]),
        ("^a|^b", &["ax", "bx"], &["xa", "xb"]),
        ("é🐲", &["xé🐲x"], &["🐲é", "é"]),
        ("^🐲{2}$", &["🐲🐲"], &["🐲", "🐲🐲🐲"]),
        ("]", &["]"], &["["]),
        ("^a{$", &["a{"], &["a"]),
        ("^{}a}$", &["{}a}"], &["a"]),
        ("^a{b}$", &["a{b}"], &["ab"]),
        ("^a{1,b}$", &["a{1,b}"], &["a"]),
    ]);
}

#[test]
fn anchors_and_boundaries_test_positions() {
    check(&[
        ("^$", &[""], &["\n", "a"]),
        ("^a$", &["a"], &["a\n", "\na", "b\na\nb"]),
        ("a^", &[], &["a", "aa"]),
        ("$a", &[], &["a", ""]),
        ("(?:^)*a", &["a", "ba"], &["b"]),
        (r"\bcat\b", &["cat", "a cat.", "é cat é", "écat"], &["cats", "_cat", "cat1"]),
        (r"\Bcat", &["xcat", "1cat"], &["cat", "-cat"]),
        (r"^\B$", &[""], &["a"]),
        (r"^\b$", &[], &["", "a", "-"]),
    ]);
}

#[test]
fn dot_excludes_line_terminators() {
    check(&[
        ("^.$", &["a", "é", "🐲", "\t", "\u{85}"], &["", "\n", "\r", "\u{2028}", "\u{2029}", "ab"]),
        ("^.*$", &["", "ab"], &["a\nb"]),
        (r"^[\s\S]*$", &["", "a\nb"], &[]),
    ]);
}

#[test]
fn escapes_name_characters() {
    check(&[
        (r"^\t\n\v\f\r\0$", &["\t\n\u{b}\u{c}\r\0"], &["tnvfr0"]),
        (r"^\cA\cz$", &["\u{1}\u{1a}"], &["Az"]),
        (r"^\x41\u0042\u{43}\u{1F432}$", &["ABC🐲"], &["ABC"]),
        (r"^\u{000041}$", &["A"], &[]),
        (r"^\uD83D\uDC32$", &["🐲"], &[]),
        (r"^\ud83d\udc32+$", &["🐲🐲"], &["🐲x"]),
        (r"^a|\uD83D|\uDC32$", &["a"], &["🐲", "b"]),
        (r"^\uD83D\u0041$", &[], &["A", "🐲A"]),
        (r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$", &["^$\\.*+?()[]{}|/"], &[]),
        (r#"^\-\_\"\'\@\#\ \:\;\,\<\>\=\!\%\&\~\`$"#, &["-_\"'@# :;,<>=!%&~`"], &[]),
        (r"^\é$", &["é"], &[]),
    ]);
}

#[test]
fn shorthands_are_ascii_except_space() {
    check(&[
        (r"^\d+$", &["0123456789"], &["", "a", "٣", "²"]),
        (r"^\D$", &["a", "٣", "é"], &["0", "9"]),
        (r"^\w+$", &["azAZ09_"], &["é", "-", "ſ"]),
        (r"^\W$", &["é", "-", "🐲"], &["a", "_", "0"]),
        (
            r"^\s+$",
            &[" \t\n\u{b}\u{c}\r\u{a0}\u{1680}\u{2000}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}"],
            &["a", "\u{180e}", "\u{200b}", "\u{85}"],
        ),
        (r"^\S$", &["a", "\u{200b}", "\0"], &[" ", "\u{feff}", "\n"]),
    ]);
}

#[test]
fn classes_list_characters() {
    check(&[
        ("[]", &[], &["", "a"]),
        ("^[^]$", &["a", "\n", "🐲"], &["", "ab"]),
        ("^a|[]b$", &["a"], &["b"]),
        ("^[abc]$", &["a", "c"], &["d", "", "ab"]),
        ("^[^abc]$", &["d", "é", "\n"], &["a", ""]),
        ("^[a-cx-z]$", &["b", "y"], &["d", "-"]),
        ("^[à-ü🐰-🐳]$", &["é", "🐲"], &["e", "z", "🐱🐱"]),
        ("^[^à-ü]$", &["e", "🐲"], &["é"]),
        ("^[-a]$", &["-", "a"], &["b"]),
        ("^[a-]$", &["-", "a"], &["b"]),
        ("^[+--]$", &["+", ",", "-"], &["."]),
        ("^[a^]$", &["a", "^"], &["b"]),
        ("^[[]$", &["["], &["]"]),
        (r"^[\]\-\\]$", &["]", "-", "\\"], &["a"]),
        (r"^[\b]$", &["\u{8}"], &["b"]),
        (r"^[\d\-x]$", &["5", "-", "x"], &["a"]),
        (r"^[\w-.]$", &["a", "-", "."], &["/", "+"]),
        (r"^[.-\w]$", &["a", "-", "."], &["/"]),
        (r"^[^\W_]$", &["a", "0"], &["_", "-", "é"]),
        (r"^[\D]$", &["a"], &["1"]),
        (r"^[\x41-\u{43}]$", &["B"], &["D"]),
        (r"^[\uD83D\uDC30-\uD83D\uDC33]$", &["🐲"], &["🐴"]),
        (r"^[^\uD800-\uDFFF]$", &["a", "🐲"], &[""]),
        (r"^[\0-\x1f]$", &["\0", "\n"], &[" "]),
        ("^[.*+?(){}|$/]$", &[".", "*", "{", "$", "|"], &["a"]),
    ]);
}

#[test]
fn properties_are_general_categories_and_some_binary_ones() {
    check(&[
        (r"^\p{L}+$", &["aéßπЖ中"], &["1", "-", "🐲"]),
        (r"^\p{Letter}\p{gc=Lu}\p{General_Category=Decimal_Number}$", &["éÉ٣"], &["éé3"]),
        (r"^\P{L}$", &["1", "🐲"], &["a", "é"]),
        (r"^[\p{Lu}\p{Nd}_]+$", &["ÉA٣_"], &["é"]),
        (r"^[^\p{Lu}\P{L}]+$", &["aé"], &["A", "1"]),
        (r"^\p{LC}$", &["a", "A", "ǅ"], &["中"]),
        (r"^\p{P}$", &["!", "«", "_"], &["+", "a"]),
        (r"^\p{punct}\p{digit}\p{cntrl}\p{Combining_Mark}$", &["!٣\u{1}\u{301}"], &[]),
        (r"^\p{Sc}\p{Sm}\p{Zs}$", &["€+ "], &["$$ "]),
        (r"^\p{Cn}$", &["\u{378}"], &["a"]),
        (r"^\p{Assigned}$", &["a"], &["\u{378}"]),
        (r"^\p{Any}\p{ASCII}\P{ASCII}$", &["éaé"], &["éaa", "ééé"]),
        (r"^\P{Any}$", &[], &["a", ""]),
        (r"^\p{Alphabetic}\p{Uppercase}\p{Lowercase}\p{White_Space}$", &["ⅷÉé\u{85}"], &["1Éé ", "aaé "]),
        (r"^[^\P{Alpha}\p{Lower}\p{space}]$", &["A"], &["a", "1", " "]),
        (r"^\p{Emoji}$", &["🐲", "1"], &["a"]),
    ]);
}

#[test]
fn quantifiers_bound_repetitions() {
    check(&[
        ("^a*$", &["", "aaa"], &["b"]),
        ("^a+$", &["a", "aaa"], &[""]),
        ("^a?$", &["", "a"], &["aa"]),
        ("^a{2}$", &["aa"], &["a", "aaa"]),
        ("^a{2,}$", &["aa", "aaaa"], &["a"]),
        ("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]),
        ("^a{0}$", &[""], &["a"]),
        ("^a{0,0}b$", &["b"], &["ab"]),
        ("^(?:ab){2,3}$", &["abab", "ababab"], &["ab", "abababab", "aba"]),
        ("^(?:a|b+){3}$", &["abb", "bbb", "aaa"], &["ab"]),
        ("^(?:(?:a{2}){2}){2}$", &["aaaaaaaa"], &["aaaa", "aaaaaaaaa"]),
        ("^a*?b+?c??d{2,3}?$", &["bdd", "aabbcddd"], &["add"]),
        ("^(?:a*)*$", &["", "aaa"], &["b"]),
        ("^(?:a*)+$", &["", "aaa"], &["b"]),
        ("^(?:){0,3}(?:a{0}){5}$", &[""], &["a"]),
        ("^(?:|a){3}$", &["", "aaa"], &["aaaa"]),
    ]);
}

#[test]
fn long_repetitions_of_a_set_are_counted() {
    let text = |count: usize| "x".repeat(count);
    let (short, low, high, long) = (text(9), text(10), text(20), text(21));
    let bounds: &[&str] = &[&low, &high];
    check(&[
        ("^x{10,20}$", bounds, &[&short, &long, ""]),
        ("^[^y]{10,20}$", bounds, &[&short, &long, ""]),
        ("^x{10,}$", &[&low, &long], &[&short]),
        ("^x{0,20}$", &["", &short, &high], &[&long]),
        ("x{10}", &[&low, &long], &[&short, "xxxxxxxxx xxxxxxxxx"]),
        ("y?x{10,20}z", &["xxxxxxxxxxz", "a xxxxxxxxxxxxxxxxxxxxxxxxxxxxz"], &["xxxxxxxxxz", "xxxxxyxxxxxz"]),
        ("^y?x{10,20}z", &["yxxxxxxxxxxz", "xxxxxxxxxxz"], &["yyxxxxxxxxxxz", "yxxxxxxxxxz"]),
        ("^(?:x{9,10}y?)+$", &[&short, &low, "xxxxxxxxxyxxxxxxxxx"], &["xxxxxxxxyx", "xxxxxxxxxx-xx"]),
        ("^(?:a|x{9,12}){2}$", &["axxxxxxxxx", "aa", &text(18), &text(24)], &[&text(17), &text(25), "a"]),
        ("(?<=x{10,12}y)z", &["xxxxxxxxxxyz", "xxxxxxxxxxxxxxxyz"], &["xxxxxxxxxyz"]),
        ("a(?=x{10,12}y)", &["axxxxxxxxxxy"], &["axxxxxxxxxy", "axxxxxxxxxxxxxy"]),
        ("^x{1,4294967296}$", &["x"], &[""]),
        ("^.{0,100000}$", &[&long], &["\n"]),
    ]);
}

#[test]
fn lookarounds_test_without_reading() {
    check(&[
        ("a(?=b)", &["ab"], &["a", "ac"]),
        ("a(?!b)", &["a", "ac", "aba"], &["ab"]),
        ("(?<=a)b", &["ab"], &["b", "cb"]),
        ("(?<!a)b", &["b", "cb", "abb"], &["ab"]),
        ("(?<=a+c?)b$", &["aab", "acb"], &["b", "accb"]),
        ("^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d).{8,}$", &["abcdEF12"], &["abcdef12", "aB1", "ABCD1234"]),
        ("^(?!.*--)[a-z-]+$", &["a-b"], &["a--b"]),
        ("(?=(?!b)[a-c])(?<!(?<=x)y)c", &["c", "yc"], &["xyc", "b"]),
        ("(?<=(?=ab)a)b", &["ab"], &["b"]),
        ("(?:(?=a)a|(?=b)b){2}", &["ab"], &["a"]),
        ("(?<=^é)🐲(?=$)", &["é🐲"], &["é🐲 ", "xé🐲"]),
        ("^(?:a(?=.*z))*b", &["aabz", "bz", "b"], &["ab"]),
    ]);
    let long = format!("{}end", "x".repeat(500));
    check(&[("x(?=end)", &[&long], &[]), ("(?<=x{500})end(?!x)", &[&long], &[]), ("(?<=x{501})end", &[], &[&long])]);
}

#[test]
fn backreferences_match_the_captured_text() {
    check(&[
        (r"^(a|b)\1$", &["aa", "bb"], &["ab"]),
        (r"^(?<q>['\x22]).*?\k<q>$", &["'a'", "\"a\""], &["'a\""]),
        (r"^\1(a)$", &["a"], &["aa"]),
        (r"^\k<n>(?<n>a)$", &["a"], &["aa"]),
        (r"^(?:(a)|b)*\1$", &["aa", "ab", "b"], &["aba"]),
        (r"^(a\1)$", &["a"], &["aa"]),
        (r"^(?:(a)|(b)){2}\1\2$", &["abb", "baa"], &["aba"]),
        (r"^(z)((a+)?(b+)?(c))*\4?$", &["zaacbbbcac"], &["z1"]),
        (r"^(a*)*\1b$", &["b", "aab"], &["c"]),
        (r"^(?=(a+))\1b$", &["aab"], &["ab a"]),
        // The lookahead is not entered again to capture less.
        (r"^(?=(a+))a*b\1$", &["aaabaaa"], &["aaaba"]),
        (r"^(?!(a)b)\1a", &["a", "ac"], &["ab"]),
        (r"(?<=\1(a))b", &["aab"], &["ab"]),
        (r"(?<=(a)\1)b", &["ab", "aab"], &["b"]),
        (r"(?<=([ab]+)([bc]+))$", &["abc"], &["a"]),
        (r"^(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)\10$", &["abcdefghijj"], &["abcdefghija"]),
        (r"^(é🐲)-\1$", &["é🐲-é🐲"], &["é🐲-é"]),
        (r"^(a??)\1b$", &["b", "aab"], &["ab"]),
        (r"^(?:(a)|b){1,2}?c\1$", &["aca", "baca", "abc", "bc"], &["ac", "bac"]),
        (r"\b(\w+) \1\b", &["the the end"], &["the end"]),
        (r"^(?:()|a)+\1$", &["", "a", "aa"], &["b"]),
        (r"^(?:a|(){2})\1{3,4}b?$", &["a", "b", "ab"], &["bb"]),
    ]);
}
