//! Markdown as far as the tasks read it: prose apart from code, links, and the anchors of headings.

/// The path `target`, seen from the folder of the file `from`; `None` if it climbs above the root.
pub(crate) fn join(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Line number and target of every link, inline or in a reference definition.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code_and_math(line);
        if let Some((label, target)) = line.strip_prefix('[').and_then(|line| line.split_once("]: "))
            && !label.starts_with('^')
            && !label.contains(']')
        {
            found.extend(first_word(target).map(|target| (number, target)));
            continue;
        }
        for (at, opening) in line.match_indices("](") {
            let inside = &line[at + opening.len()..];
            found.extend(first_word(&inside[..closing(inside)]).map(|target| (number, target)));
        }
    }
    found
}

/// The target without its title or its angle brackets.
fn first_word(target: &str) -> Option<String> {
    let target = target.trim();
    match target.strip_prefix('<').and_then(|inner| inner.split_once('>')) {
        Some((inner, _)) => Some(inner.to_owned()),
        None => target.split_whitespace().next().map(str::to_owned),
    }
}

/// Where the parenthesis that is open at the start is closed.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The numbered lines outside of fenced code and displayed mathematics.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut open: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        match open {
            Some(mark) if closes(start.trim_end(), mark) => open = None,
            Some(_) => {}
            None => {
                open = fence(start);
                if open.is_none() && !start.starts_with("$$") {
                    lines.push((index + 1, line));
                }
            }
        }
    }
    lines
}

/// The mark that has to end the block which this line opens, if it opens one.
fn fence(line: &str) -> Option<&str> {
    for mark in ['`', '~'] {
        let length = line.chars().take_while(|&c| c == mark).count();
        // A line with more backticks behind the first ones starts with a code span.
        if length >= 3 && !line[length..].contains(mark) {
            return Some(&line[..length]);
        }
    }
    let is_one_line = line.len() > 2 && line.trim_end().ends_with("$$");
    (line.starts_with("$$") && !is_one_line).then(|| &line[..2])
}

/// Whether a line ends the block that this mark opened.
fn closes(line: &str, mark: &str) -> bool {
    let only_marks = line.chars().all(|c| mark.starts_with(c));
    if mark == "$$" {
        line.ends_with(mark)
    } else {
        only_marks && line.len() >= mark.len()
    }
}

/// The line without the spans between backticks or dollar signs, which may look like links.
fn without_code_and_math(line: &str) -> String {
    let mut kept = line.to_owned();
    for mark in ['`', '$'] {
        let pieces: Vec<&str> = kept.split(mark).collect();
        // With an odd number of marks the last one is a character like any other.
        let paired = (pieces.len() - 1) / 2 * 2;
        let outside = |index: usize| index.is_multiple_of(2) || index > paired;
        kept = pieces
            .iter()
            .enumerate()
            .filter(|(index, _)| outside(*index))
            .map(|(_, piece)| *piece)
            .collect();
    }
    kept
}

/// The anchors of a document: those of its headings, as the usual renderers build them, and
/// explicit ones.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let level = line.bytes().take_while(|&byte| byte == b'#').count();
        if (1..=6).contains(&level) && line[level..].starts_with(' ') {
            let base = slug(&line[level..]);
            let mut anchor = base.clone();
            let mut repeated = 0;
            while found.contains(&anchor) {
                repeated += 1;
                anchor = format!("{base}-{repeated}");
            }
            found.push(anchor);
        }
        for opening in ["<a id=\"", "<a name=\""] {
            let explicit = line
                .split(opening)
                .skip(1)
                .filter_map(|rest| rest.split('"').next());
            found.extend(explicit.map(str::to_owned));
        }
    }
    found
}

/// Lower case, letters, digits, `-` and `_` kept, spaces to `-`; a link in a heading counts as its
/// text.
fn slug(heading: &str) -> String {
    let mut text = heading.trim().to_owned();
    while let Some(at) = text.find("](") {
        let end = at + 2 + closing(&text[at + 2..]);
        text.replace_range(at..(end + 1).min(text.len()), "");
    }
    let keep = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    text.to_lowercase()
        .chars()
        .filter(keep)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
