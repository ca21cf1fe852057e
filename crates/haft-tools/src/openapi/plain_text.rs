//! Plain text of descriptions that contain HTML.
//!
//! Documents may write Markdown, and many write HTML in it. A model reads text, and pays for each tag. Only elements
//! that HTML has are tags: `<id>` and `a < b` stay, and so does a URL in angle brackets. The work is linear in the text.

use std::borrow::Cow;

/// The effect of a tag on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// None: the tag is left out.
    Nothing,
    /// A line ends.
    Line,
    /// A paragraph ends.
    Paragraph,
    /// An item of a list begins.
    Item,
    /// Code begins or ends.
    Code,
    /// The next cell of a table begins.
    Cell,
}

/// The elements without an effect of their own.
const INLINE: [&str; 24] = [
    "a", "abbr", "b", "del", "em", "font", "i", "img", "ins", "kbd", "mark", "s", "small", "span", "strong", "sub",
    "sup", "tbody", "tfoot", "thead", "tt", "u", "var", "wbr",
];

/// The characters that have names.
const NAMED: [(&str, char); 9] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
];

/// The longest name of a character, or its number.
const LONGEST_NAME: usize = 8;

/// Returns a text without tags, with characters in place of their names.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '&']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((effect, behind)) = tag(rest) {
            effect.apply(&mut plain);
            rest = behind;
        } else if let Some((character, behind)) = named_character(rest) {
            plain.push(character);
            rest = behind;
        } else {
            plain.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

impl Effect {
    fn of(element: &str, is_end: bool) -> Option<Self> {
        Some(match element {
            _ if INLINE.contains(&element) => Self::Nothing,
            "br" | "div" | "dt" | "hr" | "tr" => Self::Line,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "ul" | "ol" | "dl" | "table" | "blockquote" | "details"
            | "pre" | "summary" => Self::Paragraph,
            "li" | "dd" | "td" | "th" if is_end => Self::Nothing,
            "li" | "dd" => Self::Item,
            "code" => Self::Code,
            "td" | "th" => Self::Cell,
            _ => return None,
        })
    }

    fn apply(self, text: &mut String) {
        match self {
            Self::Nothing => {}
            Self::Code => text.push('`'),
            Self::Cell if text.ends_with(['\n', ' ']) || text.is_empty() => {}
            Self::Cell => text.push(' '),
            Self::Line => end_lines(text, 1),
            Self::Item => {
                end_lines(text, 1);
                text.push_str("- ");
            }
            Self::Paragraph => end_lines(text, 2),
        }
    }
}

/// Ends a text with at least so many line breaks, and an empty line at most, unless it is empty.
fn end_lines(text: &mut String, breaks: usize) {
    let end = text.trim_end_matches([' ', '\t', '\n']).len();
    let known = text[end..].matches('\n').count().min(2);
    text.truncate(end);
    if end > 0 {
        text.extend(std::iter::repeat_n('\n', breaks.max(known)));
    }
}

/// Reads the tag that a text begins with. Returns its effect and what follows.
fn tag(text: &str) -> Option<(Effect, &str)> {
    let inside = text.strip_prefix('<')?;
    // The next `<` ends the search, so that every byte is searched once.
    let end = inside.find(['<', '>']).filter(|end| inside[*end..].starts_with('>'))?;
    let (inside, behind) = (&inside[..end], &inside[end + 1..]);
    let (name, is_end) = inside.strip_prefix('/').map_or((inside, false), |name| (name, true));
    let name = name.split([' ', '\t', '\n', '\r', '/']).next().unwrap_or_default();
    Some((Effect::of(&name.to_ascii_lowercase(), is_end)?, behind))
}

/// Reads the name or number of a character that a text begins with.
fn named_character(text: &str) -> Option<(char, &str)> {
    let inside = text.strip_prefix('&')?;
    let end = inside.bytes().take(LONGEST_NAME + 1).position(|byte| byte == b';')?;
    let (name, behind) = (&inside[..end], &inside[end + 1..]);
    let character = match name.strip_prefix('#') {
        None => NAMED.iter().find(|(known, _)| *known == name)?.1,
        Some(number) => {
            let number = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(number).filter(|character| !character.is_control())?
        }
    };
    Some((character, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_text() {
        for (html, text) in [
            (
                "<p>Creates an <a href=\"/docs\">order</a>.</p>\n<p>Then <code>pay</code> it.</p>",
                "Creates an order.\n\nThen `pay` it.",
            ),
            ("One of:<ul><li>red</li><li><b>blue</b></li></ul>", "One of:\n\n- red\n- blue"),
            ("a<br>b<BR/>c", "a\nb\nc"),
            ("See<pre><code>x = 1</code></pre>", "See\n\n`x = 1`"),
            ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
            ("Tom &amp; Jerry &lt;x&gt; &#39;&#x41;&nbsp;&mdash;", "Tom & Jerry <x> 'A —"),
        ] {
            assert_eq!(plain(html).trim(), text, "{html}");
        }
    }

    #[test]
    fn what_is_no_html_stays() {
        for text in [
            "a < b && c > d",
            "the `<id>` of <https://a.example>",
            "x<y",
            "<",
            "&",
            "&amp",
            "&nosuch; &#0; &#xd800; &#;",
            "<p",
            "ü <ä> ö",
        ] {
            assert_eq!(plain(text), text);
        }
        // A name is read once.
        assert_eq!(plain("&amp;lt;"), "&lt;");
    }
}
