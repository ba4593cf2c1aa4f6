//! As much of Rust's lexical structure as a line scan needs: which characters are code, which lines are tests.

/// The source with comments and the insides of strings and character literals replaced by spaces.
///
/// Line breaks stay where they are, so a line number in the result is one in the source.
pub(crate) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = token_end(bytes, at);
        let blanked = end > at + 1;
        for &byte in &bytes[at..end] {
            code.push(if blanked && byte != b'\n' { b' ' } else { byte });
        }
        at = end;
    }
    // Whole tokens were blanked, so the rest is still UTF-8.
    String::from_utf8_lossy(&code).into_owned()
}

/// For every line of blanked code, whether it belongs to an item under `#[cfg(test)]`.
pub(crate) fn test_lines(code: &str) -> Vec<bool> {
    let mut is_test = vec![false; code.lines().count()];
    let mut from = 0;
    while let Some(found) = find_test_attribute(&code[from..]) {
        let start = from + found;
        let end = item_end(code, start);
        let first = code[..start].matches('\n').count();
        let last = code[..end].matches('\n').count();
        for line in is_test.iter_mut().take(last + 1).skip(first) {
            *line = true;
        }
        from = end;
    }
    is_test
}

/// Where `word` stands in the line as a whole word: not as a part of a longer identifier.
pub(crate) fn find_word(line: &str, word: &str) -> Option<usize> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).map(|(at, _)| at).find(|&at| {
        let before = line[..at].chars().next_back().is_some_and(inside);
        let after = word.ends_with(inside) && line[at + word.len()..].chars().next().is_some_and(inside);
        !before && !after
    })
}

/// One past the last byte of the comment or literal that starts here, or `at + 1` if none does.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return at + block_comment_length(rest);
    }
    match rest[0] {
        b'"' => at + string_length(rest),
        b'r' if may_start_raw_string(&bytes[..at]) => at + raw_string_length(rest).unwrap_or(1),
        b'\'' => at + char_length(rest).unwrap_or(1),
        _ => at + 1,
    }
}

fn block_comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Whether an `r` after these bytes can open a raw string: alone, or after the `b` or `c` of `br"..."` or `cr"..."`.
fn may_start_raw_string(before: &[u8]) -> bool {
    let identifier = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    identifier == 0 || (identifier == 1 && matches!(before.last(), Some(b'b' | b'c')))
}

fn raw_string_length(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let closing: Vec<u8> = std::iter::once(b'"')
        .chain(std::iter::repeat_n(b'#', hashes))
        .collect();
    let body = &rest[2 + hashes..];
    let length = body.windows(closing.len()).position(|window| window == closing);
    Some(length.map_or(rest.len(), |length| 2 + hashes + length + closing.len()))
}

/// The length of a character literal; `None` for a lifetime.
fn char_length(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        // The escaped character itself may be a quote.
        return rest
            .get(3..)?
            .iter()
            .position(|&b| b == b'\'')
            .map(|length| 4 + length);
    }
    let first = std::str::from_utf8(&rest[1..rest.len().min(5)]);
    let valid = match &first {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&rest[1..1 + error.valid_up_to()]).ok()?,
    };
    let length = valid.chars().next()?.len_utf8();
    (rest.get(1 + length) == Some(&b'\'')).then_some(2 + length)
}

fn find_test_attribute(code: &str) -> Option<usize> {
    ["#[cfg(test)]", "#[cfg(all(test"]
        .iter()
        .filter_map(|attribute| code.find(attribute))
        .min()
}

/// One past the end of the item that starts at `start`: its first `;` outside of braces, or its closing brace.
fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code[start..].bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return start + offset + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return start + offset + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_are_blanked_and_lifetimes_kept() {
        let source =
            "a // x\nb /* y /* z */ */ c\nd(\"s\\\"t\", r#\"u\"v\"#, br\"w\", '\\'', '{', 'é'); &'e f";
        let code = code_only(source);
        assert_eq!(
            code.split_whitespace().collect::<Vec<_>>().join(" "),
            "a b c d( , , b , , , ); &'e f"
        );
        assert_eq!(code.matches('\n').count(), 2);
    }

    #[test]
    fn an_unfinished_string_or_comment_ends_with_the_file() {
        assert_eq!(code_only("a \"bc").trim_end(), "a");
        assert_eq!(code_only("a /* bc").trim_end(), "a");
        assert_eq!(code_only("a r#\"bc\"").trim_end(), "a");
        assert_eq!(code_only("a '"), "a '");
    }

    #[test]
    fn test_items_are_marked_to_their_closing_brace() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}\n";
        assert_eq!(
            test_lines(code),
            [false, true, true, true, true, false, true, true, false]
        );
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(find_word("eprintln!(); println!()", "println!"), Some(13));
        assert_eq!(find_word("forbid(unsafe_code)", "unsafe"), None);
        assert_eq!(find_word("unsafe { x }", "unsafe"), Some(0));
    }
}
