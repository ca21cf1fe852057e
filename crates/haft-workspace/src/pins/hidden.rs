//! Characters that a person does not see and a model reads.

/// Returns the first character of a text that people do not see, or that reorders what they see.
pub(super) fn hidden_character(text: &str) -> Option<char> {
    let mut before = None;
    text.chars().find(|&character| {
        let is_hidden = is_hidden(character, before);
        before = Some(character);
        is_hidden
    })
}

fn is_hidden(character: char, before: Option<char>) -> bool {
    match character {
        '\n' | '\r' | '\t' => false,
        // Parts of emoji and of scripts such as Devanagari; after anything else they carry hidden data.
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => {
            before.is_none_or(|before| before.is_ascii_alphabetic() || is_joiner(before) || before.is_whitespace())
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// Reports whether a character joins or varies the one before it.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::hidden_character;

    #[test]
    fn visible_text_of_any_script_is_fine() {
        for text in
            ["a b\n\tc\r\n", "naïve – “quoted” …", "字 かな 한국어", "عربي עברית", "क्‍ष नमस्ते", "👩‍👩‍👧 ❤️ 1️⃣ ☑︎", "5\u{a0}km"]
        {
            assert_eq!(hidden_character(text), None, "{text}");
        }
    }

    #[test]
    fn what_nobody_sees_is_found() {
        for hidden in
            ['\u{0}', '\u{1b}', '\u{7f}', '\u{9b}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}']
        {
            assert_eq!(hidden_character(&format!("a{hidden}b")), Some(hidden));
        }
        assert_eq!(hidden_character("a\u{200d}b"), Some('\u{200d}'));
        assert_eq!(hidden_character("❤\u{fe0f}\u{fe01}"), Some('\u{fe01}'));
        assert_eq!(hidden_character("x\u{fe05}"), Some('\u{fe05}'));
    }
}
